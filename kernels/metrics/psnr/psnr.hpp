// SPDX-License-Identifier: BSD-2-Clause-Patent
/// PSNR of luma and chroma from exact integer sums. Equals libvmaf 3.2.0's extractor "psnr" to the last bit.
///
/// | property      |                                                                                          |
/// |---------------|------------------------------------------------------------------------------------------|
/// | reads         | all planes; luma alone with enable_chroma=false and for 4:0:0                            |
/// | depth, layout | 8, 10, 12 or 16 bits, any layout; chroma that is halved is rounded down                  |
/// | smallest size | 1 x 1; a picture too small to have chroma samples gives luma only                        |
/// | accumulators  | a word per measured plane: its sum of squared errors (SSE); luma's serves float_psnr too  |
/// | weights       | each error counts as much as its sample's weight; that of a chroma sample is the mean of   |
/// |               | those of the luma samples that it lies among. Three words per plane (sse_weighted.hpp)      |
/// | determinism   | integer sums: the same bits on every run, device and backend                             |
/// | aggregates    | with enable_apsnr, apsnr_* over all frames; minus infinity, as in libvmaf, for planes    |
/// |               | that were not measured                                                                   |
#pragma once

#include "contract/metric.hpp"

namespace qc::psnr {

const MetricDescriptor& descriptor();

/// CPU reference: the sum of squared errors of as many planes as `sums` has words.
void score_cpu(const HostPair& pair, const FrameGeometry& geometry, std::span<uint64_t> sums);

/// The same under the pair's weights. @param words sse::kWeightedWords for each plane
void score_weighted_cpu(const HostPair& pair, const FrameGeometry& geometry, int planes, std::span<uint64_t> words);

} // namespace qc::psnr
