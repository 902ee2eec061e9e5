// SPDX-License-Identifier: BSD-2-Clause-Patent
// The commands that made a log, and the files that they read. The log itself is the filter's, to the byte, so this lies
// in a file beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "ffmpeg/title.hpp"

namespace qc::cli {

/// A file that was scored, as it was then.
struct SourceFile {
    std::string path;     ///< absolute, of what is a file
    int64_t bytes = 0;    ///< its size
    std::string checksum; ///< as checksum_of_input() makes it; empty: it was no file
    StreamFacts facts;
};

/// Of a title's inputs, in their order. @throws Failure if one cannot be read
std::vector<SourceFile> sources_of(const Title& title);

/// As a record or a plan has it.
nlohmann::ordered_json json_of(const SourceFile& file);
/// @throws Failure, or the library's, for what is none
SourceFile source_from(const nlohmann::json& json);

/// Whether the file at a path is still the one that was scored.
bool is_unchanged(const SourceFile& source, const std::string& path);

struct Provenance {
    std::vector<std::string> commands; ///< of quality-cuda, as a shell takes them, in the order in which they ran
    std::string folder;                ///< in which the last of them ran
    std::string version;               ///< of quality-cuda
    std::vector<std::string> parts;    ///< the commands of ffmpeg that scored, one for each part; empty text: not known
    std::string merge;                 ///< that made one run of them; empty: none did
    std::vector<SourceFile> files;     ///< that were scored, in the filter's order; empty: an older version wrote none
    std::string sha256 = {};           ///< of the log; empty: an older version wrote none
};

/// The place of those of a log.
std::string provenance_name(const std::string& log);

/// For a log that is there. Of what is no regular file there are none. @throws Failure if they cannot be written
void write_provenance(const std::string& log, const Provenance& provenance);

/// @param why_not why there are none: no file, one of another log, a broken one
std::optional<Provenance> read_provenance(const std::string& log, std::string* why_not);
/// The same of whatever log lies there, whether it has changed or not.
std::optional<Provenance> read_provenance_beside(const std::string& log, std::string* why_not);

} // namespace qc::cli
