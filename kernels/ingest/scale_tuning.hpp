// SPDX-License-Identifier: BSD-2-Clause-Patent
// Shapes of the launches that scale pictures.
#pragma once

#include <cstddef>

namespace qc::scale {

// Tiles: all kinds of pictures and kernels.
constexpr int kThreads = 256;
constexpr int kMinBlocks = 4;          ///< per multiprocessor
constexpr int kTileWidth = 64;         ///< target columns of a block; a multiple of kColumns that divides kThreads
constexpr int kColumns = 4;            ///< neighbouring target samples that a thread makes of middles
constexpr int kLargestTileHeight = 32; ///< target rows; less where the source has many rows for each
constexpr int kRowsAhead = 4;          ///< source rows whose samples a thread waits for at once
constexpr size_t kMostSharedBytes = 32 * 1024;

// Strips: of bytes, by kernels of 4 taps or of 6.
constexpr int kStripThreads = 32;
constexpr int kStripResident = 896;     ///< threads of a multiprocessor: bounds their registers; for 4 taps
constexpr int kLongStripResident = 512; ///< for 6
constexpr int kStripRows = 16;          ///< target rows of a strip

} // namespace qc::scale
