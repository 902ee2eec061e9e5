// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums of squared errors (SSE) on the GPU: one pass over both pictures, as fast as memory delivers them.
//
// A block covers a tile of luma or a tile of both chroma planes. A lane takes 16 bytes of luma per row, or the same
// amount of chroma: 8 bytes of Cb and 8 of Cr, which a semi-planar picture holds in 16 bytes. So the two layouts share
// one grid, and any two of them can be compared.
#pragma once

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "device/unroll.hpp"
#include "families/sse/squared_error.hpp"
#include "families/sse/sse_tuning.hpp"

namespace qc::sse {
constexpr int kLanes = 32;
constexpr int kRows = kTuning.rows_per_thread;
constexpr int kTileHeight = kTuning.warps * kRows;
constexpr int kLoadBytes = 16;

/// Columns of one plane that a lane takes.
template <typename T>
constexpr int kLumaColumns = kLoadBytes / sizeof(T);
template <typename T>
constexpr int kChromaColumns = kLumaColumns<T> / 2;

// With 32-bit sums (up to 12 bits per sample), what a thread adds up must fit.
static_assert(kRows * kLumaColumns<uint8_t> * uint64_t{255 * 255} < uint64_t{1} << 32);
static_assert(kRows * kLumaColumns<uint16_t> * uint64_t{4095 * 4095} < uint64_t{1} << 32);

/// Tiles of one plane, or of two of the same size.
struct TileGrid {
    int width = 0, height = 0; ///< samples
    int tiles_x = 0, tiles = 0;
};

/// Arguments of a launch that are the same for every pair. Block x covers luma tile x, or chroma tile x - luma.tiles.
struct SseTask {
    TileGrid luma, chroma; ///< chroma.tiles is 0 where chroma is not measured
    int words = 1;         ///< accumulators of a pair: 1, or 3 with chroma
};

inline TileGrid make_grid(int width, int height, int columns_per_lane) {
    const int tile_width = columns_per_lane * kLanes;
    const int tiles_x = (width + tile_width - 1) / tile_width;
    const int tiles_y = (height + kTileHeight - 1) / kTileHeight;
    return {width, height, tiles_x, tiles_x * tiles_y};
}

inline SseTask make_task(const FrameGeometry& geometry, bool with_chroma) {
    const int luma_columns = kLoadBytes / static_cast<int>(geometry.sample_bytes());
    SseTask task;
    task.luma = make_grid(geometry.width, geometry.height, luma_columns);
    if (with_chroma) {
        task.chroma = make_grid(geometry.chroma_width, geometry.chroma_height, luma_columns / 2);
        task.words = 3;
    }
    return task;
}

/// First sample of a thread. Its further rows follow at distances of kTuning.warps.
struct Position {
    int x, y;
};

QC_HD Position thread_position(const TileGrid& grid, int columns_per_lane, int tile, int thread) {
    const int tile_x = tile % grid.tiles_x, tile_y = tile / grid.tiles_x;
    return {(tile_x * kLanes + thread % kLanes) * columns_per_lane, tile_y * kTileHeight + thread / kLanes};
}

/// Adds the squared errors of all samples in two words. Sum: uint32_t, or uint64_t for samples of more than 12 bits.
template <typename T, Square kSquare = Square::kExact, typename Sum>
QC_HD Sum add_squared_errors(Sum sum, uint32_t reference, unsigned reference_shift, uint32_t distorted,
                             unsigned distorted_shift) {
    if constexpr (sizeof(T) == 1) {
        return add_squared_errors_u8x4(sum, reference, distorted);
    } else {
        return add_squared_errors_u16x2<kSquare>(sum, shift_u16x2(reference, reference_shift),
                                                 shift_u16x2(distorted, distorted_shift));
    }
}

/// Sample by sample, for any layout: the `columns` columns of a thread, as far as they lie in the picture. Loops stay
/// loops: unrolled, this rare path would take more registers than the one that counts.
template <typename T, typename Sum, Square kSquare = Square::kExact>
QC_HD Sum sum_samples(const DevicePlane& reference, const DevicePlane& distorted, const TileGrid& grid, Position first,
                      int columns) {
    const int end = first.x + columns < grid.width ? first.x + columns : grid.width;
    Sum sum = 0;
    QC_NO_UNROLL
    for (int i = 0; i < kRows; ++i) {
        const int y = first.y + i * kTuning.warps;
        if (y >= grid.height) break;
        QC_NO_UNROLL
        for (int x = first.x; x < end; ++x) {
            sum += squared_error_as<kSquare>(read_sample<T>(reference, x, y), read_sample<T>(distorted, x, y));
        }
    }
    return sum;
}

// ---- luma -----------------------------------------------------------------------------------------------------------

/// A thread's sum over its part of a luma tile.
template <typename T, typename Sum, Square kSquare = Square::kExact>
QC_HD Sum sum_luma(const DevicePlane& reference, const DevicePlane& distorted, const TileGrid& grid, Position first) {
    constexpr int kColumns = kLumaColumns<T>;
    const bool wide = first.x + kColumns <= grid.width && reference.step == 1 && distorted.step == 1 &&
                      rows_aligned(reference, kLoadBytes) && rows_aligned(distorted, kLoadBytes);
    if (!wide) return sum_samples<T, Sum, kSquare>(reference, distorted, grid, first, kColumns);

    // All loads come first, so that they overlap. Rows below the picture stay zero in both.
    Words<kLoadBytes> a[kRows] = {}, b[kRows] = {};
    QC_UNROLL
    for (int i = 0; i < kRows; ++i) {
        const int y = first.y + i * kTuning.warps;
        if (y < grid.height) {
            a[i] = load_words<kLoadBytes>(row_bytes(reference, y) + first.x * sizeof(T));
            b[i] = load_words<kLoadBytes>(row_bytes(distorted, y) + first.x * sizeof(T));
        }
    }
    Sum sum = 0;
    QC_UNROLL
    for (int i = 0; i < kRows; ++i) {
        QC_UNROLL
        for (int k = 0; k < kLoadBytes / 4; ++k) {
            sum = add_squared_errors<T, kSquare>(sum, a[i].word[k], reference.shift, b[i].word[k], distorted.shift);
        }
    }
    return sum;
}

// ---- chroma ---------------------------------------------------------------------------------------------------------

template <typename Sum>
struct ChromaSums {
    Sum cb = 0, cr = 0;
};

/// As many columns of Cb and of Cr as 8 bytes hold.
struct ChromaWords {
    Words<kLoadBytes / 2> cb = {}, cr = {};
};

QC_HD bool is_semi_planar(const DevicePicture& picture) {
    return picture.plane[1].step == 2;
}

/// Whether the chroma of a picture can be loaded by load_chroma().
template <typename T>
QC_HD bool chroma_loads_wide(const DevicePicture& picture) {
    const DevicePlane &cb = picture.plane[1], &cr = picture.plane[2];
    if (is_semi_planar(picture)) {
        return cr.step == 2 && cr.pitch_bytes == cb.pitch_bytes && rows_aligned(cb, kLoadBytes) &&
               static_cast<const T*>(cr.data) == static_cast<const T*>(cb.data) + 1;
    }
    return cb.step == 1 && cr.step == 1 && rows_aligned(cb, kLoadBytes / 2) && rows_aligned(cr, kLoadBytes / 2);
}

/// Samples number 0, 2, ... (`odd` false) or 1, 3, ... of two words.
template <typename T>
QC_HD uint32_t every_second_sample(uint32_t first, uint32_t second, bool odd) {
#if defined(__CUDA_ARCH__)
    if (sizeof(T) == 1) return __byte_perm(first, second, odd ? 0x7531 : 0x6420);
    return __byte_perm(first, second, odd ? 0x7632 : 0x5410);
#else
    const int bits = 8 * sizeof(T);
    const uint64_t both = (uint64_t{second} << 32 | first) >> (odd ? bits : 0);
    uint32_t result = 0;
    for (int i = 0; i < 32 / bits; ++i) {
        const uint32_t sample = static_cast<T>(both >> (2 * i * bits));
        result |= sample << (i * bits);
    }
    return result;
#endif
}

template <typename T, bool kSemiPlanar>
QC_HD ChromaWords load_chroma(const DevicePicture& picture, int x, int y) {
    ChromaWords result;
    if constexpr (kSemiPlanar) {
        const auto both = load_words<kLoadBytes>(row_bytes(picture.plane[1], y) + 2 * x * sizeof(T));
        QC_UNROLL
        for (int k = 0; k < 2; ++k) {
            result.cb.word[k] = every_second_sample<T>(both.word[2 * k], both.word[2 * k + 1], false);
            result.cr.word[k] = every_second_sample<T>(both.word[2 * k], both.word[2 * k + 1], true);
        }
    } else {
        result.cb = load_words<kLoadBytes / 2>(row_bytes(picture.plane[1], y) + x * sizeof(T));
        result.cr = load_words<kLoadBytes / 2>(row_bytes(picture.plane[2], y) + x * sizeof(T));
    }
    return result;
}

template <typename T, typename Sum, bool kReferenceSemiPlanar, bool kDistortedSemiPlanar>
QC_HD ChromaSums<Sum> sum_chroma_wide(const DevicePicture& reference, const DevicePicture& distorted,
                                      const TileGrid& grid, Position first) {
    ChromaWords a[kRows], b[kRows];
    QC_UNROLL
    for (int i = 0; i < kRows; ++i) {
        const int y = first.y + i * kTuning.warps;
        if (y < grid.height) {
            a[i] = load_chroma<T, kReferenceSemiPlanar>(reference, first.x, y);
            b[i] = load_chroma<T, kDistortedSemiPlanar>(distorted, first.x, y);
        }
    }
    const unsigned shift_a = reference.plane[1].shift, shift_b = distorted.plane[1].shift;
    ChromaSums<Sum> sums;
    QC_UNROLL
    for (int i = 0; i < kRows; ++i) {
        QC_UNROLL
        for (int k = 0; k < 2; ++k) {
            sums.cb = add_squared_errors<T>(sums.cb, a[i].cb.word[k], shift_a, b[i].cb.word[k], shift_b);
            sums.cr = add_squared_errors<T>(sums.cr, a[i].cr.word[k], shift_a, b[i].cr.word[k], shift_b);
        }
    }
    return sums;
}

/// A thread's sums over its part of a chroma tile.
template <typename T, typename Sum>
QC_HD ChromaSums<Sum> sum_chroma(const DevicePicture& reference, const DevicePicture& distorted, const TileGrid& grid,
                                 Position first) {
    constexpr int kColumns = kChromaColumns<T>;
    const bool wide =
        first.x + kColumns <= grid.width && chroma_loads_wide<T>(reference) && chroma_loads_wide<T>(distorted);
    if (!wide) {
        return {sum_samples<T, Sum>(reference.plane[1], distorted.plane[1], grid, first, kColumns),
                sum_samples<T, Sum>(reference.plane[2], distorted.plane[2], grid, first, kColumns)};
    }
    if (is_semi_planar(reference)) {
        return is_semi_planar(distorted) ? sum_chroma_wide<T, Sum, true, true>(reference, distorted, grid, first)
                                         : sum_chroma_wide<T, Sum, true, false>(reference, distorted, grid, first);
    }
    return is_semi_planar(distorted) ? sum_chroma_wide<T, Sum, false, true>(reference, distorted, grid, first)
                                     : sum_chroma_wide<T, Sum, false, false>(reference, distorted, grid, first);
}

// ---- kernels --------------------------------------------------------------------------------------------------------

struct SseArguments {
    const DevicePair* pairs;
    uint64_t* accumulators;
    SseTask task;
};

/// A block's sum over its luma tile, which is number block.x().
template <typename T, typename Sum, Square kSquare, class Block>
QC_HD void add_luma_tile(Block& block, const DevicePair& pair, const TileGrid& grid, uint64_t* target) {
    // Copies of the descriptions: they stay in registers.
    const DevicePlane reference = pair.reference.plane[0], distorted = pair.distorted.plane[0];
    const Position first = thread_position(grid, kLumaColumns<T>, block.x(), block.thread());
    const Sum sum[1] = {sum_luma<T, Sum, kSquare>(reference, distorted, grid, first)};
    device::add_block_sums(block, sum, target);
}

/// Grid: (tiles of luma and then of chroma, 1, pairs). Sum: uint32_t up to 12 bits, uint64_t above.
template <typename T, typename Sum>
struct SumTile : device::KernelOf<SseArguments, kTuning.warps * kLanes> {
    template <class Block>
    QC_HD static void run(Block& block, const SseArguments& arguments) {
        const SseTask& task = arguments.task;
        const DevicePair& pair = arguments.pairs[block.z()];
        uint64_t* const target = arguments.accumulators + static_cast<size_t>(pair.output) * task.words;
        const int tile = block.x();
        if (tile < task.luma.tiles) {
            add_luma_tile<T, Sum, Square::kExact>(block, pair, task.luma, target);
        } else {
            const DevicePicture reference = pair.reference, distorted = pair.distorted;
            const Position first =
                thread_position(task.chroma, kChromaColumns<T>, tile - task.luma.tiles, block.thread());
            const auto chroma = sum_chroma<T, Sum>(reference, distorted, task.chroma, first);
            const Sum sums[2] = {chroma.cb, chroma.cr};
            device::add_block_sums(block, sums, target + 1);
        }
    }
};

/// Of luma alone. Grid: (tiles, 1, pairs).
template <typename T, typename Sum, Square kSquare>
struct SumLumaTile : device::KernelOf<SseArguments, kTuning.warps * kLanes> {
    template <class Block>
    QC_HD static void run(Block& block, const SseArguments& arguments) {
        const DevicePair& pair = arguments.pairs[block.z()];
        add_luma_tile<T, Sum, kSquare>(block, pair, arguments.task.luma, arguments.accumulators + pair.output);
    }
};

} // namespace qc::sse
