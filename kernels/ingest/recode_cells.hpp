// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a block does with pictures whose samples are recoded: each thread makes the samples of a cell, four columns of
// luma in two rows and the chroma that goes with them.
#pragma once

#include "device/block.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "device/unroll.hpp"
#include "ingest/ingest.hpp"

namespace qc {
namespace recode {

QC_HD int clamped(int i, int count) {
    return i < 0 ? 0 : i < count ? i : count - 1;
}

/// A row beyond a border is the outermost one.
QC_HD const uint8_t* row_at(const RecodeSource& source, int y) {
    return source.data + static_cast<size_t>(clamped(y, source.rows) >> source.repeat_down) * source.pitch_bytes;
}

QC_HD int sample_at(const RecodeSource& source, const uint8_t* row, int x) {
    return static_cast<int>(read_sample(source.samples, row, clamped(x, source.columns) >> source.repeat_across));
}

/// kCount neighbours from column x on, where x is a multiple of four. What lies before and behind them is loaded too.
template <int kBefore, int kCount>
QC_HD void load_run(const RecodeSource& source, int x, int y, int (&sample)[kCount]) {
    const uint8_t* const row = row_at(source, y);
    constexpr int kWide = kCount - kBefore < 4 ? 0 : 4; // samples of one load
    int done = 0;
    if (kWide > 0 && source.is_plain != 0 && x + kWide <= source.columns) {
        if (source.samples.bytes == 1) {
            const uint32_t word = load_words<4>(row + x).word[0];
            QC_UNROLL for (int i = 0; i < kWide; ++i) sample[kBefore + i] = static_cast<int>(word >> (8 * i) & 0xff);
        } else {
            const Words<8> words = load_words<8>(row + 2 * static_cast<ptrdiff_t>(x));
            QC_UNROLL for (int i = 0; i < kWide; ++i) sample[kBefore + i] =
                static_cast<int>(source.samples.sample(words.word[i / 2] >> (16 * (i % 2)) & 0xffff));
        }
        done = kWide;
    }
    QC_UNROLL for (int i = 0; i < kCount; ++i) {
        const bool is_loaded = i >= kBefore && i < kBefore + done;
        if (!is_loaded) sample[i] = sample_at(source, row, x + i - kBefore);
    }
}

/// Up to four samples of a target's row, from a column that is a multiple of kCount on.
template <int kCount>
QC_HD void store_run(const RecodeTarget& target, int bytes, int x, int y, const int (&sample)[kCount]) {
    uint8_t* const row = static_cast<uint8_t*>(target.data) + static_cast<size_t>(y) * target.pitch_bytes;
    if (kCount == 4 && x + kCount <= target.columns) {
        if (bytes == 1) {
            uint32_t word = 0;
            QC_UNROLL for (int i = 0; i < kCount; ++i) word |= static_cast<uint32_t>(sample[i]) << (8 * i);
            *reinterpret_cast<uint32_t*>(row + x) = word;
        } else {
            Words<8> words{};
            QC_UNROLL for (int i = 0; i < kCount; ++i) words.word[i / 2] |= static_cast<uint32_t>(sample[i])
                                                                            << (16 * (i % 2));
            *reinterpret_cast<Words<8>*>(row + 2 * static_cast<ptrdiff_t>(x)) = words;
        }
        return;
    }
    QC_UNROLL for (int i = 0; i < kCount; ++i) {
        if (x + i >= target.columns) continue;
        if (bytes == 1)
            row[x + i] = static_cast<uint8_t>(sample[i]);
        else
            reinterpret_cast<uint16_t*>(row)[x + i] = static_cast<uint16_t>(sample[i]);
    }
}

QC_HD int64_t product(int32_t weight, int sample) {
    return static_cast<int64_t>(weight) * sample;
}

// ---- plane by plane -------------------------------------------------------------------------------------------------

QC_HD void map_plane(const RecodeJob& job, int p, int column, int row) {
    const RecodeTarget& target = job.target[p];
    // Halved planes have half of the cell; where they have not, both are the same.
    const int x = target.columns < job.target[0].columns ? column / 2 : column;
    const int y = target.rows < job.target[0].rows ? row / 2 : row;
    const int rows = target.rows < job.target[0].rows ? kRecodeRows / 2 : kRecodeRows;
    const bool is_half = target.columns < job.target[0].columns;
    for (int r = 0; r < rows && y + r < target.rows; ++r) {
        if (is_half) {
            int sample[2];
            load_run<0>(job.source[p], x, y + r, sample);
            QC_UNROLL for (int& each : sample) each = job.recoding.target(p, product(job.recoding.weight[p][p], each));
            store_run(target, job.target_bytes, x, y + r, sample);
        } else {
            int sample[4];
            load_run<0>(job.source[p], x, y + r, sample);
            QC_UNROLL for (int& each : sample) each = job.recoding.target(p, product(job.recoding.weight[p][p], each));
            store_run(target, job.target_bytes, x, y + r, sample);
        }
    }
}

// ---- from RGB -------------------------------------------------------------------------------------------------------

/// Samples of the three planes: one column before a cell and one behind it, for chroma that lies between.
constexpr int kRunBefore = 1, kRunLength = kRecodeColumns + 2;
struct Runs {
    int plane[3][kRunLength];
};

/// Four pixels that lie side by side, loaded once for all their samples.
template <int kPixelBytes>
QC_HD void load_pixels(const RecodeJob& job, int column, int y, Runs& runs) {
    const RecodeSource& first = job.source[0];
    const size_t row = static_cast<size_t>(clamped(y, first.rows)) * first.pitch_bytes;
    uint32_t word[5]{};
    if constexpr (kPixelBytes == 4) {
        const Words<16> words = load_words<16>(job.pixels + row + static_cast<ptrdiff_t>(4 * column));
        QC_UNROLL for (int i = 0; i < 4; ++i) word[i] = words.word[i];
    } else {
        QC_UNROLL for (int i = 0; i < 3; ++i) word[i] =
            load_words<4>(job.pixels + row + static_cast<ptrdiff_t>(3 * column + 4 * i)).word[0];
    }
    QC_UNROLL for (int q = 0; q < 3; ++q) {
        const auto offset = static_cast<int>(job.source[q].data - job.pixels);
        QC_UNROLL for (int i = 0; i < kRecodeColumns; ++i) {
            const int byte = kPixelBytes * i; // of the first word
            const uint64_t both = static_cast<uint64_t>(word[byte / 4 + 1]) << 32 | word[byte / 4];
            runs.plane[q][kRunBefore + i] = static_cast<int>(both >> (8 * (byte % 4 + offset)) & 0xff);
        }
        const uint8_t* const own = job.source[q].data + row;
        runs.plane[q][0] = sample_at(job.source[q], own, column - 1);
        runs.plane[q][kRunLength - 1] = sample_at(job.source[q], own, column + kRecodeColumns);
    }
}

QC_HD void load_runs(const RecodeJob& job, int column, int y, Runs& runs) {
    const bool is_whole = column + kRecodeColumns <= job.source[0].columns;
    if (job.pixel_bytes == 4 && is_whole) return load_pixels<4>(job, column, y, runs);
    if (job.pixel_bytes == 3 && is_whole) return load_pixels<3>(job, column, y, runs);
    QC_UNROLL for (int q = 0; q < 3; ++q) load_run<kRunBefore>(job.source[q], column, y, runs.plane[q]);
}

QC_HD void store_luma(const RecodeJob& job, const Runs& runs, int column, int y) {
    const int32_t* const weight = job.recoding.weight[0];
    int luma[kRecodeColumns];
    QC_UNROLL for (int i = 0; i < kRecodeColumns; ++i) luma[i] = job.recoding.target(
        0, product(weight[0], runs.plane[0][kRunBefore + i]) + product(weight[1], runs.plane[1][kRunBefore + i]) +
               product(weight[2], runs.plane[2][kRunBefore + i]));
    store_run(job.target[0], job.target_bytes, column, y, luma);
}

/// Of sums of neighbours, kCount of them from a column of chroma on.
template <int kCount>
QC_HD void store_chroma(const RecodeJob& job, const Runs& down, int x, int y) {
    const ShrinkAxis& across = job.recoding.shrink_across;
    constexpr int kStep = kRecodeColumns / kCount;
    int sums[3][kCount];
    QC_UNROLL for (int q = 0; q < 3; ++q) QC_UNROLL for (int i = 0; i < kCount; ++i) {
        const int* const at = &down.plane[q][kRunBefore + kStep * i];
        if (kStep == 1)
            sums[q][i] = across.weight[0] * at[0];
        else if (across.first < 0)
            sums[q][i] = across.weight[0] * at[-1] + across.weight[1] * at[0] + across.weight[2] * at[1];
        else
            sums[q][i] = across.weight[0] * at[0] + across.weight[1] * at[1] + across.weight[2] * at[2];
    }
    for (int p = 1; p < 3; ++p) {
        const int32_t* const weight = job.recoding.weight[p];
        int chroma[kCount];
        QC_UNROLL for (int i = 0; i < kCount; ++i) chroma[i] = job.recoding.target(
            p, product(weight[0], sums[0][i]) + product(weight[1], sums[1][i]) + product(weight[2], sums[2][i]));
        store_run(job.target[p], job.target_bytes, x, y, chroma);
    }
}

QC_HD void add_weighted(int32_t weight, const Runs& runs, Runs& sums) {
    QC_UNROLL for (int q = 0; q < 3; ++q) QC_UNROLL for (int i = 0; i < kRunLength; ++i) sums.plane[q][i] +=
        weight * runs.plane[q][i];
}

QC_HD void make_yuv(const RecodeJob& job, int column, int row) {
    const ShrinkAxis& down = job.recoding.shrink_down;
    const bool has_chroma = job.recoding.target_planes > 1;
    const bool halves_columns = job.recoding.shrink_across.factor == 2;
    Runs sums{};
    if (has_chroma && down.factor == 2 && down.first < 0) {
        Runs before;
        load_runs(job, column, row - 1, before);
        add_weighted(down.weight[0], before, sums);
    }
    for (int r = 0; r < kRecodeRows; ++r) {
        Runs runs;
        load_runs(job, column, row + r, runs);
        if (row + r < job.target[0].rows) store_luma(job, runs, column, row + r);
        if (!has_chroma) continue;
        if (down.factor == 2) {
            add_weighted(down.weight[r - down.first], runs, sums);
            continue;
        }
        if (row + r >= job.target[0].rows) continue;
        Runs whole{};
        add_weighted(down.weight[0], runs, whole);
        if (halves_columns)
            store_chroma<2>(job, whole, column / 2, row + r);
        else
            store_chroma<4>(job, whole, column, row + r);
    }
    if (!has_chroma || down.factor == 1) return;
    if (down.first == 0 && down.weight[2] != 0) {
        Runs behind;
        load_runs(job, column, row + kRecodeRows, behind);
        add_weighted(down.weight[2], behind, sums);
    }
    if (halves_columns)
        store_chroma<2>(job, sums, column / 2, row / 2);
    else
        store_chroma<4>(job, sums, column, row / 2);
}

// ---- to RGB ---------------------------------------------------------------------------------------------------------

/// The sum of chroma samples for one luma sample.
QC_HD int grown_chroma(const RecodeJob& job, int q, const GrowTaps& down, int x) {
    const GrowTaps across = grow_taps(job.recoding.grow_across, x);
    int sum = 0;
    for (int t = 0; t < 4; ++t) {
        if (down.weight[t] == 0) continue;
        const uint8_t* const row = row_at(job.source[q], down.first + t);
        int along = 0;
        for (int s = 0; s < 4; ++s)
            if (across.weight[s] != 0) along += across.weight[s] * sample_at(job.source[q], row, across.first + s);
        sum += down.weight[t] * along;
    }
    return sum;
}

QC_HD void make_rgb(const RecodeJob& job, int column, int row) {
    const Recoding& recoding = job.recoding;
    for (int r = 0; r < kRecodeRows && row + r < job.target[0].rows; ++r) {
        const GrowTaps down = grow_taps(recoding.grow_down, row + r);
        int sums[3][kRecodeColumns]{};
        load_run<0>(job.source[0], column, row + r, sums[0]);
        QC_UNROLL for (int i = 0; i < kRecodeColumns; ++i) {
            sums[0][i] *= 1 << kGrowBits;
            for (int q = 1; q < recoding.source_planes; ++q) sums[q][i] = grown_chroma(job, q, down, column + i);
        }
        for (int p = 0; p < recoding.target_planes; ++p) {
            const int32_t* const weight = recoding.weight[p];
            int made[kRecodeColumns];
            QC_UNROLL for (int i = 0; i < kRecodeColumns; ++i) made[i] = recoding.target(
                p, product(weight[0], sums[0][i]) + product(weight[1], sums[1][i]) + product(weight[2], sums[2][i]));
            store_run(job.target[p], job.target_bytes, column, row + r, made);
        }
    }
}

} // namespace recode

struct RecodeArguments {
    const RecodeJob* jobs;
};

/// grid: (blocks across, pairs of rows, jobs)
struct Recode : device::KernelOf<RecodeArguments, kIngestBlock> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        const RecodeJob& job = arguments.jobs[block.z()];
        const int column = (block.x() * kThreads + block.thread()) * kRecodeColumns;
        const int row = block.y() * kRecodeRows;
        if (column >= job.target[0].columns || row >= job.target[0].rows) return;
        switch (job.recoding.kind) {
        case RecodeKind::kPlanes:
            for (int p = 0; p < job.recoding.target_planes; ++p) recode::map_plane(job, p, column, row);
            return;
        case RecodeKind::kToYuv:
            return recode::make_yuv(job, column, row);
        case RecodeKind::kToRgb:
            return recode::make_rgb(job, column, row);
        }
    }
};

} // namespace qc
