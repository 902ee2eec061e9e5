// SPDX-License-Identifier: BSD-2-Clause-Patent
// Bytes on their way into files and pipes, without waiting for ever for whoever reads. Errors are values of errno.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

namespace qc {

inline constexpr mode_t kNewFile = 0666; ///< permissions of a new file, before the umask
inline constexpr int kPatienceMs = 5000; ///< what a named pipe's reader has to come

/// Opens a named pipe, which is given so many milliseconds to get a reader: what waits in open() cannot be ended by a
/// signal whose handler restarts it. Writing to it does not wait either. @return a descriptor; -1: see errno
int open_pipe(const std::string& path, int reader_ms);

/// Writes all of it. @param patience_ms how long a reader may take nothing; negative: for ever
/// @return errno, ETIMEDOUT for a reader that takes nothing; 0
int write_all(int descriptor, std::string_view text, int patience_ms);

/// Gives a file a new content, at once: whoever reads it sees the old one or the new one. A file that is there keeps
/// its mode; a link is replaced, not followed. @return errno, and the file is as it was; 0
int replace_file(const std::string& path, std::string_view text);

} // namespace qc
