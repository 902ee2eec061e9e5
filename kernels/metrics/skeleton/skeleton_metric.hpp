// SPDX-License-Identifier: BSD-2-Clause-Patent
#pragma once

#include "contract/metric.hpp"

namespace qc::skeleton {

/// Accumulators, one word: the sum of absolute differences over the luma plane (at most 2^16 x 2^30, fits easily).
class SkeletonMetric final : public Metric {
public:
    SkeletonMetric(const FrameGeometry& geometry, const OptionValues& options);

    size_t accumulator_words() const override { return 1; }
    using Metric::score;
    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override; // skeleton_cpu.cpp
    Status prepare(DeviceProgram& program) override;
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override;
    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override;

private:
    FrameGeometry geometry_;
    double scale_;
    Kernel kernel_;
};

} // namespace qc::skeleton
