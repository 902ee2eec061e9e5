// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes.
#pragma once

namespace qc::cvvdp::tuning {

constexpr int kGroup = 8; ///< filtered frames that are made, and lie in scratch memory, at once
constexpr int kGroupThreads = 64;
constexpr int kFilterThreads = 128; ///< two pixels each
constexpr int kFilterBlocks = 4;    ///< per multiprocessor
constexpr int kReduceThreads = 256;
constexpr int kReduceRows[] = {8, 4, 2, 1}; ///< of a thread, from the first level; the last one from all others
constexpr int kBandThreads = 256;
constexpr int kBandBlocks = 2;                   ///< per multiprocessor
constexpr int kBandWidth = 64, kBandHeight = 32; ///< of a tile; together four pixels times two for each thread
constexpr int kBlurRows = 4;                     ///< that a thread blurs at once
constexpr int kFinishThreads = 256;
constexpr int kMapThreads = 128; ///< a sample each

} // namespace qc::cvvdp::tuning
