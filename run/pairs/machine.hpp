// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is behind the handle of quality_cuda_run/pairs.h, which documents it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quality_cuda_run/counts.h"
#include "run/pairs/input.hpp"

/// The public functions' names without their prefix, and what they say.
struct qcr_pairs {
public:
    qcr_pairs(const qcr_pairs_config& config, qcr_counts* counts);
    qcr_pairs(const qcr_pairs& whole, qcr_counts* counts); ///< on trial
    qcr_pairs& operator=(const qcr_pairs&) = delete;
    ~qcr_pairs();

    int first_frames(int input) const;
    void show_first(int input, std::span<const int64_t> pts);
    double rate() const { return rate_; }
    double tolerance() const { return pairing_.tolerance; }
    void correct_start(int rendition, bool is_told, int frames, double seconds);

    bool needs(int input);
    bool jumps(int input, int64_t pts) const;
    bool foresee(const qcr_offer& offer);
    bool offer(const qcr_offer& offer);
    void end(int input, double now);
    void refuse(int input, int64_t pts);
    void abandon() { state_ = State::kAbandoned; }

    void next(qcr_decision* decision);
    void take();
    void leave();
    void fail();

    qcr_input state_of(int input) const;
    void* held(int input) const;
    const qcr_decision& latest() const { return latest_; } ///< the last pair
    void count_unused();
    qc::run::Input& input(int index) { return inputs_[static_cast<size_t>(index)]; }
    const qc::run::Input& input(int index) const { return inputs_[static_cast<size_t>(index)]; }
    int input_count() const { return static_cast<int>(inputs_.size()); }

private:
    using Input = qc::run::Input;

    enum class State { kRunning, kEnded, kAbandoned };

    /// The distorted frame that is to be decided about.
    struct Waiting {
        bool held = false;
        qc::run::Frame frame;
        int64_t stamp = QCR_NO_PTS; ///< its time, as pairing counts
        bool disabled = false;
        bool is_repeat = false;
    };

    int rate_frames() const;
    void settle_rate(std::span<const int64_t> pts);
    bool mends_delay() const;
    void mend_delay(int index) noexcept;
    void compare_lengths(int index);
    bool goes_by_stamps() const;
    bool is_weights(int index) const { return index > config_.renditions; }
    int64_t stamp_of(const Input& in, int64_t pts) const;
    void adopt_rate(double rate);
    void warn_of_start() noexcept;

    void release(qc::run::Frame* frame);
    void drop(Input& in, qc::run::Frame* frame);
    void wait(const qcr_offer& offer);
    void receive(int index, qc::run::Frame frame);
    void receive_tail(Input& in, qc::run::Frame frame);
    bool is_behind(const Input& in, int64_t pts) const;

    void step(Input& in);
    bool resolve(Input& in);
    bool resolve_weights(Input& in);
    bool resolve_all();
    bool next_weights_hold(const Input& in) const;
    bool outlasts() const;
    bool repeat_last();

    void count_frame(bool disabled);
    void decide(qcr_decision* decision);
    void decide_running(qcr_decision* decision);
    void make_pair(qcr_decision* decision);
    void pass(qcr_decision* decision);
    void decide_abandoned(qcr_decision* decision);
    void decide_end(qcr_decision* decision);
    void hand_over(qcr_decision* decision);
    double distance(const Input& in, int64_t pts) const;
    void use_up();

    qcr_pairs_config config_;
    qc::run::Rules pairing_{};
    qcr_counts* counts_;
    std::vector<Input> inputs_;
    State state_ = State::kRunning;
    Waiting waiting_;
    qcr_decision latest_{};  ///< the last pair
    bool has_begun_ = false; ///< there was a distorted frame; the latest one had this timestamp
    int64_t last_stamp_ = QCR_NO_PTS;
    bool last_disabled_ = false;
    int64_t weights_ = 0; ///< frames of weights up to the one that holds
    double rate_ = 0;
    bool rate_settled_ = false, start_told_ = false, start_checked_ = false, jump_told_ = false;
    bool is_over_ = false;     ///< no pair is made any more
    bool after_pause_ = false; ///< the next pair lies behind a pause
};
