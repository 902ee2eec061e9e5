// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/motion/motion_scorer.hpp"

namespace qc::motion {

void MotionScorer::score(const HostReference& reference, std::span<uint64_t> accumulators) const {
    const HostPlane& previous = reference.history[settings_.lag - 1];
    if (settings_.force_zero) return;
    if (geometry_.has_weights)
        return score_weighted_cpu(geometry_, previous, reference.current.plane[0], reference.weights, accumulators);
    if (previous.data == nullptr) return;
    accumulators[0] = score_cpu(geometry_, previous, reference.current.plane[0]);
}

Status MotionScorer::prepare(DeviceProgram& program) {
    using namespace kernels;
    const bool has_weights = geometry_.has_weights;
    return program.find(geometry_.sample == SampleType::kU8 ? has_weights ? motion_sad_weighted_u8 : motion_sad_u8
                        : geometry_.depth < 16              ? has_weights ? motion_sad_weighted_u16 : motion_sad_u16
                        : has_weights                       ? motion_sad_weighted_u16_full
                                                            : motion_sad_u16_full,
                        &kernel_);
}

Status MotionScorer::enqueue(const DeviceBatch& batch, DeviceQueue& queue) const {
    if (settings_.force_zero) return {};
    const Dim3 grid{blocks_for(geometry_.width, kTileWidth), blocks_for(geometry_.height, kTileHeight),
                    static_cast<unsigned>(batch.count)};
    return queue.launch(kernel_, grid,
                        SumArguments{batch.references, batch.accumulators, geometry_.width, geometry_.height,
                                     geometry_.depth, settings_.lag});
}

std::string stage_of(const Settings& settings) {
    return settings.force_zero ? "motion zero" : format("motion sad, lag %d", settings.lag);
}

} // namespace qc::motion
