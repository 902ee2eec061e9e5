// SPDX-License-Identifier: BSD-2-Clause-Patent
// What changed from one encode of a title to another, by their logs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/bootstrap.hpp"
#include "compare/scenes.hpp"
#include "logs/scores.hpp"
#include "words/failure.hpp"

namespace qc::cli {

struct ComparisonOptions {
    Resampling resampling;
    std::vector<std::string> thresholds; ///< as typed: NUMBER or SCORE=NUMBER
    size_t window_frames = 0;            ///< scenes of fixed length; 0: as find_scenes() finds them
    std::string metrics;                 ///< joined by +; empty: those of models, and what are no features; "all"
};

struct SceneDifference {
    Scene scene;
    double mean = 0; ///< of b - a
};

struct ScoreDifference {
    std::string name;
    Better better = Better::kHigher;
    size_t frames = 0; ///< that both have this score of
    double mean_a = 0, mean_b = 0, mean = 0;
    double p5_a = 0, p5_b = 0, p5 = 0;
    Intervals intervals;
    double threshold = 0;                     ///< by which a frame has to differ to count
    double better_share = 0, worse_share = 0; ///< of frames
    std::vector<SceneDifference> worst;       ///< scenes, those that lost most first

    /// "better", "worse", "no clear difference", "equal", or empty where there is no interval.
    std::string verdict() const;
};

struct Comparison {
    std::string a, b; ///< what they are called
    size_t frames = 0;
    std::vector<int64_t> frame_numbers;
    double frame_rate = 0; ///< 0: not known
    Scenes scenes;
    std::vector<Scene> drawn; ///< by the bootstrap: the scenes, or blocks of time where they are few
    Json models;              ///< what each score of a model is made by; null: not known
    Resampling resampling;
    std::vector<ScoreDifference> scores;
    std::vector<std::string> notes; ///< for people: what is not compared, or to be taken with care

    bool draws_blocks() const;
    std::string drawn_text() const; ///< "scenes"
};

/// Reads the options' thresholds once. @throws Failure that says what is accepted
class Thresholds {
public:
    explicit Thresholds(const std::vector<std::string>& texts);
    /// 1, or 0.01 for scores that stay within -2 and 2, unless it was given.
    double of(const std::string& score, const PairedScores& scores) const;
    /// @throws Failure if one is for a score that neither log has
    void require(const ScoreLog& a, const ScoreLog& b) const;

private:
    std::optional<double> for_all_;
    std::map<std::string, double> by_score_;
};

/// What differs, if logs are not of one title in one way; empty: nothing.
std::string why_incomparable(const ScoreLog& a, const ScoreLog& b);

/// The logs are not of one title in one way.
class Incomparable : public Failure {
public:
    Incomparable(const ScoreLog& a, const ScoreLog& b, std::string what);
    const std::string& what_differs() const { return what_differs_; }

private:
    std::string what_differs_;
};

/// @throws Incomparable, or Failure for options
Comparison compare_logs(const ScoreLog& a, const ScoreLog& b, const ComparisonOptions& options);

std::string text_of_comparison(const Comparison& comparison);
Json json_of_comparison(const Comparison& comparison);

/// "120-180 (0:04.8)"
std::string scene_text(const Comparison& comparison, const Scene& scene);
/// "0:04.8"; empty where the rate is not known
std::string time_text(int64_t frame, double frame_rate);

} // namespace qc::cli
