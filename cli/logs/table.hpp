// SPDX-License-Identifier: BSD-2-Clause-Patent
// The answer of a run in one table: a row for each distorted video, and below it how it came about.
#pragma once

#include <string>
#include <vector>

#include "logs/scores.hpp"
#include "words/stream_facts.hpp"
#include "words/terminal.hpp"

namespace qc::cli {

struct TableRow {
    std::string file;
    StreamFacts video;
    Json log;                ///< without its frames
    bool has_failed = false; ///< it has no log
};

struct Table {
    std::vector<TableRow> rows;
    std::vector<std::string> scores; ///< that are shown, in this order
    std::string reference;           ///< or where the rows' references are
    StreamFacts reference_video;
    double frames_per_second = 0; ///< of all, all steps included; 0: not known
};

/// The three ways of pooling that tell most of a score: the mean, and the bad end.
std::vector<const char*> pools_of(const std::string& score);
/// "dB", "JOD" or nothing
std::string unit_of(const std::string& score);
/// As a table has it: two decimals, four of scores between 0 and 1, "inf", "-".
std::string score_cell(const std::string& score, double value);

/// @param width of the terminal: names are shortened, and scores that do not fit beside each other come below each
/// other; 0: as wide as it is  @param is_bold heads are
TerminalText text_of(const Table& table, size_t width, bool is_bold);

/// Columns of the terminal that standard output is; 0: it is none.
size_t terminal_width();
/// Whether it is one that shows bold letters, and nobody minds (NO_COLOR).
bool shows_bold();

/// What computed, and where, as a log says it: "CUDA on NVIDIA H100".
std::string backend_of(const Json& log);

} // namespace qc::cli
