// SPDX-License-Identifier: BSD-2-Clause-Patent
// The commands that made a log. The log itself is the filter's, to the byte, so they lie in a file beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace qc::cli {

struct Provenance {
    std::vector<std::string> commands; ///< of quality-cuda, as a shell takes them, in the order in which they ran
    std::string folder;                ///< in which the last of them ran
    std::string version;               ///< of quality-cuda
    std::vector<std::string> parts;    ///< the commands of ffmpeg that scored, one for each part; empty text: not known
    std::string merge;                 ///< that made one run of them; empty: none did
};

/// The place of those of a log.
std::string provenance_name(const std::string& log);

/// For a log that is there. Of what is no regular file there are none. @throws Failure if they cannot be written
void write_provenance(const std::string& log, const Provenance& provenance);

/// @param why_not why there are none: no file, one of another log, a broken one
std::optional<Provenance> read_provenance(const std::string& log, std::string* why_not);

} // namespace qc::cli
