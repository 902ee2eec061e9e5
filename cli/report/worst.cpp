// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/worst.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "words/json_text.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr size_t kListedScenes = 10; ///< of each encode, as its worst
constexpr int kExact = 6;            ///< decimals of a log

double sign_of(const std::string& score) {
    return better(score) == Better::kLower ? -1 : 1;
}

WorstScene look_at(const Scores& scores, const Scene& scene, size_t encode, double sign) {
    WorstScene result;
    result.encode = encode;
    result.scene = scene;
    result.lowest = NAN;
    result.worst_frame = scene.begin;
    double sum = 0, count = 0;
    for (size_t i = scene.begin; i < scene.end; ++i) {
        const double value = scores.values[i];
        if (std::isnan(value)) continue;
        sum += value;
        ++count;
        if (std::isnan(result.lowest) || sign * value < sign * result.lowest) {
            result.lowest = value;
            result.worst_frame = i;
        }
    }
    result.mean = count > 0 ? sum / count : NAN;
    return result;
}

} // namespace

std::string time_code(int64_t frame, double rate) {
    const int64_t whole = std::llround(rate);
    if (whole <= 0) return "";
    const int64_t seconds = frame / whole;
    char text[64];
    std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld:%02lld", static_cast<long long>(seconds / 3600),
                  static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60),
                  static_cast<long long>(frame % whole));
    return text;
}

std::pair<int64_t, int64_t> frames_of(const Encode& encode, const Scene& scene) {
    return {encode.log.frames[scene.begin], encode.log.frames[scene.end - 1]};
}

std::vector<WorstScene> judged_scenes(const Report& report, size_t encode) {
    const Scores* const scores = report.encodes[encode].log.find(report.score);
    std::vector<WorstScene> list;
    if (scores == nullptr) return list;
    for (const Scene& scene : report.encodes[encode].scenes.list)
        if (WorstScene each = look_at(*scores, scene, encode, sign_of(report.score)); !std::isnan(each.mean))
            list.push_back(std::move(each));
    return list;
}

std::vector<WorstScene> worst_scenes(const Report& report) {
    const double sign = sign_of(report.score);
    std::vector<WorstScene> worst;
    for (size_t i = 0; i < report.encodes.size(); ++i) {
        std::vector<WorstScene> own = judged_scenes(report, i);
        std::stable_sort(own.begin(), own.end(),
                         [sign](const WorstScene& a, const WorstScene& b) { return sign * a.mean < sign * b.mean; });
        own.resize(std::min(own.size(), kListedScenes));
        std::move(own.begin(), own.end(), std::back_inserter(worst));
    }
    return worst;
}

const WorstScene* worst_of_all(const Report& report) {
    const double sign = sign_of(report.score);
    const auto found = std::min_element(report.worst.begin(), report.worst.end(),
                                        [sign](const auto& a, const auto& b) { return sign * a.mean < sign * b.mean; });
    return found == report.worst.end() ? nullptr : &*found;
}

std::string scenes_as_csv(const Report& report) {
    std::string text = "log,rendition,label,scene,first_frame,last_frame,start,end,first_timecode,last_timecode,score,"
                       "mean,worst,worst_frame\n";
    for (size_t i = 0; i < report.encodes.size(); ++i) {
        const Encode& encode = report.encodes[i];
        const double rate = encode.log.frame_rate();
        const std::string start =
            csv_field(encode.log.path) + "," + std::to_string(encode.rendition) + "," + csv_field(encode.label) + ",";
        size_t number = 0;
        for (const WorstScene& each : judged_scenes(report, i)) {
            const auto [first, last] = frames_of(encode, each.scene);
            const auto seconds = [rate](int64_t frame) {
                return rate > 0 ? fixed(static_cast<double>(frame) / rate, kExact) : std::string();
            };
            text += start + std::to_string(number++) + "," + std::to_string(first) + "," + std::to_string(last) + "," +
                    seconds(first) + "," + seconds(last + 1) + "," + time_code(first, rate) + "," +
                    time_code(last, rate) + "," + csv_field(report.score) + "," + fixed(each.mean, kExact) + "," +
                    fixed(each.lowest, kExact) + "," + std::to_string(encode.log.frames[each.worst_frame]) + "\n";
        }
    }
    return text;
}

std::string scenes_as_json(const Report& report) {
    Json all = {{"score", report.score}, {"encodes", Json::array()}};
    for (size_t i = 0; i < report.encodes.size(); ++i) {
        const Encode& encode = report.encodes[i];
        const double rate = encode.log.frame_rate();
        Json scenes = Json::array();
        for (const WorstScene& each : judged_scenes(report, i)) {
            const auto [first, last] = frames_of(encode, each.scene);
            Json scene = {{"first_frame", first}, {"last_frame", last}};
            if (rate > 0)
                scene.update({{"start", static_cast<double>(first) / rate},
                              {"end", static_cast<double>(last + 1) / rate},
                              {"first_timecode", time_code(first, rate)},
                              {"last_timecode", time_code(last, rate)}});
            scene.update(
                {{"mean", each.mean}, {"worst", each.lowest}, {"worst_frame", encode.log.frames[each.worst_frame]}});
            scenes.push_back(std::move(scene));
        }
        all["encodes"].push_back({{"log", encode.log.path},
                                  {"rendition", encode.rendition},
                                  {"label", encode.label},
                                  {"frame_rate", rate > 0 ? Json(rate) : Json()},
                                  {"found", encode.scenes.source},
                                  {"scenes", scenes}});
    }
    return json_text(all, 2) + "\n";
}

} // namespace qc::cli
