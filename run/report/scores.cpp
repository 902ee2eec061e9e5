// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores with their names: lines of statistics, and what was pooled so far.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "run/report/report.hpp"
#include "run/report/stats_file.hpp"
#include "run/text/boundary.hpp"
#include "run/text/text.hpp"

namespace qc::run {

namespace {

constexpr size_t kEngineLine = 1024; ///< bytes that the engine needs for a line of its own

std::string scores_line(const qc_session* session, const qcr_stats_row& row) {
    const int features = qc_session_feature_count(session);
    std::string line = formatted("n:%lld pts_time:", wide(row.row->frame)) + score_text(row.pts_time) +
                       " ref_pts_time:" + score_text(row.ref_pts_time);
    for (int i = 0; i < row.renditions * features; ++i)
        if (row.row->present[i] != 0)
            line += " " + score_name(session, i / features, i % features) + ":" + score_text(row.row->value[i]);
    std::array<char, 32> key{};
    for (int i = 0; i < QCR_MAX_VIDEOS; ++i)
        if ((row.corrupt >> i & 1) != 0) line += std::string(" ") + qcr_corrupt_key(i, key.data(), key.size()) + ":1";
    return line;
}

std::string engine_line(const qc_session* session, const qcr_stats_row& row) {
    std::array<char, kEngineLine> line{};
    return qc_session_stats_line(session, row.row, line.data(), line.size()) == QC_OK ? line.data() : "";
}

} // namespace

std::string score_name(const qc_session* session, int rendition, int feature) {
    qc_feature known;
    if (qc_session_feature(session, feature, &known) != QC_OK) return "";
    return rendition != 0 ? std::to_string(rendition) + "." + known.key : known.key;
}

std::optional<double> pooled(qc_session* session, int rendition, int feature, qc_pool pool) {
    double value = 0;
    if (qc_session_pooled(session, rendition, feature, pool, &value) != QC_OK) return std::nullopt;
    return value;
}

} // namespace qc::run

using namespace qc::run;

void qcr_running_scores(qc_session* session, int renditions, qc_pool pool, char* text, size_t size) {
    if (size == 0) return;
    *text = '\0';
    if_possible([&] {
        std::string all;
        for (int k = 0; k < renditions; ++k)
            for (int f = 0; f < qc_session_feature_count(session); ++f)
                if (const auto value = pooled(session, k, f, pool))
                    all += (all.empty() ? "" : " ") + score_name(session, k, f) + ":" + score_text(*value);
        const size_t length = all.copy(text, size - 1);
        text[length] = '\0';
    });
}

void qcr_write_stats_line(qcr_files* files, const qc_session* session, const qcr_stats_row* row, const qcr_sink* sink) {
    if (files->stats.name == nullptr) return;
    const qc_status status = completed([&] {
        const bool is_own = files->stats_format == QC_STATS_FORMAT_NONE;
        std::string line = is_own ? scores_line(session, *row) : engine_line(session, *row);
        if (line.empty()) return;
        line += '\n';
        qcr_write_stats(files, line.data(), line.size(), sink);
    });
    if (status != QC_OK) fail_stats(files, -ENOMEM, *sink);
}
