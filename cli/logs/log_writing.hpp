// SPDX-License-Identifier: BSD-2-Clause-Patent
// A log in another layout than the one that it has.
#pragma once

#include <cstddef>
#include <string>

#include "logs/scores.hpp"
#include "words/stream_facts.hpp"

namespace qc::cli {

/// That of a file's ending, .csv, .xml or .jsonl; JSON of any other.
Layout layout_of_ending(const std::string& path);

/// Before scores are computed. @param is_planned others write it: JSON, whatever it is called
/// @throws Failure for the ending of a layout that cannot be written, or a folder that cannot
void require_layout(const std::string& output, bool is_planned);

/// A log in JSON, with those of further renditions beside it.
struct WrittenLog {
    std::string path;
    size_t renditions = 1;
    StreamFacts scored; ///< the size of what was scored, where the log does not tell it
    std::string times;  ///< the filter's stats_file of the run, for lines of JSON
};

/// Writes it in the layout that the output's ending asks for, as the filter would. Lines of JSON have all renditions,
/// the other layouts a file each.
void write_log_as(const WrittenLog& log, const std::string& output);

} // namespace qc::cli
