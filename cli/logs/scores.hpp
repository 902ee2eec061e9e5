// SPDX-License-Identifier: BSD-2-Clause-Patent
// A log with its frames: the scores as columns, all else as it stands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace qc::cli {

using Json = nlohmann::ordered_json; ///< keeps the log's order

/// What of a head tells where its scores come from.
inline constexpr const char* kOriginKeys[] = {"provenance", "model_checksums"};

struct Scores {
    std::string name;
    std::vector<double> values; ///< one for each frame; NaN where the log has none
};

enum class Layout { kJson, kJsonLines, kXml, kCsv };

struct ScoreLog {
    std::string path;
    Layout layout = Layout::kJson;
    Json head;                   ///< all but the frames, as a JSON log has it
    std::vector<int64_t> frames; ///< frameNum, ascending
    std::vector<Scores> scores;  ///< in the log's order
    /// Seconds of each frame and of its partner, as the filter saw them. Lines of JSON have them, no other layout has.
    std::vector<double> times, reference_times;

    const Scores* find(const std::string& name) const;
    double frame_rate() const; ///< that the run went by, or that of the frames' times; 0: not known
    /// "mean", "p5" and so on, as the log has it, otherwise of its frames if each has this score, otherwise NaN.
    double pooled(const std::string& score, const char* pool) const;
    /// As the log has it, otherwise that of the frames which have the score.
    double mean(const std::string& score) const;
};

/// A log's layout in words, and what it cannot hold of a JSON log; the latter empty of JSON itself.
const char* name_of(Layout layout);
const char* lack_of(Layout layout);

/// What a stranger's log may or may not have: a default where it is missing or of another type.
const Json& member(const Json& object, const char* key);
std::string text_of(const Json& object, const char* key);
double number_of(const Json& object, const char* key, double otherwise);
int64_t count_of(const Json& object, const char* key);

/// What a person who asks for nothing wants to see: scores of models first, then those that are no features of a model.
std::vector<std::string> headline_scores(const ScoreLog& log);

/// What a score is made by, if it is a model's; empty: it is not, or the log does not say.
std::string model_of(const ScoreLog& log, const std::string& score);

enum class Better { kHigher, kLower, kNeither };
/// Which way a score goes; kNeither: it tells of the reference alone, or of pictures and not of quality.
Better better(const std::string& score);

/// As the filter pools the scores of a run. @param values not empty, without NaN
double pool_of(std::vector<double> values, const std::string& pool);

/// Interpolated between the two nearest, as the filter's percentiles are. @param sorted not empty
double percentile_of(const std::vector<double>& sorted, double percent);

} // namespace qc::cli
