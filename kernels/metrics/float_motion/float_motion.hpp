// SPDX-License-Identifier: BSD-2-Clause-Patent
/// Floating-point motion: how much the blurred reference changes from frame to frame. Equals libvmaf 3.2.0's extractor
/// "float_motion" to the last bit, on both backends.
///
/// | property      |                                                                                            |
/// |---------------|--------------------------------------------------------------------------------------------|
/// | reads         | the reference and the frame before it: luma, with motion_add_uv chroma too                 |
/// | depth, layout | 8 to 16 bits, any                                                                          |
/// | smallest size | 3 x 3 (the filter's reach of 2 samples is mirrored at the edges)                           |
/// | accumulators  | sums of absolute differences by plane, full and half size, as doubles that hold floats;    |
/// |               | with weights the sums of their weights behind them                                         |
/// | determinism   | single precision in a fixed order, nothing contracted: the same bits everywhere            |
/// | in time       | motion2 and motion3 of a frame are final when the next frame's sum is known                |
#pragma once

#include <vector>

#include "contract/metric.hpp"
#include "device/term_weights.hpp"
#include "families/resize/resize.hpp"
#include "metrics/float_motion/float_motion_math.hpp"

namespace qc::float_motion {

const MetricDescriptor& descriptor();

/// One plane that is scored.
struct PlanePlan {
    int width = 0, height = 0;
    int half_width = 0, half_height = 0;               ///< with motion_add_scale1, otherwise 0
    std::vector<ResizeEntry> columns, rows;            ///< of the half size
    device::WeightFootprint footprint[kWordsPerPlane]; ///< of both sizes
};

/// What the options come to.
struct Plan {
    std::vector<PlanePlan> planes; ///< luma; with motion_add_uv Cb and Cr as well
    BlurTaps taps{};
    float sample_scale = 1.0f; ///< to the scale of 8 bits
    bool force_zero = false;
    bool has_weights = false;

    bool has_half() const { return planes[0].half_width > 0; }
};

/// CPU reference: fills the words of all planes. With weights the frame before may be missing: nothing moves then.
void score_cpu(const Plan& plan, SampleType sample, const HostReference& reference, std::span<uint64_t> accumulators);

} // namespace qc::float_motion
