// SPDX-License-Identifier: BSD-2-Clause-Patent
/// Structural similarity of luma (Wang, Bovik, Sheikh, Simoncelli, IEEE TIP 2004), decimated to about 256 lines first.
/// Equals libvmaf 3.2.0's extractor "float_ssim" in single precision, which is how libvmaf returns it.
///
/// | property      |                                                                                           |
/// |---------------|-------------------------------------------------------------------------------------------|
/// | reads         | luma                                                                                      |
/// | depth, layout | 8, 10, 12 and 16 bits; all layouts; 16 bits are brought to the scale of 8                 |
/// | smallest size | 11 x 11 after decimation; libvmaf divides empty sums by a negative number of places below |
/// | accumulators  | four words: sums of l * c * s, l, c and s, integers (FixedPoint of structural_math.hpp)   |
/// | map           | 1 - l * c * s of each position of the window: its mean is 1 - the score                   |
/// | weights       | a position counts as much as the samples at its window's centre (those of its map's value)  |
/// | determinism   | integer sums: the same bits on every run and device                                       |
/// | difference    | libvmaf adds doubles in raster order. The mean is rounded to single precision afterwards, |
/// |               | where a difference shows once in millions of scores                                       |
#pragma once

#include "contract/metric.hpp"
#include "metrics/float_ssim/float_ssim_math.hpp"

namespace qc::float_ssim {

const MetricDescriptor& descriptor();

/// CPU reference: every sum of the accumulators, of luma decimated to the size and by the factor given.
/// @param map null data: nobody wants one
/// @param weights of the window's positions, row after row; empty: there are none
void score_cpu(const FrameGeometry& geometry, const Decimation& decimation, const HostPair& pair,
               std::span<uint64_t> accumulators, const Plane<float>& map = {}, std::span<const uint32_t> weights = {});

} // namespace qc::float_ssim
