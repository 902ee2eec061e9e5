// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the page says of each encode: worst scenes, and where the numbers come from.
#include <algorithm>
#include <cmath>

#include "report/html.hpp"
#include "report/report_sections.hpp"
#include "report/worst.hpp"
#include "words/json_text.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr int kDeepest = 8;
constexpr size_t kMostFacts = 400; ///< of one log
constexpr size_t kMostParts = 64;  ///< whose commands are shown

void add_facts(const std::string& name, const Json& value, int depth, std::vector<std::vector<Cell>>* rows) {
    if (rows->size() >= kMostFacts) return;
    if (value.is_structured() && !value.empty() && depth < kDeepest) {
        const std::string start = name.empty() ? "" : name + " / ";
        for (const auto& [key, each] : value.items()) add_facts(std::string(start).append(key), each, depth + 1, rows);
        return;
    }
    const std::string text = value.is_string()       ? value.get<std::string>()
                             : value.is_structured() ? (value.empty() ? "none" : "...")
                             : value.is_null()       ? "none"
                                                     : json_text(value);
    rows->push_back({head_cell(name), text_cell(text)});
}

void add_commands(const Encode& encode, std::vector<std::vector<Cell>>* rows) {
    const Provenance& made = encode.provenance;
    const auto add = [&](const std::string& what, const std::string& text) {
        rows->push_back({head_cell(what), text_cell(text)});
    };
    if (made.commands.empty()) return add("command", "not known: " + encode.why_no_provenance + ", and no --command");
    for (const std::string& each : made.commands) add("command", each);
    if (!made.folder.empty()) add("in folder", made.folder);
    if (!made.version.empty()) add("by quality-cuda", made.version);
    for (size_t i = 0; i < std::min(made.parts.size(), kMostParts); ++i)
        add(made.parts.size() > 1 ? "part " + std::to_string(i) : "scored by",
            made.parts[i].empty() ? "not known" : made.parts[i]);
    if (made.parts.size() > kMostParts)
        add("further parts",
            std::to_string(made.parts.size() - kMostParts) + ", in " + provenance_name(encode.log.path));
    if (!made.merge.empty()) add("merged by", made.merge);
}

/// A file of an encode, and of its record.
std::string file_text(const std::string& path, const SourceFile& source) {
    if (!path.empty()) return path + (source.checksum.empty() ? "" : " (unchanged since it was scored)");
    return source.path.empty() ? "not known" : source.path + " (changed since it was scored, or not there)";
}

std::string figure(const std::string& jpeg, const std::string& alt, const char* caption) {
    return "<figure><img loading=\"lazy\" decoding=\"async\" src=\"data:image/jpeg;base64," + base64(jpeg) +
           "\" alt=\"" + escaped(alt) + "\"><figcaption>" + caption + "</figcaption></figure>\n";
}

/// What the page's slider has to know of a scene, as attributes.
std::string facts_of(const WorstScene& scene, const Encode& encode, size_t number) {
    std::string html = " data-width=\"" + std::to_string(scene.width) + "\" data-height=\"" +
                       std::to_string(scene.height) + "\" data-name=\"" + escaped(encode.label) + "\"";
    if (!scene.clip) return html;
    const Clip& clip = *scene.clip;
    const std::string clips[] = {clip.is_linked ? clip.reference : clip_id(number, "reference"),
                                 clip.is_linked ? clip.distorted : clip_id(number, "distorted")};
    return html + " data-clips=\"" + (clip.is_linked ? "link" : "embed") + "\" data-reference=\"" + escaped(clips[0]) +
           "\" data-distorted=\"" + escaped(clips[1]) + "\" data-first=\"" + std::to_string(clip.first_frame) +
           "\" data-rate=\"" + fixed(clip.frame_rate, 6) + "\"";
}

std::string pictures_of(const WorstScene& scene, const Encode& encode, size_t number) {
    const std::string frame = std::to_string(encode.log.frames[scene.worst_frame]);
    return "<div class=\"scene\"" + facts_of(scene, encode, number) + "><h3>Frame " + frame + " of scene " +
           scene_text(encode, scene.scene) + "</h3>\n<div class=\"pictures\">\n" +
           figure(scene.picture->reference, "reference, frame " + frame, "reference") +
           figure(scene.picture->distorted, encode.label + ", frame " + frame, "distorted") +
           figure(scene.picture->difference, "difference at frame " + frame, "difference, four times as strong") +
           "</div></div>\n";
}

std::string worst_of_encode(const Report& report, size_t number) {
    const Encode& encode = report.encodes[number];
    const int decimals = decimals_of(report, report.score);
    std::vector<std::vector<Cell>> rows;
    std::string pictures;
    for (size_t i = 0; i < report.worst.size(); ++i) {
        const WorstScene& each = report.worst[i];
        if (each.encode != number) continue;
        const std::string time = time_text(encode.log.frames[each.scene.begin], encode.log.frame_rate());
        rows.push_back({head_cell(scene_text(encode, each.scene)), number_cell(time.empty() ? "-" : time),
                        number_cell(fixed(each.mean, decimals)), number_cell(fixed(each.lowest, decimals)),
                        number_cell(std::to_string(encode.log.frames[each.worst_frame])),
                        Cell{scene_button(encode, each.scene)}});
        if (each.picture) pictures += pictures_of(each, encode, i);
    }
    if (rows.empty()) return paragraph(encode.label + " has no score " + report.score + ".", "note");
    return std::string("<details class=\"encode\"") + (worst_of_all(report)->encode == number ? " open" : "") +
           "><summary>" + escaped(encode.label) + "</summary>\n" +
           table("Worst scenes of " + encode.label + " by " + report.score,
                 {"frames", "time", "mean", "worst frame's", "worst frame", "in the plot"}, rows) +
           pictures + "</details>\n";
}

} // namespace

std::string provenance_section(const Report& report) {
    std::string html;
    for (const Encode& encode : report.encodes) {
        const Layout layout = encode.log.layout;
        const std::string lack = lack_of(layout);
        std::vector<std::vector<Cell>> rows{{head_cell("log"), text_cell(encode.log.path)}};
        rows.push_back({head_cell("layout"), text_cell(name_of(layout) + (lack.empty() ? "" : ": " + lack))});
        rows.push_back({head_cell("distorted video"), text_cell(file_text(encode.distorted, encode.source))});
        rows.push_back({head_cell("reference"), text_cell(file_text(encode.reference, encode.reference_source))});
        rows.push_back(
            {head_cell("scenes"), text_cell(std::to_string(encode.scenes.list.size()) + ", " + encode.scenes.source)});
        add_commands(encode, &rows);
        for (const auto& [key, value] : encode.log.head.items())
            if (key != "pooled_metrics" && key != "renditions" && key != "pairing") add_facts(key, value, 0, &rows);
        html += "<details><summary>" + escaped(encode.label) + "</summary>\n" +
                table("What the log of " + encode.label + " says", {"what", "value"}, rows) + "</details>\n";
    }
    return html + paragraph("Report by quality-cuda " QC_VERSION ".");
}

std::string worst_section(const Report& report) {
    if (report.worst.empty()) return "";
    std::string html = paragraph("By " + report.score + ", the mean of each scene; the worst scene first.");
    if (!report.why_no_pictures.empty())
        html += paragraph("No pictures of some encodes: " + report.why_no_pictures, "note");
    for (size_t i = 0; i < report.encodes.size(); ++i) html += worst_of_encode(report, i);
    return html + scene_tables(report);
}

} // namespace qc::cli
