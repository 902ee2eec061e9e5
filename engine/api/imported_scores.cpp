// SPDX-License-Identifier: BSD-2-Clause-Patent
// A session without pictures: what models read was computed elsewhere, and is handed in value by value.
#include <algorithm>
#include <limits>

#include "api/session.hpp"
#include "text/message.hpp"

namespace qc {
namespace {

/// So far beyond the first frame that lacks a value may others lie: each waits in memory.
constexpr int64_t kMostWaiting = int64_t{1} << 20;

/// No metric refuses such pictures, and every score has its column.
constexpr FrameGeometry kAnyPicture{3840, 2160, 3840, 2160, 8, SampleType::kU8, 3840, 2160};
constexpr PictureSize kUnknownSize{1920, 1080}; ///< what "auto" goes by where nobody says a size

int find_column(const ScorePlan& plan, std::string_view name) {
    for (size_t i = 0; i < plan.columns.size(); ++i) {
        const ScoreColumn& column = plan.columns[i];
        if (!column.is_model && (column.name == name || column.stored_name == name)) return static_cast<int>(i);
    }
    return -1;
}

std::string names_of_features(const ScorePlan& plan) {
    std::string names;
    for (const ScoreColumn& column : plan.columns)
        if (!column.is_model) names += (names.empty() ? "" : ", ") + column.name;
    return names;
}

} // namespace

Status Session::plan_import(const ScoreRequest& request) {
    if (!request.metrics.empty() || request.map != nullptr || request.stats_format != QC_STATS_FORMAT_NONE ||
        config_.watch_contents != 0 || config_.weights != 0)
        return invalid("the backend that is called imported sees no pictures, and predicts by models only: metrics, "
                       "feature, maps, stats_format, watch_contents and weights are not for it");
    geometry_ = kAnyPicture;
    geometry_.frame_rate = config_.frame_rate;
    const bool has_size = config_.reference.width > 0 && config_.reference.height > 0;
    const PictureSize size = has_size ? PictureSize{config_.reference.width, config_.reference.height} : kUnknownSize;
    QC_RETURN_IF_ERROR(build_score_plan(request, &geometry_, &plan_, {}, size));
    keep_model_inputs(&plan_);
    geometry_.width = config_.reference.width;
    geometry_.height = config_.reference.height;
    tell_plan();
    return {};
}

Status Session::import_score(int rendition, std::string_view name, int64_t frame, double value) {
    QC_RETURN_IF_ERROR(failure_);
    if (!is_imported()) return invalid("scores are imported by sessions of the backend that is called imported");
    if (flushed_) return invalid("a score was imported after the flush");
    const int column = find_column(plan_, name);
    if (column < 0) return invalid("no model reads " + in_quotes(name) + ", they read " + names_of_features(plan_));
    ScoreTable& table = *tables_[static_cast<size_t>(rendition)];
    int64_t most = std::numeric_limits<int>::max();
    for (const auto& other : tables_) most = std::min(most, other->final_frames() + kMostWaiting);
    if (frame < 0 || frame > most)
        return invalid(
            format("frame=%lld: 0..%lld is accepted", static_cast<long long>(frame), static_cast<long long>(most)));
    if (submitted_ == 0) first_submit_ = std::chrono::steady_clock::now();
    for (; submitted_ <= frame; ++submitted_)
        for (const auto& every : tables_) every->begin_frame(submitted_, true);
    last_result_ = std::chrono::steady_clock::now();
    QC_RETURN_IF_ERROR(table.import(frame, column, value));
    return check_tables();
}

} // namespace qc
