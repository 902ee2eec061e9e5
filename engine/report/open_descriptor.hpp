// SPDX-License-Identifier: BSD-2-Clause-Patent
#pragma once

#include <string>

namespace qc {

/// The descriptor of this process that a path stands for, also through symbolic links: 1 for /dev/stdout, N for
/// /dev/fd/N and /proc/self/fd/N. Opening such a path would give a second place in the same file, which writes over
/// what the first one writes; and a socket cannot be opened at all. @return -1 for other paths
int open_descriptor(std::string path);

} // namespace qc
