// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "report/log_formats.hpp"
#include "text/number.hpp"
#include "text/utf8.hpp"

namespace qc {

namespace {

/// "name": value lines of an object, with commas between them.
class JsonLines {
public:
    explicit JsonLines(std::string indent) : indent_(std::move(indent)) {}

    void add(std::string_view name, std::string_view json_value) {
        if (!text_.empty()) text_ += ",\n";
        text_ += indent_;
        text_ += json_string(name);
        text_ += ": ";
        text_ += json_value;
    }
    /// The lines, closed by a line end if there are any.
    std::string take() { return text_.empty() ? std::string() : std::move(text_) + "\n"; }

private:
    std::string indent_, text_;
};

/// [{"name": "vmaf", "model": "vmaf_v1.0.16_3d0h_2160", "score_range": [0, 110]}]
std::string models_list(const ScorePlan& plan) {
    std::string list;
    for (const ModelUse& use : plan.models) {
        const auto range = use.model->score_range();
        list += list.empty() ? "\n" : ",\n";
        list += "    {\"name\": " + json_string(use.name) + ", \"model\": " + json_string(use.source) +
                ", \"score_range\": " +
                (range ? "[" + general_text(range->first) + ", " + general_text(range->second) + "]" : "null") + "}";
    }
    return "[" + list + "\n  ]";
}

/// {"ssimulacra2": {"transfer": "bt1886 (assumed)"}}
std::string conventions_object(std::span<const MetricConventions> conventions) {
    JsonLines metrics("    ");
    for (const MetricConventions& each : conventions) {
        JsonLines lines("      ");
        for (const Convention& convention : each.list) lines.add(convention.key, json_string(convention.value));
        metrics.add(each.metric, "{\n" + lines.take() + "    }");
    }
    return "{\n" + metrics.take() + "  }";
}

/// {"format": "yuv420p", "range": "limited", "matrix": "bt709", "depth": 8}
std::string coding_object(const LoggedCoding& coding) {
    const auto text = [](const std::string& value) { return value.empty() ? "null" : json_string(value); };
    return "{\"format\": " + text(coding.format) + ", \"range\": " + text(coding.range) +
           ", \"matrix\": " + text(coding.matrix) + ", \"depth\": " + std::to_string(coding.depth) + "}";
}

/// [{"input": "reference", "metrics": "luma and chroma", "from": {...}, "to": {...}}]
std::string conversions_list(std::span<const LoggedConversion> conversions) {
    std::string list;
    for (const LoggedConversion& each : conversions) {
        list += list.empty() ? "\n" : ",\n";
        list += "    {\"input\": " + json_string(each.input) + ", \"metrics\": " + json_string(each.metrics) +
                ", \"from\": " + coding_object(each.from) + ", \"to\": " + coding_object(each.to) + "}";
    }
    return "[" + list + "\n  ]";
}

Status write_head(const LogHead& head, const ScorePlan& plan, OutputFile* file) {
    JsonLines lines("  ");
    lines.add("version", json_string(kLayoutVersion));
    lines.add("quality_cuda_version", json_string(head.version));
    lines.add("fps", std::isfinite(head.fps) ? fixed_text(head.fps, 2) : "null");
    lines.add("complete", head.complete ? "true" : "false");
    if (!plan.models.empty()) lines.add("models", models_list(plan));
    if (!head.conventions.empty()) lines.add("conventions", conventions_object(head.conventions));
    if (!head.conversions.empty()) lines.add("conversions", conversions_list(head.conversions));
    for (const qc_log_extra& extra : head.extra) lines.add(extra.key, extra.json_value);
    std::string text = lines.take();
    text.pop_back(); // more follows on the same level
    return file->write("{\n" + text + ",\n");
}

/// All that stands before each score of a frame: of long videos it is most of the log, and the same in every frame.
std::vector<std::string> score_prefixes(const ScorePlan& plan, std::span<const size_t> order) {
    std::vector<std::string> prefixes;
    for (const size_t i : order)
        prefixes.push_back((prefixes.empty() ? "" : ",\n") + std::string("        ") +
                           json_string(plan.columns[i].name) + ": ");
    return prefixes;
}

Status write_frames(const ScoreTable& table, const ScorePlan& plan, OutputFile* file) {
    QC_RETURN_IF_ERROR(file->write("  \"frames\": ["));
    const std::vector<size_t> order = table.log_order();
    const std::vector<std::string> prefixes = score_prefixes(plan, order);
    std::string text; // its memory serves all frames
    bool first = true;
    QC_RETURN_IF_ERROR(table.for_each_scored_row([&](int64_t frame, std::span<const double> values) {
        text = first ? "\n" : ",\n";
        first = false;
        text.append("    {\n      \"frameNum\": ").append(std::to_string(frame)).append(",\n      \"metrics\": {\n");
        for (size_t k = 0; k < order.size(); ++k) text.append(prefixes[k]).append(json_score(values[order[k]]));
        text.append(order.empty() ? "      }\n    }" : "\n      }\n    }");
        return file->write(text);
    }));
    return file->write("\n  ],\n");
}

std::string pooled_object(const ScoreTable::AllPools& pools) {
    JsonLines lines("      ");
    for (qc_pool pool : kLoggedPools) lines.add(pool_name(pool), json_score(pools[static_cast<size_t>(pool)]));
    return "{\n" + lines.take() + "    }";
}

Status write_pooled(const ScoreTable& table, const ScorePlan& plan, OutputFile* file) {
    std::vector<ScoreTable::AllPools> pools;
    QC_RETURN_IF_ERROR(table.pool_everything(&pools));
    JsonLines lines("    ");
    for (const size_t i : table.log_order())
        lines.add(plan.columns[i].name, pools.empty() ? std::string("{\n    }") : pooled_object(pools[i]));
    return file->write("  \"pooled_metrics\": {\n" + lines.take() + "  },\n");
}

Status write_aggregates(const ScoreTable& table, OutputFile* file) {
    JsonLines lines("    ");
    for (const auto& [name, value] : table.aggregates()) lines.add(name, json_score(value));
    return file->write("  \"aggregate_metrics\": {\n" + lines.take() + "  }\n}\n");
}

} // namespace

std::string json_score(double score) {
    return std::isfinite(score) ? score_text(score) : "null";
}

std::string json_string(std::string_view text) {
    std::string quoted = "\"";
    const bool plain =
        std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) > 0x7f; });
    for (const char c : plain ? std::string(text) : valid_utf8(text)) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            quoted += format("\\u%04x", static_cast<unsigned>(c));
        } else {
            quoted += c;
        }
    }
    return quoted + "\"";
}

Status check_extra(std::span<const qc_log_extra> extra) {
    for (const qc_log_extra& each : extra)
        if (each.key == nullptr || each.json_value == nullptr || !nlohmann::json::accept(each.json_value))
            return invalid("log: the value of the additional key " + json_string(each.key != nullptr ? each.key : "") +
                           " is not JSON");
    return {};
}

Status write_json_log(const ScoreTable& table, const ScorePlan& plan, const LogHead& head, OutputFile* file) {
    QC_RETURN_IF_ERROR(check_extra(head.extra));
    QC_RETURN_IF_ERROR(write_head(head, plan, file));
    QC_RETURN_IF_ERROR(write_frames(table, plan, file));
    QC_RETURN_IF_ERROR(write_pooled(table, plan, file));
    return write_aggregates(table, file);
}

} // namespace qc
