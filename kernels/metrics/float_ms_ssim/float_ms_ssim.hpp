// SPDX-License-Identifier: BSD-2-Clause-Patent
/// Multi-scale structural similarity of luma (Wang, Simoncelli, Bovik, Asilomar 2003): five scales, each half the one
/// before. Equals libvmaf 3.2.0's extractor "float_ms_ssim".
///
/// | property      |                                                                                           |
/// |---------------|-------------------------------------------------------------------------------------------|
/// | reads         | luma                                                                                      |
/// | depth, layout | 8, 10, 12 and 16 bits; all layouts; 16 bits are brought to the scale of 8                 |
/// | smallest size | 176 x 176                                                                                 |
/// | accumulators  | four words a scale: sums of l * c * s, l, c and s, integers (FixedPoint of                |
/// |               | structural_math.hpp); the first two at the last scale only, unless enable_lcs asks for l  |
/// | with weights  | a position counts by the mean under the sample at its centre; a fifth word of each scale  |
/// |               | is the sum of its weights                                                                 |
/// | determinism   | integer sums: the same bits on every run and device                                       |
/// | scores        | not a number where a mean structure is negative, as in libvmaf                            |
#pragma once

#include "contract/metric.hpp"
#include "families/structural/structural_plan.hpp"

namespace qc::float_ms_ssim {

const MetricDescriptor& descriptor();

/// CPU reference: all sums of all scales.
void score_cpu(const FrameGeometry& geometry, const structural::LevelPlan& plan, const HostPair& pair,
               std::span<uint64_t> accumulators);

} // namespace qc::float_ms_ssim
