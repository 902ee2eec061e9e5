// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a session says of itself at its end.
#include <algorithm>

#include "api/scaling.hpp"
#include "api/session.hpp"

namespace qc {

static std::string size_text(const FrameGeometry& picture) {
    return format("%dx%d", picture.width, picture.height);
}

int64_t Session::scored_frames() const {
    int64_t scored = 0;
    for (const auto& table : tables_) scored = std::max(scored, table->scored_frames());
    return scored;
}

Status Session::write_log(int rendition, const std::string& path, qc_log_format format, bool complete,
                          std::span<const qc_log_extra> extra) const {
    const std::chrono::duration<double> seconds = last_result_ - first_submit_;
    LogHead head;
    head.version = qc_version();
    head.fps = static_cast<double>(scored_frames()) / seconds.count();
    head.complete = complete && failure_.ok() && flushed_;
    head.width = geometry_.width;
    head.height = geometry_.height;
    head.extra = extra;
    std::vector<MetricConventions> conventions;
    if (const Region& region = views_.region(); !region.is_everything())
        conventions.push_back({"region", {{"scored", region_text(region)}, {"picture", size_text(views_.picture())}}});
    if (geometry_.has_weights)
        conventions.push_back({"mask", {{"scored", "means weighted by a mask of the frame"}, {"weights", "0..255"}}});
    if (auto list = is_imported() ? std::vector<Convention>()
                                  : scaling_conventions(views_.config(), views_.picture(), rendition);
        !list.empty())
        conventions.push_back({"scaling", std::move(list)});
    for (size_t i = 0; i < scorers_.size(); ++i)
        if (auto list = scorers_[i]->conventions(); !list.empty())
            conventions.push_back({plan_.instances[i].descriptor->name, std::move(list)});
    head.conventions = conventions;
    const std::vector<LoggedConversion> conversions =
        is_imported() ? std::vector<LoggedConversion>() : views_.logged(rendition);
    head.conversions = conversions;
    return qc::write_log(format, table(rendition), plan_, path, head);
}

void Session::fill_stats(qc_stats* stats) const {
    *stats = former_stats_;
    stats->frames_submitted = submitted_;
    stats->frames_received = received_;
    backend_->add_stats(stats);
}

} // namespace qc
