// SPDX-License-Identifier: BSD-2-Clause-Patent
// RGB of luma and chroma, strip by strip: two rows of eight pixels. A thread goes down a column and keeps the rows of
// chroma that lie around its own, so that each is loaded once.
#pragma once

#include "ingest/recode_strips.hpp"

namespace qc::recode {

/// Weights of four neighbours of which the first lies at sample -2, or one behind it.
struct PlacedTaps {
    int weight[4];

    /// @param i number of a luma sample; @param first where the first weight is to be
    QC_HD PlacedTaps(const GrowAxis& axis, int i, int first) {
        const GrowTaps taps = grow_taps(axis, i);
        const bool is_later = taps.first > first;
        weight[0] = is_later ? 0 : taps.weight[0];
        QC_UNROLL for (int t = 1; t < 4; ++t) weight[t] = is_later ? taps.weight[t - 1] : taps.weight[t];
    }
    QC_HD int of(int a, int b, int c, int d) const {
        return weight[0] * a + weight[1] * b + weight[2] * c + weight[3] * d;
    }
    QC_HD uint32_t pair(int t) const {
        return static_cast<uint32_t>(weight[t] & 0xffff) | static_cast<uint32_t>(weight[t + 1]) << 16;
    }
};

/// Eight columns of chroma, the first two and the last two of which lie beside those of the strip.
template <int kBytes>
QC_HD Strip<kBytes> load_around(const Component<kBytes>& component, const Levels<kBytes>& levels, int x, int y) {
    const Words<4 * kBytes> own = component.template four_and_four<4 * kBytes>(x, y);
    const uint32_t left[2] = {component.one(x - 2, y), component.one(x - 1, y)};
    const uint32_t right[2] = {component.one(x + 4, y), component.one(x + 5, y)};
    if constexpr (kBytes == 1) {
        const uint32_t before = left[0] | left[1] << 8, behind = right[0] | right[1] << 8;
        return {{before | own.word[0] << 16, own.word[0] >> 16 | behind << 16}};
    } else {
        Strip<2> strip{{left[0] | left[1] << 16, own.word[0], own.word[1], right[0] | right[1] << 16}};
        int sample[kStrip];
        levels.samples(strip, sample);
        QC_UNROLL for (int i = 0; i < 4; ++i) strip.word[i] =
            static_cast<uint32_t>(sample[2 * i]) | static_cast<uint32_t>(sample[2 * i + 1]) << 16;
        return strip;
    }
}

/// Where chroma has as many columns as luma, the strip's own.
template <int kBytes, bool kHalvedAcross>
QC_HD Strip<kBytes> load_chroma(const Component<kBytes>& component, const Levels<kBytes>& levels, int x, int y) {
    if constexpr (kHalvedAcross)
        return load_around(component, levels, x / 2, y);
    else
        return component.strip(x, y);
}

/// Rows of chroma around those of the strip, of which a sum is made for either luma row.
template <int kBytes>
class ChromaWindow;

/// Four bytes one below the other in a word.
template <>
class ChromaWindow<1> {
public:
    QC_HD explicit ChromaWindow(const Strip<1> (&rows)[4]) {
        QC_UNROLL for (int i = 0; i < 2; ++i) {
            const uint32_t low01 = device::select_bytes(rows[0].word[i], rows[1].word[i], 0x5140u),
                           high01 = device::select_bytes(rows[0].word[i], rows[1].word[i], 0x7362u),
                           low23 = device::select_bytes(rows[2].word[i], rows[3].word[i], 0x5140u),
                           high23 = device::select_bytes(rows[2].word[i], rows[3].word[i], 0x7362u);
            column_[4 * i] = device::select_bytes(low01, low23, 0x5410u);
            column_[4 * i + 1] = device::select_bytes(low01, low23, 0x7632u);
            column_[4 * i + 2] = device::select_bytes(high01, high23, 0x5410u);
            column_[4 * i + 3] = device::select_bytes(high01, high23, 0x7632u);
        }
    }
    QC_HD void move_down(const Strip<1>& next) {
        QC_UNROLL for (int i = 0; i < kStrip; ++i) column_[i] =
            device::select_bytes(column_[i], next.word[i / 4], 0x4321u + 0x1000u * static_cast<uint32_t>(i % 4));
    }
    QC_HD void sums(const PlacedTaps& taps, int (&sum)[kStrip]) const {
        const uint32_t upper = taps.pair(0), lower = taps.pair(2);
        QC_UNROLL for (int i = 0; i < kStrip; ++i) sum[i] =
            device::add_two_products<true>(lower, column_[i], device::add_two_products<false>(upper, column_[i], 0));
    }

private:
    uint32_t column_[kStrip];
};

template <>
class ChromaWindow<2> {
public:
    QC_HD explicit ChromaWindow(const Strip<2> (&rows)[4]) { QC_UNROLL for (int r = 0; r < 4; ++r) rows_[r] = rows[r]; }
    QC_HD void move_down(const Strip<2>& next) {
        QC_UNROLL for (int r = 0; r < 3; ++r) rows_[r] = rows_[r + 1];
        rows_[3] = next;
    }
    QC_HD void sums(const PlacedTaps& taps, int (&sum)[kStrip]) const {
        QC_UNROLL for (int i = 0; i < kStrip; ++i) {
            int sample[4];
            QC_UNROLL for (int r = 0; r < 4; ++r) sample[r] =
                static_cast<int>(rows_[r].word[i / 2] >> (16 * (i % 2)) & 0xffff);
            sum[i] = taps.of(sample[0], sample[1], sample[2], sample[3]);
        }
    }

private:
    Strip<2> rows_[4];
};

/// What a thread goes by.
struct RgbMaker {
    const Mix<int64_t> green, blue, red;
    const Target target[3];
    const PlacedTaps even, odd; ///< across
    const bool even_is_sample;

    QC_HD explicit RgbMaker(const RecodeJob& job)
        : green(job.recoding, 0), blue(job.recoding, 1),
          red(job.recoding, 2), target{Target(job, 0), Target(job, 1), Target(job, 2)},
          even(job.recoding.grow_across, 0, -2), odd(job.recoding.grow_across, 1, -1),
          even_is_sample(even.weight[2] == 128) {}

    /// @param sum of chroma around the strip, over its rows
    QC_HD void grow(const int (&sum)[kStrip], int (&grown)[kStrip]) const {
        QC_UNROLL for (int i = 0; i < kStrip / 2; ++i) {
            grown[2 * i] = even_is_sample ? 128 * sum[i + 2] : even.of(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
            grown[2 * i + 1] = odd.of(sum[i + 1], sum[i + 2], sum[i + 3], sum[i + 4]);
        }
    }

    /// Of blue no Cr is a part, and of red no Cb.
    QC_HD void store(const int (&luma)[kStrip], const int (&cb)[kStrip], const int (&cr)[kStrip], int x, int y) const {
        int made[3][kStrip];
        QC_UNROLL for (int i = 0; i < kStrip; ++i) {
            const int64_t of_luma = static_cast<int64_t>(green.weight[0]) * (luma[i] << kGrowBits);
            made[0][i] = green.target(of_luma + static_cast<int64_t>(green.weight[1]) * cb[i] +
                                      static_cast<int64_t>(green.weight[2]) * cr[i]);
            made[1][i] = blue.target(of_luma + static_cast<int64_t>(blue.weight[1]) * cb[i]);
            made[2][i] = red.target(of_luma + static_cast<int64_t>(red.weight[2]) * cr[i]);
        }
        QC_UNROLL for (int p = 0; p < 3; ++p) target[p].store(x, y, made[p]);
    }
};

/// Chroma with half as many columns as luma, and half as many rows or as many.
template <int kBytes, bool kHalvedAcross, bool kHalvedDown>
QC_HD void make_rgb_strips(const RecodeJob& job, int x, int first, int end) {
    const RgbMaker maker(job);
    const Component<kBytes> luma(job.source[0]), cb(job.source[1]), cr(job.source[2]);
    const Levels<kBytes> levels(job.source[0]), chroma_levels(job.source[1]);
    const auto load = [&](const Component<kBytes>& component, int y) {
        return load_chroma<kBytes, kHalvedAcross>(component, chroma_levels, x, y);
    };
    const auto store = [&](const Strip<kBytes>& of_luma, const int(&cb_sum)[kStrip], const int(&cr_sum)[kStrip],
                           int y) {
        int samples[kStrip], cb_grown[kStrip], cr_grown[kStrip];
        levels.samples(of_luma, samples);
        if constexpr (kHalvedAcross) {
            maker.grow(cb_sum, cb_grown);
            maker.grow(cr_sum, cr_grown);
        } else {
            QC_UNROLL for (int i = 0; i < kStrip; ++i) cb_grown[i] = 128 * cb_sum[i];
            QC_UNROLL for (int i = 0; i < kStrip; ++i) cr_grown[i] = 128 * cr_sum[i];
        }
        maker.store(samples, cb_grown, cr_grown, x, y);
    };
    if constexpr (kHalvedDown) {
        const PlacedTaps upper(job.recoding.grow_down, 0, -2), lower(job.recoding.grow_down, 1, -1);
        const int above = first / 2 - 2;
        const Strip<kBytes> cb_rows[4] = {load(cb, above), load(cb, above + 1), load(cb, above + 2),
                                          load(cb, above + 3)};
        const Strip<kBytes> cr_rows[4] = {load(cr, above), load(cr, above + 1), load(cr, above + 2),
                                          load(cr, above + 3)};
        ChromaWindow<kBytes> cb_window(cb_rows), cr_window(cr_rows);
        QC_NO_UNROLL for (int y = first; y < end; y += 2) {
            const Strip<kBytes> rows[2] = {luma.strip(x, y), luma.strip(x, y + 1)};
            const Strip<kBytes> next_cb = load(cb, y / 2 + 2), next_cr = load(cr, y / 2 + 2);
            int cb_sum[kStrip], cr_sum[kStrip];
            cb_window.sums(upper, cb_sum);
            cr_window.sums(upper, cr_sum);
            store(rows[0], cb_sum, cr_sum, y);
            cb_window.move_down(next_cb);
            cr_window.move_down(next_cr);
            if (y + 1 >= end) return;
            cb_window.sums(lower, cb_sum);
            cr_window.sums(lower, cr_sum);
            store(rows[1], cb_sum, cr_sum, y + 1);
        }
    } else {
        QC_NO_UNROLL for (int y = first; y < end; ++y) {
            const Strip<kBytes> row = luma.strip(x, y), of_cb = load(cb, y), of_cr = load(cr, y);
            int cb_sum[kStrip], cr_sum[kStrip];
            // The neighbours have lost their places in containers of 16 bits already.
            const Levels<kBytes> whole = kHalvedAcross ? Levels<kBytes>(0, 0xffff) : chroma_levels;
            whole.samples(of_cb, cb_sum);
            whole.samples(of_cr, cr_sum);
            QC_UNROLL for (int i = 0; i < kStrip; ++i) cb_sum[i] *= 128;
            QC_UNROLL for (int i = 0; i < kStrip; ++i) cr_sum[i] *= 128;
            store(row, cb_sum, cr_sum, y);
        }
    }
}

/// Of samples that can be loaded by eight.
template <int kBytes>
QC_HD void make_rgb(const RecodeJob& job, int x, int first, int end) {
    const bool is_halved = job.recoding.grow_across.halved != 0;
    if (is_halved && job.recoding.grow_down.halved != 0)
        make_rgb_strips<kBytes, true, true>(job, x, first, end);
    else if (is_halved)
        make_rgb_strips<kBytes, true, false>(job, x, first, end);
    else
        make_rgb_strips<kBytes, false, false>(job, x, first, end);
}

} // namespace qc::recode
