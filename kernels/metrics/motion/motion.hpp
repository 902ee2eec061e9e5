// SPDX-License-Identifier: BSD-2-Clause-Patent
/// Integer motion: how much the low-passed luma of the reference changes from frame to frame. Equals libvmaf 3.2.0's
/// extractor "motion" to the last bit.
///
/// | property      |                                                                                         |
/// |---------------|-----------------------------------------------------------------------------------------|
/// | reads         | luma of the reference: the frame and the one 1 earlier (2 with motion_five_frame_window) |
/// | depth, layout | 8 to 16 bits, any                                                                       |
/// | smallest size | 3 x 3 (the filter's reach of 2 samples is mirrored at the edges)                        |
/// | accumulators  | one word: the sum of absolute filtered differences, 0 where there is no earlier frame   |
/// | determinism   | integer sums: the same bits on every run, device and backend                            |
/// | in time       | motion2 and motion3 of a frame are final when the next frame's sum is known             |
#pragma once

#include "contract/metric.hpp"

namespace qc::motion {

const MetricDescriptor& descriptor();

} // namespace qc::motion
