// SPDX-License-Identifier: BSD-2-Clause-Patent
/// PSNR of luma as libvmaf's float extractors see it: samples on the scale of 8 bits. Equals libvmaf 3.2.0's extractor
/// "float_psnr" to the last bit.
///
/// | property      |                                                                                              |
/// |---------------|----------------------------------------------------------------------------------------------|
/// | reads         | luma                                                                                         |
/// | depth, layout | 8, 10, 12 or 16 bits, any layout                                                             |
/// | smallest size | 1 x 1                                                                                        |
/// | accumulators  | one word: the sum of squared errors, up to 12 bits the same as that of psnr and shared with  |
/// |               | it; of 16-bit samples every square is rounded to 24 significant bits first                   |
/// | weights       | each square counts as much as its sample's weight; the words are psnr's with weights         |
/// | determinism   | integer sums: the same bits on every run, device and backend                                 |
///
/// libvmaf adds the squares up in double precision. That is exact up to 2^53, which 16-bit samples with the largest
/// error everywhere reach at two million pixels (and even then most squares are multiples of 256).
#pragma once

#include "contract/metric.hpp"

namespace qc::float_psnr {

const MetricDescriptor& descriptor();

/// CPU reference: sum of squared errors of luma.
uint64_t score_cpu(const HostPair& pair, const FrameGeometry& geometry);

/// The same under the pair's weights. @param words sse::kWeightedWords
void score_weighted_cpu(const HostPair& pair, const FrameGeometry& geometry, std::span<uint64_t> words);

} // namespace qc::float_psnr
