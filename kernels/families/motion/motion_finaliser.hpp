// SPDX-License-Identifier: BSD-2-Clause-Patent
// The rules over time that make scores of the sums, for motion and motion_v2.
//
// A frame whose weights are all 0 has no score, and is left out. The others do without: the smaller of two scores is
// then the other, and an average over time is of what there is.
#pragma once

#include <array>
#include <optional>

#include "contract/metric.hpp"
#include "families/motion/motion_settings.hpp"

namespace qc::motion {

/// Indices of the scores among a descriptor's outputs.
struct OutputIndices {
    int sad_score, motion2, motion3;
    int motion = -1; ///< the first again, under another name; -1: not written
};

class MotionFinaliser final : public Finaliser {
public:
    MotionFinaliser(const FrameGeometry& geometry, const Settings& settings, const OutputIndices& outputs)
        : geometry_(geometry), settings_(settings), outputs_(outputs) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override;
    void flush(int64_t frames, ScoreSink& sink) override;

private:
    std::optional<double> score_of(std::span<const uint64_t> accumulators) const; ///< none without any weight
    double limited_score(double sum, double pixels) const;
    void begin(int64_t frames, double motion3, ScoreSink& sink); ///< the first ones, without a score of their own
    void complete(int64_t frame, double motion2, ScoreSink& sink);

    const FrameGeometry geometry_;
    const Settings settings_;
    const OutputIndices outputs_;

    // Of the stream so far.
    int64_t frames_ = 0;
    std::array<std::optional<double>, 2> recent_scores_{}; ///< of the last frame and of the one before
    std::optional<double> previous_blended_;               ///< before averaging
};

} // namespace qc::motion
