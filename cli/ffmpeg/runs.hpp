// SPDX-License-Identifier: BSD-2-Clause-Patent
// The command lines of ffmpeg that score and record.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ffmpeg/title.hpp"
#include "process/process.hpp"

namespace qc::cli {

/// What the filter adds to a record's name until the record is whole.
inline constexpr const char* kUnfinishedRecord = ".unfinished";

/// An input of ffmpeg's command line. @param seek seconds from the start, below 0: from there on
void add_input(const std::string& path, const Opening& opening, double seek, std::vector<std::string>* arguments);

/// The first frames, with all that is asked for: fails as the whole would, and records the frame rate to go by.
Command head_command(const Tools& tools, const Title& title, const std::string& record);

/// Parts into records, all of them in one process, for which ffmpeg has to be threaded. Writes the first one's progress
/// to standard output. @param records of these parts
Command parts_command(const Tools& tools, const Title& title, const std::vector<size_t>& parts,
                      const std::vector<std::string>& records);

/// What a process that was started early is told before the end of its standard input, which is the value of its first
/// graph: texts of files that it reads after that.
struct Told {
    std::string first;
    std::vector<std::pair<std::string, std::string>> files; ///< path, text
};

/// The same command as parts_command() made, with all that depends on where a title is cut to be told later. It makes
/// its context on the GPU first. For an ffmpeg that is threaded. @param files what names of files begin with
Command told_later(const Command& parts, const std::string& files, Told* told);

/// The title as one run.
Command whole_command(const Tools& tools, const Title& title, const std::string& log);

/// The frame rate and the tolerance that a run went by. @throws Failure if the record is not whole
void read_rate(const std::string& record, double* frame_rate, double* tolerance);

} // namespace qc::cli
