// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a block does with pictures whose samples are recoded: each thread makes the samples of a cell, four columns of
// luma in two rows and the chroma that goes with them. What a thread goes by it keeps in registers, and sums of up to
// 10 bits are of 32: otherwise reading the job again and again takes longer than reading the pictures.
#pragma once

#include "device/block.hpp"
#include "device/bytes.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "device/unroll.hpp"
#include "ingest/ingest.hpp"
#include "ingest/scale_samples.hpp"

namespace qc {
namespace recode {

using scale::fetch;

template <typename T>
QC_HD T* fetch_pointer(T* const* address) {
#if defined(__CUDA_ARCH__)
    return reinterpret_cast<T*>(__ldg(reinterpret_cast<const unsigned long long*>(address)));
#else
    return *address;
#endif
}

QC_HD int clamped(int i, int count) {
    return i < 0 ? 0 : i < count ? i : count - 1;
}

/// How one target plane is made, in registers.
template <typename Sum>
struct Mix {
    Sum weight[3], offset;
    int shift, brightest;

    QC_HD Mix(const Recoding& from, int plane) {
        QC_UNROLL for (int q = 0; q < 3; ++q) weight[q] = static_cast<Sum>(fetch(&from.weight[plane][q]));
        offset = static_cast<Sum>(fetch(&from.offset[plane]));
        shift = fetch(&from.shift[plane]);
        brightest = fetch(&from.brightest);
    }
    QC_HD int target(Sum sum) const {
        const auto value = static_cast<int>((offset + sum) >> shift);
        return value < 0 ? 0 : value > brightest ? brightest : value;
    }
    QC_HD int of(int a, int b, int c) const { return target(weight[0] * a + weight[1] * b + weight[2] * c); }
};

/// A component, in registers.
struct Component {
    const uint8_t* data;
    uint32_t pitch_bytes;
    int columns, rows;

    QC_HD explicit Component(const RecodeSource& source) {
        data = fetch_pointer(&source.data);
        pitch_bytes = fetch(&source.pitch_bytes);
        columns = fetch(&source.columns);
        rows = fetch(&source.rows);
    }
    /// A row beyond a border is the outermost one.
    QC_HD const uint8_t* row(int y, int repeat_down = 0) const {
        return data + static_cast<size_t>(clamped(y, rows) >> repeat_down) * pitch_bytes;
    }
};

/// Any sample of a component, wherever it lies.
QC_HD int sample_at(const RecodeSource& source, const Component& component, int x, int y) {
    return static_cast<int>(read_sample(source.samples, component.row(y, source.repeat_down),
                                        clamped(x, component.columns) >> source.repeat_across));
}

/// A target plane, in registers.
struct Target {
    uint8_t* data;
    uint32_t pitch_bytes;
    int columns, rows, bytes;

    QC_HD Target(const RecodeJob& job, int plane) {
        data = static_cast<uint8_t*>(fetch_pointer(&job.target[plane].data));
        pitch_bytes = fetch(&job.target[plane].pitch_bytes);
        columns = fetch(&job.target[plane].columns);
        rows = fetch(&job.target[plane].rows);
        bytes = fetch(&job.target_bytes);
    }

    /// Two or four samples of a row, from a column that is a multiple of so many.
    template <int kCount>
    QC_HD void store(int x, int y, const int (&sample)[kCount]) const {
        uint8_t* const row = data + static_cast<size_t>(y) * pitch_bytes;
        if (x + kCount <= columns) {
            uint32_t word[2]{};
            if (bytes == 1) {
                QC_UNROLL for (int i = 0; i < kCount; ++i) word[0] |= static_cast<uint32_t>(sample[i]) << (8 * i);
                if constexpr (kCount == 4)
                    *reinterpret_cast<uint32_t*>(row + x) = word[0];
                else
                    *reinterpret_cast<uint16_t*>(row + x) = static_cast<uint16_t>(word[0]);
            } else {
                QC_UNROLL for (int i = 0; i < kCount; ++i) word[i / 2] |= static_cast<uint32_t>(sample[i])
                                                                          << (16 * (i % 2));
                if constexpr (kCount == 4)
                    *reinterpret_cast<Words<8>*>(row + 2 * static_cast<ptrdiff_t>(x)) = {{word[0], word[1]}};
                else
                    *reinterpret_cast<uint32_t*>(row + 2 * static_cast<ptrdiff_t>(x)) = word[0];
            }
            return;
        }
        QC_UNROLL for (int i = 0; i < kCount; ++i) {
            if (x + i >= columns) continue;
            if (bytes == 1)
                row[x + i] = static_cast<uint8_t>(sample[i]);
            else
                reinterpret_cast<uint16_t*>(row)[x + i] = static_cast<uint16_t>(sample[i]);
        }
    }
};

// ---- where samples lie ----------------------------------------------------------------------------------------------

/// How the samples of a cell are loaded: each by itself, four neighbours of a plane at once, or four pixels.
enum Layout { kAnyhow, kBytes, kWords, kPixelsOfThree, kPixelsOfFour };

QC_HD Layout layout_of(const RecodeSource& source) {
    if (fetch(&source.is_plain) == 0) return kAnyhow;
    return fetch(&source.samples.bytes) == 1 ? kBytes : kWords;
}

/// The same for all planes of RGB, or anyhow.
QC_HD Layout layout_of(const RecodeJob& job) {
    const int pixel_bytes = fetch(&job.pixel_bytes);
    if (pixel_bytes != 0) return pixel_bytes == 3 ? kPixelsOfThree : kPixelsOfFour;
    const Layout first = layout_of(job.source[0]);
    return layout_of(job.source[1]) == first && layout_of(job.source[2]) == first ? first : kAnyhow;
}

/// kCount samples of a component from column x on, a multiple of kCount.
template <Layout kLayout, int kCount>
QC_HD void load_run(const RecodeSource& source, const Component& component, int x, int y, int (&sample)[kCount]) {
    if constexpr (kCount == 4 && kLayout == kBytes) {
        if (x + 4 <= component.columns) {
            const uint32_t word = load_words<4>(component.row(y) + x).word[0];
            QC_UNROLL for (int i = 0; i < kCount; ++i) sample[i] = static_cast<int>(word >> (8 * i) & 0xff);
            return;
        }
    }
    if constexpr (kCount == 4 && kLayout == kWords) {
        if (x + 4 <= component.columns) {
            const Words<8> words = load_words<8>(component.row(y) + 2 * static_cast<ptrdiff_t>(x));
            const auto shift = fetch(&source.samples.shift);
            const auto largest = static_cast<int>(fetch(&source.samples.largest));
            QC_UNROLL for (int i = 0; i < kCount; ++i) {
                const auto raw = static_cast<int>((words.word[i / 2] >> (16 * (i % 2)) & 0xffff) >> shift);
                sample[i] = raw < largest ? raw : largest;
            }
            return;
        }
    }
    QC_UNROLL for (int i = 0; i < kCount; ++i) sample[i] = sample_at(source, component, x + i, y);
}

/// Samples of three planes: those of a cell's row behind the one before them, which chroma may lie between.
constexpr int kRunLength = kRecodeColumns + 1;
struct Runs {
    int plane[3][kRunLength];
};

/// Reads RGB.
template <Layout kLayout>
struct RgbReader {
    const RecodeJob& job;
    const Component component[3];
    const uint8_t* const pixels;
    const int column;
    const bool wants_before, is_whole;

    QC_HD RgbReader(const RecodeJob& of, int column_of_cell)
        : job(of), component{Component(of.source[0]), Component(of.source[1]), Component(of.source[2])},
          pixels(fetch_pointer(&of.pixels)), column(column_of_cell),
          wants_before(fetch(&of.recoding.shrink_across.first) < 0),
          is_whole(column_of_cell + kRecodeColumns <= component[0].columns) {}

    /// Four pixels that lie side by side, loaded once for all their samples.
    QC_HD void load_pixels(int y, Runs& runs) const {
        constexpr int kPixelBytes = kLayout == kPixelsOfFour ? 4 : 3;
        const uint8_t* const row =
            pixels + static_cast<size_t>(clamped(y, component[0].rows)) * component[0].pitch_bytes;
        uint32_t word[5]{};
        if constexpr (kPixelBytes == 4) {
            const Words<16> words = load_words<16>(row + static_cast<ptrdiff_t>(4 * column));
            QC_UNROLL for (int i = 0; i < 4; ++i) word[i] = words.word[i];
        } else {
            QC_UNROLL for (int i = 0; i < 3; ++i) word[i] =
                load_words<4>(row + static_cast<ptrdiff_t>(3 * column + 4 * i)).word[0];
        }
        QC_UNROLL for (int q = 0; q < 3; ++q) {
            const auto offset = static_cast<uint32_t>(component[q].data - pixels);
            QC_UNROLL for (int i = 0; i < kRecodeColumns; ++i) {
                const int byte = kPixelBytes * i;
                const uint32_t four =
                    device::select_bytes(word[byte / 4], word[byte / 4 + 1], static_cast<uint32_t>(byte % 4) + offset);
                runs.plane[q][1 + i] = static_cast<int>(four & 0xff);
            }
        }
    }

    QC_HD void load(int y, Runs& runs) const {
        QC_UNROLL for (int q = 0; q < 3; ++q) runs.plane[q][0] = wants_before ? sample_before(q, y) : 0;
        if constexpr (kLayout == kPixelsOfThree || kLayout == kPixelsOfFour) {
            if (is_whole) return load_pixels(y, runs);
        }
        QC_UNROLL for (int q = 0; q < 3; ++q) {
            int run[kRecodeColumns];
            load_run<kLayout>(job.source[q], component[q], column, y, run);
            QC_UNROLL for (int i = 0; i < kRecodeColumns; ++i) runs.plane[q][1 + i] = run[i];
        }
    }

    QC_HD int sample_before(int q, int y) const {
        const int x = clamped(column - 1, component[q].columns);
        if constexpr (kLayout == kBytes) return fetch(component[q].row(y) + x);
        if constexpr (kLayout == kPixelsOfThree) return fetch(component[q].row(y) + 3 * x);
        if constexpr (kLayout == kPixelsOfFour) return fetch(component[q].row(y) + 4 * x);
        return sample_at(job.source[q], component[q], x, y);
    }
};

// ---- plane by plane -------------------------------------------------------------------------------------------------

template <typename Sum, Layout kLayout>
QC_HD void map_column(const RecodeJob& job, int p, int x, int first, int end) {
    const Mix<Sum> mix(job.recoding, p);
    const Component component(job.source[p]);
    const Target target(job, p);
    const Sum weight = static_cast<Sum>(fetch(&job.recoding.weight[p][p]));
    int row = first;
    for (; row + 4 <= end; row += 4) { // loads that wait together
        int sample[4][4];
        QC_UNROLL for (int r = 0; r < 4; ++r) load_run<kLayout>(job.source[p], component, x, row + r, sample[r]);
        QC_UNROLL for (int r = 0; r < 4; ++r) {
            QC_UNROLL for (int& each : sample[r]) each = mix.target(weight * each);
            target.store(x, row + r, sample[r]);
        }
    }
    for (; row < end; ++row) {
        int sample[4];
        load_run<kLayout>(job.source[p], component, x, row, sample);
        QC_UNROLL for (int& each : sample) each = mix.target(weight * each);
        target.store(x, row, sample);
    }
}

/// Each plane by columns and rows of its own: of halved ones half of the threads have any.
template <typename Sum>
QC_HD void map_planes(const RecodeJob& job, int column, int first, int end) {
    const int planes = fetch(&job.recoding.target_planes), luma_rows = fetch(&job.target[0].rows);
    for (int p = 0; p < planes; ++p) {
        if (column >= fetch(&job.target[p].columns)) return;
        const bool is_low = fetch(&job.target[p].rows) < luma_rows;
        const int y = is_low ? first / 2 : first, last = is_low ? (end + 1) / 2 : end;
        switch (layout_of(job.source[p])) {
        case kBytes:
            map_column<Sum, kBytes>(job, p, column, y, last);
            break;
        case kWords:
            map_column<Sum, kWords>(job, p, column, y, last);
            break;
        default:
            map_column<Sum, kAnyhow>(job, p, column, y, last);
        }
    }
}

// ---- from RGB -------------------------------------------------------------------------------------------------------

QC_HD void add_weighted(int weight, const Runs& runs, Runs& sums) {
    QC_UNROLL for (int q = 0; q < 3; ++q) QC_UNROLL for (int i = 0; i < kRunLength; ++i) sums.plane[q][i] +=
        weight * runs.plane[q][i];
}

/// Makes the cells of a column.
template <typename Sum, Layout kLayout>
struct YuvMaker {
    const RgbReader<kLayout> reader;
    const Mix<Sum> luma_mix, cb_mix, cr_mix;
    const Target luma, cb, cr;
    int across[3], down[3]; ///< weights
    bool has_chroma, is_half, is_low, begins_before, begins_above;

    QC_HD YuvMaker(const RecodeJob& job, int column)
        : reader(job, column), luma_mix(job.recoding, 0), cb_mix(job.recoding, 1), cr_mix(job.recoding, 2),
          luma(job, 0), cb(job, 1), cr(job, 2) {
        const Recoding& recoding = job.recoding;
        QC_UNROLL for (int t = 0; t < 3; ++t) across[t] = fetch(&recoding.shrink_across.weight[t]);
        QC_UNROLL for (int t = 0; t < 3; ++t) down[t] = fetch(&recoding.shrink_down.weight[t]);
        has_chroma = fetch(&recoding.target_planes) > 1;
        is_half = fetch(&recoding.shrink_across.factor) == 2;
        is_low = fetch(&recoding.shrink_down.factor) == 2;
        begins_before = fetch(&recoding.shrink_across.first) < 0;
        begins_above = fetch(&recoding.shrink_down.first) < 0;
    }

    QC_HD void store_luma(const Runs& runs, int y) const {
        int made[kRecodeColumns];
        QC_UNROLL for (int i = 0; i < kRecodeColumns; ++i) made[i] =
            luma_mix.of(runs.plane[0][1 + i], runs.plane[1][1 + i], runs.plane[2][1 + i]);
        luma.store(reader.column, y, made);
    }

    /// Of sums of rows.
    template <int kCount>
    QC_HD void store_chroma(const Runs& sums, int y) const {
        constexpr int kStep = kRecodeColumns / kCount;
        int shrunk[3][kCount], blue[kCount], red[kCount];
        QC_UNROLL for (int q = 0; q < 3; ++q) QC_UNROLL for (int i = 0; i < kCount; ++i) {
            const int(&run)[kRunLength] = sums.plane[q];
            const int at = 1 + kStep * i; // its own luma sample
            if constexpr (kStep == 1)
                shrunk[q][i] = across[0] * run[at];
            else
                shrunk[q][i] = begins_before ? across[0] * run[at - 1] + across[1] * run[at] + across[2] * run[at + 1]
                                             : across[0] * run[at] + across[1] * run[at + 1];
        }
        QC_UNROLL for (int i = 0; i < kCount; ++i) {
            blue[i] = cb_mix.of(shrunk[0][i], shrunk[1][i], shrunk[2][i]);
            red[i] = cr_mix.of(shrunk[0][i], shrunk[1][i], shrunk[2][i]);
        }
        cb.store(reader.column / kStep, y, blue);
        cr.store(reader.column / kStep, y, red);
    }

    QC_HD void store_chroma(const Runs& sums, int y) const {
        if (is_half)
            store_chroma<2>(sums, y);
        else
            store_chroma<4>(sums, y);
    }

    QC_HD void make(int row) const {
        Runs runs[kRecodeRows], sums{};
        QC_UNROLL for (int r = 0; r < kRecodeRows; ++r) reader.load(row + r, runs[r]);
        QC_UNROLL for (int r = 0; r < kRecodeRows; ++r) {
            if (row + r < luma.rows) store_luma(runs[r], row + r);
            if (has_chroma && is_low) add_weighted(begins_above ? down[r + 1] : down[r], runs[r], sums);
            if (!has_chroma || is_low || row + r >= luma.rows) continue;
            Runs whole{};
            add_weighted(down[0], runs[r], whole);
            store_chroma(whole, row + r);
        }
        if (!has_chroma || !is_low) return;
        if (begins_above || down[2] != 0) {
            reader.load(begins_above ? row - 1 : row + kRecodeRows, runs[0]);
            add_weighted(begins_above ? down[0] : down[2], runs[0], sums);
        }
        store_chroma(sums, row / 2);
    }
};

template <typename Sum, Layout kLayout>
QC_HD void make_column(const RecodeJob& job, int column, int first, int end) {
    const YuvMaker<Sum, kLayout> maker(job, column);
    for (int row = first; row < end; row += kRecodeRows) maker.make(row);
}

template <typename Sum>
QC_HD void make_yuv(const RecodeJob& job, int column, int first, int end) {
    switch (layout_of(job)) {
    case kBytes:
        return make_column<Sum, kBytes>(job, column, first, end);
    case kWords:
        return make_column<Sum, kWords>(job, column, first, end);
    case kPixelsOfThree:
        return make_column<Sum, kPixelsOfThree>(job, column, first, end);
    case kPixelsOfFour:
        return make_column<Sum, kPixelsOfFour>(job, column, first, end);
    default:
        return make_column<Sum, kAnyhow>(job, column, first, end);
    }
}

// ---- to RGB ---------------------------------------------------------------------------------------------------------

/// Rows of chroma that two rows of luma are made of, and columns that four columns are.
constexpr int kGrowRows = 5, kGrowColumns = 6;

/// For each luma sample of a cell the sum of its chroma samples.
struct GrownChroma {
    int sum[kRecodeRows][kRecodeColumns];
};

QC_HD void grow(const RecodeJob& job, int q, int column, int row, GrownChroma& grown) {
    const RecodeSource& source = job.source[q];
    const Component component(source);
    const GrowAxis across{fetch(&job.recoding.grow_across.halved), fetch(&job.recoding.grow_across.behind)};
    const GrowAxis down{fetch(&job.recoding.grow_down.halved), fetch(&job.recoding.grow_down.behind)};
    const GrowTaps rows[kRecodeRows] = {grow_taps(down, row), grow_taps(down, row + 1)};
    GrowTaps columns[kRecodeColumns];
    QC_UNROLL for (int i = 0; i < kRecodeColumns; ++i) columns[i] = grow_taps(across, column + i);
    int between[kRecodeRows][kGrowColumns]{};
    // Where chroma is as wide as luma, only the sample itself counts.
    const int begin = across.halved != 0 ? columns[0].first : column;
    QC_UNROLL for (int t = 0; t < kGrowRows; ++t) {
        const int y = rows[0].first + t;
        int run[kGrowColumns];
        QC_UNROLL for (int i = 0; i < kGrowColumns; ++i) run[i] = sample_at(source, component, begin + i, y);
        QC_UNROLL for (int r = 0; r < kRecodeRows; ++r) {
            const int tap = y - rows[r].first;
            int weight = 0;
            QC_UNROLL for (int k = 0; k < 4; ++k) weight = tap == k ? rows[r].weight[k] : weight;
            QC_UNROLL for (int i = 0; i < kGrowColumns; ++i) between[r][i] += weight * run[i];
        }
    }
    QC_UNROLL for (int r = 0; r < kRecodeRows; ++r) QC_UNROLL for (int i = 0; i < kRecodeColumns; ++i) {
        int sum = 0;
        QC_UNROLL for (int k = 0; k < kGrowColumns; ++k) {
            const int tap = begin + k - columns[i].first;
            int weight = 0;
            QC_UNROLL for (int w = 0; w < 4; ++w) weight = tap == w ? columns[i].weight[w] : weight;
            sum += weight * between[r][k];
        }
        grown.sum[r][i] = sum;
    }
}

QC_HD void make_rgb(const RecodeJob& job, int column, int row) {
    const int source_planes = fetch(&job.recoding.source_planes), planes = fetch(&job.recoding.target_planes);
    const Component luma(job.source[0]);
    GrownChroma chroma[2]{};
    QC_UNROLL for (int q = 1; q < 3; ++q) if (q < source_planes) grow(job, q, column, row, chroma[q - 1]);
    QC_UNROLL for (int r = 0; r < kRecodeRows; ++r) {
        if (row + r >= luma.rows) return;
        int samples[kRecodeColumns];
        load_run<kAnyhow>(job.source[0], luma, column, row + r, samples);
        QC_UNROLL for (int p = 0; p < 3; ++p) {
            if (p >= planes) continue;
            const Mix<int64_t> mix(job.recoding, p);
            int made[kRecodeColumns];
            QC_UNROLL for (int i = 0; i < kRecodeColumns; ++i) made[i] =
                mix.of(samples[i] * (1 << kGrowBits), chroma[0].sum[r][i], chroma[1].sum[r][i]);
            Target(job, p).store(column, row + r, made);
        }
    }
}

template <typename Sum, RecodeKind kKind>
QC_HD void make_cells(const RecodeJob& job, int column, int first, int end) {
    if constexpr (kKind == kRecodePlanes)
        map_planes<Sum>(job, column, first, end);
    else
        make_yuv<Sum>(job, column, first, end);
}

/// Pairs of rows that a thread makes one after the other: it waits for what the job says once.
constexpr int kPairsOfBlock = 8;

} // namespace recode

struct RecodeArguments {
    const RecodeJob* jobs;
};

/// Does the jobs of one kind, and leaves the others. grid: (blocks across, groups of pairs of rows, jobs)
template <RecodeKind kKind>
struct Recode : device::KernelOf<RecodeArguments, kIngestBlock, kKind == kRecodeToRgb ? 2 : 4> {
    static constexpr int kRowsOfBlock = recode::kPairsOfBlock * kRecodeRows;

    template <class Block>
    QC_HD static void run(Block& block, const RecodeArguments& arguments) {
        const RecodeJob& job = arguments.jobs[block.z()];
        if (recode::fetch(&job.recoding.kind) != int32_t{kKind}) return;
        const int column = (block.x() * kIngestBlock + block.thread()) * kRecodeColumns;
        if (column >= recode::fetch(&job.target[0].columns)) return;
        const int first = block.y() * kRowsOfBlock, rows = recode::fetch(&job.target[0].rows);
        const int end = first + kRowsOfBlock < rows ? first + kRowsOfBlock : rows;
        if constexpr (kKind == kRecodeToRgb) {
            for (int row = first; row < end; row += kRecodeRows) recode::make_rgb(job, column, row);
        } else if (recode::fetch(&job.recoding.is_narrow) != 0) {
            recode::make_cells<int32_t, kKind>(job, column, first, end);
        } else {
            recode::make_cells<int64_t, kKind>(job, column, first, end);
        }
    }
};

} // namespace qc
