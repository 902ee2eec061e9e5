// SPDX-License-Identifier: BSD-2-Clause-Patent
// What ffmpeg's programs say on standard error: who said it, how bad it is, what came of what.
#pragma once

#include <string>
#include <vector>

#include "process/process.hpp"

namespace qc::cli {

/// Why a run failed, as one line: the filter's error, otherwise the first one; before it what a decoder had to say
/// first.
std::string reason_of(const Outcome& outcome);

/// The warnings of the filter, as lines without the name of who warns.
std::vector<std::string> warnings_of(const Outcome& outcome);

/// What decoders and demuxers complained of in runs that went on all the same.
struct Damage {
    size_t lines = 0; ///< parts that decode the same complain of the same
    std::string text; ///< with the first lines; empty: nothing
};
/// @param commands that had these outcomes: what begins amid a stream complains of what it did not see
Damage damage_in(const std::vector<Outcome>& outcomes, const std::vector<Command>& commands);

} // namespace qc::cli
