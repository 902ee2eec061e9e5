// SPDX-License-Identifier: BSD-2-Clause-Patent
// Shape of the launch that scales pictures.
#pragma once

#include <cstddef>

namespace qc::scale {

constexpr int kThreads = 256;
constexpr int kMinBlocks = 4;          ///< per multiprocessor
constexpr int kTileWidth = 64;         ///< target columns of a block; a multiple of kColumns that divides kThreads
constexpr int kColumns = 4;            ///< neighbouring target samples that a thread makes of middles
constexpr int kLargestTileHeight = 32; ///< target rows; less where the source has many rows for each
constexpr size_t kMostSharedBytes = 32 * 1024;

} // namespace qc::scale
