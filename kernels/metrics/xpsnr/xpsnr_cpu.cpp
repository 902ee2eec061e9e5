// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <array>
#include <vector>

#include "device/cpu_clones.hpp"
#include "families/sse/sse.hpp"
#include "metrics/xpsnr/xpsnr.hpp"
#include "metrics/xpsnr/xpsnr_math.hpp"
#include "metrics/xpsnr/xpsnr_weights.hpp"

namespace qc::xpsnr {
namespace {

// ---- space, sample by sample: rows above, at and below; samples begin..end-1, none of them at an edge ---------------

template <typename T>
QC_HD uint64_t add_high_pass(const T* above, const T* row, const T* below, int begin, int end) {
    uint64_t sum = 0;
    for (int x = begin; x < end; ++x) {
        const int32_t edges = above[x] + row[x - 1] + row[x + 1] + below[x];
        const int32_t diagonals = above[x - 1] + above[x + 1] + below[x - 1] + below[x + 1];
        sum += magnitude(12 * row[x] - 2 * edges - diagonals);
    }
    return sum;
}

QC_CPU_CLONES uint64_t high_pass_row(const uint8_t* above, const uint8_t* row, const uint8_t* below, int begin,
                                     int end) {
    return add_high_pass(above, row, below, begin, end);
}
QC_CPU_CLONES uint64_t high_pass_row(const uint16_t* above, const uint16_t* row, const uint16_t* below, int begin,
                                     int end) {
    return add_high_pass(above, row, below, begin, end);
}

template <typename T>
uint64_t sample_activity(Plane<const T> luma, Range columns, Range rows) {
    uint64_t sum = 0;
    for (int y = rows.begin; y < rows.end; ++y)
        sum += high_pass_row(luma.row(y - 1), luma.row(y), luma.row(y + 1), columns.begin, columns.end);
    return sum;
}

// ---- space, on cells of 2x2 samples ---------------------------------------------------------------------------------

/// Rows y - 2 to y + 3 around a row of cells.
template <typename T>
using CellRows = std::array<const T*, 6>;

/// Weight of the samples of a cell's surroundings, see RowTerms.
template <typename T>
QC_HD int32_t cell_high_pass(const CellRows<T>& rows, int x, int last) {
    constexpr int kWeights[6][6] = {{0, -1, -1, -1, -1, 0},   {-1, -2, -3, -3, -2, -1}, {-1, -3, 12, 12, -3, -1},
                                    {-1, -3, 12, 12, -3, -1}, {-1, -2, -3, -3, -2, -1}, {0, -1, -1, -1, -1, 0}};
    int32_t sum = 0;
    for (int j = 0; j < 6; ++j)
        for (int i = 0; i < 6; ++i) {
            const int column = x - 2 + i;
            sum += kWeights[j][i] * rows[j][column < last ? column : last];
        }
    return sum;
}

/// The cells at x = begin, begin + 2, ... of one row; the last may reach one sample past the picture, whose edge
/// repeats.
template <typename T>
QC_HD uint64_t add_cell_high_pass(const CellRows<T>& rows, int begin, int end, int last) {
    uint64_t sum = 0;
    for (int x = begin; x < end; x += 2) sum += magnitude(cell_high_pass(rows, x, last));
    return sum;
}

QC_CPU_CLONES uint64_t cell_row(const CellRows<uint8_t>& rows, int begin, int end, int last) {
    return add_cell_high_pass(rows, begin, end, last);
}
QC_CPU_CLONES uint64_t cell_row(const CellRows<uint16_t>& rows, int begin, int end, int last) {
    return add_cell_high_pass(rows, begin, end, last);
}

template <typename T>
uint64_t cell_activity(Plane<const T> luma, Range columns, Range rows) {
    uint64_t sum = 0;
    for (int y = rows.begin; y < rows.end; y += 2) {
        CellRows<T> around;
        for (int j = 0; j < 6; ++j) around[j] = luma.row(std::min(y - 2 + j, luma.height - 1));
        sum += cell_row(around, columns.begin, columns.end, luma.width - 1);
    }
    return sum;
}

// ---- time -----------------------------------------------------------------------------------------------------------

/// Luma of the frame and of those before it; null before the first frame.
template <typename T>
struct Luma {
    Plane<const T> now, one_earlier, two_earlier;
};

/// A row of a block, in the frame and in those before it.
template <typename T>
struct TimeRows {
    const T *now, *one_earlier, *two_earlier;
};

/// Of a row of cells, 1 x 1 or 2 x 2 samples each; the last column and row of the block may be half a cell.
/// @param rows those of the block, one or two
/// @param differences room for a row
template <typename T>
QC_HD uint64_t sum_cells(const TimeRows<T>* rows, int count, bool second_order, int width, int side,
                         int32_t* __restrict differences) {
    for (int x = 0; x < width; ++x) differences[x] = 0;
    for (int j = 0; j < count; ++j) {
        const T *const now = rows[j].now, *const one_earlier = rows[j].one_earlier,
                       *const two_earlier = rows[j].two_earlier;
        if (second_order)
            for (int x = 0; x < width; ++x)
                differences[x] += temporal_difference<true>(now[x], one_earlier[x], two_earlier[x]);
        else
            for (int x = 0; x < width; ++x) differences[x] += temporal_difference<false>(now[x], one_earlier[x], 0);
    }
    uint64_t sum = 0;
    const int cells = width / side;
    if (side == 1)
        for (int i = 0; i < cells; ++i) sum += magnitude(differences[i]);
    else
        for (int i = 0; i < cells; ++i) sum += magnitude(differences[2 * i] + differences[2 * i + 1]);
    if (cells * side < width) sum += magnitude(differences[width - 1]);
    return sum;
}

QC_CPU_CLONES uint64_t cells_of_rows(const TimeRows<uint8_t>* rows, int count, bool second_order, int width, int side,
                                     int32_t* differences) {
    return sum_cells(rows, count, second_order, width, side, differences);
}
QC_CPU_CLONES uint64_t cells_of_rows(const TimeRows<uint16_t>* rows, int count, bool second_order, int width, int side,
                                     int32_t* differences) {
    return sum_cells(rows, count, second_order, width, side, differences);
}

/// Room for a row of the widest block.
template <typename T>
struct TimeSpace {
    explicit TimeSpace(int width) : black(static_cast<size_t>(width)), differences(static_cast<size_t>(width)) {}
    std::vector<T> black; ///< before the first frame
    std::vector<int32_t> differences;
};

/// Of the samples of a cell that lie in the block; a cell is `side` samples wide and high, one or two.
template <typename T>
uint64_t temporal_activity(const Luma<T>& luma, bool second_order, const Rectangle& block, int side,
                           TimeSpace<T>* space) {
    const auto row_of = [&](const Plane<const T>& plane, int y) {
        return plane.data != nullptr ? plane.row(y) + block.x.begin : space->black.data();
    };
    uint64_t sum = 0;
    for (int y = block.y.begin; y < block.y.end; y += side) {
        TimeRows<T> rows[2];
        const int count = std::min(side, block.y.end - y);
        for (int j = 0; j < count; ++j)
            rows[j] = {row_of(luma.now, y + j), row_of(luma.one_earlier, y + j), row_of(luma.two_earlier, y + j)};
        sum += cells_of_rows(rows, count, second_order, block.x.size(), side, space->differences.data());
    }
    return sum;
}

// ---- blocks ---------------------------------------------------------------------------------------------------------

HostPlane part(const HostPlane& plane, const Rectangle& block, SampleType sample) {
    const int sample_bytes = sample == SampleType::kU8 ? 1 : 2;
    const auto* data = static_cast<const char*>(plane.data) + block.y.begin * plane.pitch.bytes +
                       static_cast<ptrdiff_t>(block.x.begin) * sample_bytes;
    return {data, plane.pitch, block.x.size(), block.y.size()};
}

template <typename T>
WeightedSums weighted_sums(const BlockPlan& plan, int p, const Rectangle& block, const HostPair& pair) {
    const Plane<const T> reference = pair.reference.plane[p].as<T>(), distorted = pair.distorted.plane[p].as<T>();
    const WeightReader sample_weights(pair.weights);
    const PlaneWeights weights(plan, p);
    WeightedSums sums{};
    for (int y = block.y.begin; y < block.y.end; ++y)
        for (int x = block.x.begin; x < block.x.end; ++x)
            sums.add(reference.at(x, y), distorted.at(x, y), weights.at(sample_weights, x, y));
    return sums;
}

template <typename T>
void score_blocks(const BlockPlan& plan, bool second_order, SampleType sample, const HostPair& pair,
                  std::span<uint64_t> accumulators) {
    const Luma<T> luma{pair.reference.plane[0].as<T>(), pair.reference_history[0].as<T>(),
                       pair.reference_history[1].as<T>()};
    TimeSpace<T> space(plan.width[0]);
    for (int k = 0; k < plan.blocks(); ++k) {
        const auto words = accumulators.subspan(static_cast<size_t>(k) * plan.words_per_block());
        for (int p = 0; p < plan.planes; ++p) {
            const Rectangle block = plan.block(k, p);
            words[kSquaredError + p] = sse::sum_of_squared_errors(part(pair.reference.plane[p], block, sample),
                                                                  part(pair.distorted.plane[p], block, sample),
                                                                  block.x.size(), block.y.size(), sample);
            if (!plan.has_weights) continue;
            const WeightedSums sums = weighted_sums<T>(plan, p, block, pair);
            words[plan.weighted_error_word(p)] = sums.squared_error;
            words[plan.weight_word(p)] = sums.weights;
        }
        const Rectangle block = plan.block(k, 0);
        if (!is_active(plan, block)) continue;
        const Range columns = active_part(block.x, plan.width[0], plan.margin);
        const Range rows = active_part(block.y, plan.height[0], plan.margin);
        words[kSpatial] =
            plan.margin == 1 ? sample_activity(luma.now, columns, rows) : cell_activity(luma.now, columns, rows);
        words[kTemporal] = temporal_activity(luma, second_order, block, plan.margin, &space);
    }
}

} // namespace

void score_cpu(const BlockPlan& plan, bool second_order, SampleType sample, const HostPair& pair,
               std::span<uint64_t> accumulators) {
    if (sample == SampleType::kU8)
        score_blocks<uint8_t>(plan, second_order, sample, pair, accumulators);
    else
        score_blocks<uint16_t>(plan, second_order, sample, pair, accumulators);
}

} // namespace qc::xpsnr
