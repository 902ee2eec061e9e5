// SPDX-License-Identifier: BSD-2-Clause-Patent
// A run over records: what the filter does with frames, done with what records say of them.
#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "quality_cuda_run/alignment.h"
#include "quality_cuda_run/conditions.h"
#include "quality_cuda_run/doubts.h"
#include "quality_cuda_run/files.h"
#include "quality_cuda_run/merge.h"
#include "quality_cuda_run/pairs.h"
#include "quality_cuda_run/report.h"
#include "quality_cuda_run/rows.h"
#include "run/merge/frames.hpp"
#include "run/record/parts.hpp"

namespace qc::run {

/// What fails a run, in words for the user.
class RunTrouble : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Ends what a room of run/ or the engine has made.
template <auto end>
struct Ends {
    template <typename Handle>
    void operator()(Handle* handle) const {
        end(handle);
    }
};
template <typename Handle, auto end>
using Owned = std::unique_ptr<Handle, Ends<end>>;

class Merge {
public:
    explicit Merge(const qcr_merge_config& wish);
    ~Merge();
    Merge(const Merge&) = delete;
    Merge& operator=(const Merge&) = delete;

    qcr_merged run();

private:
    /// What an input is, and what became of it.
    struct Input {
        std::string role;
        double tick = 0; ///< seconds
        std::string refusal;
        bool is_mispaired = false;
    };

    // Before the first frame.
    void check_wish();
    void open();
    void make_pairs();
    void settle_start();
    void open_session(size_t part);
    bool converts();
    bool open_any_session();

    // Frames come in.
    bool has_changed(size_t input, const qcr_recorded_frame& frame);
    void offer_next(size_t input, bool is_checked);
    void decide(qcr_decision* decision);
    void read_rest();

    // Decisions.
    void work();
    void act(const qcr_decision& decision);
    void score(const qcr_decision& decision, qcr_row* row);
    void submit(const qcr_decision& decision);
    void pass(const qcr_decision& decision, qcr_row* row);
    void note(const qcr_frame_facts* facts, qcr_row* row);
    void append(const qcr_row& row);
    void break_session();
    void flush();

    // Scores come back.
    void receive(bool waits);
    void account(bool all);
    void say_findings(int64_t rows_left);

    // The end.
    void fail(qcr_merged how, const std::string& why);
    bool conclude();
    void judge();
    void spare_logs();
    void find_origin();
    bool report();
    qcr_report_input input_of_report(int input) const;
    qcr_report report_of() const;

    bool goes_on();
    size_t inputs() const { return records_.inputs; }
    double seconds(size_t input, int64_t pts) const;
    qcr_frame_facts facts_of(size_t input, const qcr_recorded_frame* frame) const;
    const qc_format& format_of(size_t input) const;
    [[noreturn]] void fail_session();
    qcr_alignment_rules alignment_rules() const;

    const qcr_merge_config& wish_;
    Owned<qcr_doubts, qcr_doubts_destroy> doubts_;
    qcr_sink sink_; ///< what is said by it is in the log too, if it is a warning
    Records records_;
    std::array<Input, QCR_MAX_VIDEOS> input_;
    qcr_names names_{};
    qc_config config_{};
    Beginning beginning_;
    Frames frames_;
    PairReader measured_;
    std::string description_; ///< what the sessions of the parts said of themselves
    std::string origin_;      ///< of all parts
    double frame_rate_ = 0;

    Owned<qc_request, qc_request_destroy> request_;
    Owned<qc_session, qc_session_destroy> session_;
    Owned<qcr_conditions, qcr_conditions_destroy> conditions_;
    Owned<qcr_rows, qcr_rows_destroy> rows_;
    std::array<qcr_counts, QC_MAX_RENDITIONS> counts_{};
    Owned<qcr_pairs, qcr_pairs_destroy> pairs_; ///< gives back to frames_
    qcr_alignment alignment_{};
    qcr_files files_{};

    qcr_merged outcome_ = QCR_MERGED;
    std::string reason_; ///< of the first failure
    qcr_end end_ = QCR_END_NONE;
    bool is_flushed_ = false, is_stopped_ = false;
    bool is_refused_ = false;           ///< there are too few pairs
    bool is_rendition_refused_ = false; ///< of a further rendition, whose failure is its own
};

} // namespace qc::run
