// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "logs/scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "ranks/percentile.hpp"

namespace qc::cli {

namespace {

constexpr double kLargestCount = 9007199254740992.0; ///< 2^53
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool begins_with(const std::string& text, const char* start) {
    return text.rfind(start, 0) == 0;
}

template <size_t N>
bool begins_with_one_of(const std::string& text, const char* const (&starts)[N]) {
    return std::any_of(std::begin(starts), std::end(starts), [&](const char* each) { return begins_with(text, each); });
}

/// Features of the built-in models, under the names that logs have for them.
/// @param has_models whether the log has any: then a metric with its options in its name is what one of them reads
bool is_feature(const std::string& score, bool has_models) {
    const bool has_options =
        (begins_with(score, "cambi_") || begins_with(score, "speed_")) && score.back() >= '0' && score.back() <= '9';
    if (has_options && has_models) return true;
    static constexpr const char* kStarts[] = {"integer_", "VMAF_", "adm", "aim", "vif_scale", "motion", "float_moment"};
    return begins_with_one_of(score, kStarts);
}

} // namespace

double pool_of(std::vector<double> values, const std::string& pool) {
    const auto count = static_cast<double>(values.size());
    double sum = 0, reciprocals = 0, squares = 0;
    for (const double each : values) {
        sum += each;
        reciprocals += 1 / (each + 1);
    }
    for (const double each : values) squares += (each - sum / count) * (each - sum / count);
    if (pool == "mean") return sum / count;
    if (pool == "harmonic_mean") return count / reciprocals - 1;
    if (pool == "stddev") return std::sqrt(squares / count);
    std::sort(values.begin(), values.end());
    if (pool == "min") return values.front();
    if (pool == "max") return values.back();
    return percentile_of(values, std::strtod(pool.c_str() + 1, nullptr)); // p5
}

const Scores* ScoreLog::find(const std::string& name) const {
    const auto found =
        std::find_if(scores.begin(), scores.end(), [&](const Scores& each) { return each.name == name; });
    return found == scores.end() ? nullptr : &*found;
}

double ScoreLog::frame_rate() const {
    const double rate = number_of(member(head, "pairing"), "frame_rate", 0);
    if (rate > 0 && rate < 1e6) return rate;
    if (times.size() < 2) return 0;
    const double seconds = times.back() - times.front();
    return seconds > 0 ? static_cast<double>(frames.back() - frames.front()) / seconds : 0;
}

double ScoreLog::pooled(const std::string& score, const char* pool) const {
    const double logged = number_of(member(member(head, "pooled_metrics"), score.c_str()), pool, kNone);
    const Scores* const column = find(score);
    if (!std::isnan(logged) || column == nullptr) return logged;
    const bool is_whole =
        std::none_of(column->values.begin(), column->values.end(), [](double each) { return std::isnan(each); });
    return is_whole ? pool_of(column->values, pool) : kNone;
}

double ScoreLog::mean(const std::string& score) const {
    const double logged = pooled(score, "mean");
    const Scores* const column = find(score);
    if (!std::isnan(logged) || column == nullptr) return logged;
    double sum = 0, count = 0;
    for (const double value : column->values)
        if (!std::isnan(value)) {
            sum += value;
            ++count;
        }
    return count > 0 ? sum / count : kNone;
}

const char* name_of(Layout layout) {
    static constexpr const char* kNames[] = {"JSON", "lines of JSON", "XML", "CSV"};
    return kNames[static_cast<size_t>(layout)];
}

const char* lack_of(Layout layout) {
    static constexpr const char* kLacks[] = {
        "",
        "lines of JSON do not hold versions, models, conventions and formats, nor how frames were paired",
        "XML does not hold models, conventions and damaged frames, nor a ladder's renditions",
        "CSV holds the scores of frames and nothing else: neither versions, models, conventions and formats, nor how "
        "frames were paired, nor whether the run came to its end",
    };
    return kLacks[static_cast<size_t>(layout)];
}

const Json& member(const Json& object, const char* key) {
    static const Json kNull;
    if (!object.is_object()) return kNull;
    const auto found = object.find(key);
    return found == object.end() ? kNull : *found;
}

std::string text_of(const Json& object, const char* key) {
    const Json& value = member(object, key);
    return value.is_string() ? value.get<std::string>() : "";
}

double number_of(const Json& object, const char* key, double otherwise) {
    const Json& value = member(object, key);
    return value.is_number() ? value.get<double>() : otherwise;
}

int64_t count_of(const Json& object, const char* key) {
    const double value = number_of(object, key, 0);
    return value > -kLargestCount && value < kLargestCount ? static_cast<int64_t>(value) : 0;
}

std::vector<std::string> headline_scores(const ScoreLog& log) {
    std::vector<std::string> names;
    const Json& models = member(log.head, "models");
    const auto add = [&](const std::string& name) {
        if (log.find(name) != nullptr && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    };
    if (models.is_array())
        for (const Json& model : models) add(text_of(model, "name"));
    if (log.find("vmaf") != nullptr) add("vmaf"); // libvmaf's own logs have no list of models
    for (const Scores& each : log.scores)
        if (!is_feature(each.name, models.is_array() && !models.empty())) add(each.name);
    if (names.empty())
        for (const Scores& each : log.scores) add(each.name);
    return names;
}

Better better(const std::string& score) {
    static constexpr const char* kNeither[] = {"motion",       "integer_motion", "VMAF_integer_feature_motion",
                                               "float_moment", "cambi_source",   "float_motion"};
    static constexpr const char* kLower[] = {"mse_", "cambi",       "speed_",     "integer_aim",
                                             "aim",  "butteraugli", "cvvdp_frame"};
    if (begins_with_one_of(score, kNeither) || score.find("_ci_p95_") != std::string::npos ||
        (score.size() > 7 && score.compare(score.size() - 7, 7, "_stddev") == 0))
        return Better::kNeither;
    return begins_with_one_of(score, kLower) ? Better::kLower : Better::kHigher;
}

std::string model_of(const ScoreLog& log, const std::string& score) {
    const Json& models = member(log.head, "models");
    if (models.is_array())
        for (const Json& each : models)
            if (text_of(each, "name") == score) return text_of(each, "model");
    return "";
}

double percentile_of(const std::vector<double>& sorted, double percent) {
    const auto rank = PercentileRank::of_share(percent / 100, static_cast<double>(sorted.size()));
    return rank.up_from(sorted[rank.below()], sorted[rank.above()]);
}

} // namespace qc::cli
