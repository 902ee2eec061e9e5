// SPDX-License-Identifier: BSD-2-Clause-Patent
// Second kernel of Butteraugli: blurs of planes, and what is left of a plane without its blur. A block marches down a
// strip of 384 columns, 12 rows at a time:
//
//     column phase   each thread filters one column. A blur in progress is 2 R partial sums in registers, so a row
//                    costs 2 R + 1 multiply-adds and is read once. The filtered rows go to shared memory
//     row phase      a warp filters a row, each thread 12 neighbours: they share their loads, and lie so that no two
//                    lanes of a quarter warp meet in a bank
//
// With two buffers in shared memory one barrier per 12 rows is enough. Samples outside the picture are 0, and sums are
// divided by the Gaussian's mass inside.
#pragma once

#include "metrics/butteraugli/butteraugli_planes.hpp"

namespace qc::butteraugli {

constexpr int kStripColumns = 384;
constexpr int kBlurGroupRows = 12;
constexpr int kBlurPixels = 12; ///< of a thread in the row phase
constexpr int kBlurThreads = kStripColumns + 32;
static_assert(32 * kBlurPixels == kStripColumns && tuning::kLowestRows % kBlurGroupRows == 0 &&
              tuning::kMiddleRows % kBlurGroupRows == 0 && tuning::kMaskRows % kBlurGroupRows == 0);

template <int kR>
constexpr int kBlurMargin = (kR + 3) / 4 * 4;
template <int kR>
constexpr int kWarmUpRows = kR == 16  ? 8
                            : kR == 7 ? 7
                                      : 12; ///< at once, of 2 kR
static_assert(16 * 2 % kWarmUpRows<16> == 0 && 7 * 2 % kWarmUpRows<7> == 0 && 6 * 2 % kWarmUpRows<6> == 0);

template <int kR>
struct BlurArguments {
    float* scratch;
    uint64_t pair_floats;
    PlaneShape shape;
    uint64_t from[kSignals], to[kSignals]; ///< by blockIdx.y
    int32_t strips;                        ///< side by side
    int32_t strip_rows;
    Taps<kR> taps;
};

struct alignas(16) BlurStages {
    float sample[2][kBlurGroupRows][kBlurThreads];
};

/// Where samples come from: planes of floats, and halves of pairs of them.
struct FloatSamples {
    using Sample = float;
    static constexpr int kStep = 1;
    QC_HD static float load(const float* from) { return load_plane(from); }
};
struct HalfSamples {
    using Sample = Half;
    static constexpr int kStep = 2;
    QC_HD static float load(const Half* from) { return device::load_half(from); }
};

/// One thread in the column phase.
template <int kR, class Samples>
class BlurColumn {
public:
    QC_HD BlurColumn(const typename Samples::Sample* plane, const PlaneShape& shape, int x, bool takes_part,
                     int first_row)
        : next_(plane + (static_cast<int64_t>(first_row) * shape.pitch + x) * Samples::kStep), next_row_(first_row),
          height_(shape.height), pitch_(shape.pitch * Samples::kStep),
          is_inside_(takes_part && x >= 0 && x < shape.width) {
        QC_UNROLL for (int i = 0; i < 2 * kR; ++i) partial_[i] = 0.0f;
    }

    /// Takes the rows above the first that is complete, of sums which will be complete.
    QC_HD void warm_up(const Taps<kR>& taps) { warm_up_from<0>(taps); }

    /// Asks for the next rows.
    QC_HD void fetch() { next(fetched_); }
    /// Takes them; store(r, sum) gets what lies kR higher than row r.
    template <class Store>
    QC_HD void take(const Taps<kR>& taps, const Store& store) {
        QC_UNROLL for (int r = 0; r < kBlurGroupRows; ++r) {
            store(r, fmaf(taps.tap[kR], fetched_[r], partial_[0]));
            push<0>(taps, fetched_[r]);
        }
    }

private:
    QC_HD float load(int r) const {
        return is_inside_ ? Samples::load(next_ + static_cast<int64_t>(r) * pitch_) : 0.0f;
    }
    template <int kRows>
    QC_HD void next(float (&sample)[kRows]) {
        if (next_row_ >= 0 && next_row_ + kRows <= height_) { // of whole blocks, nearly always
            QC_UNROLL for (int r = 0; r < kRows; ++r) sample[r] = load(r);
        } else {
            QC_UNROLL for (int r = 0; r < kRows; ++r) {
                const int row = next_row_ + r;
                sample[r] = row >= 0 && row < height_ ? load(r) : 0.0f;
            }
        }
        next_ += static_cast<int64_t>(kRows) * pitch_;
        next_row_ += kRows;
    }
    /// Adds a sample to the sums from kFirst on, each of which then belongs to the row below.
    template <int kFirst>
    QC_HD void push(const Taps<kR>& taps, float sample) {
        QC_UNROLL for (int i = kFirst; i + 1 < 2 * kR; ++i) {
            const int distance = i < kR ? kR - 1 - i : i - kR + 1;
            partial_[i] = fmaf(taps.tap[distance], sample, partial_[i + 1]);
        }
        partial_[2 * kR - 1] = taps.tap[kR] * sample;
    }
    template <int kRow>
    QC_HD void warm_up_from(const Taps<kR>& taps) {
        if constexpr (kRow < 2 * kR) {
            float sample[kWarmUpRows<kR>];
            next(sample);
            push_rows<kRow, 0>(taps, sample);
            warm_up_from<kRow + kWarmUpRows<kR>>(taps);
        }
    }
    template <int kRow, int kOf>
    QC_HD void push_rows(const Taps<kR>& taps, const float (&sample)[kWarmUpRows<kR>]) {
        if constexpr (kOf < kWarmUpRows<kR>) {
            push<2 * kR - 1 - (kRow + kOf)>(taps, sample[kOf]);
            push_rows<kRow, kOf + 1>(taps, sample);
        }
    }

    const typename Samples::Sample* next_;
    int next_row_, height_, pitch_;
    bool is_inside_;
    float partial_[2 * kR], fetched_[kBlurGroupRows];
};

/// 12 neighbours of a filtered row, from `row` on, which begins a margin before them.
template <int kR>
QC_HD void blur_neighbours(const Taps<kR>& taps, const float* row, float (&sum)[kBlurPixels]) {
    constexpr int kMargin = kBlurMargin<kR>;
    QC_UNROLL for (int p = 0; p < kBlurPixels; ++p) sum[p] = 0.0f;
    QC_UNROLL for (int w = 0; w < (kBlurPixels + 2 * kMargin) / 4; ++w) {
        const Float4 four = load_shared4(row + 4 * w);
        QC_UNROLL for (int i = 0; i < 4; ++i) {
            QC_UNROLL for (int p = 0; p < kBlurPixels; ++p) {
                const int distance = 4 * w + i - kMargin - p;
                if (distance < -kR || distance > kR) continue;
                sum[p] = fmaf(taps.tap[distance < 0 ? -distance : distance], four.value[i], sum[p]);
            }
        }
    }
}

/// What becomes of a blurred row: it is taken from what was blurred, or stored as halves. Beyond the right border both
/// are 0.
struct TakeFromWhole {
    const float* from;
    float* to;
    QC_HD void store(int64_t at, Float4 blurred) const {
        const Float4 whole = load_plane4(from + at);
        QC_UNROLL for (int i = 0; i < 4; ++i) blurred.value[i] = whole.value[i] - blurred.value[i];
        store_plane4(to + at, blurred);
    }
};
struct StoreHalves {
    Half* to;
    QC_HD void store(int64_t at, const Float4& blurred) const { store_half4(to + at, blurred); }
};

/// The row phase of a warp for row y, whose filtered samples are in `staged`. What a thread makes are 12 neighbours;
/// rows of memory are read and written by neighbouring threads, to which the result goes in the place of the samples.
template <int kR, class Block, class Result>
QC_HD void finish_row(Block& block, const BlurArguments<kR>& arguments, float* staged, const Result& result, int left,
                      int y) {
    const PlaneShape& shape = arguments.shape;
    float* const own = staged + block.lane() * kBlurPixels;
    const int x = left + block.lane() * kBlurPixels;
    float sum[kBlurPixels];
    blur_neighbours<kR>(arguments.taps, own, sum);
    const bool border_x = Taps<kR>::is_near_border(x, x + kBlurPixels - 1, shape.width);
    if (border_x || Taps<kR>::is_near_border(y, y, shape.height)) {
        const float inverse_y = arguments.taps.inverse_mass(y, shape.height);
        QC_UNROLL for (int p = 0; p < kBlurPixels; ++p) {
            sum[p] *= x + p < shape.width ? inverse_y * arguments.taps.inverse_mass(x + p, shape.width) : 0.0f;
        }
    }
    block.sync_warp();
    QC_UNROLL for (int w = 0; w < kBlurPixels; w += 4)
        store_plane4(own + w, {{sum[w], sum[w + 1], sum[w + 2], sum[w + 3]}});
    block.sync_warp();
    const int64_t row = static_cast<int64_t>(y) * shape.pitch + left;
    QC_UNROLL for (int w = 0; w < kBlurPixels / 4; ++w) {
        const int column = 4 * (block.lane() + 32 * w);
        if (left + column >= shape.width) return;
        result.store(row + column, load_shared4(staged + column));
    }
}

} // namespace qc::butteraugli
