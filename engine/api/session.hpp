// SPDX-License-Identifier: BSD-2-Clause-Patent
// A scoring session: frames in, rows of scores out. The C API is a thin shell over it (c_api.cpp).
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/backend.hpp"
#include "api/contents_watch.hpp"
#include "api/picture_views.hpp"
#include "plan/score_plan.hpp"
#include "quality_cuda_run/engine.h"
#include "report/log_writer.hpp"
#include "scores/score_table.hpp"

namespace qc {

/// Used from one thread at a time.
class Session {
public:
    /// The strings of the configuration are not looked at: the request was made of them.
    static Status create(const ScoreRequest& request, const qc_config& config, std::unique_ptr<Session>* session);
    /// Parses the strings first.
    static Status create(const qc_config& config, std::unique_ptr<Session>* session);
    /// What create() would refuse before it looks for a device.
    static Status check(const ScoreRequest& request, const qc_config& config);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Status submit(const qc_frame& frame);
    /// A frame that other sessions measured. @param renditions bit k: rendition k has a picture
    Status submit_measured(uint32_t renditions, std::span<const uint64_t> words);
    /// With QC_BACKEND_IMPORTED: a score that was computed elsewhere. Precondition: there is such a rendition
    Status import_score(int rendition, std::string_view feature, int64_t frame, double value);
    /// Before the first frame: `callback` sees every frame's accumulators.
    Status listen(qc_measured_callback callback, void* opaque);
    /// Most earlier pairs that any metric looks back at.
    int history() const { return views_.history(); }
    /// @return QC_OK, QC_AGAIN, QC_END or the failure's code
    qc_status receive(bool wait, qc_row* row);
    void collect() { backend_->collect(); }
    /// The next frame is the first of a new stretch: what waits for a later frame is completed without it.
    Status begin_stretch();
    /// After a failure of the GPU. @return the failure, where there is no way on
    Status continue_on_cpu();
    Status flush();
    Status truncate(int64_t frames);
    /// Waits for work in flight and calls every release that is outstanding.
    void drain() { backend_->drain(); }

    /// Waits for the row of a frame that was submitted, as long as its computation may finish it.
    Status await(int rendition, int64_t frame);
    /// The score of a frame whose row is final.
    /// @param code QC_OK, or why there is no score yet, or none at all: QC_AGAIN, QC_END
    Status score(int rendition, int feature, int64_t frame, double* value, qc_status* code) const;

    const ScorePlan& plan() const { return plan_; }
    const AccumulatorLayout& layout() const { return *layout_; }
    const FrameGeometry& geometry() const { return geometry_; }
    int renditions() const { return config_.renditions; }
    const ScoreTable& table(int rendition) const { return *tables_[static_cast<size_t>(rendition)]; }
    const Backend& backend() const { return *backend_; }
    const std::string& description() const { return description_; }
    /// Of the backend that it began with.
    const std::string& device() const { return device_; }
    const std::string& driver() const { return driver_; }
    qc_backend first_backend() const { return first_backend_; }
    /// Null where the contents are not watched.
    const ContentsWatch* contents() const { return contents_ ? &*contents_ : nullptr; }
    ContentsWatch* contents() { return contents_ ? &*contents_ : nullptr; }
    const Status& failure() const { return failure_; }
    /// Ends the scoring; the first failure stays. For callers: after an exception, which leaves frames half done.
    Status fail(Status status);
    int64_t scored_frames() const;
    Status write_log(int rendition, const std::string& path, qc_log_format format, bool complete,
                     std::span<const qc_log_extra> extra) const;
    void fill_stats(qc_stats* stats) const;

    /// Sees every frame's accumulators before they are finalised; for listen(), and for the tests that hold the
    /// backends against each other.
    std::function<void(const FrameResult&)> on_result;

private:
    class RenditionSink;

    explicit Session(const qc_config& config);

    Status plan_scores(const ScoreRequest& request);
    Status plan_import(const ScoreRequest& request);
    void tell_plan() const;
    bool is_imported() const { return config_.backend == QC_BACKEND_IMPORTED; }
    /// Nothing is scored: whatever the request asks for.
    bool only_watches() const { return config_.watch_contents == 2; }
    Status watch_contents();
    Status draw_map(const MetricDescriptor& metric);
    Status make_scorers();
    Status choose_backend();
    Status open_cpu();
    Status open_cuda();
    void log(qc_log_level level, const std::string& text) const;

    Status enter(FrameInput input);
    Status take_results(bool wait, bool* any);
    Status fail_backend(Status status);
    void abandon_unfinished();
    Status check_tables();
    Status finalise(const FrameResult& result);
    int64_t start_of(size_t instance) const;
    void end_stretch();
    void flush_metrics(bool looking_back_only);
    bool next_row(qc_row* row);
    Status check_frame(const qc_frame& frame) const;
    Status check_pictures(const qc_frame& frame) const;
    Status check_map(const qc_picture& picture) const;

    qc_config config_; ///< defaults resolved; its strings are not used
    qc_config asked_;  ///< before the backend's defaults
    PictureViews views_;
    FrameGeometry geometry_; ///< of what is scored, in the first view
    ScorePlan plan_;
    std::vector<std::unique_ptr<Scorer>> scorers_; ///< per instance: do the work on either backend
    /// finalisers_[instance][rendition], one in all for reference-scope instances: keep what later frames need
    std::vector<std::vector<std::unique_ptr<Finaliser>>> finalisers_;
    std::optional<ContentsWatch> contents_;
    std::optional<MapSetup> map_;
    std::unique_ptr<AccumulatorLayout> layout_;
    std::vector<std::unique_ptr<ScoreTable>> tables_; ///< per rendition
    std::string description_, device_, driver_;
    qc_backend first_backend_ = QC_BACKEND_AUTO;

    int64_t submitted_ = 0, finalised_ = 0, received_ = 0;
    int64_t stretch_start_ = 0;        ///< of the frames that are being finalised
    std::deque<int64_t> stretch_ends_; ///< frames before which a stretch ends, not yet reached by finalise()
    bool flushed_ = false;
    Status failure_;
    bool backend_failed_ = false; ///< that was the failure: what was finalised is whole
    qc_stats former_stats_{};     ///< of the backend that failed
    std::vector<double> row_values_;
    std::vector<unsigned char> row_present_;
    int64_t row_weightless_ = 0;    ///< bit r: rendition r
    std::vector<bool> row_fetched_; ///< per rendition: its part of the next row is in row_values_
    std::chrono::steady_clock::time_point first_submit_, last_result_;

    std::unique_ptr<Backend> backend_; ///< last: uses everything above
};

} // namespace qc
