// SPDX-License-Identifier: BSD-2-Clause-Patent
// A comparison for people and for programs.
#include <array>
#include <cmath>
#include <cstdio>

#include "compare/comparison.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr size_t kShownScenes = 5;
constexpr size_t kNumber = 12, kInterval = 26;

std::string padded(const std::string& text, size_t width) {
    return std::string(text.size() < width ? width - text.size() : 1, ' ') + text;
}

std::string interval_text(const std::optional<Interval>& interval) {
    return interval ? "[" + signed_text(interval->low, 6) + ", " + signed_text(interval->high, 6) + "]" : "-";
}

size_t name_width(const Comparison& comparison) {
    size_t width = 6;
    for (const ScoreDifference& each : comparison.scores) width = std::max(width, each.name.size());
    return width;
}

std::string row_of(const ScoreDifference& each, size_t width) {
    std::string row = each.name + std::string(width - each.name.size(), ' ');
    row += padded(fixed(each.mean_a, 6), kNumber) + padded(fixed(each.mean_b, 6), kNumber) +
           padded(signed_text(each.mean, 6), kNumber) + padded(interval_text(each.intervals.mean), kInterval) +
           padded(signed_text(each.p5, 6), kNumber) + padded(interval_text(each.intervals.p5), kInterval) +
           padded(percent_text(each.better_share), 9) + padded(percent_text(each.worse_share), 9);
    return row + (each.verdict().empty() ? "" : "  " + each.verdict()) + "\n";
}

std::string worst_text(const Comparison& comparison, const ScoreDifference& score) {
    std::string text = "\nscenes where B lost most, or gained least, by " + score.name + ":\n";
    for (size_t i = 0; i < std::min(kShownScenes, score.worst.size()); ++i)
        text += padded(signed_text(score.worst[i].mean, 6), kNumber) + "  frames " +
                scene_text(comparison, score.worst[i].scene) + "\n";
    return text;
}

Json json_of_interval(const std::optional<Interval>& interval) {
    return interval ? Json{interval->low, interval->high} : Json();
}

Json json_of_score(const Comparison& comparison, const ScoreDifference& score) {
    Json worst = Json::array();
    for (size_t i = 0; i < std::min(kShownScenes, score.worst.size()); ++i) {
        const Scene& scene = score.worst[i].scene;
        worst.push_back({{"first_frame", comparison.frame_numbers[scene.begin]},
                         {"last_frame", comparison.frame_numbers[scene.end - 1]},
                         {"frames", scene.size()},
                         {"difference", score.worst[i].mean}});
    }
    const char* const way = score.better == Better::kHigher  ? "higher"
                            : score.better == Better::kLower ? "lower"
                                                             : "neither";
    return {{"score", score.name},
            {"better", way},
            {"frames", score.frames},
            {"mean_a", score.mean_a},
            {"mean_b", score.mean_b},
            {"difference", score.mean},
            {"interval", json_of_interval(score.intervals.mean)},
            {"p5_a", score.p5_a},
            {"p5_b", score.p5_b},
            {"p5_difference", score.p5},
            {"p5_interval", json_of_interval(score.intervals.p5)},
            {"threshold", score.threshold},
            {"better_share", score.better_share},
            {"worse_share", score.worse_share},
            {"verdict", score.verdict().empty() ? Json() : Json(score.verdict())},
            {"worst_scenes", worst}};
}

} // namespace

std::string time_text(int64_t frame, double frame_rate) {
    if (frame_rate <= 0) return "";
    const double seconds = static_cast<double>(frame) / frame_rate;
    const double minutes = std::floor(seconds / 60 + 1e-9);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.0f:%04.1f", minutes, std::fabs(seconds - 60 * minutes));
    return text.data();
}

std::string scene_text(const Comparison& comparison, const Scene& scene) {
    const int64_t first = comparison.frame_numbers[scene.begin], last = comparison.frame_numbers[scene.end - 1];
    const std::string time = time_text(first, comparison.frame_rate);
    return std::to_string(first) + "-" + std::to_string(last) + (time.empty() ? "" : " (" + time + ")");
}

/// "models: vmaf is vmaf_v0.6.1"
std::string models_text(const Comparison& comparison) {
    std::string text;
    for (const auto& [name, model] : comparison.models.items())
        text += (text.empty() ? "models: " : ", ") + name + " is " + text_of(comparison.models, name.c_str());
    return text.empty() ? "" : text + "\n";
}

std::string text_of_comparison(const Comparison& comparison) {
    const Resampling& way = comparison.resampling;
    std::string text = "A: " + comparison.a + "\nB: " + comparison.b + "\n" + std::to_string(comparison.frames) +
                       " frames, " + std::to_string(comparison.scenes.list.size()) + " scenes (" +
                       comparison.scenes.source + ")\ndifferences are B - A; intervals of " + fixed(way.confidence, 1) +
                       " %, from " + std::to_string(way.count) + " draws of " + comparison.drawn_text() + ", seed " +
                       std::to_string(way.seed) + "\n" + models_text(comparison) + "\n";
    const size_t width = name_width(comparison);
    text += "score" + std::string(width - 5, ' ');
    for (const auto& [name, columns] :
         {std::pair("mean A", kNumber), std::pair("mean B", kNumber), std::pair("difference", kNumber),
          std::pair("interval", kInterval), std::pair("p5 diff.", kNumber), std::pair("interval", kInterval),
          std::pair("better", size_t{9}), std::pair("worse", size_t{9})})
        text += padded(name, columns);
    text += "\n";
    for (const ScoreDifference& each : comparison.scores) text += row_of(each, width);
    text += worst_text(comparison, comparison.scores.front());
    for (const std::string& note : comparison.notes) text += "note: " + note + "\n";
    return text;
}

Json json_of_comparison(const Comparison& comparison) {
    const std::string drawn = comparison.drawn_text();
    Json scores = Json::array();
    for (const ScoreDifference& each : comparison.scores) scores.push_back(json_of_score(comparison, each));
    return {{"a", comparison.a},
            {"b", comparison.b},
            {"frames", comparison.frames},
            {"scenes", comparison.scenes.list.size()},
            {"scene_source", comparison.scenes.source},
            {"drawn", drawn},
            {"models", comparison.models},
            {"confidence", comparison.resampling.confidence},
            {"resamples", comparison.resampling.count},
            {"seed", comparison.resampling.seed},
            {"method",
             {{"mean", "paired bootstrap over " + drawn + ", BCa"},
              {"p5", "paired bootstrap over " + drawn + ", percentile"}}},
            {"scores", scores},
            {"notes", comparison.notes}};
}

} // namespace qc::cli
