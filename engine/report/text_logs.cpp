// SPDX-License-Identifier: BSD-2-Clause-Patent
// The layouts without structure of their own: XML, CSV, subtitles.
#include <nlohmann/json.hpp>

#include "report/log_formats.hpp"
#include "text/utf8.hpp"

namespace qc {

namespace {

bool may_start_a_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string attribute_name(std::string_view name) {
    std::string text;
    if (name.empty() || !may_start_a_name(name.front())) text += '_';
    for (const char c : name) text += may_start_a_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '-' ? c : '_';
    return text;
}

/// Each attribute is followed by a space, the last one too.
std::string attribute(std::string_view name, const std::string& value) {
    return attribute_name(name) + "=\"" + value + "\" ";
}

/// Text that may stand in an attribute's value.
std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : valid_utf8(text)) {
        if (static_cast<unsigned char>(c) < 0x20 || c == '&' || c == '<' || c == '"') {
            safe += static_cast<unsigned char>(c) < 0x20 ? " " : c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&quot;";
        } else {
            safe += c;
        }
    }
    return safe;
}

/// A string, number or truth value as an attribute; nothing for what has no such form.
std::string plain_attribute(std::string_view name, const nlohmann::json& value) {
    if (value.is_null() || value.is_structured()) return {};
    return attribute(name, escaped(value.is_string() ? value.get_ref<const std::string&>() : value.dump()));
}

/// What the front end adds: attributes of the element that is open, then elements of their own.
std::string extra_parts(std::span<const qc_log_extra> extras) {
    std::string attributes, elements;
    for (const qc_log_extra& extra : extras) {
        const nlohmann::json value = nlohmann::json::parse(extra.json_value);
        attributes += plain_attribute(extra.key, value);
        if (!value.is_object()) continue;
        elements += "  <" + attribute_name(extra.key) + " ";
        for (const auto& [name, member] : value.items()) elements += plain_attribute(name, member);
        elements += "/>\n";
    }
    return attributes + "/>\n" + elements;
}

Status write_xml_frames(const ScoreTable& table, const ScorePlan& plan, OutputFile* file) {
    const std::vector<size_t> order = table.log_order();
    QC_RETURN_IF_ERROR(file->write("  <frames>\n"));
    QC_RETURN_IF_ERROR(table.for_each_scored_row([&](int64_t frame, std::span<const double> values) {
        std::string text = "    <frame " + attribute("frameNum", std::to_string(frame));
        for (const size_t i : order) text += attribute(plan.columns[i].name, score_text(values[i]));
        return file->write(text + "/>\n");
    }));
    return file->write("  </frames>\n");
}

Status write_xml_pooled(const ScoreTable& table, const ScorePlan& plan, OutputFile* file) {
    std::vector<ScoreTable::AllPools> pools;
    QC_RETURN_IF_ERROR(table.pool_everything(&pools));
    std::string text = "  <pooled_metrics>\n";
    for (const size_t i : table.log_order()) {
        text += "    <metric " + attribute("name", plan.columns[i].name); // names need no escape: see good_model_name()
        for (const qc_pool pool : kLoggedPools)
            if (!pools.empty()) text += attribute(pool_name(pool), score_text(pools[i][static_cast<size_t>(pool)]));
        text += "/>\n";
    }
    return file->write(text + "  </pooled_metrics>\n");
}

} // namespace

Status write_xml_log(const ScoreTable& table, const ScorePlan& plan, const LogHead& head, OutputFile* file) {
    QC_RETURN_IF_ERROR(check_extra(head.extra));
    QC_RETURN_IF_ERROR(file->write("<VMAF version=\"" + std::string(kLayoutVersion) + "\">\n  <params " +
                                   attribute("qualityWidth", std::to_string(head.width)) +
                                   attribute("qualityHeight", std::to_string(head.height)) + "/>\n  <fyi " +
                                   attribute("fps", fixed_text(head.fps, 2)) +
                                   attribute("quality_cuda_version", std::string(head.version)) +
                                   attribute("complete", head.complete ? "true" : "false") + extra_parts(head.extra)));
    QC_RETURN_IF_ERROR(write_xml_frames(table, plan, file));
    QC_RETURN_IF_ERROR(write_xml_pooled(table, plan, file));
    std::string text = "  <aggregate_metrics ";
    for (const auto& [name, value] : table.aggregates()) text += attribute(name, score_text(value));
    return file->write(text + "/>\n</VMAF>\n");
}

Status write_csv_log(const ScoreTable& table, const ScorePlan& plan, OutputFile* file) {
    const std::vector<size_t> order = table.log_order();
    std::string titles = "Frame,";
    for (const size_t i : order) titles += plan.columns[i].name + ",";
    QC_RETURN_IF_ERROR(file->write(titles + "\n"));
    return table.for_each_scored_row([&](int64_t frame, std::span<const double> values) {
        std::string text = std::to_string(frame) + ",";
        for (const size_t i : order) text += score_text(values[i]) + ",";
        return file->write(text + "\n");
    });
}

Status write_sub_log(const ScoreTable& table, const ScorePlan& plan, OutputFile* file) {
    const std::vector<size_t> order = table.log_order();
    return table.for_each_scored_row([&](int64_t frame, std::span<const double> values) {
        const std::string number = std::to_string(frame);
        std::string text = "{" + number + "}{" + std::to_string(frame + 1) + "}frame: " + number + "|";
        for (const size_t i : order) text += plan.columns[i].name + ": " + score_text(values[i]) + "|";
        return file->write(text + "\n");
    });
}

} // namespace qc
