// SPDX-License-Identifier: BSD-2-Clause-Patent
// Alerts: a score, or what a stretch of scores comes to, beyond a threshold. Conditions as text, and scores with their
// times, come in; beginnings and ends come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qc::run {

enum class Comparison { kBelow, kNotAbove, kAbove, kNotBelow };

/// What is held against the threshold: the score of a frame, or something of those of the latest stretch of time.
enum class Statistic { kFrame, kMean, kMin, kMax, kP5, kP95 };

struct Limit {
    Comparison comparison = Comparison::kBelow;
    double threshold = 0.0;
    double duration =
        0.0; ///< seconds that it has to hold; where an alert with a statistic begins, the stretch's length
};

/// What was asked for.
struct Condition {
    std::string name;  ///< as it was written: "mean(vmaf)<72@1s"; of a frame's score without its duration: "vmaf<80"
    std::string score; ///< "vmaf"
    Statistic statistic = Statistic::kFrame;
    Limit begin;
    std::optional<Limit> end; ///< nothing: it ends where what began it does not hold
};

/// A condition has less than so many bytes.
inline constexpr size_t kConditionBytes = 128;

/// The longest stretch of time that a statistic is of, seconds.
inline constexpr double kLongestStretch = 300.0;

/// Reads SCORE or mean(SCORE) (min, max, p5, p95), one of < <= > >=, a number, and a duration behind a colon or an at
/// sign: "vmaf<80:2s". The duration is in seconds (s or nothing) or ms, and 0 if there is none. What ends it may
/// follow, a comparison the other way: "vmaf<80>85", "vmaf<80@2s>85@5s".
/// @return nullptr, or what is wrong with it
const char* parse_condition(std::string_view text, Condition& condition);

enum class AlertChange { kNone, kBegins, kEnds };

/// A row of scores that meet a limit. Between two of them there may be frames without any, but not for longer than the
/// limit's duration, or the row begins anew: nobody knows what was there. So it does where time jumps back.
class Row {
public:
    /// A further score that meets it. @return whether the row has lasted for so long
    bool lasts(double time, double duration);
    void break_off() { is_met_ = false; }
    double since() const { return since_; }
    bool is_new() const { return is_new_; } ///< the latest score is its first

private:
    bool is_met_ = false, is_new_ = false;
    double since_ = 0.0, latest_ = 0.0;
};

/// Scores of the latest stretch of time: (now - length, now].
class RecentScores {
public:
    /// @return whether there are scores of the whole length. They begin anew behind a gap that is longer, and where
    /// time jumps back
    bool add(double value, double time, double length);
    double pool(Statistic statistic);
    double since() const { return scores_.front().time; } ///< precondition: add() was called

private:
    struct Score {
        double time, value;
    };
    double first_ = 0.0; ///< time of the first one behind a gap
    std::deque<Score> scores_;
    std::vector<double> values_; ///< memory for what sorts
};

struct Alert {
    Condition condition;
    size_t column = 0; ///< of the score

    bool is_active = false;
    double since = 0.0; ///< time of the first frame that led to it, seconds
    double worst = 0.0; ///< value that is furthest beyond the threshold since then
    double value = 0.0; ///< the latest one that was held against the threshold
    int64_t times = 0;  ///< how often it has begun

    /// Takes the score of a further frame into account. An alert on frames begins with the first one that meets the
    /// condition at least its duration after the first one of a row that do; one on a stretch of time with the first
    /// frame whose stretch meets it, as soon as there are scores of all of it. It ends with the first frame that does
    /// not meet the condition, or, if it has another end, with the first one at which that has lasted long enough.
    /// @param time seconds
    AlertChange update(double score, double time);

private:
    AlertChange begin(double time);
    AlertChange end(double time);

    Row beginning_, ending_;
    RecentScores recent_;
};

} // namespace qc::run
