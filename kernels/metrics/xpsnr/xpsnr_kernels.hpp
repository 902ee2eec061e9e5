// SPDX-License-Identifier: BSD-2-Clause-Patent
// XPSNR on the GPU. A thread block works on one block of the picture, whose words it alone writes, and its threads on
// strips of it: of luma, four columns and
// kTuning.rows_per_thread rows, going down; of chroma, four columns of one row of Cb and Cr. Strips start at columns
// that are multiples of four, so that four samples are one load in every sensible layout; where a block begins or ends
// between, samples outside are masked.
#pragma once

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "device/unroll.hpp"
#include "families/sse/sse_kernels.hpp"
#include "metrics/xpsnr/xpsnr_math.hpp"
#include "metrics/xpsnr/xpsnr_plan.hpp"
#include "metrics/xpsnr/xpsnr_tuning.hpp"
#include "metrics/xpsnr/xpsnr_weights.hpp"

namespace qc::xpsnr {
constexpr int kThreads = kTuning.warps * device::kWarpSize;
constexpr int kRows = kTuning.rows_per_thread;
constexpr int kColumns = 4;
static_assert(kRows % 2 == 0);

/// Sums of 8-bit samples fit 32 bits: a strip adds at most 32 * 255^2, and a thread has one strip in 128, so that
/// blocks of up to 2800 samples a side (pictures of up to 60000) do. Deeper samples take 64 bits.
template <typename T>
struct SumOf {
    using Type = uint64_t;
};
template <>
struct SumOf<uint8_t> {
    using Type = uint32_t;
};

/// In the order of enum Word.
template <typename T>
struct BlockSums {
    typename SumOf<T>::Type word[5] = {};
};

// ---- four samples ---------------------------------------------------------------------------------------------------

template <typename T>
using Four = Words<kColumns * sizeof(T)>;

template <typename T>
QC_HD uint32_t sample_of(const Four<T>& four, int i) {
    if constexpr (sizeof(T) == 1) return four.word[0] >> (8 * i) & 0xffu;
    return four.word[i / 2] >> (16 * (i % 2)) & 0xffffu;
}

template <typename T>
QC_HD Four<T> four_of(uint64_t samples) {
    Four<T> four;
    four.word[0] = static_cast<uint32_t>(samples);
    if constexpr (sizeof(T) == 2) four.word[1] = static_cast<uint32_t>(samples >> 32);
    return four;
}

/// Ones at samples begin..end-1.
template <typename T>
QC_HD Four<T> mask_of(int begin, int end) {
    const uint64_t all = sizeof(T) == 1 ? 0xffffffffu : ~uint64_t{0};
    const int bits = 8 * sizeof(T);
    if (begin < 0) begin = 0;
    const uint64_t below_end = end >= kColumns ? all : end <= 0 ? 0 : all >> (bits * (kColumns - end));
    return four_of<T>(below_end & (begin >= kColumns ? 0 : all << (bits * begin)));
}

template <typename T>
QC_HD Four<T> masked(Four<T> four, const Four<T>& mask) {
    QC_UNROLL
    for (size_t k = 0; k < sizeof(T); ++k) four.word[k] &= mask.word[k];
    return four;
}

/// Takes containers down to the session's depth.
template <typename T>
QC_HD Four<T> shifted(Four<T> four, unsigned shift) {
    if constexpr (sizeof(T) == 2) {
        QC_UNROLL
        for (size_t k = 0; k < sizeof(T); ++k) four.word[k] = sse::shift_u16x2(four.word[k], shift);
    }
    return four;
}

/// Sample by sample, for any layout. Right of the picture the edge repeats itself.
template <typename T>
QC_HD Four<T> gather(const DevicePlane& plane, int x, int y, int width) {
    uint64_t samples = 0;
    QC_NO_UNROLL
    for (int i = 0; i < kColumns; ++i) {
        const uint64_t sample = read_sample<T>(plane, x + i < width ? x + i : width - 1, y);
        samples |= sample << (8 * sizeof(T) * i);
    }
    return four_of<T>(samples);
}

template <typename T>
QC_HD bool loads_wide(const DevicePlane& plane) {
    return plane.step == 1 && rows_aligned(plane, kColumns * sizeof(T));
}

/// One load. Precondition: loads_wide(), and the picture does not end before.
template <typename T>
QC_HD Four<T> load_wide(const DevicePlane& plane, int x, int y) {
    constexpr int kBytes = kColumns * sizeof(T);
    return shifted<T>(load_words<kBytes>(row_bytes(plane, y) + static_cast<size_t>(x) * sizeof(T)), plane.shift);
}

template <typename T>
QC_HD Four<T> load_four(const DevicePlane& plane, bool wide, int x, int y, int width) {
    return wide && x + kColumns <= width ? load_wide<T>(plane, x, y) : gather<T>(plane, x, y, width);
}

/// Adds four squared errors.
template <typename T, typename Sum>
QC_HD Sum add_squared_errors(Sum sum, const Four<T>& a, const Four<T>& b) {
    if constexpr (sizeof(T) == 1) {
        return sse::add_squared_errors_u8x4(sum, a.word[0], b.word[0]);
    } else {
        sum = sse::add_squared_errors_u16x2<sse::Square::kExact>(sum, a.word[0], b.word[0]);
        return sse::add_squared_errors_u16x2<sse::Square::kExact>(sum, a.word[1], b.word[1]);
    }
}

// ---- luma -----------------------------------------------------------------------------------------------------------

/// Luma of a pair. A missing earlier frame is black: any plane, masked.
struct LumaPlanes {
    DevicePlane distorted, current, earlier[2];
    uint32_t earlier_mask[2];
    bool wide; ///< all of them load wide
};

template <typename T, bool kSecondOrder>
QC_HD LumaPlanes luma_planes(const DevicePair& pair) {
    LumaPlanes planes;
    planes.distorted = pair.distorted.plane[0];
    planes.current = pair.reference.plane[0];
    planes.wide = loads_wide<T>(planes.distorted) && loads_wide<T>(planes.current);
    QC_UNROLL
    for (int k = 0; k < (kSecondOrder ? 2 : 1); ++k) {
        const DevicePlane earlier = pair.reference_history[k];
        const bool present = earlier.data != nullptr;
        planes.earlier[k] = present ? earlier : planes.current;
        planes.earlier_mask[k] = present ? 0xffffffffu : 0u;
        planes.wide = planes.wide && loads_wide<T>(planes.earlier[k]);
    }
    return planes;
}

/// What one step down a strip needs of the current luma: a row of four samples (margin 1), or two rows of two cells.
template <typename T, int kMargin>
struct Step {
    static constexpr int kTerms = kColumns / kMargin;
    Four<T> row[kMargin];
    RowTerms terms[kTerms];
};

template <typename T, bool kWide>
QC_HD Four<T> load_luma(const DevicePlane& plane, int x, int y, int width) {
    if constexpr (kWide) {
        return load_wide<T>(plane, x, y);
    } else {
        return gather<T>(plane, x, y, width);
    }
}

/// Rows above and below the picture repeat its edge.
template <typename T, int kMargin, bool kWide>
QC_HD Step<T, kMargin> load_step(const LumaPlanes& planes, const BlockPlan& plan, int x, int y) {
    const int width = plan.width[0], height = plan.height[0];
    const auto column = [&](int i) { return i < 0 ? 0 : i < width ? i : width - 1; };
    Step<T, kMargin> step;
    CellRow cell[2][kMargin]; // [cell][row]
    QC_UNROLL
    for (int r = 0; r < kMargin; ++r) {
        const int row = y + r < 0 ? 0 : y + r < height ? y + r : height - 1;
        const Four<T> four = load_luma<T, kWide>(planes.current, x, row, width);
        const auto beside = [&](int i) { return static_cast<int32_t>(read_sample<T>(planes.current, column(i), row)); };
        int32_t s[kColumns];
        QC_UNROLL
        for (int i = 0; i < kColumns; ++i) s[i] = static_cast<int32_t>(sample_of<T>(four, i));
        step.row[r] = four;
        if constexpr (kMargin == 1) {
            const int32_t left = beside(x - 1), right = beside(x + kColumns);
            step.terms[0] = sample_terms(left, s[0], s[1]);
            step.terms[1] = sample_terms(s[0], s[1], s[2]);
            step.terms[2] = sample_terms(s[1], s[2], s[3]);
            step.terms[3] = sample_terms(s[2], s[3], right);
        } else {
            const int32_t left[2] = {beside(x - 2), beside(x - 1)};
            const int32_t right[2] = {beside(x + kColumns), beside(x + kColumns + 1)};
            cell[0][r] = {s[0] + s[1], left[1] + s[2], left[0] + s[3]};
            cell[1][r] = {s[2] + s[3], s[1] + right[0], s[0] + right[1]};
        }
    }
    if constexpr (kMargin == 2) {
        step.terms[0] = cell_terms(cell[0][0], cell[0][1]);
        step.terms[1] = cell_terms(cell[1][0], cell[1][1]);
    }
    return step;
}

/// Sum of the magnitudes of four samples' differences.
QC_HD uint32_t sum_of_differences_u8x4(uint32_t a, uint32_t b) {
#if defined(__CUDA_ARCH__)
    return __vsadu4(a, b);
#else
    uint32_t sum = 0;
    for (int shift = 0; shift < 32; shift += 8) {
        sum += magnitude(static_cast<int32_t>(a >> shift & 0xffu) - static_cast<int32_t>(b >> shift & 0xffu));
    }
    return sum;
#endif
}

/// Magnitudes of the temporal differences of a step; samples outside of the block are 0 in all pictures.
template <typename T, int kMargin, bool kSecondOrder>
QC_HD uint32_t temporal_step(const Four<T> (&current)[kMargin], const Four<T> (&earlier)[2][kMargin]) {
    if constexpr (sizeof(T) == 1 && kMargin == 1 && !kSecondOrder) {
        return sum_of_differences_u8x4(current[0].word[0], earlier[0][0].word[0]);
    } else {
        uint32_t sum = 0;
        QC_UNROLL
        for (int first = 0; first < kColumns; first += kMargin) {
            uint32_t total[3] = {};
            QC_UNROLL
            for (int i = first; i < first + kMargin; ++i) {
                QC_UNROLL
                for (int r = 0; r < kMargin; ++r) {
                    total[0] += sample_of<T>(current[r], i);
                    total[1] += sample_of<T>(earlier[0][r], i);
                    if (kSecondOrder) total[2] += sample_of<T>(earlier[1][r], i);
                }
            }
            sum += magnitude(temporal_difference<kSecondOrder>(total[0], total[1], total[2]));
        }
        return sum;
    }
}

/// Adds a strip's sums. Its activities fit 32 bits: 32 samples of at most 12 (space) and 4 (time) times 65535.
template <typename T, int kMargin, bool kSecondOrder, bool kWide>
QC_HD void add_luma_strip(const LumaPlanes& planes, const BlockPlan& plan, const Rectangle& block, int x, int y,
                          BlockSums<T>* sums) {
    const int width = plan.width[0], last_row = plan.height[0] - 1;
    const Range active_x = active_part(block.x, width, kMargin);
    const Range active_y = active_part(block.y, plan.height[0], kMargin);
    const Four<T> columns = mask_of<T>(0, block.x.end - x);
    const Four<T> no_columns = mask_of<T>(0, 0);

    uint32_t spatial = 0, temporal = 0;
    auto squared_error = sums->word[kSquaredError];
    Step<T, kMargin> above = load_step<T, kMargin, kWide>(planes, plan, x, y - kMargin);
    Step<T, kMargin> here = load_step<T, kMargin, kWide>(planes, plan, x, y);
    const auto go_down = [&](int top) {
        const Step<T, kMargin> below = load_step<T, kMargin, kWide>(planes, plan, x, top + kMargin);
        const bool row_active = top >= active_y.begin && top < active_y.end;
        QC_UNROLL
        for (int n = 0; n < Step<T, kMargin>::kTerms; ++n) {
            const int column = x + n * kMargin;
            const bool counts = row_active && column >= active_x.begin && column < active_x.end;
            const int32_t high_pass = above.terms[n].down + here.terms[n].own + below.terms[n].up;
            spatial += counts ? magnitude(high_pass) : 0u;
        }
        Four<T> current[kMargin], earlier[2][kMargin] = {};
        QC_UNROLL
        for (int r = 0; r < kMargin; ++r) {
            const int row = top + r < last_row ? top + r : last_row;
            const Four<T> mask = top + r < block.y.end ? columns : no_columns;
            current[r] = masked<T>(here.row[r], mask);
            const Four<T> distorted = load_luma<T, kWide>(planes.distorted, x, row, width);
            squared_error = add_squared_errors<T>(squared_error, current[r], masked<T>(distorted, mask));
            QC_UNROLL
            for (int k = 0; k < (kSecondOrder ? 2 : 1); ++k) {
                earlier[k][r] = masked<T>(load_luma<T, kWide>(planes.earlier[k], x, row, width), mask);
                QC_UNROLL
                for (size_t w = 0; w < sizeof(T); ++w) earlier[k][r].word[w] &= planes.earlier_mask[k];
            }
        }
        temporal += temporal_step<T, kMargin, kSecondOrder>(current, earlier);
        above = here;
        here = below;
    };
    if constexpr (kWide) {
        QC_UNROLL
        for (int i = 0; i < kRows; i += kMargin) go_down(y + i);
    } else {
        QC_NO_UNROLL
        for (int i = 0; i < kRows; i += kMargin) go_down(y + i);
    }
    sums->word[kSquaredError] = squared_error;
    if (!is_active(plan, block)) return;
    sums->word[kSpatial] += spatial;
    sums->word[kTemporal] += temporal;
}

// ---- chroma ---------------------------------------------------------------------------------------------------------

template <typename T>
struct ChromaFour {
    Four<T> cb, cr;
};

enum class ChromaLoad { kGather, kPlanar, kSemiPlanar };

template <typename T>
QC_HD ChromaLoad chroma_load(const DevicePicture& picture) {
    const DevicePlane &cb = picture.plane[1], &cr = picture.plane[2];
    if (loads_wide<T>(cb) && loads_wide<T>(cr)) return ChromaLoad::kPlanar;
    const bool semi_planar = cb.step == 2 && cr.step == 2 && cr.pitch_bytes == cb.pitch_bytes &&
                             static_cast<const T*>(cr.data) == static_cast<const T*>(cb.data) + 1;
    return semi_planar && rows_aligned(cb, 2 * kColumns * sizeof(T)) ? ChromaLoad::kSemiPlanar : ChromaLoad::kGather;
}

template <typename T>
QC_HD ChromaFour<T> load_chroma(const DevicePicture& picture, ChromaLoad how, int x, int y, int width) {
    const DevicePlane &cb = picture.plane[1], &cr = picture.plane[2];
    if (how != ChromaLoad::kSemiPlanar || x + kColumns > width) {
        const bool wide = how == ChromaLoad::kPlanar;
        return {load_four<T>(cb, wide, x, y, width), load_four<T>(cr, wide, x, y, width)};
    }
    constexpr int kBytes = 2 * kColumns * sizeof(T);
    const auto both = load_words<kBytes>(row_bytes(cb, y) + static_cast<size_t>(x) * 2 * sizeof(T));
    ChromaFour<T> four;
    QC_UNROLL
    for (size_t k = 0; k < sizeof(T); ++k) {
        four.cb.word[k] = sse::every_second_sample<T>(both.word[2 * k], both.word[2 * k + 1], false);
        four.cr.word[k] = sse::every_second_sample<T>(both.word[2 * k], both.word[2 * k + 1], true);
    }
    return {shifted<T>(four.cb, cb.shift), shifted<T>(four.cr, cr.shift)};
}

// ---- a thread -------------------------------------------------------------------------------------------------------

/// A thread's part of a block's sums.
template <typename T, int kMargin, bool kSecondOrder>
QC_HD BlockSums<T> sum_strips(const DevicePair& pair, const BlockPlan& plan, int index, int thread) {
    BlockSums<T> sums;
    const Rectangle luma = plan.block(index, 0);
    const LumaPlanes planes = luma_planes<T, kSecondOrder>(pair);
    const int luma_across = (luma.x.size() + kColumns - 1) / kColumns;
    const int luma_strips = luma_across * ((luma.y.size() + kRows - 1) / kRows);
    for (int strip = thread; strip < luma_strips; strip += kThreads) {
        const int x = luma.x.begin + strip % luma_across * kColumns, y = luma.y.begin + strip / luma_across * kRows;
        if (planes.wide && x + kColumns <= plan.width[0]) {
            add_luma_strip<T, kMargin, kSecondOrder, true>(planes, plan, luma, x, y, &sums);
        } else {
            add_luma_strip<T, kMargin, kSecondOrder, false>(planes, plan, luma, x, y, &sums);
        }
    }
    if (plan.planes == 1) return sums;

    const Rectangle chroma = plan.block(index, 1);
    const DevicePicture reference = pair.reference, distorted = pair.distorted;
    const ChromaLoad reference_load = chroma_load<T>(reference), distorted_load = chroma_load<T>(distorted);
    const int first = chroma.x.begin / kColumns;
    const int strips_across = (chroma.x.end + kColumns - 1) / kColumns - first;
    for (int strip = thread; strip < strips_across * chroma.y.size(); strip += kThreads) {
        const int x = (first + strip % strips_across) * kColumns, y = chroma.y.begin + strip / strips_across;
        const Four<T> mask = mask_of<T>(chroma.x.begin - x, chroma.x.end - x);
        const ChromaFour<T> a = load_chroma<T>(reference, reference_load, x, y, plan.width[1]);
        const ChromaFour<T> b = load_chroma<T>(distorted, distorted_load, x, y, plan.width[1]);
        auto &cb = sums.word[kSquaredError + 1], &cr = sums.word[kSquaredError + 2];
        cb = add_squared_errors<T>(cb, masked<T>(a.cb, mask), masked<T>(b.cb, mask));
        cr = add_squared_errors<T>(cr, masked<T>(a.cr, mask), masked<T>(b.cr, mask));
    }
    return sums;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

/// Adds the first kWords sums of a block up.
template <int kWords, class Block, typename Sum>
QC_HD void write_sums(Block& block, const Sum (&all)[5], uint64_t* target) {
    Sum sums[kWords];
    QC_UNROLL
    for (int i = 0; i < kWords; ++i) sums[i] = all[i];
    device::add_block_sums(block, sums, target);
}

struct BlockArguments {
    const DevicePair* pairs;
    uint64_t* accumulators;
    BlockPlan plan;
};

/// grid: (blocks of the picture, 1, pairs)
template <typename T, int kMargin, bool kSecondOrder>
struct SumBlock : device::KernelOf<BlockArguments, xpsnr::kThreads,
                                   sizeof(T) == 1 ? kTuning.blocks_per_multiprocessor[kMargin - 1][kSecondOrder] : 0>{
                      template <class Block> QC_HD static void run(Block & block, const BlockArguments& arguments){
                          const BlockPlan plan = arguments.plan; // a copy: read in place, it is read again and again
const DevicePair& pair = arguments.pairs[block.z()];
const BlockSums<T> sums = sum_strips<T, kMargin, kSecondOrder>(pair, plan, block.x(), block.thread());
const size_t row = static_cast<size_t>(pair.output) * plan.blocks() + block.x();
uint64_t* const target = arguments.accumulators + row * plan.words_per_block();
if (plan.planes == 1)
    write_sums<kSquaredError + 1>(block, sums.word, target);
else
    write_sums<kSquaredError + 3>(block, sums.word, target);
} // namespace qc::xpsnr
}
;

/// The words of a block's plane with weights, beside those of SumBlock. grid: (blocks of the picture, planes, pairs)
template <typename T>
struct SumWeightedBlock : device::KernelOf<BlockArguments, xpsnr::kThreads> {
    template <class Block>
    QC_HD static void run(Block& block, const BlockArguments& arguments) {
        const BlockPlan& plan = arguments.plan;
        const DevicePair& pair = arguments.pairs[block.z()];
        const int p = block.y();
        const Rectangle own = plan.block(block.x(), p);
        const WeightedSums sums = plan.width[p] == plan.width[0] && plan.height[p] == plan.height[0]
                                      ? sum_full(pair, plan, p, own, block.thread())
                                      : sum_samples(pair, plan, p, own, block.warp(), block.lane());
        auto& of_warps = device::shared<WarpSums>(block);
        const WeightedSums of_warp{block.warp_sum(sums.squared_error), block.warp_sum(sums.weights)};
        if (block.lane() == 0) of_warps.sums[block.warp()] = of_warp;
        block.sync();
        if (block.thread() > 0) return;
        WeightedSums total{};
        for (const WeightedSums& warp : of_warps.sums) {
            total.squared_error += warp.squared_error;
            total.weights += warp.weights;
        }
        const size_t row = static_cast<size_t>(pair.output) * plan.blocks() + block.x();
        uint64_t* const target = arguments.accumulators + row * plan.words_per_block();
        target[plan.weighted_error_word(p)] = total.squared_error;
        target[plan.weight_word(p)] = total.weights;
    }

private:
    struct WarpSums {
        WeightedSums sums[kTuning.warps];
    };

    /// A thread's part of a plane of luma's size: four samples and weights at once. Blocks begin at multiples of four.
    QC_HD static WeightedSums sum_full(const DevicePair& pair, const BlockPlan& plan, int p, const Rectangle& own,
                                       int thread) {
        const DevicePlane reference = pair.reference.plane[p], distorted = pair.distorted.plane[p],
                          shares = pair.weights;
        const bool wide[] = {loads_wide<T>(reference), loads_wide<T>(distorted), loads_wide<uint8_t>(shares)};
        const int across = (own.x.size() + kColumns - 1) / kColumns, width = plan.width[0];
        WeightedSums sums{};
        const int strips = across * own.y.size();
        QC_UNROLL_BY(2)
        for (int strip = thread; strip < strips; strip += kThreads) {
            const int x = own.x.begin + strip % across * kColumns, y = own.y.begin + strip / across;
            const Four<T> a = load_four<T>(reference, wide[0], x, y, width);
            const Four<T> b = load_four<T>(distorted, wide[1], x, y, width);
            const Four<uint8_t> weights = load_four<uint8_t>(shares, wide[2], x, y, width);
            QC_UNROLL
            for (int i = 0; i < kColumns; ++i) {
                if (x + i < own.x.end) sums.add(sample_of<T>(a, i), sample_of<T>(b, i), sample_of<uint8_t>(weights, i));
            }
        }
        return sums;
    }

    /// Of any plane, sample by sample.
    QC_HD static WeightedSums sum_samples(const DevicePair& pair, const BlockPlan& plan, int p, const Rectangle& own,
                                          int warp, int lane) {
        const DevicePlane reference = pair.reference.plane[p], distorted = pair.distorted.plane[p];
        const WeightReader shares(pair.weights);
        const PlaneWeights weights(plan, p);
        WeightedSums sums{};
        for (int x = own.x.begin + lane; x < own.x.end; x += device::kWarpSize) {
            QC_UNROLL_BY(4) // so that loads of several rows are on their way
            for (int y = own.y.begin + warp; y < own.y.end; y += kTuning.warps)
                sums.add(read_sample<T>(reference, x, y), read_sample<T>(distorted, x, y), weights.at(shares, x, y));
        }
        return sums;
    }
};

#define QC_XPSNR_KERNELS(KERNEL)                                                                                       \
    KERNEL(xpsnr_samples_first_u8, SumBlock<uint8_t, 1, false>)                                                        \
    KERNEL(xpsnr_samples_second_u8, SumBlock<uint8_t, 1, true>)                                                        \
    KERNEL(xpsnr_cells_first_u8, SumBlock<uint8_t, 2, false>)                                                          \
    KERNEL(xpsnr_cells_second_u8, SumBlock<uint8_t, 2, true>)                                                          \
    KERNEL(xpsnr_samples_first_u16, SumBlock<uint16_t, 1, false>)                                                      \
    KERNEL(xpsnr_samples_second_u16, SumBlock<uint16_t, 1, true>)                                                      \
    KERNEL(xpsnr_cells_first_u16, SumBlock<uint16_t, 2, false>)                                                        \
    KERNEL(xpsnr_cells_second_u16, SumBlock<uint16_t, 2, true>)                                                        \
    KERNEL(xpsnr_weighted_u8, SumWeightedBlock<uint8_t>)                                                               \
    KERNEL(xpsnr_weighted_u16, SumWeightedBlock<uint16_t>)
QC_DECLARE_KERNELS(QC_XPSNR_KERNELS)

/// The kernel that a plan asks for.
inline KernelIdentifier<BlockArguments> kernel_for(const BlockPlan& plan, bool second_order, SampleType sample) {
    const bool bytes = sample == SampleType::kU8;
    if (plan.margin == 1 && !second_order)
        return bytes ? kernels::xpsnr_samples_first_u8 : kernels::xpsnr_samples_first_u16;
    if (plan.margin == 1) return bytes ? kernels::xpsnr_samples_second_u8 : kernels::xpsnr_samples_second_u16;
    if (!second_order) return bytes ? kernels::xpsnr_cells_first_u8 : kernels::xpsnr_cells_first_u16;
    return bytes ? kernels::xpsnr_cells_second_u8 : kernels::xpsnr_cells_second_u16;
}

} // namespace qc::xpsnr
