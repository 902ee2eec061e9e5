// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace compat {
namespace {

constexpr std::pair<VmafPoolingMethod, const char*> kPools[] = {{VMAF_POOL_METHOD_MIN, "min"},
                                                                {VMAF_POOL_METHOD_MAX, "max"},
                                                                {VMAF_POOL_METHOD_MEAN, "mean"},
                                                                {VMAF_POOL_METHOD_HARMONIC_MEAN, "harmonic_mean"}};

/// As printf's "%.Nf" without a locale.
std::string fixed(double value, int digits) {
    std::array<char, 400> text; // of 309 digits before the point
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits);
    return error == std::errc{} ? std::string(text.data(), end) : std::string();
}

/// Six digits, or sixteen where six would hide that a part below one is there.
std::string score_text(double score) {
    double part = std::abs(score) - std::floor(std::abs(score));
    int zeros = 0;
    for (; part > 0 && part < 1.0; part *= 10.0) ++zeros;
    return fixed(score, zeros <= 6 ? 6 : 16);
}

std::string json_score(double score) {
    return std::isfinite(score) ? score_text(score) : "null";
}

std::string quoted(const std::string& text) {
    return "\"" + text + "\"";
}

std::string attribute(const std::string& name, const std::string& value) {
    return name + "=" + quoted(value) + " ";
}

class Writer {
public:
    Writer(const ScoreStore& scores, const ReportHead& head) : scores_(scores), head_(head) {
        for (const unsigned index : scores.indices())
            if (index % head.every == 0) indices_.push_back(index);
    }

    std::string xml() const {
        std::string text = "<VMAF version=" + quoted(vmaf_version()) + ">\n  <params " +
                           attribute("qualityWidth", std::to_string(head_.width)) +
                           attribute("qualityHeight", std::to_string(head_.height)) + "/>\n  <fyi " +
                           attribute("fps", fixed(head_.fps, 2)) + "/>\n  <frames>\n";
        for (const unsigned index : indices_) {
            text += "    <frame " + attribute("frameNum", std::to_string(index));
            each_score(index,
                       [&](const std::string& name, double score) { text += attribute(name, score_text(score)); });
            text += "/>\n";
        }
        text += "  </frames>\n  <pooled_metrics>\n";
        for (const std::string& name : scores_.names()) {
            text += "    <metric " + attribute("name", name);
            each_pool(name, [&](const char* method, double score) { text += attribute(method, score_text(score)); });
            text += "/>\n";
        }
        text += "  </pooled_metrics>\n  <aggregate_metrics ";
        for (const auto& [name, score] : scores_.aggregates()) text += attribute(name, score_text(score));
        return text + "/>\n</VMAF>\n";
    }

    std::string json() const {
        std::string text = "{\n  \"version\": " + quoted(vmaf_version()) +
                           ",\n  \"fps\": " + (std::isfinite(head_.fps) ? fixed(head_.fps, 2) : "null") +
                           ",\n  \"frames\": [";
        for (const unsigned index : indices_) {
            text += (index == indices_.front() ? "\n    {\n      \"frameNum\": " : ",\n    {\n      \"frameNum\": ") +
                    std::to_string(index) + ",\n      \"metrics\": {";
            const char* begin = "\n        ";
            each_score(index, [&](const std::string& name, double score) {
                text += std::exchange(begin, ",\n        ") + quoted(name) + ": " + json_score(score);
            });
            text += "\n      }\n    }";
        }
        text += "\n  ],\n  \"pooled_metrics\": {";
        for (const std::string& name : scores_.names()) {
            text += (name == scores_.names().front() ? "\n    " : ",\n    ") + quoted(name) + ": {";
            const char* begin = "\n      ";
            each_pool(name, [&](const char* method, double score) {
                text += std::exchange(begin, ",\n      ") + quoted(method) + ": " + json_score(score);
            });
            text += "\n    }";
        }
        text += "\n  },\n  \"aggregate_metrics\": {";
        const char* begin = "\n    ";
        for (const auto& [name, score] : scores_.aggregates())
            text += std::exchange(begin, ",\n    ") + quoted(name) + ": " + json_score(score);
        return text + "\n  }\n}\n";
    }

    /// Where a score is missing its field is empty, so that the columns behind it keep their places.
    std::string csv() const {
        std::string text = "Frame,";
        for (const std::string& name : scores_.names()) text.append(name).append(",");
        text += "\n";
        for (const unsigned index : indices_) {
            text += std::to_string(index) + ",";
            for (const std::string& name : scores_.names()) {
                const std::optional<double> score = scores_.find(name, index);
                text += (score ? score_text(*score) : std::string()) + ",";
            }
            text += "\n";
        }
        return text;
    }

    std::string sub() const {
        std::string text;
        for (const unsigned index : indices_) {
            const std::string number = std::to_string(index);
            text.append("{").append(number).append("}{").append(std::to_string(uint64_t{index} + 1));
            text.append("}frame: ").append(number).append("|");
            each_score(index,
                       [&](const std::string& name, double score) { text += name + ": " + score_text(score) + "|"; });
            text += "\n";
        }
        return text;
    }

private:
    template <typename Visit>
    void each_score(unsigned index, Visit&& visit) const {
        for (const std::string& name : scores_.names())
            if (const std::optional<double> score = scores_.find(name, index)) visit(name, *score);
    }
    /// All four or none.
    template <typename Visit>
    void each_pool(const std::string& name, Visit&& visit) const {
        if (indices_.empty()) return;
        for (const auto& [method, word] : kPools) {
            const std::optional<double> score = scores_.pooled(name, method, 0, indices_.back(), head_.every);
            if (!score) return;
            visit(word, *score);
        }
    }

    const ScoreStore& scores_;
    const ReportHead& head_;
    std::vector<unsigned> indices_;
};

} // namespace

std::string report_text(const ScoreStore& scores, const ReportHead& head, VmafOutputFormat format) {
    const Writer writer(scores, head);
    switch (format) {
    case VMAF_OUTPUT_FORMAT_XML:
        return writer.xml();
    case VMAF_OUTPUT_FORMAT_JSON:
        return writer.json();
    case VMAF_OUTPUT_FORMAT_CSV:
        return writer.csv();
    default:
        return writer.sub();
    }
}

} // namespace compat
