// SPDX-License-Identifier: BSD-2-Clause-Patent
// The command lines of ffmpeg that score, record and replay.
#pragma once

#include <string>
#include <vector>

#include "process.hpp"
#include "title.hpp"

namespace qc::cli {

/// An input of ffmpeg's command line. @param seek seconds from the start, below 0: from there on
void add_input(const std::string& path, double seek, std::vector<std::string>* arguments);

/// The first frames, with all that is asked for: fails as the whole would, and records the frame rate to go by.
Command head_command(const Tools& tools, const Title& title, const std::string& record);

/// A part into a record. Writes its progress to standard output.
Command part_command(const Tools& tools, const Title& title, size_t part, const std::string& record);

/// The title as one run.
Command whole_command(const Tools& tools, const Title& title, const std::string& log);

/// From a list of records (filter/quality_cuda/replay.h) to the log.
Command merge_command(const Tools& tools, const Title& title, const std::string& list, const std::string& log);

/// The list that merge_command() takes. @param records one for each part
std::string replay_list(const Title& title, const std::vector<std::string>& records);

/// The frame rate and the tolerance that a run went by. @throws Failure if the record is not whole
void read_rate(const std::string& record, double* frame_rate, double* tolerance);

/// What a run that failed said, as one line.
std::string reason_of(const Outcome& outcome);

/// The warnings of a run, as lines without the name of who warns.
std::vector<std::string> warnings_of(const Outcome& outcome);

} // namespace qc::cli
