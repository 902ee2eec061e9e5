// SPDX-License-Identifier: BSD-2-Clause-Patent
// Luma and chroma of RGB, strip by strip: two rows of eight pixels, and the chroma that goes with them.
#pragma once

#include "ingest/recode_strips.hpp"

namespace qc::recode {

/// Makes luma of strips.
template <typename Sum, int kBytes>
struct LumaMaker {
    const Mix<Sum> mix;
    const Target target;
    const bool by_pairs; ///< each weight fits 16 bits without a sign, and samples are bytes

    QC_HD explicit LumaMaker(const RecodeJob& job)
        : mix(job.recoding, 0), target(job, 0),
          by_pairs(kBytes == 1 && sizeof(Sum) == 4 &&
                   static_cast<uint32_t>(mix.weight[0] | mix.weight[1] | mix.weight[2]) < 0x10000u) {}

    QC_HD void store(const PixelRow<kBytes>& row, const Levels<kBytes>& levels, int x, int y) const {
        int made[kStrip];
        if (by_pairs) {
            if constexpr (kBytes == 1) mix_pairs(row, made);
        } else {
            QC_UNROLL for (int i = 0; i < kStrip; ++i) made[i] =
                mix.of(levels.sample(row.plane[0], i), levels.sample(row.plane[1], i), levels.sample(row.plane[2], i));
        }
        target.store(x, y, made);
    }

private:
    /// Two products an instruction. Their sums wrap as those of 32 bits with a sign do.
    QC_HD void mix_pairs(const PixelRow<1>& row, int (&made)[kStrip]) const {
        const uint32_t of_first_two = static_cast<uint32_t>(mix.weight[0] | mix.weight[1] << 16);
        const auto of_third = static_cast<uint32_t>(mix.weight[2]);
        QC_UNROLL for (int i = 0; i < 2; ++i) {
            const uint32_t first = row.plane[0].word[i], second = row.plane[1].word[i], third = row.plane[2].word[i];
            const uint32_t low = device::select_bytes(first, second, 0x5140u),
                           high = device::select_bytes(first, second, 0x7362u);
            const auto begin = static_cast<uint32_t>(mix.offset);
            uint32_t sum[4] = {device::add_two_products<false>(of_first_two, low, begin),
                               device::add_two_products<true>(of_first_two, low, begin),
                               device::add_two_products<false>(of_first_two, high, begin),
                               device::add_two_products<true>(of_first_two, high, begin)};
            sum[0] = device::add_two_products<false>(of_third, third, sum[0]);
            sum[1] = device::add_two_products<false>(of_third << 16, third, sum[1]);
            sum[2] = device::add_two_products<true>(of_third, third, sum[2]);
            sum[3] = device::add_two_products<true>(of_third << 16, third, sum[3]);
            QC_UNROLL for (int k = 0; k < 4; ++k) made[4 * i + k] = static_cast<int>(sum[k]) >> mix.shift;
        }
    }
};

/// Makes chroma of strips, of sums over their rows.
/// @tparam kCount chroma samples of a strip: half of the columns, or all
template <typename Sum, int kBytes, int kCount>
struct ChromaMaker {
    const Mix<Sum> cb_mix, cr_mix;
    const Target cb, cr;
    const bool begins_before;
    int across[3]; ///< weights

    QC_HD explicit ChromaMaker(const RecodeJob& job)
        : cb_mix(job.recoding, 1), cr_mix(job.recoding, 2), cb(job, 1), cr(job, 2),
          begins_before(job.recoding.shrink_across.first < 0) {
        QC_UNROLL for (int t = 0; t < 3; ++t) across[t] = job.recoding.shrink_across.weight[t];
    }

    QC_HD void add(const PixelRow<kBytes>& row, const Levels<kBytes>& levels, int weight, int (&sum)[3][kCount]) const {
        QC_UNROLL for (int q = 0; q < 3; ++q) {
            if constexpr (kCount == kStrip) {
                QC_UNROLL for (int i = 0; i < kCount; ++i) sum[q][i] +=
                    weight * across[0] * levels.sample(row.plane[q], i);
            } else if constexpr (kBytes == 1) {
                add_bytes(row.plane[q], row.before[q], weight, sum[q]);
            } else {
                int run[kStrip + 1];
                run[0] = levels.in_range(row.before[q] >> levels.shift);
                QC_UNROLL for (int i = 0; i < kStrip; ++i) run[1 + i] = levels.sample(row.plane[q], i);
                add_run(run, weight, sum[q]);
            }
        }
    }

    QC_HD void store(const int (&sum)[3][kCount], int x, int y) const {
        int made[kCount];
        QC_UNROLL for (int i = 0; i < kCount; ++i) made[i] = cb_mix.of(sum[0][i], sum[1][i], sum[2][i]);
        cb.store(x, y, made);
        QC_UNROLL for (int i = 0; i < kCount; ++i) made[i] = cr_mix.of(sum[0][i], sum[1][i], sum[2][i]);
        cr.store(x, y, made);
    }

private:
    /// Weights fit bytes: they add up to 16 over all neighbours.
    QC_HD void add_bytes(const Strip<1>& strip, uint32_t before, int weight, int (&sum)[kCount]) const {
        const auto even = static_cast<uint32_t>(weight * (across[0] | across[1] << 8 | across[2] << 16));
        const uint32_t odd = even << (begins_before ? 8 : 16);
        const uint32_t selector = begins_before ? 0x6543u : 0x7654u;
        const uint32_t left[2] = {before, strip.word[0]};
        QC_UNROLL for (int i = 0; i < 2; ++i) {
            const uint32_t word = strip.word[i], window = device::select_bytes(left[i], word, selector);
            sum[2 * i] = static_cast<int>(device::add_four_products(even, window, static_cast<uint32_t>(sum[2 * i])));
            sum[2 * i + 1] =
                static_cast<int>(device::add_four_products(odd, word, static_cast<uint32_t>(sum[2 * i + 1])));
        }
    }

    QC_HD void add_run(const int (&run)[kStrip + 1], int weight, int (&sum)[kCount]) const {
        const int a = weight * across[0], b = weight * across[1], c = weight * across[2];
        if (begins_before) {
            QC_UNROLL for (int i = 0; i < kCount; ++i) sum[i] +=
                a * run[2 * i] + b * run[2 * i + 1] + c * run[2 * i + 2];
        } else { // the third weight is 0
            QC_UNROLL for (int i = 0; i < kCount; ++i) sum[i] += a * run[2 * i + 1] + b * run[2 * i + 2];
        }
    }
};

/// Makes the strips of a column, two rows at a time.
template <typename Sum, int kBytes, int kChroma>
QC_HD void make_yuv_strips(const RecodeJob& job, int x, int first, int end) {
    const bool is_half = kChroma == kStrip / 2, has_chroma = job.recoding.target_planes > 1;
    const PixelReader<kBytes> reader{job, has_chroma && is_half && job.recoding.shrink_across.first < 0};
    const LumaMaker<Sum, kBytes> luma(job);
    const ChromaMaker<Sum, kBytes, kChroma> chroma(job);
    const Levels<kBytes> levels(job.source[0]);
    const bool is_low = job.recoding.shrink_down.factor == 2, begins_above = job.recoding.shrink_down.first < 0;
    int down[3];
    QC_UNROLL for (int t = 0; t < 3; ++t) down[t] = job.recoding.shrink_down.weight[t];
    const int chroma_x = is_half ? x / 2 : x;
    QC_NO_UNROLL for (int y = first; y < end; y += 2) {
        PixelRow<kBytes> rows[2];
        const int both[2] = {y, y + 1};
        reader.load(x, both, rows);
        luma.store(rows[0], levels, x, y);
        if (y + 1 < end) luma.store(rows[1], levels, x, y + 1);
        if (!has_chroma) continue;
        int sum[3][kChroma]{};
        if (is_low) {
            chroma.add(rows[0], levels, begins_above ? down[1] : down[0], sum);
            chroma.add(rows[1], levels, begins_above ? down[2] : down[1], sum);
            if (begins_above || down[2] != 0) {
                PixelRow<kBytes> more[1];
                const int beyond[1] = {begins_above ? y - 1 : y + 2};
                reader.load(x, beyond, more);
                chroma.add(more[0], levels, begins_above ? down[0] : down[2], sum);
            }
            chroma.store(sum, chroma_x, y / 2);
            continue;
        }
        chroma.add(rows[0], levels, down[0], sum);
        chroma.store(sum, chroma_x, y);
        if (y + 1 >= end) continue;
        int next[3][kChroma]{};
        chroma.add(rows[1], levels, down[0], next);
        chroma.store(next, chroma_x, y + 1);
    }
}

/// Of samples that can be loaded by eight.
template <typename Sum, int kBytes>
QC_HD void make_yuv(const RecodeJob& job, int x, int first, int end) {
    if (job.recoding.shrink_across.factor == 2 || job.recoding.target_planes == 1)
        make_yuv_strips<Sum, kBytes, kStrip / 2>(job, x, first, end);
    else
        make_yuv_strips<Sum, kBytes, kStrip>(job, x, first, end);
}

} // namespace qc::recode
