// SPDX-License-Identifier: BSD-2-Clause-Patent
/// Mean and mean square of luma, on the 8-bit scale. Equals libvmaf 3.2.0's extractor "float_moment" to the last bit.
///
/// | property      |                                                                                           |
/// |---------------|-------------------------------------------------------------------------------------------|
/// | reads         | luma                                                                                      |
/// | depth, layout | 8, 10, 12 or 16 bits, any layout                                                          |
/// | smallest size | 1 x 1                                                                                     |
/// | accumulators  | four words: sums of samples (reference, distorted), sums of squares (reference, distorted); |
/// |               | with weights seven                                                                        |
/// | determinism   | integer sums: the same bits on every run, device and backend                              |
#pragma once

#include <span>

#include "contract/metric.hpp"

namespace qc::float_moment {

const MetricDescriptor& descriptor();

struct Moments {
    uint64_t first = 0, second = 0; ///< sums of samples and of their squares
};

/// CPU reference, over the top left width x height samples.
Moments score_cpu(const HostPlane& plane, const FrameGeometry& geometry);

/// Both pictures under the pair's weights. @param words kWeightedWords
void score_weighted_cpu(const HostPair& pair, const FrameGeometry& geometry, std::span<uint64_t> words);

} // namespace qc::float_moment
