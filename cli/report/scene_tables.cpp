// SPDX-License-Identifier: BSD-2-Clause-Patent
// All scenes in the page, a row for each.
#include <algorithm>
#include <map>

#include "report/html.hpp"
#include "report/report_sections.hpp"
#include "report/worst.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr size_t kMostRows = 1000; ///< of a table in the page

/// Encodes whose scenes are the same ones.
struct Alike {
    std::vector<size_t> encodes;
    std::vector<std::vector<WorstScene>> scenes; ///< of each
};

std::vector<Alike> alike_encodes(const Report& report) {
    std::vector<Alike> groups;
    std::map<std::vector<std::pair<int64_t, int64_t>>, size_t> known;
    for (size_t i = 0; i < report.encodes.size(); ++i) {
        std::vector<WorstScene> scenes = judged_scenes(report, i);
        if (scenes.empty()) continue;
        std::vector<std::pair<int64_t, int64_t>> places;
        places.reserve(scenes.size());
        for (const WorstScene& each : scenes) places.push_back(frames_of(report.encodes[i], each.scene));
        const auto [found, is_new] = known.emplace(std::move(places), groups.size());
        if (is_new) groups.emplace_back();
        groups[found->second].encodes.push_back(i);
        groups[found->second].scenes.push_back(std::move(scenes));
    }
    return groups;
}

std::string table_of(const Report& report, const Alike& group) {
    const Encode& encode = report.encodes[group.encodes.front()];
    const int decimals = decimals_of(report, report.score);
    std::vector<std::string> columns = {"frames", "time code"};
    for (const size_t number : group.encodes) columns.push_back(report.encodes[number].label);
    columns.emplace_back("in the plot");
    std::vector<std::vector<Cell>> rows;
    const size_t count = group.scenes.front().size(), shown = std::min(count, kMostRows);
    for (size_t k = 0; k < shown; ++k) {
        const Scene& scene = group.scenes.front()[k].scene;
        const std::string code = time_code(frames_of(encode, scene).first, encode.log.frame_rate());
        rows.push_back({head_cell(scene_text(encode, scene)), number_cell(code.empty() ? "-" : code)});
        for (const std::vector<WorstScene>& own : group.scenes)
            rows.back().push_back({escaped(fixed(own[k].mean, decimals)) + " <small>" +
                                       escaped(fixed(own[k].lowest, decimals)) + "</small>",
                                   true, false});
        rows.back().push_back(Cell{scene_button(encode, scene)});
    }
    const std::string more = shown < count
                                 ? paragraph("The first " + std::to_string(shown) +
                                                 " scenes; --scenes FILE writes all " + std::to_string(count) + ".",
                                             "note")
                                 : "";
    return table("Scenes by " + report.score + ": the mean, and in small the worst frame's", columns, rows,
                 "class=\"scenes\"") +
           more;
}

} // namespace

std::string scene_button(const Encode& encode, const Scene& scene) {
    const std::vector<int64_t>& frames = encode.log.frames;
    return "<button type=\"button\" class=\"show\" data-first=\"" + std::to_string(frames[scene.begin]) +
           "\" data-last=\"" + std::to_string(frames[scene.end - 1]) + "\">show</button>";
}

std::string scene_text(const Encode& encode, const Scene& scene) {
    return std::to_string(encode.log.frames[scene.begin]) + "-" + std::to_string(encode.log.frames[scene.end - 1]);
}

std::string scene_tables(const Report& report) {
    std::string html;
    for (const Alike& each : alike_encodes(report)) html += table_of(report, each);
    return html.empty() ? "" : "<details><summary>All scenes, in their order</summary>\n" + html + "</details>\n";
}

} // namespace qc::cli
