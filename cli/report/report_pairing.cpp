// SPDX-License-Identifier: BSD-2-Clause-Patent
// How frames were paired, and what speaks against scores.
#include <algorithm>
#include <cmath>
#include <functional>

#include "report/html.hpp"
#include "report/report_sections.hpp"
#include "words/advice.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr int kDecimals = 6;        ///< of seconds, as in the log
constexpr size_t kNamedEncodes = 3; ///< that have the same problem

struct Count {
    const char *key, *column, *problem; ///< in the log, in the table, in words if it is not 0 (null: it is no problem)
    bool is_always_shown = false;       ///< in the table, which leaves out what is 0 everywhere
};
constexpr Count kCounts[] = {
    {"frames", "frames", nullptr, true},
    {"paired", "paired", nullptr, true},
    {"scored", "scored", nullptr, true},
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

std::string finding_text(const Json& finding) {
    std::string text = "the pictures do not fit (" + text_of(finding, "kind") + ") from frame " +
                       std::to_string(count_of(finding, "frame")) + " on";
    for (const char* key : {"offset", "former_offset", "rate", "count"})
        if (const Json& value = member(finding, key); value.is_number())
            text += ", " + std::string(key) + " " + fixed(value.get<double>(), value.is_number_integer() ? 0 : 6);
    return text;
}

/// What the filter warned of; it has a warning for each finding of its watch.
std::vector<std::string> warnings_of(const Encode& encode) {
    std::vector<std::string> list;
    const Json& head = encode.log.head;
    if (const Json& warnings = member(head, "warnings"); warnings.is_array())
        for (const Json& each : warnings)
            if (each.is_string())
                list.push_back(encode.provenance.version.empty() ? each.get<std::string>()
                                                                 : in_this_commands_words(each.get<std::string>()));
    const Json& findings = member(member(head, "alignment"), "findings");
    if (list.empty() && findings.is_array())
        for (const Json& each : findings) list.push_back(finding_text(each));
    return list;
}

std::vector<std::string> problems_of(const Encode& encode) {
    const Json& head = encode.log.head;
    const Json& pairing = member(head, "pairing");
    std::vector<std::string> problems = warnings_of(encode);
    const auto add = [&](const std::string& text) { problems.push_back(text); };
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
    return problems;
}

/// "a.mp4, b.mp4 and 3 more"
std::string names_of(const Report& report, const std::vector<size_t>& encodes) {
    if (encodes.size() > 1 && encodes.size() == report.encodes.size()) return "all encodes";
    std::string names;
    for (size_t i = 0; i < std::min(encodes.size(), kNamedEncodes); ++i)
        names += (i > 0 ? ", " : "") + report.encodes[encodes[i]].label;
    return names +
           (encodes.size() > kNamedEncodes ? " and " + std::to_string(encodes.size() - kNamedEncodes) + " more" : "");
}

std::string refusal_of(const std::string& other, const std::string& why) {
    return "not to be held against " + other + ": " + why;
}

/// Whether encodes of one title, and pairs that were to be compared, may stand side by side.
void add_incomparable(const Report& report, const std::function<void(const std::string&, size_t)>& add) {
    for (size_t title = 0; title < report.titles.size(); ++title) {
        const Encode* first = nullptr;
        for (const Ladder& ladder : report.ladders) {
            if (ladder.title != title) continue;
            for (const size_t number : ladder.encodes) {
                const Encode& each = report.encodes[number];
                if (first == nullptr) first = &each;
                const std::string why = why_incomparable(first->log, each.log);
                if (!why.empty()) add(refusal_of(first->label, why), number);
            }
        }
    }
    for (const ComparedPair& each : report.comparisons)
        if (!each.refusal.empty()) add(refusal_of(report.encodes[each.a].label, each.what_differs), each.b);
}

/// Whether any log counts such frames.
bool any_counts(const Report& report, const char* key) {
    return std::any_of(report.encodes.begin(), report.encodes.end(),
                       [key](const Encode& each) { return count_of(member(each.log.head, "pairing"), key) != 0; });
}

} // namespace

std::vector<std::string> findings_of(const Report& report) {
    std::vector<std::pair<std::string, std::vector<size_t>>> found; // each text with the encodes that have it
    const auto add = [&](const std::string& text, size_t encode) {
        auto known = std::find_if(found.begin(), found.end(), [&](const auto& each) { return each.first == text; });
        if (known == found.end()) known = found.insert(known, {text, {}});
        if (known->second.empty() || known->second.back() != encode) known->second.push_back(encode);
    };
    for (size_t i = 0; i < report.encodes.size(); ++i)
        for (const std::string& each : problems_of(report.encodes[i])) add(each, i);
    add_incomparable(report, add);
    std::vector<std::string> texts;
    texts.reserve(found.size());
    for (const auto& [text, encodes] : found) texts.push_back(names_of(report, encodes) + ": " + text);
    return texts;
}

std::string pairing_section(const Report& report) {
    std::vector<std::string> columns{"encode"};
    std::vector<std::vector<Cell>> rows;
    const auto is_shown = [&](const Count& each) { return each.is_always_shown || any_counts(report, each.key); };
    for (const Count& each : kCounts)
        if (is_shown(each)) columns.emplace_back(each.column);
    columns.emplace_back("largest distance, s");
    for (const Encode& encode : report.encodes) {
        const Json& pairing = member(encode.log.head, "pairing");
        rows.push_back({head_cell(encode.label)});
        for (const Count& each : kCounts)
            if (is_shown(each))
                rows.back().push_back(number_cell(
                    member(pairing, each.key).is_number() ? std::to_string(count_of(pairing, each.key)) : "-"));
        rows.back().push_back(number_cell(fixed(number_of(pairing, "max_abs_dt", NAN), kDecimals)));
    }
    return (findings_of(report).empty() ? paragraph("No problem: every frame was compared with one of its own.")
                                        : paragraph("What is not as it should be stands at the top of this page.")) +
           table("How frames were paired", columns, rows);
}

} // namespace qc::cli
