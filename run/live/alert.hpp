// SPDX-License-Identifier: BSD-2-Clause-Patent
// Alerts: a score beyond a threshold for some time. Conditions as text, and scores with their times, come in;
// beginnings and ends come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace qc::run {

enum class Comparison { kBelow, kNotAbove, kAbove, kNotBelow };

/// What was asked for.
struct Condition {
    std::string name;  ///< as it was written, without its duration: "vmaf<80"
    std::string score; ///< "vmaf"
    Comparison comparison = Comparison::kBelow;
    double threshold = 0.0;
    double duration = 0.0; ///< seconds that it has to hold
};

/// A condition has less than so many bytes.
inline constexpr size_t kConditionBytes = 128;

/// Reads SCORE, one of < <= > >=, a number, and a duration behind a colon or an at sign: "vmaf<80:2s". The duration is
/// in seconds (s or nothing) or ms, and 0 if there is none.
/// @return nullptr, or what is wrong with it
const char* parse_condition(std::string_view text, Condition& condition);

enum class AlertChange { kNone, kBegins, kEnds };

struct Alert {
    Condition condition;
    size_t column = 0; ///< of the score

    bool is_met = false; ///< at the latest scored frame
    bool is_active = false;
    double since = 0.0, latest = 0.0; ///< times of the first and the latest frame that met it, seconds
    double worst = 0.0;               ///< score that is furthest beyond the threshold since then
    int64_t times = 0;                ///< how often it has begun

    /// Takes the score of a further frame into account. An alert begins with the first frame that meets the condition
    /// at least its duration after the first one of a row that do, and ends with the first one that does not. Between
    /// two scores there may be frames without any, but not more than the duration, or the row begins anew: nobody knows
    /// what was there.
    /// @param time seconds; where it jumps back, the row begins anew
    AlertChange update(double value, double time);
};

} // namespace qc::run
