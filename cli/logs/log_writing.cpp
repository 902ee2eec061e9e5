// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "logs/log_writing.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>

#include <unistd.h>

#include "logs/logs.hpp"
#include "logs/summary.hpp"
#include "results/results.hpp"
#include "words/failure.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

std::string ending_of(const std::string& path) {
    const size_t dot = path.rfind('.'), slash = path.rfind('/');
    std::string ending =
        dot == std::string::npos || (slash != std::string::npos && dot < slash) ? "" : path.substr(dot);
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return ending;
}

/// Six decimals, or sixteen where those are not all.
std::string score_text(double value) {
    if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    const std::string usual = fixed(value, 6);
    return std::strtod(usual.c_str(), nullptr) == value ? usual : fixed(value, 16);
}

std::string json_text(double value) {
    return std::isfinite(value) ? score_text(value) : "null";
}

/// What JSON had no word for.
double value_in(const Scores& scores, size_t frame) {
    const double value = scores.values[frame];
    return std::isnan(value) ? without_word(scores.name) : value;
}

std::string csv_of(const ScoreLog& log) {
    std::string text = "Frame,";
    for (const Scores& each : log.scores) text += each.name + ",";
    text += "\n";
    for (size_t i = 0; i < log.frames.size(); ++i) {
        text += std::to_string(log.frames[i]) + ",";
        for (const Scores& each : log.scores) text += score_text(value_in(each, i)) + ",";
        text += "\n";
    }
    return text;
}

// ---- XML

/// `name="value" `, with what may stand in neither as something else.
std::string attribute(std::string_view name, std::string_view value) {
    std::string text;
    for (const char c : name)
        text += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ? c : '_';
    text += "=\"";
    for (const char c : value) {
        const std::string_view entity = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : "";
        text += entity.empty() ? std::string(1, static_cast<unsigned char>(c) < ' ' ? ' ' : c) : std::string(entity);
    }
    return text + "\" ";
}

/// A plain value as an attribute; nothing for what has no such form.
std::string plain_attribute(const std::string& name, const Json& value) {
    if (value.is_null() || value.is_structured()) return "";
    return attribute(name, value.is_string() ? value.get<std::string>() : value.dump());
}

/// What the filter tells beside the scores: plain values, then objects of such.
std::string told_in_xml(const Json& head) {
    // These have places of their own, or none.
    constexpr std::string_view kOthers[] = {"version",        "quality_cuda_version", "fps",         "complete",
                                            "models",         "conventions",          "conversions", "alignment",
                                            "pooled_metrics", "aggregate_metrics"};
    std::string attributes, elements;
    for (const auto& [key, value] : head.items()) {
        if (std::find(std::begin(kOthers), std::end(kOthers), key) != std::end(kOthers)) continue;
        attributes += plain_attribute(key, value);
        if (!value.is_object()) continue;
        const nlohmann::json sorted = value; // as the filter has them
        elements += "  <" + key + " ";
        for (const auto& [name, each] : sorted.items()) elements += plain_attribute(name, Json(each));
        elements += "/>\n";
    }
    return attributes + "/>\n" + elements;
}

/// The size of what was scored: a ladder's log tells it.
std::string size_in_xml(const Json& head, const StreamFacts& scored) {
    const Json& renditions = member(head, "renditions");
    const Json own = renditions.is_array() && !renditions.empty() ? renditions.front() : Json();
    const int64_t width = own.is_object() ? count_of(own, "scored_width") : scored.width,
                  height = own.is_object() ? count_of(own, "scored_height") : scored.height;
    if (width <= 0 || height <= 0) return "";
    return attribute("qualityWidth", std::to_string(width)) + attribute("qualityHeight", std::to_string(height));
}

std::string xml_of(const ScoreLog& log, const StreamFacts& scored) {
    const Json& head = log.head;
    const double fps = number_of(head, "fps", NAN);
    std::string text = "<VMAF version=\"" + cli::text_of(head, "version") + "\">\n  <params " +
                       size_in_xml(head, scored) + "/>\n  <fyi " +
                       attribute("fps", std::isfinite(fps) ? fixed(fps, 2) : "nan") +
                       plain_attribute("quality_cuda_version", member(head, "quality_cuda_version")) +
                       plain_attribute("complete", member(head, "complete")) + told_in_xml(head) + "  <frames>\n";
    for (size_t i = 0; i < log.frames.size(); ++i) {
        text += "    <frame " + attribute("frameNum", std::to_string(log.frames[i]));
        for (const Scores& each : log.scores) text += attribute(each.name, score_text(value_in(each, i)));
        text += "/>\n";
    }
    text += "  </frames>\n  <pooled_metrics>\n";
    for (const auto& [score, pools] : member(head, "pooled_metrics").items()) {
        text += "    <metric " + attribute("name", score);
        for (const auto& [pool, value] : pools.items())
            text += attribute(pool, score_text(pooled_of(head, score, pool.c_str())));
        text += "/>\n";
    }
    text += "  </pooled_metrics>\n  <aggregate_metrics ";
    for (const auto& [score, value] : member(head, "aggregate_metrics").items())
        text += attribute(score, score_text(whole_value_of(head, score)));
    return text + "/>\n</VMAF>\n";
}

// ---- lines of JSON

/// "vmaf", of the third rendition "2.vmaf"
std::string key_of(const std::string& score, size_t rendition) {
    return Json((rendition > 0 ? std::to_string(rendition) + "." : "") + score).dump();
}

/// Of a pair, as JSON.
struct Times {
    std::string own = "null", reference = "null";
};

/// By the numbers of frames, from lines of stats_file: "n:0 pts_time:0.000000 ref_pts_time:0.040000 ..."
std::map<int64_t, Times> times_in(const std::string& path) {
    std::map<int64_t, Times> all;
    std::istringstream lines(read_whole(path));
    for (std::string line; std::getline(lines, line);) {
        const auto value_of = [&](const std::string& key) {
            const size_t at = line.find(key);
            if (at == std::string::npos) return std::string();
            const size_t begin = at + key.size();
            return line.substr(begin, line.find(' ', begin) - begin);
        };
        const auto time_of = [&](const std::string& key) {
            const std::string text = value_of(key);
            return text.empty() || text == "nan" ? std::string("null") : text;
        };
        all[std::strtoll(value_of("n:").c_str(), nullptr, 10)] = {time_of(" pts_time:"), time_of(" ref_pts_time:")};
    }
    return all;
}

std::string lines_of(const std::vector<ScoreLog>& logs, const std::map<int64_t, Times>& all_times) {
    const ScoreLog& first = logs.front();
    Json begin = {{"type", "begin"}};
    for (const char* key : kOriginKeys)
        if (const Json& value = member(first.head, key); value.is_object()) begin[key] = value;
    std::string text = begin.dump() + "\n";
    for (size_t i = 0; i < first.frames.size(); ++i) {
        std::string scores;
        for (size_t k = 0; k < logs.size(); ++k) {
            const auto found = std::lower_bound(logs[k].frames.begin(), logs[k].frames.end(), first.frames[i]);
            if (found == logs[k].frames.end() || *found != first.frames[i]) continue;
            const auto at = static_cast<size_t>(found - logs[k].frames.begin());
            for (const Scores& each : logs[k].scores)
                scores += (scores.empty() ? "" : ", ") + key_of(each.name, k) + ": " + json_text(each.values[at]);
        }
        const auto known = all_times.find(first.frames[i]);
        const Times times = known != all_times.end() ? known->second : Times();
        text += R"({"type": "frame", "n": )" + std::to_string(first.frames[i]) + R"(, "pts_time": )" + times.own +
                R"(, "ref_pts_time": )" + times.reference + R"(, "scores": {)" + scores + "}}\n";
    }
    Json end = {{"type", "end"}};
    for (const char* key : {"end", "complete", "reason", "warnings"}) end[key] = member(first.head, key);
    for (const char* key : {"frames", "scored", "unscored"}) end[key] = count_of(member(first.head, "pairing"), key);
    end["scores"] = Json::object();
    for (size_t k = 0; k < logs.size(); ++k)
        for (const auto& [score, pools] : member(logs[k].head, "pooled_metrics").items())
            for (const char* pool : {"mean", "harmonic_mean", "min", "p5"})
                end["scores"][(k > 0 ? std::to_string(k) + "." : "") + score][pool] = member(pools, pool);
    return text + end.dump() + "\n";
}

} // namespace

Layout layout_of_ending(const std::string& path) {
    const std::string ending = ending_of(path);
    return ending == ".csv"     ? Layout::kCsv
           : ending == ".xml"   ? Layout::kXml
           : ending == ".jsonl" ? Layout::kJsonLines
                                : Layout::kJson;
}

void require_layout(const std::string& output, bool is_planned) {
    for (const char* other : {".sub", ".html", ".png"})
        if (ending_of(output) == other)
            throw Failure(
                "--output=" + output + ": a log ends in .json, .csv, .xml or .jsonl" +
                    (std::string_view(other) == ".sub" ? "" : "; quality-cuda report makes a page or a plot of it"),
                kMisused);
    if (layout_of_ending(output) == Layout::kJson) return;
    if (is_planned)
        throw Failure("--output=" + output + ": the log of a plan, or of a cluster, is JSON; .json is accepted",
                      kMisused);
    const std::string folder = std::filesystem::absolute(output).parent_path().string();
    if (access(folder.c_str(), W_OK) != 0)
        throw Failure("--output=" + output + " cannot be written: " + folder + ": " + std::strerror(errno));
}

void write_log_as(const WrittenLog& log, const std::string& output) {
    const Layout layout = layout_of_ending(output);
    const std::vector<std::string> from = log_names(log.path, log.renditions), to = log_names(output, log.renditions);
    if (layout == Layout::kJson) { // of one rendition, for what is no regular file
        write_whole(output, read_whole(log.path));
        return;
    }
    std::vector<ScoreLog> logs;
    for (size_t k = 0; k < log.renditions; ++k) {
        ScoreLog one = read_scores(from[k]);
        if (layout == Layout::kJsonLines)
            logs.push_back(std::move(one));
        else
            write_whole(to[k], layout == Layout::kCsv ? csv_of(one) : xml_of(one, log.scored));
    }
    if (layout == Layout::kJsonLines) write_whole(output, lines_of(logs, times_in(log.times)));
}

} // namespace qc::cli
