// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer VIF on the CPU, fast: each step is a loop over one row, so that the compiler vectorises it. vif_cpu.cpp tells
// what is computed.
//
//     for each scale, for each row
//         vertical pass     products of samples, filtered down the columns (rounded: the passes cannot be swapped)
//         horizontal pass   the same filter along the row: local moments
//         statistic         covariance, logarithms, sums
//         decimation        on even rows: both passes of the next scale's filter, every second sample kept
#include <algorithm>
#include <mutex>
#include <vector>

#include "contract/helpers.hpp"
#include "contract/workspaces.hpp"
#include "device/cpu_clones.hpp"
#include "metrics/vif/vif.hpp"
#include "metrics/vif/vif_cpu_lanes.hpp"

namespace qc::vif {
namespace {

/// Rows that reach beyond their ends by this many reflected samples.
constexpr int kPadding = kRadius<0>;
constexpr int kMaxTaps = 2 * kRadius<0> + 1;

/// The picture rows under the window's taps, top to bottom, of reference and distorted.
template <typename Sample>
struct WindowRows {
    const Sample* reference[kMaxTaps];
    const Sample* distorted[kMaxTaps];
};

template <int kScale, typename Sample>
WindowRows<Sample> window_rows(const Plane<const Sample>& reference, const Plane<const Sample>& distorted, int y) {
    WindowRows<Sample> rows{};
    for (int k = 0; k <= 2 * kRadius<kScale>; ++k) {
        const int source_y = reflect(y - kRadius<kScale> + k, reference.height);
        rows.reference[k] = reference.row(source_y);
        rows.distorted[k] = distorted.row(source_y);
    }
    return rows;
}

// ---- vertical pass --------------------------------------------------------------------------------------------------

/// Filtered samples, rounded to 16 bits.
template <int kScale, typename Sample>
QC_INLINE_HELPER void filter_columns(const Sample* const* rows, int width, int shift, uint32_t* out) {
#pragma GCC ivdep
    for (int x = 0; x < width; ++x)
        out[x] = round_shift(window_sum<kScale>([&](int k) { return uint32_t{rows[k][x]}; }), shift);
}

/// Filtered products of 8-bit samples: at most 65536 * 255^2, and not rounded.
template <int kScale>
QC_INLINE_HELPER void filter_products(const uint8_t* const* a, const uint8_t* const* b, int width, int /*shift*/,
                                      uint32_t* out) {
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) out[x] = window_sum<kScale>([&](int k) { return uint32_t{a[k][x]} * b[k][x]; });
}

/// Filtered products of larger samples, rounded to 32 bits.
template <int kScale>
QC_INLINE_HELPER void filter_products(const uint16_t* const* a, const uint16_t* const* b, int width, int shift,
                                      uint32_t* out) {
#pragma GCC ivdep
    for (int x = 0; x < width; ++x)
        out[x] = round_shift(window_split_sum<kScale>([&](int k) { return uint32_t{a[k][x]} * b[k][x]; }), shift);
}

template <int kScale, typename Sample>
QC_INLINE_HELPER void vertical_pass(const WindowRows<Sample>& rows, int width, VerticalShifts shifts,
                                    const MomentRows& out) {
    filter_columns<kScale>(rows.reference, width, shifts.mean, out.mean_1);
    filter_columns<kScale>(rows.distorted, width, shifts.mean, out.mean_2);
    filter_products<kScale>(rows.reference, rows.reference, width, shifts.product, out.square_1);
    filter_products<kScale>(rows.distorted, rows.distorted, width, shifts.product, out.square_2);
    filter_products<kScale>(rows.reference, rows.distorted, width, shifts.product, out.product_12);
}

// ---- horizontal pass ------------------------------------------------------------------------------------------------

/// Fills the padding on both sides of a row.
template <int kScale, typename Word>
QC_INLINE_HELPER void reflect_ends(Word* row, int width) {
    for (int i = 1; i <= kRadius<kScale>; ++i) {
        row[-i] = row[i];
        row[width - 1 + i] = row[width - 1 - i];
    }
}

/// Means keep all their bits.
template <int kScale>
QC_INLINE_HELPER void filter_mean_row(uint32_t* __restrict row, int width, uint32_t* __restrict out) {
    reflect_ends<kScale>(row, width);
    for (int x = 0; x < width; ++x) out[x] = window_sum<kScale>([&](int k) { return row[x - kRadius<kScale> + k]; });
}

template <int kScale>
QC_INLINE_HELPER void filter_product_row(uint32_t* __restrict row, int width, uint32_t* __restrict out) {
    reflect_ends<kScale>(row, width);
    for (int x = 0; x < width; ++x)
        out[x] = round_shift(window_split_sum<kScale>([&](int k) { return row[x - kRadius<kScale> + k]; }), 16);
}

template <int kScale>
QC_INLINE_HELPER void horizontal_pass(const MomentRows& rows, int width, const MomentRows& out) {
    filter_mean_row<kScale>(rows.mean_1, width, out.mean_1);
    filter_mean_row<kScale>(rows.mean_2, width, out.mean_2);
    filter_product_row<kScale>(rows.square_1, width, out.square_1);
    filter_product_row<kScale>(rows.square_2, width, out.square_2);
    filter_product_row<kScale>(rows.product_12, width, out.product_12);
}

// ---- decimation -----------------------------------------------------------------------------------------------------

/// One row of the next scale. `row` is scratch.
template <int kNextScale, typename Sample>
QC_INLINE_HELPER void decimate_row(const Sample* const* rows, int width, int shift, uint32_t* row, uint16_t* out) {
    filter_columns<kNextScale>(rows, width, shift, row);
    reflect_ends<kNextScale>(row, width);
    for (int x = 0; x < width / 2; ++x) {
        const uint32_t* window = row + 2 * x - kRadius<kNextScale>;
        out[x] = static_cast<uint16_t>(round_shift(window_sum<kNextScale>([&](int k) { return window[k]; }), 16));
    }
}

// ---- statistic ------------------------------------------------------------------------------------------------------

/// All bits set or none: branches would keep the compiler from vectorising.
QC_INLINE_HELPER int32_t mask_if(bool condition) {
    return -static_cast<int32_t>(condition);
}
QC_INLINE_HELPER int32_t select(int32_t mask, int32_t if_set, int32_t if_not) {
    return (if_set & mask) | (if_not & ~mask);
}

/// Computes all pixels alike: those that must not count get arguments whose logarithms cancel.
/// @return the number of pixels that are not active
QC_CPU_CLONES int statistic_row(const MomentRows& moments, int width, double gain_limit, const StatisticRows& out) {
    int active_count = 0;
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
        Covariance c = covariance(
            {moments.mean_1[x], moments.mean_2[x], moments.square_1[x], moments.square_2[x], moments.product_12[x]});
        const int32_t active = mask_if(c.sigma_1_sq >= kNoiseVariance);
        const int32_t correlated = active & mask_if(c.sigma_12 > 0) & mask_if(c.sigma_2_sq > 0);
        active_count -= active;
        out.flat_variance[x] = static_cast<uint32_t>(select(active, 0, c.sigma_2_sq));
        out.denominator[x] = static_cast<uint32_t>(kNoiseVariance + select(active, c.sigma_1_sq, 0));

        c.sigma_1_sq = select(active, c.sigma_1_sq, kNoiseVariance);
        c.sigma_12 = select(correlated, c.sigma_12, 0);
        const LogArguments arguments = log_arguments(c, gain_limit);
        out.signal_and_noise[x] = arguments.signal_and_noise;
        out.noise[x] = arguments.noise;
    }
    return width - active_count;
}

QC_CPU_CLONES void add_row(const StatisticRows& rows, int width, int flat_count, const LogTable& table, Sums* sums) {
    int64_t numerator = 0, denominator = 0, flat_variance = 0;
    for (int x = 0; x < width; ++x) {
        numerator += table(rows.signal_and_noise[x]) - table(rows.noise[x]);
        denominator += table(rows.denominator[x]) - kLogOfNoiseVariance;
    }
    for (int x = 0; x < width; ++x) flat_variance += rows.flat_variance[x];
    sums->numerator_log += numerator;
    sums->denominator_log += denominator;
    sums->flat_variance += flat_variance;
    sums->flat_count += flat_count;
}

/// The same with weights, each pixel's terms as often as its weight says.
QC_CPU_CLONES void add_weighted_row(const StatisticRows& rows, int width, const uint32_t* weights,
                                    const LogTable& table, Sums* sums) {
    int64_t numerator = 0, denominator = 0, flat_variance = 0, flat_count = 0;
    for (int x = 0; x < width; ++x) {
        const int64_t weight = weights[x];
        numerator += weight * (table(rows.signal_and_noise[x]) - table(rows.noise[x]));
        denominator += weight * (table(rows.denominator[x]) - kLogOfNoiseVariance);
    }
    for (int x = 0; x < width; ++x) {
        const int64_t weight = weights[x];
        flat_variance += weight * rows.flat_variance[x];
        flat_count += rows.denominator[x] == kNoiseVariance ? weight : 0; // others have their variance on top
    }
    sums->numerator_log += numerator;
    sums->denominator_log += denominator;
    sums->flat_variance += flat_variance;
    sums->flat_count += flat_count;
}

/// Weights of row y of a scale (weight_shape()): all that they are made of lies inside.
void weigh_row(const Plane<const uint8_t>& samples, int scale, int y, int width, uint32_t* weights) {
    const int step = 1 << scale;
    std::fill(weights, weights + width, 0);
    for (int row = y * step; row < (y + 1) * step; ++row) {
        const uint8_t* const from = samples.row(row);
        for (int x = 0; x < width; ++x)
            for (int i = 0; i < step; ++i) weights[x] += from[x * step + i];
    }
}

// ---- row functions by scale and sample type, compiled for several instruction sets ----------------------------------

#define QC_VIF_VERTICAL(kScale, Sample)                                                                                \
    QC_CPU_CLONES void vertical_pass_##kScale##_##Sample(const WindowRows<Sample>& rows, int width,                    \
                                                         VerticalShifts shifts, const MomentRows& out) {               \
        vertical_pass<kScale>(rows, width, shifts, out);                                                               \
    }
#define QC_VIF_HORIZONTAL(kScale)                                                                                      \
    QC_CPU_CLONES void horizontal_pass_##kScale(const MomentRows& rows, int width, const MomentRows& out) {            \
        horizontal_pass<kScale>(rows, width, out);                                                                     \
    }
#define QC_VIF_DECIMATE(kNextScale, Sample)                                                                            \
    QC_CPU_CLONES void decimate_row_##kNextScale##_##Sample(const Sample* const* rows, int width, int shift,           \
                                                            uint32_t* row, uint16_t* out) {                            \
        decimate_row<kNextScale>(rows, width, shift, row, out);                                                        \
    }
QC_VIF_VERTICAL(0, uint8_t)
QC_VIF_VERTICAL(0, uint16_t)
QC_VIF_VERTICAL(1, uint16_t)
QC_VIF_VERTICAL(2, uint16_t)
QC_VIF_VERTICAL(3, uint16_t)
QC_VIF_HORIZONTAL(0)
QC_VIF_HORIZONTAL(1)
QC_VIF_HORIZONTAL(2)
QC_VIF_HORIZONTAL(3)
QC_VIF_DECIMATE(1, uint8_t)
QC_VIF_DECIMATE(1, uint16_t)
QC_VIF_DECIMATE(2, uint16_t)
QC_VIF_DECIMATE(3, uint16_t)
#undef QC_VIF_VERTICAL
#undef QC_VIF_HORIZONTAL
#undef QC_VIF_DECIMATE

/// The row functions of one scale.
template <typename Sample>
struct RowFunctions {
    void (*vertical)(const WindowRows<Sample>&, int, VerticalShifts, const MomentRows&);
    void (*horizontal)(const MomentRows&, int, const MomentRows&);
    void (*decimate)(const Sample* const*, int, int, uint32_t*, uint16_t*); ///< to the next scale
};

template <int kScale, typename Sample>
RowFunctions<Sample> row_functions() {
    if constexpr (kScale == 0 && sizeof(Sample) == 1)
        return {vertical_pass_0_uint8_t, horizontal_pass_0, decimate_row_1_uint8_t};
    else if constexpr (kScale == 0)
        return {vertical_pass_0_uint16_t, horizontal_pass_0, decimate_row_1_uint16_t};
    else if constexpr (kScale == 1)
        return {vertical_pass_1_uint16_t, horizontal_pass_1, decimate_row_2_uint16_t};
    else if constexpr (kScale == 2)
        return {vertical_pass_2_uint16_t, horizontal_pass_2, decimate_row_3_uint16_t};
    else
        return {vertical_pass_3_uint16_t, horizontal_pass_3, nullptr};
}

// ---- whole pictures -------------------------------------------------------------------------------------------------

/// Row buffers of one thread.
class Workspace {
public:
    void fit(int width, bool has_lanes) {
        stride_ = width + 2 * kPadding + kMostLaneWords;
        rows_.resize(static_cast<size_t>(kRows) * stride_);
        if (has_lanes) words_.resize(static_cast<size_t>(kMostBlockRows) * kWordPlanes * stride_);
    }

    MomentRows vertical() { return {row(0), row(1), row(2), row(3), row(4)}; }
    MomentRows moments() { return {row(5), row(6), row(7), row(8), row(9)}; }
    StatisticRows statistics() { return {row(10), row(11), row(12), row(13)}; }
    uint32_t* decimation() { return row(14); }
    WordBlock words() { return {words_.data() + kPadding, stride_}; }

private:
    static constexpr int kRows = 15;
    uint32_t* row(int index) { return rows_.data() + static_cast<size_t>(index) * stride_ + kPadding; }

    int stride_ = 0;
    std::vector<uint32_t> rows_;
    std::vector<uint16_t> words_;
};

/// A picture of a deeper scale.
struct DecimatedPicture {
    int width = 0, height = 0;
    std::vector<uint16_t> samples;

    DecimatedPicture(int width_, int height_)
        : width(width_), height(height_), samples(static_cast<size_t>(width_) * height_) {}
    uint16_t* row(int y) { return samples.data() + static_cast<size_t>(y) * width; }
    Plane<const uint16_t> view() const { return {samples.data(), {width}, width, height}; }
};

struct DecimatedPair {
    DecimatedPicture reference, distorted;
    DecimatedPair(int width, int height) : reference(width, height), distorted(width, height) {}
};

/// Rows of a scale, half open.
struct Rows {
    int begin, end;
};

/// The moments of one row after the other, in work.moments(), by plain loops.
template <int kScale, typename Sample, typename Use>
void for_each_row(const Plane<const Sample>& reference, const Plane<const Sample>& distorted, Rows run, int depth,
                  Workspace& work, const Use& use) {
    const RowFunctions<Sample> functions = row_functions<kScale, Sample>();
    for (int y = run.begin; y < run.end; ++y) {
        const auto rows = window_rows<kScale>(reference, distorted, y);
        functions.vertical(rows, reference.width, vertical_shifts(kScale, depth), work.vertical());
        functions.horizontal(work.vertical(), reference.width, work.moments());
        use(y);
    }
}

/// The same, by the passes of an instruction set.
template <int kScale, typename Sample, typename Use>
void for_each_row(const LanePasses<Sample>& passes, const Plane<const Sample>& reference,
                  const Plane<const Sample>& distorted, Rows run, int depth, Workspace& work, const Use& use) {
    constexpr int kR = kRadius<kScale>;
    const int width = reference.width, height = reference.height;
    const WordBlock words = work.words();
    for (int first = run.begin; first < run.end; first += passes.rows) {
        const Sample *rows[kMostBlockRows + 2 * kR], *distorted_rows[kMostBlockRows + 2 * kR];
        for (int k = 0; k < passes.rows + 2 * kR; ++k) {
            // Rows beyond the last one's window are outputs' that nobody looks at.
            const int y = reflect(std::min(first + k - kR, height - 1 + kR), height);
            rows[k] = reference.row(y);
            distorted_rows[k] = distorted.row(y);
        }
        passes.vertical(rows, distorted_rows, width, vertical_shifts(kScale, depth), words);
        for (int row = 0; row < std::min(passes.rows, run.end - first); ++row) {
            for (int plane = 0; plane < kWordPlanes; ++plane) reflect_ends<kScale>(words.row(row, plane), width);
            passes.horizontal(words, row, width, work.moments());
            use(first + row);
        }
    }
}

/// Rows of the next scale, by the passes of an instruction set.
template <int kScale, typename Sample>
void decimate_rows(const LanePasses<Sample>& passes, const Plane<const Sample>& reference,
                   const Plane<const Sample>& distorted, Rows run, int shift, const WordBlock& words,
                   DecimatedPair& next) {
    constexpr int kR = kRadius<kScale + 1>;
    const int width = reference.width, height = reference.height;
    for (int first = run.begin; first < run.end; first += passes.rows) {
        const Sample *rows[2 * kMostBlockRows + 2 * kR], *distorted_rows[2 * kMostBlockRows + 2 * kR];
        for (int k = 0; k < 2 * passes.rows + 2 * kR; ++k) {
            const int y = reflect(std::min(2 * first + k - kR, height - 1 + kR), height);
            rows[k] = reference.row(y);
            distorted_rows[k] = distorted.row(y);
        }
        passes.vertical_decimation(rows, distorted_rows, width, shift, words);
        for (int row = 0; row < std::min(passes.rows, run.end - first); ++row) {
            uint16_t *const mean_1 = words.row(row, kMean1), *const mean_2 = words.row(row, kMean2);
            reflect_ends<kScale + 1>(mean_1, width);
            reflect_ends<kScale + 1>(mean_2, width);
            passes.horizontal_decimation(mean_1, width / 2, next.reference.row(first + row));
            passes.horizontal_decimation(mean_2, width / 2, next.distorted.row(first + row));
        }
    }
}

/// One pair. Rows are shared with idle threads: their sums are integers, so the order does not matter.
class PairScorer {
public:
    /// @param weights data null: each pixel counts once
    PairScorer(const Parameters& parameters, int depth, const Plane<const uint8_t>& weights, device::WordLanes lanes,
               Helpers* helpers, std::span<uint64_t> accumulators)
        : parameters_(parameters), depth_(depth), weights_(weights), lanes_(lanes), helpers_(helpers),
          accumulators_(accumulators) {}

    /// This scale and all deeper ones.
    template <int kScale, typename Sample>
    void score(const Plane<const Sample>& reference, const Plane<const Sample>& distorted) {
        if (!(kScale == 0 && parameters_.skip_scale_0)) score_scale<kScale>(reference, distorted);
        if constexpr (kScale + 1 < kScales) {
            const DecimatedPair next = decimate<kScale>(reference, distorted);
            score<kScale + 1>(next.reference.view(), next.distorted.view());
        }
    }

private:
    static constexpr int kSharedRows = 16; ///< runs are multiples of it, and so of a block

    /// Adds the statistics of one scale to its accumulators.
    template <int kScale, typename Sample>
    void score_scale(const Plane<const Sample>& reference, const Plane<const Sample>& distorted) {
        std::mutex mutex;
        share_runs(helpers_, reference.height, kSharedRows, [&](int begin, int end) {
            const Sums sums = sums_of<kScale>(reference, distorted, {begin, end});
            const std::lock_guard lock(mutex);
            uint64_t* const words = accumulators_.data() + kScale * kWordsPerScale;
            words[kNumeratorLog] += static_cast<uint64_t>(sums.numerator_log);
            words[kDenominatorLog] += static_cast<uint64_t>(sums.denominator_log);
            words[kFlatVariance] += static_cast<uint64_t>(sums.flat_variance);
            words[kFlatCount] += static_cast<uint64_t>(sums.flat_count);
        });
    }

    template <int kScale, typename Sample>
    Sums sums_of(const Plane<const Sample>& reference, const Plane<const Sample>& distorted, Rows run) {
        const int width = reference.width;
        const auto lease = spaces_.borrow();
        Workspace& work = fitted(*lease, width);
        const LogTable table{log_table().data()};
        const AddRow lane_add = lane_add_row(lanes_), add = lane_add != nullptr ? lane_add : add_row;
        Sums sums;
        std::vector<uint32_t> weights(weights_.data != nullptr ? static_cast<size_t>(width) : 0);
        const auto add_moments = [&](int y) {
            const int flat_count = statistic_row(work.moments(), width, parameters_.gain_limit, work.statistics());
            if (weights_.data == nullptr) return add(work.statistics(), width, flat_count, table, &sums);
            weigh_row(weights_, kScale, y, width, weights.data());
            add_weighted_row(work.statistics(), width, weights.data(), table, &sums);
        };
        const LanePasses<Sample>* const passes = passes_for<kScale, Sample>(width);
        if (passes != nullptr)
            for_each_row<kScale>(*passes, reference, distorted, run, depth_, work, add_moments);
        else
            for_each_row<kScale>(reference, distorted, run, depth_, work, add_moments);
        return sums;
    }

    /// The pair at the next scale. Odd last rows and columns are dropped.
    template <int kScale, typename Sample>
    DecimatedPair decimate(const Plane<const Sample>& reference, const Plane<const Sample>& distorted) {
        const RowFunctions<Sample> functions = row_functions<kScale, Sample>();
        const int width = reference.width, shift = vertical_shifts(kScale, depth_).mean;
        DecimatedPair next(width / 2, reference.height / 2);
        share_runs(helpers_, reference.height / 2, kSharedRows, [&](int begin, int end) {
            const auto lease = spaces_.borrow();
            Workspace& space = fitted(*lease, width);
            if (const auto* passes = passes_for<kScale, Sample>(width);
                passes != nullptr && passes->vertical_decimation != nullptr)
                return decimate_rows<kScale>(*passes, reference, distorted, {begin, end}, shift, space.words(), next);
            uint32_t* const work = space.decimation();
            for (int y = begin; y < end; ++y) {
                const auto rows = window_rows<kScale + 1>(reference, distorted, 2 * y);
                functions.decimate(rows.reference, width, shift, work, next.reference.row(y));
                functions.decimate(rows.distorted, width, shift, work, next.distorted.row(y));
            }
        });
        return next;
    }

    /// Null where the loops do it.
    template <int kScale, typename Sample>
    const LanePasses<Sample>* passes_for([[maybe_unused]] int width) const {
        const LanePasses<Sample>* passes = nullptr;
        if constexpr (kScale < kLaneScales) passes = lane_passes<kScale, Sample>(lanes_);
        return passes != nullptr && width >= passes->narrowest ? passes : nullptr;
    }

    Workspace& fitted(Workspace& space, int width) const {
        space.fit(width, lanes_ != device::WordLanes::kNone);
        return space;
    }

    const Parameters& parameters_;
    const int depth_;
    const Plane<const uint8_t> weights_;
    const device::WordLanes lanes_;
    Helpers* const helpers_;
    const std::span<uint64_t> accumulators_;
    Workspaces<Workspace> spaces_;
};

} // namespace

void score_cpu_rows(const FrameGeometry& geometry, const Parameters& parameters, const HostPair& pair,
                    std::span<uint64_t> accumulators, device::WordLanes lanes) {
    const auto weights = geometry.has_weights ? pair.weights.as<uint8_t>() : Plane<const uint8_t>{};
    PairScorer scorer(parameters, geometry.depth, weights, lanes, pair.helpers, accumulators);
    const HostPlane& reference = pair.reference.plane[0];
    const HostPlane& distorted = pair.distorted.plane[0];
    if (geometry.sample == SampleType::kU8)
        scorer.score<0>(reference.as<uint8_t>(), distorted.as<uint8_t>());
    else
        scorer.score<0>(reference.as<uint16_t>(), distorted.as<uint16_t>());
}

} // namespace qc::vif
