// SPDX-License-Identifier: BSD-2-Clause-Patent
/// SpEED of the chroma planes: difference of the local entropies of U and V. Equals libvmaf 3.2.0's extractor
/// "speed_chroma".
///
/// | property      |                                                                                              |
/// |---------------|----------------------------------------------------------------------------------------------|
/// | reads         | both chroma planes of both pictures                                                          |
/// | depth, layout | 8, 10, 12, 16 bits; 4:2:0, 4:2:2, 4:4:4                                                      |
/// | smallest size | chroma planes of 80 x 80 after speed_prescale: one block                                     |
/// | accumulators  | four words: score as a double and whether a covariance is singular, for U and for V          |
/// | determinism   | float sums of one order, no library function: same bits on every run, batch size, slot count |
/// |               | and backend; against libvmaf at most a last bit of a logarithm may differ (none was seen)    |
/// | singular      | a plane whose covariance cannot be inverted has no entropy; it scores 0 and is left out of   |
/// |               | the common score. Planes of less than 26 block positions are always singular                 |
#pragma once

#include "contract/metric.hpp"
#include "families/speed/speed_plan.hpp"

namespace qc::speed_chroma {

const MetricDescriptor& descriptor();

/// CPU reference: fills the words of a pair.
void score_cpu(const speed::Plan& plan, SampleType sample, const HostPair& pair, std::span<uint64_t> accumulators);

} // namespace qc::speed_chroma
