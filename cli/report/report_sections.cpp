// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the page says of each encode: pooled scores, pairs, worst scenes, where the numbers come from.
#include <algorithm>
#include <cmath>

#include "report/html.hpp"
#include "report/report_sections.hpp"
#include "words/json_text.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr int kDecimals = 6; ///< of scores, as in the log
constexpr int kDeepest = 8;
constexpr size_t kMostFacts = 400; ///< of one log
constexpr size_t kMostParts = 64;  ///< whose commands are shown

struct Count {
    const char *key, *column, *problem; ///< in the log, in the table, in words if it is not 0 (null: it is no problem)
};
constexpr Count kCounts[] = {
    {"frames", "frames", nullptr},
    {"paired", "paired", nullptr},
    {"scored", "scored", nullptr},
    {"unscored", "unscored", "frames have no score"},
    {"before_reference", "before reference", "frames come before the reference begins"},
    {"after_reference", "after reference", "frames come after the reference ends"},
    {"gaps", "gaps", "frames fall into gaps of the reference"},
    {"untimed", "untimed", "frames have no time stamp"},
    {"reference_repeated", "reference repeated", "reference frames were used more than once"},
    {"reference_unused", "reference unused", "reference frames were not used"},
    {"rendition_late", "rendition late", "frames come before the rendition begins"},
    {"rendition_gaps", "rendition gaps", "frames fall into gaps of the rendition"},
    {"rendition_ended", "rendition ended", "frames come after the rendition ends"},
    {"rendition_repeated", "rendition repeated", "frames of the rendition were used more than once"},
    {"rendition_unused", "rendition unused", "frames of the rendition were not used"},
    {"failed", "failed", "frames were lost when the GPU failed"},
    {"realtime_passed", "passed", "frames passed without a score, for scoring was too slow"},
};
constexpr Count kStreamCounts[] = {
    {"corrupt_frames", "", "damaged frames"},
    {"interlaced_frames", "", "interlaced frames"},
    {"colour_changes", "", "changes of colour tags"},
    {"timestamp_jumps", "", "jumps of time stamps"},
};

std::string list_of(const std::vector<std::string>& texts, const char* kind) {
    if (texts.empty()) return "";
    std::string html = std::string("<ul class=\"") + kind + "\">\n";
    for (const std::string& each : texts) html += "<li>" + escaped(each) + "</li>\n";
    return html + "</ul>\n";
}

std::string finding_text(const Json& finding) {
    std::string text = "the pictures do not fit (" + text_of(finding, "kind") + ") from frame " +
                       std::to_string(count_of(finding, "frame")) + " on";
    for (const char* key : {"offset", "former_offset", "rate", "count"})
        if (const Json& value = member(finding, key); value.is_number())
            text += ", " + std::string(key) + " " + fixed(value.get<double>(), value.is_number_integer() ? 0 : 6);
    return text;
}

std::vector<std::string> problems_of(const Encode& encode) {
    const Json& head = encode.log.head;
    const Json& pairing = member(head, "pairing");
    std::vector<std::string> problems;
    const auto add = [&](const std::string& text) { problems.push_back(encode.label + ": " + text); };
    if (member(head, "complete") == false)
        add("the log is not complete: " +
            (text_of(head, "reason").empty() ? text_of(head, "end") : text_of(head, "reason")));
    if (!member(pairing, "paired").is_number()) add("the log does not say how frames were paired");
    if (const int64_t dropped = count_of(head, "dropped"); dropped != 0)
        add(std::to_string(dropped) + " lines of the log were dropped, for its receiver did not take them");
    for (const Count& each : kCounts)
        if (each.problem != nullptr && count_of(pairing, each.key) != 0)
            add(std::to_string(count_of(pairing, each.key)) + " " + each.problem);
    if (member(pairing, "reference_ended") == false) add("the reference goes on behind what was read of it");
    for (const auto& [key, whose] :
         {std::pair("distorted_stream", "distorted"), std::pair("reference_stream", "reference")})
        for (const Count& each : kStreamCounts)
            if (const int64_t count = count_of(member(head, key), each.key); count != 0)
                add(std::to_string(count) + " " + each.problem + " in the " + whose + " stream");
    const Json& findings = member(member(head, "alignment"), "findings");
    if (findings.is_array())
        for (const Json& each : findings) add(finding_text(each));
    return problems;
}

bool any_has(const Report& report, const char* key) {
    return std::any_of(report.encodes.begin(), report.encodes.end(),
                       [key](const Encode& each) { return !member(member(each.log.head, "pairing"), key).is_null(); });
}

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

std::string scene_row_button(const WorstScene& scene, const Encode& encode) {
    const std::vector<int64_t>& frames = encode.log.frames;
    return "<button type=\"button\" class=\"show\" data-first=\"" + std::to_string(frames[scene.scene.begin]) +
           "\" data-last=\"" + std::to_string(frames[scene.scene.end - 1]) + "\">show</button>";
}

std::string frames_text(const Encode& encode, const Scene& scene) {
    return std::to_string(encode.log.frames[scene.begin]) + "-" + std::to_string(encode.log.frames[scene.end - 1]);
}

std::string figure(const std::string& jpeg, const std::string& alt, const char* caption) {
    return "<figure><img loading=\"lazy\" decoding=\"async\" src=\"data:image/jpeg;base64," + base64(jpeg) +
           "\" alt=\"" + escaped(alt) + "\"><figcaption>" + caption + "</figcaption></figure>\n";
}

std::string pictures_of(const WorstScene& scene, const Encode& encode) {
    const std::string frame = std::to_string(encode.log.frames[scene.worst_frame]);
    return "<div class=\"scene\"><h3>Frame " + frame + " of scene " + frames_text(encode, scene.scene) +
           "</h3>\n<div class=\"pictures\">\n" +
           figure(scene.picture->reference, "reference, frame " + frame, "reference") +
           figure(scene.picture->distorted, encode.label + ", frame " + frame, "distorted") +
           figure(scene.picture->difference, "difference at frame " + frame, "difference, four times as strong") +
           "</div></div>\n";
}

std::string worst_of_encode(const Report& report, size_t number) {
    const Encode& encode = report.encodes[number];
    std::vector<std::vector<Cell>> rows;
    std::string pictures;
    for (const WorstScene& each : report.worst) {
        if (each.encode != number) continue;
        const std::string time = time_text(encode.log.frames[each.scene.begin], encode.log.frame_rate());
        rows.push_back({head_cell(frames_text(encode, each.scene)), number_cell(time.empty() ? "-" : time),
                        number_cell(fixed(each.mean, kDecimals)), number_cell(fixed(each.lowest, kDecimals)),
                        number_cell(std::to_string(encode.log.frames[each.worst_frame])),
                        Cell{scene_row_button(each, encode)}});
        if (each.picture) pictures += pictures_of(each, encode);
    }
    if (rows.empty()) return paragraph(encode.label + " has no score " + report.score + ".", "note");
    return std::string("<details class=\"encode\"") + (number == 0 ? " open" : "") + "><summary>" +
           escaped(encode.label) + "</summary>\n" +
           table("Worst scenes of " + encode.label + " by " + report.score,
                 {"frames", "time", "mean", "worst frame's", "worst frame", "in the plot"}, rows) +
           pictures + "</details>\n";
}

/// Of all encodes, in the order in which they come.
std::vector<std::string> headlines_of(const Report& report) {
    std::vector<std::string> names;
    for (const Encode& encode : report.encodes)
        for (const std::string& name : headline_scores(encode.log))
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    return names;
}

} // namespace

std::string summary_section(const Report& report) {
    std::string html = list_of(report.notes, "notes");
    for (const std::string& score : headlines_of(report)) {
        std::vector<std::vector<Cell>> rows;
        for (const Encode& encode : report.encodes) {
            if (encode.log.find(score) == nullptr) continue;
            const bool is_complete = member(encode.log.head, "complete") != false;
            rows.push_back({head_cell(encode.label + (is_complete ? "" : " (NOT COMPLETE)")),
                            number_cell(std::to_string(encode.log.frames.size())),
                            number_cell(fixed(encode.log.mean(score), kDecimals))});
            for (const char* pool : {"harmonic_mean", "min", "max", "p1", "p5", "p50", "stddev"})
                rows.back().push_back(number_cell(fixed(encode.log.pooled(score, pool), kDecimals)));
        }
        html += table(score, {"encode", "frames", "mean", "harmonic mean", "min", "max", "p1", "p5", "p50", "stddev"},
                      rows, "class=\"summary\"");
    }
    return html;
}

std::string pairing_section(const Report& report) {
    std::vector<std::string> problems, columns{"encode"};
    for (const Encode& each : report.encodes)
        for (const std::string& problem : problems_of(each)) problems.push_back(problem);
    std::vector<std::vector<Cell>> rows;
    for (const Count& each : kCounts)
        if (any_has(report, each.key)) columns.emplace_back(each.column);
    columns.emplace_back("largest distance, s");
    for (const Encode& encode : report.encodes) {
        const Json& pairing = member(encode.log.head, "pairing");
        rows.push_back({head_cell(encode.label)});
        for (const Count& each : kCounts)
            if (any_has(report, each.key))
                rows.back().push_back(number_cell(
                    member(pairing, each.key).is_number() ? std::to_string(count_of(pairing, each.key)) : "-"));
        rows.back().push_back(number_cell(fixed(number_of(pairing, "max_abs_dt", NAN), kDecimals)));
    }
    return (problems.empty() ? paragraph("No problem: every frame was compared with one of its own.")
                             : list_of(problems, "problems")) +
           table("How frames were paired", columns, rows);
}

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
    std::string html = paragraph("By " + report.score + ", the mean of each scene; the worst scene first.");
    if (!report.why_no_pictures.empty())
        html += paragraph("No pictures of some encodes: " + report.why_no_pictures, "note");
    for (size_t i = 0; i < report.encodes.size(); ++i) html += worst_of_encode(report, i);
    return html;
}

} // namespace qc::cli
