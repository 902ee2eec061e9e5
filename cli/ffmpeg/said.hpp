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

/// What decoders and demuxers complained of in runs that went on all the same: each complaint once, however often it
/// came, for parts that decode the same frames complain of the same.
class Damage {
public:
    Damage() = default;
    /// @param commands that had these outcomes: what begins amid a stream complains of what it did not see
    Damage(const std::vector<Outcome>& outcomes, const std::vector<Command>& commands);
    void add(const Damage& other);

    size_t count() const { return complaints_.size() + left_out_; }
    std::string text() const; ///< with the first ones; empty: nothing

    /// For a record and back.
    std::string to_text() const;
    static Damage of_text(const std::string& text);

private:
    void add(const std::string& complaint);

    std::vector<std::string> complaints_; ///< in the order in which they came
    size_t left_out_ = 0;                 ///< further ones, of which nothing else is known
};

} // namespace qc::cli
