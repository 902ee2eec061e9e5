// SPDX-License-Identifier: BSD-2-Clause-Patent
/// SpEED in time: difference of the local entropies of luma's changes from frame to frame. Equals libvmaf 3.2.0's
/// extractor "speed_temporal".
///
/// | property      |                                                                                              |
/// |---------------|----------------------------------------------------------------------------------------------|
/// | reads         | luma of both pictures, of the frame and of the one before                                    |
/// | depth, layout | 8, 10, 12, 16 bits; any                                                                      |
/// | smallest size | 80 x 80 after speed_prescale: one block                                                      |
/// | accumulators  | two words: score as a double and whether a covariance is singular; 0 where there is no       |
/// |               | earlier frame                                                                                |
/// | determinism   | float sums of one order, no library function: same bits on every run, batch size, slot count |
/// |               | and backend; against libvmaf at most a last bit of a logarithm may differ (none was seen)    |
/// | in time       | 0 for the first frame, and after a frame whose distorted picture was absent                  |
#pragma once

#include "contract/metric.hpp"
#include "families/speed/speed_plan.hpp"

namespace qc::speed_temporal {

const MetricDescriptor& descriptor();

/// CPU reference: fills the words of a pair. difference_to_reference: the distorted picture's change is taken from its
/// own past to the reference's present.
void score_cpu(const speed::Plan& plan, SampleType sample, bool difference_to_reference, const HostPair& pair,
               std::span<uint64_t> accumulators);

} // namespace qc::speed_temporal
