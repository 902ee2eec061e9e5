// SPDX-License-Identifier: BSD-2-Clause-Patent
// Counting on the GPU in strips, each of which a warp walks down alone: windows of 17 and 33.
//
// The counts are those of cambi_count_phases.hpp, but no warp waits for another, and rows without pixels to be scored
// cost little: the mask leaves most of a picture out. Of the pixels of a row that are to be scored the warp makes a
// list, of which each lane takes its share.
#pragma once

#include "metrics/cambi/cambi_count_phases.hpp"

namespace qc::cambi {

/// @tparam kReach_ half of the window
template <int kReach_>
struct StripPlan {
    static constexpr int kNd = 4; ///< the largest luma step that is looked for
    static constexpr int kReach = kReach_, kWindow = 2 * kReach + 1;
    static constexpr int kWidth = tuning::kStripWidth; ///< pixels of a row that a warp scores
    static constexpr int kColumns = kWidth + 2 * kReach;
    static constexpr int kPixelsPerLane = (kWidth + kLanes - 1) / kLanes;
    static constexpr int kColumnsPerLane = (kColumns + kLanes - 1) / kLanes;
    static constexpr int kThreads = kLanes, kBlocks = tuning::kStripBlocks;
    static constexpr int kWidthMultiple = 1, kTargetBlocks = tuning::kStripTargetBlocks;

    QC_HD static constexpr int words_per_column(int groups_per_pass) {
        return (groups_per_pass * kValuesPerGroup + 2 * kNd + 3) / 4;
    }
    static constexpr size_t shared_bytes(int groups_per_pass) {
        return static_cast<size_t>(words_per_column(groups_per_pass)) * kColumns * sizeof(uint32_t);
    }
};

/// A pixel that is to be scored.
struct alignas(4) WaitingPixel {
    uint16_t x; ///< from the left edge of the tile
    uint16_t value;
};

template <class Plan>
struct WaitingPixels {
    WaitingPixel pixel[Plan::kWidth];
};

/// One lane of the warp. Its columns, and its pixels, lie kLanes apart.
template <class Plan>
class StripLane {
public:
    QC_HD StripLane(const CountTask& task, const Tile& tile, int lane)
        : tile_(tile), pitch_(task.pyramid.scale[tile.scale].pitch), height_(task.pyramid.scale[tile.scale].height),
          lane_(lane), first_sample_(task.pyramid.plane(tile.picture, tile.scale) + tile.x - Plan::kReach + lane) {
        const int width = task.pyramid.scale[tile.scale].width;
        QC_UNROLL
        for (int i = 0; i < Plan::kColumnsPerLane; ++i) {
            const int column = lane + i * kLanes, x = tile.x - Plan::kReach + column;
            has_column_[i] = x >= 0 && x < width && column < tile.width + 2 * Plan::kReach;
        }
        QC_UNROLL
        for (int i = 0; i < Plan::kPixelsPerLane; ++i) has_pixel_[i] = lane + i * kLanes < tile.width;
    }

    /// Groups of values that the tile's pixels have, as far as this lane sees.
    QC_HD uint32_t groups() const {
        uint32_t groups = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
        for (int y = tile_.y; y < tile_.bottom(); ++y) {
            QC_UNROLL
            for (int i = 0; i < Plan::kPixelsPerLane; ++i) groups |= groups_of_half(pixel_of(row_of(y), i));
        }
        return groups;
    }

    QC_HD void clear(uint32_t* counts, int groups_per_pass) const {
        const int words = Plan::words_per_column(groups_per_pass) * Plan::kColumns;
        for (int i = lane_; i < words; i += kLanes) counts[i] = 0;
    }

    /// The rows above the first one that enters; none leaves.
    QC_HD void warm_up(uint32_t* counts, const CountedValues<Plan::kNd>& values) {
        constexpr int kAtOnce = 4;
        QC_NO_UNROLL
        for (int k = 0; k < 2 * Plan::kReach; k += kAtOnce) {
            uint32_t samples[kAtOnce][Plan::kColumnsPerLane];
            QC_UNROLL
            for (int i = 0; i < kAtOnce; ++i) {
                const int row = tile_.y - Plan::kReach + k + i;
                QC_UNROLL
                for (int c = 0; c < Plan::kColumnsPerLane; ++c)
                    samples[i][c] = sample_of(row_of(row), row >= 0 && row < height_, c);
            }
            QC_UNROLL
            for (int i = 0; i < kAtOnce; ++i) {
                QC_UNROLL
                for (int c = 0; c < Plan::kColumnsPerLane; ++c)
                    values.template change<Plan::kColumns>(counts + lane_ + c * kLanes, samples[i][c], kMaskedOut);
            }
        }
        fetch(tile_.y);
    }
    static_assert(2 * Plan::kReach % 4 == 0);

    /// Loads what row `row` will need.
    QC_HD void fetch(int row) {
        const uint16_t* const here = row_of(row);
        const uint16_t* const below = here + static_cast<ptrdiff_t>(pitch_) * Plan::kReach;
        const uint16_t* const above = here - static_cast<ptrdiff_t>(pitch_) * (Plan::kReach + 1);
        const bool enters = row + Plan::kReach<height_, leaves = row> tile_.y && row > Plan::kReach;
        QC_UNROLL
        for (int i = 0; i < Plan::kColumnsPerLane; ++i) {
            entering_[i] = sample_of(below, enters, i);
            leaving_[i] = sample_of(above, leaves, i);
        }
        QC_UNROLL
        for (int i = 0; i < Plan::kPixelsPerLane; ++i) pixels_[i] = pixel_of(here, i);
    }

    QC_HD void move(uint32_t* counts, const CountedValues<Plan::kNd>& values) const {
        QC_UNROLL
        for (int i = 0; i < Plan::kColumnsPerLane; ++i)
            values.template change<Plan::kColumns>(counts + lane_ + i * kLanes, entering_[i], leaving_[i]);
    }

    /// Pixel i of the row that was fetched; what is no pixel is masked out.
    QC_HD uint32_t pixel(int i) const {
        return pixels_[i];
    }

private:
    /// The lane's first column of a row, which may lie outside the picture.
    QC_HD const uint16_t* row_of(int row) const {
        return first_sample_ + static_cast<ptrdiff_t>(row) * pitch_;
    }
    QC_HD uint32_t sample_of(const uint16_t* row, bool is_row, int i) const {
        return is_row && has_column_[i] ? row[i * kLanes] : kMaskedOut;
    }
    QC_HD uint32_t pixel_of(const uint16_t* row, int i) const {
        return has_pixel_[i] ? row[Plan::kReach + i * kLanes] : kMaskedOut;
    }

    const Tile& tile_;
    const int pitch_, height_, lane_;
    const uint16_t* const first_sample_; ///< of the lane's first column in the scale's first row
    bool has_column_[Plan::kColumnsPerLane], has_pixel_[Plan::kPixelsPerLane];
    uint32_t entering_[Plan::kColumnsPerLane], leaving_[Plan::kColumnsPerLane], pixels_[Plan::kPixelsPerLane];
};

/// Counts in a window. @param column of the window's first one and the first word
template <class Plan>
QC_HD WindowSums<Plan::kNd> sums_of_window(const uint32_t* column) {
    constexpr int kWords = WindowSums<Plan::kNd>::kWords, kAtOnce = 255 / Plan::kWindow;
    WindowSums<Plan::kNd> sums;
    uint32_t bytes[kWords] = {};
    QC_UNROLL
    for (int j = 0; j < Plan::kWindow; ++j) {
        QC_UNROLL
        for (int k = 0; k < kWords; ++k) bytes[k] += column[k * Plan::kColumns + j];
        if (j % kAtOnce == kAtOnce - 1 || j == Plan::kWindow - 1) sums.spread(bytes);
    }
    return sums;
}

/// Lists the pixels of a row that have a value of first .. first + count - 1. @return how many there are
template <class Plan, class Block>
QC_HD int list_pixels(Block& block, const StripLane<Plan>& lane, uint32_t first, uint32_t count,
                      WaitingPixels<Plan>* list) {
    const uint32_t before = (1u << block.lane()) - 1;
    int listed = 0;
    QC_UNROLL
    for (int i = 0; i < Plan::kPixelsPerLane; ++i) {
        const uint32_t value = lane.pixel(i);
        const bool waits = value - first < count;
        const uint32_t all = block.ballot(waits);
        if (waits)
            list->pixel[listed + bits_in(all & before)] = {static_cast<uint16_t>(block.lane() + i * kLanes),
                                                           static_cast<uint16_t>(value)};
        listed += bits_in(all);
    }
    return listed;
}

/// Scores a lane's share of the pixels of a list. `visit(x, c)` is called for c-values that are not 0. Lanes without a
/// pixel add up the window of the first, so that the warp stays together.
template <class Plan, typename Visit>
QC_HD void score_list(int lane, const uint32_t* counts, const CountTask& task, const Pass& pass,
                      const WaitingPixels<Plan>& list, int listed, const Visit& visit) {
    for (int begin = 0; begin < listed; begin += kLanes) {
        const bool has_pixel = begin + lane < listed;
        const WaitingPixel pixel = list.pixel[has_pixel ? begin + lane : 0];
        const uint32_t word = (pixel.value - static_cast<uint32_t>(pass.first)) / 4;
        const auto sums = sums_of_window<Plan>(counts + word * Plan::kColumns + pixel.x);
        if (!has_pixel) continue;
        const float c = c_value<Plan::kNd>(task, sums, pixel.value);
        if (c > 0.0f) visit(pixel.x, c);
    }
}

/// The plans there are.
using StripReach8 = StripPlan<8>;
using StripReach16 = StripPlan<16>;

} // namespace qc::cambi
