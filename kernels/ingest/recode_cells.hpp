// SPDX-License-Identifier: BSD-2-Clause-Patent
// Samples that are recoded one by one, wherever they lie: the ends of rows, and pictures whose samples cannot be loaded
// by eight. Also what all kernels that recode keep in registers.
#pragma once

#include "device/bytes.hpp"
#include "device/plane_reader.hpp"
#include "device/unroll.hpp"
#include "ingest/ingest.hpp"

namespace qc::recode {

QC_HD int clamped(int i, int count) {
    return i < 0 ? 0 : i < count ? i : count - 1;
}

/// How one target plane is made.
/// @tparam Sum int32_t where the recoding is narrow, otherwise int64_t
template <typename Sum>
struct Mix {
    int32_t weight[3];
    Sum offset;
    int shift, brightest;

    QC_HD Mix(const Recoding& from, int plane) {
        QC_UNROLL for (int q = 0; q < 3; ++q) weight[q] = from.weight[plane][q];
        offset = static_cast<Sum>(from.offset[plane]);
        shift = from.shift[plane];
        brightest = from.brightest;
    }
    /// Not brought into range yet.
    QC_HD int target(Sum sum) const { return static_cast<int>((offset + sum) >> shift); }
    QC_HD int of(int a, int b, int c) const {
        return target(static_cast<Sum>(weight[0]) * a + static_cast<Sum>(weight[1]) * b +
                      static_cast<Sum>(weight[2]) * c);
    }
};

/// A target plane. What is stored is brought into range.
struct Target {
    uint8_t* data;
    uint32_t pitch_bytes;
    int bytes, brightest;

    QC_HD Target(const RecodeJob& job, int plane)
        : data(static_cast<uint8_t*>(job.target[plane].data)), pitch_bytes(job.target[plane].pitch_bytes),
          bytes(job.target_bytes), brightest(job.recoding.brightest) {}

    /// Planes are smaller than 4 GiB.
    QC_HD uint8_t* at(int x, int y) const {
        return data + (static_cast<uint32_t>(y) * pitch_bytes + static_cast<uint32_t>(x * bytes));
    }
    QC_HD int in_range(int value) const { return value < 0 ? 0 : value > brightest ? brightest : value; }

    QC_HD void store_one(int x, int y, int value) const {
        if (bytes == 1)
            *at(x, y) = static_cast<uint8_t>(in_range(value));
        else
            *reinterpret_cast<uint16_t*>(at(x, y)) = static_cast<uint16_t>(in_range(value));
    }
    /// Four or eight samples, from a column that is a multiple of so many.
    template <int kCount>
    QC_HD void store(int x, int y, const int (&value)[kCount]) const {
        if (bytes == 1) {
            Words<kCount> words;
            QC_UNROLL for (int i = 0; i < kCount; i += 4) {
                const int four[4] = {value[i], value[i + 1], value[i + 2], value[i + 3]};
                words.word[i / 4] = device::clamped_bytes(four);
            }
            *reinterpret_cast<Words<kCount>*>(at(x, y)) = words;
            return;
        }
        Words<2 * kCount> words;
        if (brightest == 0xffff) {
            QC_UNROLL for (int i = 0; i < kCount; i += 2) words.word[i / 2] =
                device::clamped_words(value[i], value[i + 1]);
        } else {
            QC_UNROLL for (int i = 0; i < kCount; i += 2) words.word[i / 2] =
                static_cast<uint32_t>(in_range(value[i])) | static_cast<uint32_t>(in_range(value[i + 1])) << 16;
        }
        *reinterpret_cast<Words<2 * kCount>*>(at(x, y)) = words;
    }
};

/// Any sample of a component. Those beyond a border are the outermost ones.
QC_HD int sample_at(const RecodeSource& source, int x, int y) {
    const auto row = static_cast<uint32_t>(clamped(y, source.rows) >> source.repeat_down) * source.pitch_bytes;
    return static_cast<int>(
        read_sample(source.samples, source.data + row, clamped(x, source.columns) >> source.repeat_across));
}

/// Columns from `begin` to `end` of rows from `first` to `last`, of all planes that are mixed of others, one by one.
template <typename Sum>
struct Cells {
    const RecodeJob& job;

    QC_HD void map(int p, int begin, int end, int first, int last) const {
        const Mix<Sum> mix(job.recoding, p);
        const Target target(job, p);
        const auto weight = static_cast<Sum>(job.recoding.weight[p][p]);
        QC_NO_UNROLL for (int y = first; y < last; ++y) QC_NO_UNROLL for (int x = begin; x < end; ++x)
            target.store_one(x, y, mix.target(weight * sample_at(job.source[p], x, y)));
    }

    /// @param first of luma, even
    QC_HD void make_yuv(int begin, int end, int first, int last) const {
        const Mix<Sum> luma_mix(job.recoding, 0);
        const Target luma(job, 0);
        QC_NO_UNROLL for (int y = first; y < last; ++y) QC_NO_UNROLL for (int x = begin; x < end; ++x)
            luma.store_one(x, y,
                           luma_mix.of(sample_at(job.source[0], x, y), sample_at(job.source[1], x, y),
                                       sample_at(job.source[2], x, y)));
        if (job.recoding.target_planes == 1) return;
        const int across = job.recoding.shrink_across.factor, down = job.recoding.shrink_down.factor;
        const Mix<Sum> cb_mix(job.recoding, 1), cr_mix(job.recoding, 2);
        const Target cb(job, 1), cr(job, 2);
        QC_NO_UNROLL for (int y = first / down; y * down < last; ++y)
            QC_NO_UNROLL for (int x = begin / across; x * across < end; ++x) {
            int sum[3];
            QC_UNROLL for (int q = 0; q < 3; ++q) sum[q] = shrunk(q, x, y);
            cb.store_one(x, y, cb_mix.of(sum[0], sum[1], sum[2]));
            cr.store_one(x, y, cr_mix.of(sum[0], sum[1], sum[2]));
        }
    }

    QC_HD void make_rgb(int begin, int end, int first, int last) const {
        QC_NO_UNROLL for (int y = first; y < last; ++y) QC_NO_UNROLL for (int x = begin; x < end; ++x) {
            const bool is_coloured = job.recoding.source_planes > 1;
            const int luma = sample_at(job.source[0], x, y) * (1 << kGrowBits);
            const int cb = is_coloured ? grown(1, x, y) : 0, cr = is_coloured ? grown(2, x, y) : 0;
            QC_NO_UNROLL for (int p = 0; p < job.recoding.target_planes; ++p) Target(job, p).store_one(
                x, y, Mix<Sum>(job.recoding, p).of(luma, cb, cr));
        }
    }

private:
    /// Weighted sum of the neighbours that a sample of chroma is made of.
    QC_HD int shrunk(int q, int x, int y) const {
        const ShrinkAxis &across = job.recoding.shrink_across, &down = job.recoding.shrink_down;
        int sum = 0;
        QC_NO_UNROLL for (int r = 0; r < 3; ++r) QC_NO_UNROLL for (int c = 0; c < 3; ++c) {
            const int weight = down.weight[r] * across.weight[c];
            if (weight != 0)
                sum += weight *
                       sample_at(job.source[q], across.factor * x + across.first + c, down.factor * y + down.first + r);
        }
        return sum;
    }

    /// Weighted sum of the chroma samples around one of luma.
    QC_HD int grown(int q, int x, int y) const {
        const GrowTaps across = grow_taps(job.recoding.grow_across, x), down = grow_taps(job.recoding.grow_down, y);
        int sum = 0;
        QC_UNROLL for (int r = 0; r < 4; ++r) QC_UNROLL for (int c = 0; c < 4; ++c) {
            const int weight = down.weight[r] * across.weight[c];
            if (weight != 0) sum += weight * sample_at(job.source[q], across.first + c, down.first + r);
        }
        return sum;
    }
};

} // namespace qc::recode
