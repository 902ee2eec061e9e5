// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of SSIMULACRA 2's kernels. None depends on the batch: the order of all sums is that of the geometry.
#pragma once

namespace qc::ssimulacra2::tuning {

// Pyramid: a block makes all levels of a 32x32 tile, a thread 4x2 samples of level 0.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kPyramidMinBlocks = 8; // 1024 threads, all that a multiprocessor holds
#else
constexpr int kPyramidMinBlocks = 10;
#endif
constexpr int kPyramidGeneralMinBlocks = 6; ///< with any colour conversion

// Fields: a thread filters one column downwards, 4 rows at a time; then four neighbouring pixels of a row.
constexpr int kStripThreads = 128;
constexpr int kStripRows = 64;         ///< at most, a multiple of 4
constexpr int kEdgeStripRows = 144;    ///< where edges are all there is, which takes less than half as long
constexpr int kStripMinBlocks = 5;     ///< blurs of radius 4
constexpr int kWideStripMinBlocks = 3; ///< blurs of radius 8

// Sums: one block per level, channel and pair.
constexpr int kFinishThreads = 128;

} // namespace qc::ssimulacra2::tuning
