// SPDX-License-Identifier: BSD-2-Clause-Patent
// Fourth kernel of Butteraugli: the lines through every place, of one pair of bands after the other. A block adds up
// those of a tile of 64x32 places. While a pair is at work, the next is on its way to shared memory.
#pragma once

#include "device/matrix.hpp"
#include "metrics/butteraugli/butteraugli_lines_device.hpp"
#include "metrics/butteraugli/butteraugli_planes.hpp"

namespace qc::butteraugli {

constexpr int kLineTileColumns = 64, kLineTileRows = 32;
constexpr int kPlaceRows = tuning::kLinesPlaceRows; ///< of a thread, four places each
constexpr int kLineThreads = kLineTileColumns / 4 * kLineTileRows / kPlaceRows;
constexpr int kLineColumns = kLineTileColumns + 2 * kLineReach, kLineRows = kLineTileRows + 2 * kLineReach;
constexpr int kLineGroups = kLineColumns / 4;
constexpr int kFetchRows = kLineThreads / kLineGroups; ///< that a block fetches at once
constexpr int kFetches = (kLineRows + kFetchRows - 1) / kFetchRows;

struct LinesArguments {
    float* scratch;
    uint64_t pair_floats;
    PlaneShape shape;
    uint64_t lines[kLinePairs], high;
};

struct alignas(16) LinesShared {
    float tile[2][kLineRows][kLineColumns];    ///< of both bands of a pair
    uint32_t fetched[kLineRows][kLineColumns]; ///< pairs, by the threads that unpack them
};

/// How a thread brings its part of a tile: the same group of every kFetchRows-th row.
class LineFetch {
public:
    QC_HD LineFetch(const PlaneShape& shape, int thread, int tile_x, int tile_y)
        : row_(thread / kLineGroups), column_(4 * (thread % kLineGroups)), pitch_(shape.pitch), height_(shape.height) {
        const int x = tile_x * kLineTileColumns - kLineReach + column_;
        y_ = tile_y * kLineTileRows - kLineReach + row_;
        if (x < 0 || x >= shape.width) height_ = 0;
        if (row_ >= kFetchRows) row_ = kLineRows;
        at_ = static_cast<int64_t>(y_) * pitch_ + x;
    }

    /// Begins to fetch a thread's part: 0 outside the picture. Up to three columns beyond its right border are 0 in the
    /// plane.
    QC_HD void begin(const float* plane, LinesShared& shared) const {
        QC_UNROLL for (int i = 0; i < kFetches; ++i) {
            const int row = row_ + i * kFetchRows, y = y_ + i * kFetchRows;
            if (row >= kLineRows) break;
            const bool inside = y >= 0 && y < height_;
            const float* const from = inside ? plane + at_ + static_cast<int64_t>(i * kFetchRows) * pitch_ : plane;
            device::begin_copy_of_16(&shared.fetched[row][column_], from, inside);
        }
        device::end_copy_group();
    }
    /// Waits for it.
    QC_HD void unpack(LinesShared& shared) const {
        device::wait_for_copies<0>();
        QC_UNROLL for (int i = 0; i < kFetches; ++i) {
            const int row = row_ + i * kFetchRows;
            if (row >= kLineRows) break;
            const Pair4 pairs = load_shared_pair4(&shared.fetched[row][column_]);
            store_plane4(&shared.tile[0][row][column_], low_of(pairs));
            store_plane4(&shared.tile[1][row][column_], high_of(pairs));
        }
    }

private:
    int row_, column_, pitch_, height_, y_;
    int64_t at_;
};

/// A thread's places.
struct LineSums {
    float sum[kPlaceRows][4];
};

template <bool kDense>
QC_HD void add_lines(const float (&tile)[kLineRows][kLineColumns], int thread, LineSums& sums) {
    constexpr int kAcross = kLineTileColumns / 4;
    LineWindow<kPlaceRows> window(&tile[thread / kAcross * kPlaceRows][4 * (thread % kAcross)], kLineColumns);
    QC_UNROLL for (int r = 0; r < kPlaceRows; ++r) {
        if (r > 0) window.load_next(r);
        QC_UNROLL for (int k = 0; k < 4; ++k) sums.sum[r][k] +=
            kDense ? dense_lines(window, r, k) : sparse_lines(window, r, k);
    }
}

/// Of both bands.
template <bool kDense>
QC_HD void add_pair(const LinesShared& shared, int thread, LineSums& sums) {
    QC_NO_UNROLL
    for (const auto& tile : shared.tile) add_lines<kDense>(tile, thread, sums);
}

QC_HD void add_to_high(const LinesArguments& arguments, float* pair, int thread, int tile_x, int tile_y,
                       const LineSums& sums) {
    constexpr int kAcross = kLineTileColumns / 4;
    const int x = tile_x * kLineTileColumns + 4 * (thread % kAcross);
    const int first = tile_y * kLineTileRows + thread / kAcross * kPlaceRows;
    if (x >= arguments.shape.width) return;
    QC_UNROLL for (int r = 0; r < kPlaceRows; ++r) {
        if (first + r >= arguments.shape.height) return;
        float* const at = pair + arguments.high + (static_cast<int64_t>(first + r) * arguments.shape.pitch + x);
        Float4 high = load_shared4(at); // not load_plane4(): it is written over
        QC_UNROLL for (int k = 0; k < 4; ++k) high.value[k] += sums.sum[r][k];
        store_plane4(at, high);
    }
}

} // namespace qc::butteraugli
