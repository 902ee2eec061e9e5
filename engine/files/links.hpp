// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a path leads to.
#pragma once

#include <string>

namespace qc {

/// The folder of a path as it is written: "." of a bare name.
std::string folder_of(const std::string& path);

/// Follows links by hand: the last one may lead to what is not there yet, or to a descriptor, which has no name of its
/// own.
/// @param canonical set to the end of the way, absolute, in a folder as it really is
/// @param descriptor set to the descriptor of this process that the end stands for; -1: it is none
/// @return errno: a folder is missing, or the links are too many; 0
int follow_links(std::string path, std::string* canonical, int* descriptor);

/// The descriptor of this process that a path stands for, also through symbolic links: 1 for /dev/stdout, N for
/// /dev/fd/N and /proc/self/fd/N. Opening such a path would give a second place in the same file, which writes over
/// what the first one writes; and a socket cannot be opened at all. @return -1 for other paths
int open_descriptor(const std::string& path);

} // namespace qc
