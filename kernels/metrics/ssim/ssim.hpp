// SPDX-License-Identifier: BSD-2-Clause-Patent
/// Structural similarity of luma in integers, as Daala's tools compute it. libvmaf has the extractor "ssim" in its
/// sources, but 3.2.0 does not offer it; float_ssim is what other tools mean by SSIM.
///
/// | property      |                                                                                           |
/// |---------------|-------------------------------------------------------------------------------------------|
/// | reads         | luma                                                                                      |
/// | depth, layout | 8 to 16 bits; all layouts                                                                 |
/// | smallest size | 1 x 1: the window loses the taps that lie outside                                         |
/// | accumulators  | one word: the sum of all weighted indices, an integer (FixedPoint of structural_math.hpp) |
/// | with weights  | an index counts by its sample's weight too; a second word is the sum of the weights       |
/// | determinism   | integer sums: the same bits on every run and device                                       |
/// | difference    | libvmaf's source overflows 32 bits at 16 bits per sample and adds doubles in raster       |
/// |               | order; differences of the order are below 1e-13                                           |
#pragma once

#include "contract/metric.hpp"
#include "families/structural/structural_math.hpp"

namespace qc::ssim {

const MetricDescriptor& descriptor();

/// CPU reference: the sum of the terms of all positions; with weights each by its own, and the sum of these.
void score_cpu(const FrameGeometry& geometry, const structural::FixedPoint& fixed, const HostPair& pair,
               std::span<uint64_t> accumulators);

/// The same word, row by row, vectorised: what the CPU backend runs.
void score_cpu_rows(const FrameGeometry& geometry, const structural::FixedPoint& fixed, const HostPair& pair,
                    std::span<uint64_t> accumulators);

} // namespace qc::ssim
