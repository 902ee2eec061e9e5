// SPDX-License-Identifier: BSD-2-Clause-Patent
// The sum of absolute filtered differences on both backends, for motion and motion_v2. With weights each difference
// counts as often as its sample's weight says, and the sum of the weights stands beside.
#pragma once

#include <span>
#include <string>

#include "contract/metric.hpp"
#include "device/word_lanes.hpp"
#include "families/motion/motion_kernels.hpp"
#include "families/motion/motion_settings.hpp"

namespace qc::motion {

constexpr int kSmallestSide = kReach + 1; ///< smaller pictures do not hold the mirrored window

class MotionScorer final : public Scorer {
public:
    MotionScorer(const FrameGeometry& geometry, const Settings& settings) : geometry_(geometry), settings_(settings) {}

    size_t accumulator_words() const override { return geometry_.has_weights ? kWeightedWords : 1; }
    void score(const HostReference& reference, std::span<uint64_t> accumulators) const override;
    Status prepare(DeviceProgram& program) override;
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override;

private:
    const FrameGeometry geometry_;
    const Settings settings_;
    LoadedKernel<SumArguments> kernel_;
};

/// Name of what the accumulators hold.
std::string stage_of(const Settings& settings);

/// On the CPU: sum over all pixels of |low pass of (previous - current)|, on the 16-bit scale.
/// @param lanes no more than the machine has; kNone: by loops alone
uint64_t score_cpu(const FrameGeometry& geometry, const HostPlane& previous, const HostPlane& current,
                   device::WordLanes lanes = device::best_word_lanes());

/// The same with weights of the current picture. @param previous data null: nothing moves @param words kWeightedWords
void score_weighted_cpu(const FrameGeometry& geometry, const HostPlane& previous, const HostPlane& current,
                        const HostPlane& weights, std::span<uint64_t> words,
                        device::WordLanes lanes = device::best_word_lanes());

} // namespace qc::motion
