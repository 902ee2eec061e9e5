// SPDX-License-Identifier: BSD-2-Clause-Patent
// What motion and motion_v2 have in common: the sum of absolute filtered differences on both backends, and the rules
// over time that make scores of it. The two differ in names and options.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "contract/metric.hpp"

namespace qc::motion {

/// What the options come to.
struct Settings {
    int lag = 1; ///< frames between the two pictures that are compared: 1 or 2
    bool force_zero = false, moving_average = false;
    double blend_factor = 1.0, blend_offset = 40.0, fps_weight = 1.0, max_value = 10000.0;
};

/// Indices of the scores among a descriptor's outputs.
struct OutputIndices {
    int sad_score, motion2, motion3;
    int motion = -1; ///< the first again, under another name; -1: not written
};

class MotionMetric final : public Metric {
public:
    MotionMetric(const FrameGeometry& geometry, const Settings& settings, const OutputIndices& outputs)
        : geometry_(geometry), settings_(settings), outputs_(outputs) {}

    size_t accumulator_words() const override { return 1; }
    void score(const HostReference& reference, std::span<uint64_t> accumulators) const override;
    Status prepare(DeviceProgram& program) override;
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override;
    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override;
    void flush(int64_t frames, ScoreSink& sink) override;

private:
    double weighted_score(uint64_t sum) const;
    double blended(double score) const;
    void complete(int64_t frame, double motion2, ScoreSink& sink);

    const FrameGeometry geometry_;
    const Settings settings_;
    const OutputIndices outputs_;
    Kernel kernel_;

    // Of the stream so far.
    int64_t frames_ = 0;
    std::array<double, 2> recent_scores_{}; ///< of the last frame and of the one before
    double previous_blended_ = 0.0;         ///< before averaging
};

/// `metric`: whose name begins the line.
Status validate_picture(const char* metric, const FrameGeometry& geometry);

/// Name of what the accumulators hold.
std::string stage_of(const Settings& settings);

/// CPU reference: sum over all pixels of |low pass of (previous - current)|, on the 16-bit scale.
uint64_t sum_of_absolute_differences(const HostPlane& previous, const HostPlane& current,
                                     const FrameGeometry& geometry);

} // namespace qc::motion
