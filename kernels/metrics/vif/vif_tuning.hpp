// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of the VIF kernels: numbers to sweep, nothing that changes a result.
#pragma once

#include "device/tile_shape.hpp"

namespace qc::vif {

using device::TileShape;

// A tile's columns with the margins that the windows need are best a multiple of the threads: 240 + 2 * 8 = 256.
// Measured on an H200 (1080p, 16 pairs a batch) with a prototype of scale 0: two blocks a multiprocessor 45 us a pair,
// three, with a few spilled registers, 41 us.
constexpr TileShape kTileScale0U8 = {256, 240, 8, 8, 3};
constexpr TileShape kTileScale0U16 = {256, 240, 8, 8, 2};
constexpr TileShape kTileScale1 = {128, 120, 8, 8, 5};
constexpr TileShape kTileScale2 = {128, 124, 8, 8, 6};
constexpr TileShape kTileScale3 = {128, 124, 8, 8, 8};
constexpr TileShape kTileDecimateOnly = {256, 248, 8, 8, 4};

/// Pairs of one reference, on average, from which on they are scored together. Measured on an H200 (1080p, 16 pairs a
/// batch, 8 bits): two pairs take 95.4 us together and 92.2 one by one, six 257.6 and 281.3.
constexpr int kFewestTogether = 3;

/// Columns that a warp walks along in a band of rows: each walk begins with a step whose result nobody uses, and few
/// pairs have to be spread over all warps. Measured on an H200 with a prototype (1080p): 16 pairs a batch are fastest
/// with 192, 4 and fewer with 128.
constexpr int kStripWidth = 192, kStripWidthOfFew = 128;
/// So few are also scored faster by the plain kernel at scale 1 (vmaf at batches of 1, 4 and 16: 109.7, 68.0 and 56.8
/// us a pair with it, 113.5, 68.2 and 55.9 in bands).
constexpr int kFewPairs = 4;

/// The same at scale 1, and where pairs have one reference: so many columns that the warp with most to do has least.
/// Steps of 16 columns, and what the step that each walk begins with counts for. It costs less; but as other metrics'
/// kernels fill what an uneven end leaves, little work counts for more: with 0.3, and so strips of 4 steps at scale 1
/// in place of 12, vmaf took 56.2 us a pair in batches of 16 (1080p, H200), with 1 it takes 55.5.
constexpr int kMostSteps = 12;
constexpr double kFirstStepCost = 1.0;

/// Where the kernels find log2: the 64 KB table through the L1 cache, or 4 KB of thresholds in shared memory.
enum class LogSource { kTable, kThresholds };
constexpr LogSource kLogSource = LogSource::kThresholds;

/// How the vertical pass holds 8-bit samples: four rows of one picture in a word, weighted by dot products of bytes, or
/// one row of both pictures in a word, as for 16-bit samples.
enum class ByteWindow { kDotProducts, kPairs };
constexpr ByteWindow kByteWindow = ByteWindow::kDotProducts;

} // namespace qc::vif
