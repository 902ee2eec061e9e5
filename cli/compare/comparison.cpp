// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "compare/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "words/json_text.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr double kUsualThreshold = 1, kSmallThreshold = 0.01, kSmallScores = 2;

std::string short_text(const Json& value) {
    if (value.is_null()) return "none";
    const std::string text = json_text(value);
    constexpr size_t kLongest = 120;
    return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

/// Whether a log says nothing of it since its layout has no room for it: then it is noted, and holds nothing up.
bool is_mute(const ScoreLog& log, const Json& value) {
    return value.is_null() && *lack_of(log.layout) != '\0';
}

/// What a convention is, without where it comes from: a tag that one encode has and another leaves to its reference
/// mean the same, and so does a word for both inputs beside one for each.
std::string value_of_convention(std::string text) {
    for (const char* const origin :
         {" (tagged)", " (as the reference)", " (as the distorted input)", " (assumed)", " (set)", " (of the preset)"})
        for (size_t at = 0; (at = text.find(origin)) != std::string::npos;) text.erase(at, std::strlen(origin));
    constexpr std::string_view kFirst = "reference ", kSecond = ", distorted ";
    const size_t middle = text.find(kSecond);
    if (!text.starts_with(kFirst) || middle == std::string::npos) return text;
    const std::string reference = text.substr(kFirst.size(), middle - kFirst.size());
    return text.substr(middle + kSecond.size()) == reference ? reference : text;
}

bool is_same_convention(const Json& a, const Json& b) {
    return a.is_string() && b.is_string() ? value_of_convention(a) == value_of_convention(b) : a == b;
}

/// "METRIC.KEY: value and value", for each that differs, of objects of objects.
void list_differences(const Json& a, const Json& b, const std::string& name, std::vector<std::string>* list) {
    const bool is_list = (a.is_object() && (b.is_object() || b.is_null())) || (a.is_null() && b.is_object());
    if (!is_list) {
        if (!is_same_convention(a, b)) list->push_back(name + ": " + short_text(a) + " and " + short_text(b));
        return;
    }
    Json keys = a.is_null() ? Json::object() : a;
    if (b.is_object()) keys.update(b);
    const std::string prefix = name.empty() ? "" : name + ".";
    for (const auto& [key, unused] : keys.items()) {
        std::string inner = prefix;
        inner += key;
        list_differences(member(a, key.c_str()), member(b, key.c_str()), inner, list);
    }
}

/// All that differs of one kind, as a sentence; empty: nothing does, or nobody knows.
std::string differences_of(const ScoreLog& a, const ScoreLog& b, const Json& of_a, const Json& of_b, const char* what) {
    if (is_mute(a, of_a) || is_mute(b, of_b)) return "";
    std::vector<std::string> differences;
    list_differences(of_a, of_b, "", &differences);
    std::string all;
    for (const std::string& each : differences) {
        const size_t unnamed = each.starts_with(": ") ? 2 : 0;
        all += (all.empty() ? std::string(what) + " differ: " : "; ") + each.substr(unnamed);
    }
    return all;
}

/// Which figures each model has; a score's range follows from them.
Json models_of(const ScoreLog& log) {
    const Json& models = member(log.head, "models");
    if (!models.is_array()) return {};
    Json list = Json::object();
    for (const Json& each : models) list[text_of(each, "name")] = text_of(each, "model");
    return list;
}

std::string other_frames(const ScoreLog& a, const ScoreLog& b) {
    if (a.frames.size() != b.frames.size())
        return "they have " + std::to_string(a.frames.size()) + " and " + std::to_string(b.frames.size()) + " frames";
    for (size_t i = 0; i < a.frames.size(); ++i)
        if (a.frames[i] != b.frames[i])
            return "their frames differ: place " + std::to_string(i) + " has frame " + std::to_string(a.frames[i]) +
                   " and " + std::to_string(b.frames[i]);
    return "";
}

/// What the reference alone decides has to be equal where both logs have it.
std::string other_reference(const ScoreLog& a, const ScoreLog& b) {
    const Scores* const of_a = motion_of(a);
    const Scores* const of_b = of_a != nullptr ? b.find(of_a->name) : nullptr;
    if (of_b == nullptr) return "";
    for (size_t i = 0; i < of_a->values.size(); ++i) {
        const double x = of_a->values[i], y = of_b->values[i];
        if (x != y && !(std::isnan(x) && std::isnan(y)))
            return "their references differ: " + of_a->name + " of frame " + std::to_string(a.frames[i]) + " is " +
                   fixed(x, 6) + " and " + fixed(y, 6);
    }
    return "";
}

void require_score(const ScoreLog& log, const std::string& name, const std::string& metrics) {
    if (log.find(name) == nullptr)
        throw Failure("--metrics=" + metrics + ": " + log.path + " has no score " + name, kMisused);
}

std::vector<std::string> chosen_scores(const ScoreLog& a, const ScoreLog& b, const std::string& metrics) {
    std::vector<std::string> names, compared;
    if (metrics == "all")
        for (const Scores& each : a.scores) names.push_back(each.name);
    else
        names = metrics.empty() ? headline_scores(a) : split_names(metrics, '+', "--metrics");
    const bool is_asked_for = !metrics.empty() && metrics != "all";
    for (const std::string& name : names) {
        if (is_asked_for) require_score(a, name, metrics);
        if (is_asked_for) require_score(b, name, metrics);
        if (b.find(name) != nullptr && (is_asked_for || better(name) != Better::kNeither)) compared.push_back(name);
    }
    if (compared.empty()) throw Incomparable(a, b, "they have no score of the distorted videos in common");
    return compared;
}

PairedScores paired(const Scores& a, const Scores& b, const std::vector<Scene>& scenes) {
    PairedScores scores;
    for (const Scene& scene : scenes) {
        const size_t before = scores.a.size();
        for (size_t i = scene.begin; i < scene.end; ++i) {
            if (std::isnan(a.values[i]) || std::isnan(b.values[i])) continue;
            scores.a.push_back(a.values[i]);
            scores.b.push_back(b.values[i]);
            scores.scene.push_back(scores.scenes);
        }
        if (scores.a.size() > before) ++scores.scenes;
    }
    return scores;
}

double mean_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double each : values) sum += each;
    return sum / static_cast<double>(values.size());
}

double p5_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return percentile_of(values, 5);
}

/// Those that lost most first; how a score without direction changes is no loss, and the greatest fall leads.
std::vector<SceneDifference> worst_first(const Scores& a, const Scores& b, const std::vector<Scene>& scenes,
                                         Better way) {
    std::vector<SceneDifference> list;
    for (const Scene& scene : scenes) {
        double sum = 0, count = 0;
        for (size_t i = scene.begin; i < scene.end; ++i)
            if (const double difference = b.values[i] - a.values[i]; !std::isnan(difference)) {
                sum += difference;
                ++count;
            }
        if (count > 0) list.push_back({scene, sum / count});
    }
    const double sign = way == Better::kLower ? -1 : 1;
    std::stable_sort(list.begin(), list.end(), [sign](const SceneDifference& x, const SceneDifference& y) {
        return sign * x.mean < sign * y.mean;
    });
    return list;
}

ScoreDifference difference_of(const Scores& a, const Scores& b, const Comparison& comparison,
                              const Thresholds& thresholds, const Resampling& resampling) {
    ScoreDifference result;
    const PairedScores scores = paired(a, b, comparison.drawn);
    result.name = a.name;
    result.better = better(a.name);
    result.frames = scores.a.size();
    if (scores.a.empty()) return result;
    result.mean_a = mean_of(scores.a);
    result.mean_b = mean_of(scores.b);
    result.p5_a = p5_of(scores.a);
    result.p5_b = p5_of(scores.b);
    result.p5 = result.p5_b - result.p5_a;
    result.threshold = thresholds.of(a.name, scores);
    const double sign = result.better == Better::kLower ? -1 : 1;
    double sum = 0, up = 0, down = 0;
    for (size_t i = 0; i < scores.a.size(); ++i) {
        const double difference = scores.b[i] - scores.a[i];
        sum += difference;
        up += sign * difference > result.threshold ? 1 : 0;
        down += sign * difference < -result.threshold ? 1 : 0;
    }
    const double count = static_cast<double>(scores.a.size());
    result.mean = sum / count;
    result.better_share = up / count;
    result.worse_share = down / count;
    result.intervals = bootstrap(scores, resampling);
    result.worst = worst_first(a, b, comparison.scenes.list, result.better);
    return result;
}

void add_notes(const ScoreLog& a, const ScoreLog& b, Comparison* comparison) {
    for (const ScoreLog* log : {&a, &b})
        if (member(log->head, "complete") == false)
            comparison->notes.push_back(
                log->path + " is not complete: " +
                (text_of(log->head, "reason").empty() ? text_of(log->head, "end") : text_of(log->head, "reason")));
    for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        std::string names;
        for (const Scores& each : one->scores)
            if (other->find(each.name) == nullptr) names += (names.empty() ? "" : ", ") + each.name;
        if (!names.empty()) comparison->notes.push_back("only " + one->path + " has " + names);
    }
    const std::string of_a = text_of(a.head, "quality_cuda_version"), of_b = text_of(b.head, "quality_cuda_version");
    if (of_a != of_b && !of_a.empty() && !of_b.empty())
        comparison->notes.push_back("scored by versions " + of_a + " and " + of_b + " of quality_cuda");
    for (const ScoreLog* log : {&a, &b})
        if (const char* const lack = lack_of(log->layout); *lack != '\0')
            comparison->notes.push_back(log->path + ": " + lack + "; whether that is the same was not looked at");
    if (motion_of(a) == nullptr || motion_of(b) == nullptr)
        comparison->notes.push_back("without the reference's motion in both logs nobody sees whether their reference "
                                    "is the same");
    const std::string few =
        std::to_string(comparison->scenes.list.size()) + (comparison->scenes.list.size() == 1 ? " scene" : " scenes");
    if (comparison->draws_blocks())
        comparison->notes.push_back("of " + few + " nobody learns how others would do: drawn are " +
                                    comparison->drawn_text() + ", and intervals speak of this clip alone");
    else if (comparison->drawn.size() < kFewestScenes)
        comparison->notes.push_back("no interval: that needs at least " + std::to_string(kFewestScenes) +
                                    " scenes or " + std::to_string(kFewestScenes) + " s, and there are " + few);
}

} // namespace

Incomparable::Incomparable(const ScoreLog& a, const ScoreLog& b, std::string what)
    : Failure(a.path + " and " + b.path + " cannot be compared: " + what), what_differs_(std::move(what)) {}

Thresholds::Thresholds(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
        const size_t equals = text.rfind('=');
        const std::string number = equals == std::string::npos ? text : text.substr(equals + 1);
        char* end = nullptr;
        const double value = std::strtod(number.c_str(), &end);
        if (number.empty() || *end != '\0' || equals == 0 || !(value >= 0 && value < 1e12))
            throw Failure("--threshold=" + text + ": a number from 0 on is accepted, or SCORE=NUMBER, e.g. vmaf=2",
                          kMisused);
        if (equals == std::string::npos)
            for_all_ = value;
        else
            by_score_[text.substr(0, equals)] = value;
    }
}

double Thresholds::of(const std::string& score, const PairedScores& scores) const {
    if (const auto found = by_score_.find(score); found != by_score_.end()) return found->second;
    if (for_all_) return *for_all_;
    const auto is_small = [](double value) { return std::fabs(value) <= kSmallScores; };
    return std::all_of(scores.a.begin(), scores.a.end(), is_small) &&
                   std::all_of(scores.b.begin(), scores.b.end(), is_small)
               ? kSmallThreshold
               : kUsualThreshold;
}

void Thresholds::require(const ScoreLog& a, const ScoreLog& b) const {
    const auto lost = std::find_if(by_score_.begin(), by_score_.end(), [&](const auto& each) {
        return a.find(each.first) == nullptr && b.find(each.first) == nullptr;
    });
    if (lost != by_score_.end())
        throw Failure("--threshold=" + lost->first + "=" + fixed(lost->second, 6) + ": the logs have no score " +
                          lost->first,
                      kMisused);
}

std::string ScoreDifference::verdict() const {
    if (!intervals.mean) return "";
    const Interval& interval = *intervals.mean;
    if (interval.low == 0 && interval.high == 0) return "equal";
    if (interval.low <= 0 && interval.high >= 0) return "no clear difference";
    if (better == Better::kNeither) return "different";
    return (interval.low > 0) == (better == Better::kHigher) ? "better" : "worse";
}

bool Comparison::draws_blocks() const {
    return drawn.size() >= kFewestScenes && scenes.list.size() < kFewestScenes;
}

std::string Comparison::drawn_text() const {
    return draws_blocks() ? "blocks of about " + std::to_string(drawn.front().size()) + " frames" : "scenes";
}

std::string why_incomparable(const ScoreLog& a, const ScoreLog& b) {
    if (std::string why = other_frames(a, b); !why.empty()) return why;
    std::string all;
    for (const std::string& each :
         {differences_of(a, b, models_of(a), models_of(b), "models"),
          differences_of(a, b, member(a.head, "conventions"), member(b.head, "conventions"), "conventions"),
          differences_of(a, b, member(member(a.head, "pairing"), "frame_rate"),
                         member(member(b.head, "pairing"), "frame_rate"), "frame rates"),
          differences_of(a, b, member(a.head, "reference_format"), member(b.head, "reference_format"),
                         "pixel formats of the reference")})
        if (!each.empty()) all += (all.empty() ? "" : "; ") + each;
    return all.empty() ? other_reference(a, b) : all;
}

Comparison compare_logs(const ScoreLog& a, const ScoreLog& b, const ComparisonOptions& options) {
    const Thresholds thresholds(options.thresholds);
    if (const std::string why = why_incomparable(a, b); !why.empty()) throw Incomparable(a, b, why);
    thresholds.require(a, b);
    Comparison comparison;
    comparison.a = a.path;
    comparison.b = b.path;
    comparison.frames = a.frames.size();
    comparison.frame_numbers = a.frames;
    comparison.frame_rate = a.frame_rate();
    comparison.scenes = find_scenes(a, options.window_frames);
    comparison.drawn = drawn_pieces(a, comparison.scenes, options.window_frames);
    comparison.models = models_of(a);
    comparison.resampling = options.resampling;
    for (const std::string& name : chosen_scores(a, b, options.metrics)) {
        comparison.scores.push_back(
            difference_of(*a.find(name), *b.find(name), comparison, thresholds, options.resampling));
        if (comparison.scores.back().frames == 0) {
            comparison.notes.push_back("no frame has " + name + " in both logs");
            comparison.scores.pop_back();
        }
    }
    if (comparison.scores.empty()) throw Incomparable(a, b, "no frame has a score in both of them");
    add_notes(a, b, &comparison);
    return comparison;
}

} // namespace qc::cli
