// SPDX-License-Identifier: BSD-2-Clause-Patent
// Files of passing use: where they lie, and how they come to be without touching anybody else's.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

namespace qc {

/// $TMPDIR, otherwise /tmp.
std::string temporary_folder();

/// Creates a file FOLDER/STEM*ENDING under a name that nobody can foresee and that was not there. So it neither opens
/// what another process has made nor follows a link.
/// @param mode permissions, before the umask @param name set to the file's path
/// @return a descriptor for reading and writing; -1: see errno
int create_temporary(const std::string& folder, std::string_view stem, std::string_view ending, mode_t mode,
                     std::string* name);

} // namespace qc
