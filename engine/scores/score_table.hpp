// SPDX-License-Identifier: BSD-2-Clause-Patent
// The scores of one rendition: gathers what metrics deliver out of order, completes rows with the models, hands them
// out in order, pools them and keeps them for the log. Memory depends on how many frames are pending, not on how many
// were scored.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "contract/status.hpp"
#include "plan/score_plan.hpp"
#include "quality_cuda.h"
#include "scores/pooling.hpp"
#include "scores/score_spool.hpp"

namespace qc {

/// Used from one thread at a time.
///
/// A row is final when every score that is expected for it has arrived:
/// - frame % n_subsample == 0: all instances; otherwise only those that are evaluated for every frame;
/// - without a distorted picture: of these, only Scope::kReference.
/// A final row is *scored* if it belongs to a frame that n_subsample keeps, has a pair and was not left out. Other rows
/// are handed out with nothing present and take no part in pooling, counts or log.
///
/// A row becomes final, is pooled and spooled inside put() (or begin_frame() or close()), whether or not it is fetched.
class ScoreTable {
public:
    /// @param plan must outlive the table
    static Status create(const ScorePlan& plan, std::unique_ptr<ScoreTable>* table);

    /// Declares the next frame: 0, 1, 2 ...
    /// @param has_pair this rendition has a distorted picture for it
    void begin_frame(int64_t frame, bool has_pair);

    /// Score of an instance's output for a frame that was begun. Outputs without a column, scores that the row does not
    /// expect and those of rows that are final are ignored.
    void put(int64_t frame, int instance, int output, double value);

    /// The row of a frame that was begun is final, without scores: its mask has no weight. As with put(), of no effect
    /// on rows that are final.
    void leave_out(int64_t frame);

    /// A score that was computed elsewhere, in the place of put(), for a frame that was begun. What the row does not
    /// expect is ignored. @return QC_ERROR_INVALID for one that is there already
    Status import(int64_t frame, int column, double value);
    /// What was not imported will not come: rows that lack a score become final with nothing present.
    void give_up_missing();

    /// Hands out the next final row, in order. Pointers have one element per column and are valid until the next call.
    /// @param left_out whether leave_out() was called for it
    bool next_final(int64_t* frame, const double** values, const unsigned char** present, bool* left_out = nullptr);

    /// No more scores will come (all metrics were flushed, or the session failed). Rows that are still incomplete are
    /// dropped: they are neither handed out nor counted.
    void close();

    /// The scores that are missing for the frames below number `frames` will not come: their rows become final with
    /// nothing present. The frames from there on are forgotten, as if they had never been begun.
    void abandon(int64_t frames);

    /// Behind close(): forgets the frames from number `frames` on, as if they had never been begun; and all
    /// stream-level values, which are of more frames. @return QC_ERROR_IO if the rows that stay cannot be read back
    Status truncate(int64_t frames);

    /// Why the table stopped finalising rows: a model's score is beyond all measure (QC_ERROR_INVALID), earlier rows
    /// cannot be read back (QC_ERROR_IO), memory is exhausted (QC_ERROR_NO_MEMORY), or the engine broke the protocol
    /// (QC_ERROR_INTERNAL). What was final before stays available.
    const Status& status() const { return status_; }

    int64_t scored_frames() const { return scored_frames_; }
    int64_t dropped_frames() const { return dropped_frames_; } ///< incomplete when close() was called
    int64_t pending_frames() const { return static_cast<int64_t>(pending_.size()); }

    /// Over the scored frames so far. Percentiles and deviation read the column back and sort it.
    /// @return QC_ERROR_INVALID if there are no frames or the column does not exist
    Status pooled(int column, qc_pool pool, double* value) const;

    /// The same over the scored frames from `first` up to, but without, `end`.
    Status pooled_between(int column, qc_pool pool, int64_t first, int64_t end, double* value) const;

    /// Frames whose rows are final: all below this number.
    int64_t final_frames() const;
    /// The score of a frame whose row is final; NaN if it has none.
    /// @return QC_ERROR_INVALID if the column does not exist, QC_ERROR_IO if rows cannot be read back
    Status score(int column, int64_t frame, double* value) const;

    /// What pooled() says of one column, all methods at once, indexed by qc_pool.
    using AllPools = std::array<double, QC_POOL_COUNT>;
    /// For every column; reads the scores back as few times as a bounded memory allows. Nothing if there are no frames.
    Status pool_everything(std::vector<AllPools>* columns) const;

    /// Stream-level values, in the order of their first setting.
    void set_aggregate(std::string name, double value);
    std::span<const std::pair<std::string, double>> aggregates() const { return aggregates_; }

    /// The columns in the order of a log, which is libvmaf's: as their first scores came, the models' last.
    std::vector<size_t> log_order() const;

    /// Calls `visit` for every scored row in frame order until it fails; values are one per column.
    Status for_each_scored_row(const std::function<Status(int64_t frame, std::span<const double>)>& visit) const;

private:
    struct PendingRow {
        int64_t frame = 0;
        bool has_pair = false;
        bool is_left_out = false;
        int missing = 0; ///< expected scores that have not arrived
        std::vector<double> values;
        std::vector<unsigned char> present;
    };

    explicit ScoreTable(const ScorePlan& plan);

    struct UnscoredFrame {
        int64_t frame;
        bool is_left_out;
    };

    bool keeps(int64_t frame) const { return frame % plan_.n_subsample == 0; }
    bool expects(const MetricInstance& instance, int64_t frame, bool has_pair) const;
    int expected_scores(int64_t frame, bool has_pair) const;
    void settle_complete_rows();
    void settle(PendingRow& row);
    void retire_front();
    Status check_column(int column) const;
    Status check_pooling(int column, qc_pool pool) const;
    void count(std::span<const double> values);
    void set_stream_scores();
    Status run_models(int64_t frame, std::vector<double>& values);
    Status read_ahead();
    void fail(Status status);
    Status read_columns(size_t first, size_t count, std::vector<std::vector<double>>* scores) const;

    const ScorePlan& plan_;
    int64_t next_frame_ = 0;
    std::deque<PendingRow> pending_;            ///< front: the oldest frame that is not final
    std::vector<PendingRow> spare_rows_;        ///< to take memory from, so that nothing is allocated per frame
    ScoreSpool spool_;                          ///< the scored rows: the others have nothing to keep
    std::deque<UnscoredFrame> unscored_frames_; ///< final and not handed out yet
    int64_t scored_rows_read_ = 0;
    std::optional<int64_t> ahead_frame_; ///< of the scored row to be handed out next, if it was read already
    std::vector<double> ahead_values_;   ///< its scores
    std::vector<double> handed_values_;
    std::vector<unsigned char> handed_present_;
    std::vector<RunningPool> pools_;         ///< per column
    std::vector<double> stream_sums_;        ///< per stream score of the plan
    std::vector<unsigned char> was_written_; ///< per column
    std::vector<size_t> written_;            ///< columns in the order of their first scores
    std::vector<double> model_inputs_, model_outputs_;
    int64_t scored_frames_ = 0, dropped_frames_ = 0;
    bool closed_ = false;
    int64_t dropped_from_ = 0; ///< behind close(): the first frame that may have been dropped
    std::vector<std::pair<std::string, double>> aggregates_;
    Status status_;
};

} // namespace qc
