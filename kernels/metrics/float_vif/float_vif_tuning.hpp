// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of the float_vif kernels: numbers to sweep, nothing that changes a result.
#pragma once

#include "device/tile_shape.hpp"

namespace qc::float_vif {

using device::TileShape;

// A tile's columns with the margins of the windows are best a multiple of the threads: 240 + 2 * 8 = 256. At scale 0 a
// thread holds 2 * 24 samples and eight sums.
constexpr TileShape kTileScale0 = {256, 240, 8, 8, 3};
constexpr TileShape kTileScale1 = {128, 120, 8, 8, 6};
constexpr TileShape kTileScale2 = {128, 124, 8, 8, 8};
constexpr TileShape kTileScale3 = {128, 124, 8, 8, 8};

/// Windows of any size: the vertical pass reads a row for each tap.
constexpr TileShape kTileAnyWindow = {128, 64, 8, 1, 4};

constexpr int kResizeBlock = 128; ///< threads

} // namespace qc::float_vif
