// SPDX-License-Identifier: BSD-2-Clause-Patent
// The tiles that blocks of both ADM metrics work on: how they lie over a level, how a thread sees its own, where it
// reads, where the masking window lies in shared memory. Thread t is lane t % 32 of warp t / 32; a warp holds a row of
// the tile, a lane two columns. LevelPlan stands for the metric's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "contract/kernel.hpp"
#include "contract/types.hpp"
#include "device/plane_reader.hpp"
#include "device/unroll.hpp"
#include "families/detail_loss/detail_loss_level.hpp"
#include "families/detail_loss/detail_loss_tuning.hpp"

namespace qc::detail_loss {

// ---- tiles over a level ---------------------------------------------------------------------------------------------

/// Tiles over the bands of a level, aligned to the scored region.
struct TileGrid {
    int32_t origin_x = 0, origin_y = 0; ///< first useful coefficient of tile (0, 0); may be negative; x is even
    int32_t columns = 0, rows = 0;      ///< number of tiles
};

/// Aligned so that as few tiles as possible straddle the region's border. The last level has no a band to write: only
/// the region is covered.
template <typename LevelPlan>
TileGrid make_grid(const LevelPlan& level, bool last) {
    using namespace tuning;
    const int left = level.left & ~1, tiles_before = (left + kUsefulColumns - 1) / kUsefulColumns;
    const int tiles_above = (level.top + kUsefulRows - 1) / kUsefulRows;
    TileGrid grid;
    grid.origin_x = last ? left : left - tiles_before * kUsefulColumns;
    grid.origin_y = last ? level.top : level.top - tiles_above * kUsefulRows;
    grid.columns = static_cast<int>(blocks_for((last ? level.right : level.width) - grid.origin_x, kUsefulColumns));
    grid.rows = static_cast<int>(blocks_for((last ? level.bottom : level.height) - grid.origin_y, kUsefulRows));
    return grid;
}

/// Whether the block at a tile row and column has to compute details, or the a band only.
template <typename LevelPlan>
QC_HD bool has_details(const LevelPlan& plan, int tile_x, int tile_y) {
    return is_scored(plan) && tile_y < plan.bottom && tile_y + tuning::kUsefulRows > plan.top && tile_x < plan.right &&
           tile_x + tuning::kUsefulColumns > plan.left;
}

/// A row of the tile, as its warp sees it.
struct TileRow {
    int row; ///< of the tile
    int y;   ///< of the band
    bool useful;

    QC_HD TileRow(int tile_y, int thread)
        : row(thread / 32), y(tile_y - 1 + row), useful(row >= 1 && row <= tuning::kUsefulRows) {}
};

/// Whether a lane's column, counted from the tile's first one, is one of the useful ones.
QC_HD bool useful_place(int place) {
    return place >= 1 && place <= tuning::kUsefulColumns;
}

// ---- where things lie -----------------------------------------------------------------------------------------------

/// The row sums of a pair, all levels after each other.
struct RowSums {
    struct Level {
        int32_t first = 0, count = 0;
    } level[kLevels];
    int32_t count = 0;
};

/// Where a level's kernel finds things in scratch memory.
struct LevelPlace {
    int32_t in_pitch = 0, out_pitch = 0; ///< of the a bands, in elements; level 0 reads pictures instead
    int32_t first_row = 0;               ///< of this level among the row sums of a pair, minus its plan's top
    int32_t rows = 0;                    ///< row sums of a pair, all levels
};

// ---- input ----------------------------------------------------------------------------------------------------------

/// Input of a level. A wide source can be read several columns at a time.
template <typename T>
struct Source {
    const T* data = nullptr;
    ptrdiff_t pitch = 0; ///< in elements
    int shift = 0;       ///< right shift of the samples
    bool wide = true;
};

/// The luma of a picture, read in place. `bytes`: of a wide read.
template <typename T>
QC_HD Source<T> luma_of(const DevicePicture& picture, unsigned bytes) {
    const DevicePlane& plane = picture.plane[0];
    Source<T> source;
    source.data = static_cast<const T*>(plane.data);
    source.pitch = static_cast<ptrdiff_t>(plane.pitch_bytes / sizeof(T));
    source.shift = plane.shift;
    source.wide = rows_aligned(plane, bytes);
    return source;
}

// ---- shared memory --------------------------------------------------------------------------------------------------

template <typename T>
struct alignas(2 * sizeof(T)) Two {
    T at[2];
};
template <typename T>
struct alignas(4 * sizeof(T)) Four {
    T at[4];
};

/// Loads and stores of a type at an address that is aligned for it.
template <typename Word>
QC_HD Word load_as(const void* address) {
#if defined(__CUDA_ARCH__)
    return *static_cast<const Word*>(address);
#else
    Word word;
    std::memcpy(&word, address, sizeof word);
    return word;
#endif
}
template <typename Word>
QC_HD void store_as(void* address, Word word) {
#if defined(__CUDA_ARCH__)
    *static_cast<Word*>(address) = word;
#else
    std::memcpy(address, &word, sizeof word);
#endif
}

/// Registers start undefined: on the host they get junk, so that tests see it used.
template <typename T>
QC_HD void start_undefined(T& registers) {
#if !defined(__CUDA_ARCH__)
    std::memset(static_cast<void*>(&registers), 0x77, sizeof registers);
#else
    (void)registers;
#endif
}

constexpr int kInputColumns = 2 * tuning::kTileColumns;
/// Rows are padded so that the four-word reads of a warp's rows do not all start in the same bank.
constexpr int kFilteredPitch = kInputColumns + 4;
constexpr int kWindowPad = 2; ///< keeps two-word accesses aligned with one column to spare on the left
constexpr int kWindowPitch = tuning::kTileColumns + 2 * kWindowPad;

/// Six filtered values of a row around a lane's two columns.
template <typename T>
QC_HD void read_filtered(const T* row, int lane, T (&values)[6]) {
    const auto first = load_as<Four<T>>(row + 4 * lane);
    // The last lane's second column is not used: it may read anything inside.
    const auto second = load_as<Four<T>>(row + 4 * lane + (lane < 31 ? 4 : 0));
    values[0] = first.at[1];
    values[1] = first.at[2];
    values[2] = first.at[3];
    values[3] = second.at[0];
    values[4] = second.at[1];
    values[5] = second.at[2];
}

/// Puts the neighbour terms of a lane's two columns into the window. `x` is the first column, at place 2 * lane.
template <typename LevelPlan, typename T>
QC_HD void store_neighbours(const LevelPlan& plan, T* window, int x, int lane, T first, T second) {
    T* const at = window + kWindowPad + 2 * lane;
    if (plan.left > 0) {
        store_as(at, Two<T>{{first, second}});
        return;
    }
    // A narrow band is scored to its borders, where the window mirrors: -1 is 1, and the width is the last column.
    const T terms[2] = {first, second};
    QC_UNROLL
    for (int c = 0; c < 2; c++) {
        if (x + c < 0 || x + c >= plan.width) continue;
        at[c] = terms[c];
        if (x + c == 1) at[c - 2] = terms[c];
        if (x + c == plan.width - 1) at[c + 1] = terms[c];
    }
}

/// The rows of the tile above and below the one in the window. The band's borders mirror: above row 0 lies row 1, below
/// the last row the last row.
struct WindowRows {
    int above, below;

    template <typename LevelPlan>
    QC_HD WindowRows(const LevelPlan& plan, const TileRow& here)
        : above(here.y > 0 ? here.row - 1 : here.row + 1), below(here.y + 1 < plan.height ? here.row + 1 : here.row) {}
};

} // namespace qc::detail_loss
