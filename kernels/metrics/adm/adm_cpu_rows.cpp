// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM on the CPU, fast: one level at a time, one row at a time; only the a bands are kept whole. Each step is a
// loop over a contiguous row, which the compiler vectorises. adm_cpu.cpp tells what is computed.
#include "metrics/adm/adm_cpu.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "contract/helpers.hpp"
#include "device/cpu_clones.hpp"
#include "families/detail_loss/detail_loss_weights.hpp"
#include "metrics/adm/adm_cpu_lanes.hpp"
#include "metrics/adm/adm_cpu_masking.hpp"
#include "metrics/adm/adm_math.hpp"

namespace qc::adm {
namespace {

// ---- row loops: per step one function, compiled for several instruction sets ----------------------------------------

template <typename T>
struct FourRows {
    const T* row[4];
};

template <typename T>
QC_HD void filter_samples(const FourRows<T>& in, int width, int depth, int32_t* low, int32_t* high) {
    const T *r0 = in.row[0], *r1 = in.row[1], *r2 = in.row[2], *r3 = in.row[3];
    for (int x = 0; x < width; x++) low[x] = level0_vertical_low(r0[x], r1[x], r2[x], r3[x], depth);
    if (high == nullptr) return;
    for (int x = 0; x < width; x++) high[x] = level0_vertical_high(r0[x], r1[x], r2[x], r3[x], depth);
}

/// Vertical filter of level 0. `high` may be null.
QC_CPU_CLONES void filter_down(const FourRows<uint8_t>& in, int width, int depth, int32_t* low, int32_t* high) {
    filter_samples(in, width, depth, low, high);
}
QC_CPU_CLONES void filter_down(const FourRows<uint16_t>& in, int width, int depth, int32_t* low, int32_t* high) {
    filter_samples(in, width, depth, low, high);
}

/// Vertical filter of the deep levels; level 1's input has 16 bits.
QC_CPU_CLONES void filter_down(const FourRows<int32_t>& in, int width, int level, int32_t* low, int32_t* high) {
    const int32_t *r0 = in.row[0], *r1 = in.row[1], *r2 = in.row[2], *r3 = in.row[3];
    if (level == 1) {
        for (int x = 0; x < width; x++) low[x] = low_pass(r0[x], r1[x], r2[x], r3[x]);
        if (high == nullptr) return;
        for (int x = 0; x < width; x++) high[x] = high_pass(r0[x], r1[x], r2[x], r3[x]);
    } else {
        for (int x = 0; x < width; x++) low[x] = low_pass_wide<16>(split(r0[x], r1[x], r2[x], r3[x]));
        if (high == nullptr) return;
        for (int x = 0; x < width; x++) high[x] = high_pass_wide<16>(split(r0[x], r1[x], r2[x], r3[x]));
    }
}

/// The even and the odd samples of a row, mirrored one sample beyond both ends.
struct Phases {
    int32_t *even, *odd; ///< even[0..half], odd[-1..half-1]
};

QC_CPU_CLONES void split_phases(const int32_t* row, int width, Phases out) {
    for (int i = 0; i < width / 2; i++) {
        out.even[i] = row[2 * i];
        out.odd[i] = row[2 * i + 1];
    }
    const int half = (width + 1) / 2;
    if (width % 2 != 0) {
        out.even[half - 1] = row[width - 1];
        out.odd[half - 1] = row[mirror_with_last_edge_inside(width, width)];
    }
    out.odd[-1] = row[mirror_with_last_edge_inside(-1, width)];
    out.even[half] = row[mirror_with_last_edge_inside(2 * half, width)];
}

template <int kLevel>
QC_HD void filter_phases(Phases in, Columns columns, int32_t* low, int32_t* high) {
    constexpr int kShift = kHorizontalShift<kLevel>;
    const int32_t *even = in.even, *odd = in.odd;
    for (int x = columns.begin; x < columns.end; x++) {
        if constexpr (kLevel == 0) {
            if (low != nullptr) low[x] = round_shift<kShift>(low_pass(odd[x - 1], even[x], odd[x], even[x + 1]));
            if (high != nullptr) high[x] = round_shift<kShift>(high_pass(odd[x - 1], even[x], odd[x], even[x + 1]));
        } else {
            const Halves x4 = split(odd[x - 1], even[x], odd[x], even[x + 1]);
            if (low != nullptr) low[x] = low_pass_wide<kShift>(x4);
            if (high != nullptr) high[x] = high_pass_wide<kShift>(x4);
        }
    }
}

template <int kLevel>
QC_HD void filter_phases_to(Phases in, Columns columns, int32_t* low, int32_t* high) {
    if (low != nullptr && high != nullptr)
        filter_phases<kLevel>(in, columns, low, high);
    else if (low != nullptr)
        filter_phases<kLevel>(in, columns, low, nullptr);
    else
        filter_phases<kLevel>(in, columns, nullptr, high);
}

/// Horizontal filter. Either output may be null.
QC_CPU_CLONES void filter_along(int level, Phases in, Columns columns, int32_t* low, int32_t* high) {
    switch (level) {
    case 0:
        filter_phases_to<0>(in, columns, low, high);
        break;
    case 1:
        filter_phases_to<1>(in, columns, low, high);
        break;
    case 2:
        filter_phases_to<2>(in, columns, low, high);
        break;
    default:
        filter_phases_to<3>(in, columns, low, high);
        break;
    }
}

/// One row of the three detail bands of a picture.
struct DetailRow {
    std::array<int32_t*, kBands> band;
};

/// Angle test of a few columns. In single precision, which is twice as fast, unless that leaves one of them undecided.
template <typename Sum>
QC_HD void compare_angles(const DetailRow& reference, const DetailRow& distorted, Columns columns, int32_t* same) {
    const int32_t *oh = reference.band[kBandH], *ov = reference.band[kBandV];
    const int32_t *th = distorted.band[kBandH], *tv = distorted.band[kBandV];
    const auto product = [](const int32_t* h, const int32_t* v, const int32_t* other_h, const int32_t* other_v, int x) {
        return static_cast<float>(static_cast<Sum>(h[x]) * other_h[x] + static_cast<Sum>(v[x]) * other_v[x]);
    };
    int32_t undecided = 0;
#pragma GCC ivdep
    for (int x = columns.begin; x < columns.end; x++) {
        const AngleSides sides =
            angle_sides(product(oh, ov, th, tv, x), product(oh, ov, oh, ov, x), product(th, tv, th, tv, x));
        same[x] = sides.are_same;
        undecided |= sides.are_close;
    }
    if (undecided == 0) return;
    for (int x = columns.begin; x < columns.end; x++)
        same[x] = same_angle_exact(product(oh, ov, th, tv, x), product(oh, ov, oh, ov, x), product(th, tv, th, tv, x));
}

template <typename Sum>
QC_HD void compare_angles_by_runs(const DetailRow& reference, const DetailRow& distorted, Columns columns,
                                  int32_t* same) {
    constexpr int kRun = 64;
    for (int begin = columns.begin; begin < columns.end; begin += kRun)
        compare_angles<Sum>(reference, distorted, {begin, begin + kRun < columns.end ? begin + kRun : columns.end},
                            same);
}

/// Angle test of a row; 32-bit sums hold level 0's.
QC_CPU_CLONES void mark_same_angle(int level, const DetailRow& reference, const DetailRow& distorted, Columns columns,
                                   int32_t* same) {
    if (level == 0)
        compare_angles_by_runs<int32_t>(reference, distorted, columns, same);
    else
        compare_angles_by_runs<int64_t>(reference, distorted, columns, same);
}

template <bool kDeep, bool kWholeGain>
QC_HD void decouple_columns(const int32_t* o, const int32_t* t, const int32_t* same, Columns columns, const Gain& gain,
                            int32_t* restored, int32_t* additive) {
    for (int x = columns.begin; x < columns.end; x++) {
        const Decoupled parts = decouple<kDeep, kWholeGain>(o[x], t[x], same[x] != 0, gain);
        restored[x] = parts.restored;
        additive[x] = parts.additive;
    }
}

/// Splits one band of the distorted row into its restored and additive part.
QC_CPU_CLONES void decouple_row(int level, const int32_t* o, const int32_t* t, const int32_t* same, Columns columns,
                                Gain gain, int32_t* restored, int32_t* additive) {
    if (gain.whole != 0) {
        if (level == 0)
            decouple_columns<false, true>(o, t, same, columns, gain, restored, additive);
        else
            decouple_columns<true, true>(o, t, same, columns, gain, restored, additive);
    } else {
        if (level == 0)
            decouple_columns<false, false>(o, t, same, columns, gain, restored, additive);
        else
            decouple_columns<true, false>(o, t, same, columns, gain, restored, additive);
    }
}

// ---- buffers --------------------------------------------------------------------------------------------------------

/// A row with room for mirrored samples on both sides.
class Row {
public:
    void fit(int width) {
        const size_t needed = static_cast<size_t>(width) + 2 * kRowPad;
        if (storage_.size() < needed) storage_.resize(needed);
    }
    int32_t* data() { return storage_.data() + kRowPad; }

private:
    std::vector<int32_t> storage_;
};

using BandRows = std::array<Row, kBands>;

std::array<int32_t*, kBands> bands_of(BandRows& rows) {
    std::array<int32_t*, kBands> bands;
    for (size_t b = 0; b < kBands; b++) bands[b] = rows[b].data();
    return bands;
}

/// What the masking window remembers of a row.
struct MaskingRow {
    BandRows restored, additive;
    Row detail_neighbour, detail_centre;         ///< masker: the additive part
    Row impairment_neighbour, impairment_centre; ///< masker: the restored part
};

/// The a bands of a pair, grown to the largest that they have seen.
struct LowBands {
    std::vector<int32_t> of[2][2]; ///< [picture][level & 1]

    /// From row to row: what a vector writes behind a row's end is no other row's.
    static int stride(const LevelPlan& level) {
        constexpr int kOutputs = kMostLaneWords / 2;
        return (level.width + kOutputs - 1) / kOutputs * kOutputs;
    }
    void fit(const Plan& plan) {
        for (auto& picture : of) {
            for (int level = 0; level < 2; level++) {
                const size_t rows = static_cast<size_t>(stride(plan.level[level])) * plan.level[level].height;
                const size_t size = rows + kMostLaneWords;
                if (picture[level].size() < size) picture[level].resize(size);
            }
        }
    }
};

/// Buffers of one thread, grown to the largest picture it has seen.
struct Workspace {
    Row vertical_low, vertical_high, even, odd, other_low;
    /// Where lanes are used, from sample -1 on: level 0's vertical low and high, deep levels' upper and lower words of
    /// each.
    std::vector<int16_t> words[4];
    BandRows reference, distorted;
    Row same_angle, column_sum, threshold;
    MaskingRow masking[3]; ///< row y is kept in masking[y % 3]

    void fit(const Plan& plan) {
        const int width = plan.level[0].in_width;
        for (Row* row :
             {&vertical_low, &vertical_high, &even, &odd, &other_low, &same_angle, &column_sum, &threshold}) {
            row->fit(width);
        }
        for (auto& row : words) {
            const size_t needed = static_cast<size_t>(width) + 4 + kMostLaneWords;
            if (row.size() < needed) row.resize(needed);
        }
        const int band_width = plan.level[0].width;
        for (BandRows* rows : {&reference, &distorted}) {
            for (Row& row : *rows) row.fit(band_width);
        }
        for (MaskingRow& row : masking) fit(row, band_width);
    }

private:
    static void fit(MaskingRow& row, int width) {
        for (BandRows* bands : {&row.restored, &row.additive}) {
            for (Row& band : *bands) band.fit(width);
        }
        for (Row* terms :
             {&row.detail_neighbour, &row.detail_centre, &row.impairment_neighbour, &row.impairment_centre}) {
            terms->fit(width);
        }
    }
};

// ---- one level ------------------------------------------------------------------------------------------------------

/// Scores rows of one level of a pair and leaves the a bands for the next.
class LevelScorer {
public:
    /// @param weights of the level; null: each coefficient counts once
    LevelScorer(const Plan& plan, int index, const device::Image<Weight>* weights, device::WordLanes lanes,
                LowBands& low, Workspace& space)
        : plan_(plan), level_(plan.level[index]), index_(index), weights_(weights), lanes_(lanes), low_(low),
          space_(space), passes_(masking_passes(lanes, index, plan.level[index].factor)) {}

    /// Rows begin .. end - 1. Their neighbours are made too, for the masking window, but count elsewhere.
    template <typename T>
    void run(const Plane<const T>& reference, const Plane<const T>& distorted, int begin, int end) {
        const auto is_ours = [&](int y) { return y >= begin && y < end; };
        for (int y = std::max(begin - 1, 0); y < std::min(end + 1, level_.height); y++) {
            const bool masked = masks_row(level_, y);
            if (!masked && (is_last() || !is_ours(y))) continue;
            transform(reference, y, masked ? &space_.reference : nullptr, low_row(0, y, is_ours(y)));
            transform(distorted, y, masked ? &space_.distorted : nullptr, low_row(1, y, is_ours(y)));
            if (!masked) continue;
            make_maskers(y);
            if (is_ours(y) && scores_row(level_, y)) add_reference_energy(y);
            if (is_ours(y - 1) && scores_row(level_, y - 1)) measure(y - 1);
        }
        // Without a margin the last row has no row below to wait for.
        if (is_ours(level_.height - 1) && is_scored(level_) && level_.bottom == level_.height)
            measure(level_.height - 1);
    }

    std::span<const uint64_t> sums() const { return sums_; }

private:
    bool is_last() const { return index_ == kLevels - 1; }

    /// Rows of others go where nobody looks.
    int32_t* low_row(int picture, int y, bool is_ours) {
        if (is_last()) return nullptr;
        if (!is_ours) return space_.other_low.data();
        return low_.of[picture][index_ & 1].data() + static_cast<size_t>(y) * LowBands::stride(level_);
    }

    /// The widened region: what the masking window can reach.
    Columns masked_columns() const { return {std::max(level_.left - 1, 0), std::min(level_.right + 1, level_.width)}; }
    Columns scored_columns() const { return {level_.left, level_.right}; }

    /// Row y of the bands of one picture. `details` and `low` may be null.
    template <typename T>
    void transform(const Plane<const T>& in, int y, BandRows* details, int32_t* low) {
        FourRows<T> rows;
        for (int k = 0; k < 4; k++) rows.row[k] = in.row(mirror_with_last_edge_inside(2 * y - 1 + k, in.height));
        if constexpr (sizeof(T) < sizeof(int32_t)) {
            const LanePasses<T>* passes = plan_.depth < 16 ? lane_passes<T>(lanes_) : nullptr;
            if (passes != nullptr && in.width >= passes->narrowest && low != nullptr)
                return transform_by_lanes(*passes, rows, in.width, details, low);
        }
        if constexpr (sizeof(T) == sizeof(int32_t)) {
            if (const DeepLanePasses* passes = deep_lane_passes(lanes_); passes != nullptr)
                return transform_by_lanes(*passes, rows, in.width, details, low);
        }
        const int parameter = index_ == 0 ? plan_.depth : index_;
        filter_down(rows, in.width, parameter, space_.vertical_low.data(),
                    details != nullptr ? space_.vertical_high.data() : nullptr);

        const Phases phases = {space_.even.data(), space_.odd.data()};
        const Columns all = {0, level_.width}, masked = masked_columns();
        split_phases(space_.vertical_low.data(), in.width, phases);
        if (low != nullptr) filter_along(index_, phases, all, low, nullptr);
        if (details == nullptr) return;
        filter_along(index_, phases, masked, nullptr, (*details)[kBandV].data());
        split_phases(space_.vertical_high.data(), in.width, phases);
        filter_along(index_, phases, masked, (*details)[kBandH].data(), (*details)[kBandD].data());
    }

    template <typename T>
    void transform_by_lanes(const LanePasses<T>& passes, const FourRows<T>& rows, int width, BandRows* details,
                            int32_t* low) {
        int16_t *const low_words = space_.words[0].data() + 1, *const high_words = space_.words[1].data() + 1;
        passes.vertical(rows.row, width, plan_.depth, low_words, high_words);
        mirror_ends(low_words, width);
        // A picture that is not masked here has no use for the second output.
        passes.horizontal(low_words, level_.width, low,
                          details != nullptr ? (*details)[kBandV].data() : space_.vertical_high.data());
        if (details == nullptr) return;
        mirror_ends(high_words, width);
        passes.horizontal(high_words, level_.width, (*details)[kBandH].data(), (*details)[kBandD].data());
    }

    void transform_by_lanes(const DeepLanePasses& passes, const FourRows<int32_t>& rows, int width, BandRows* details,
                            int32_t* low) {
        auto& words = space_.words;
        const WordRow low_row{words[0].data() + 1, words[1].data() + 1},
            high_row{words[2].data() + 1, words[3].data() + 1};
        passes.vertical(index_, rows.row, width, low_row, details != nullptr ? &high_row : nullptr);
        // What nobody asks for goes where nobody looks.
        if (low == nullptr) low = space_.other_low.data();
        filter_words(passes, low_row, width, low,
                     details != nullptr ? (*details)[kBandV].data() : space_.vertical_high.data());
        if (details == nullptr) return;
        filter_words(passes, high_row, width, (*details)[kBandH].data(), (*details)[kBandD].data());
    }

    void filter_words(const DeepLanePasses& passes, const WordRow& row, int width, int32_t* low, int32_t* high) {
        mirror_ends(row.upper, width);
        mirror_ends(row.lower, width);
        passes.horizontal(index_, row, level_.width, low, high);
    }

    /// The samples that the horizontal filter reads beyond the row: one before, and up to two behind.
    static void mirror_ends(int16_t* row, int width) {
        for (const int x : {-1, width, width + 1}) row[x] = row[mirror_with_last_edge_inside(x, width)];
    }

    /// Decouples row y and computes its masker terms.
    void make_maskers(int y) {
        MaskingRow& row = space_.masking[y % 3];
        const Columns columns = masked_columns();
        const DetailRow reference{bands_of(space_.reference)}, distorted{bands_of(space_.distorted)};
        int32_t* same = space_.same_angle.data();
        mark_same_angle(index_, reference, distorted, columns, same);
        for (int band = 0; band < kBands; band++) {
            decouple_row(index_, reference.band[band], distorted.band[band], same, columns, plan_.gain,
                         row.restored[band].data(), row.additive[band].data());
        }
        weigh(row.additive, row.detail_neighbour.data(), row.detail_centre.data());
        const bool masks = plan_.impairment;
        weigh(row.restored, masks ? row.impairment_neighbour.data() : nullptr, row.impairment_centre.data());
    }

    void weigh(BandRows& part, int32_t* neighbour, int32_t* centre) {
        passes_.weigh(index_, level_.factor, {bands_of(part), neighbour, centre}, masked_columns());
        if (level_.left > 0 || neighbour == nullptr) return;
        // The region reaches the borders of the band: the window mirrors.
        neighbour[-1] = neighbour[mirror_with_last_edge_inside(-1, level_.width)];
        neighbour[level_.width] = neighbour[mirror_with_last_edge_inside(level_.width, level_.width)];
    }

    void add_reference_energy(int y) {
        const Rounding rounding = level_.reference_energy;
        uint64_t sums[kBands];
        if (weights_ == nullptr) {
            passes_.measure_reference(index_, rounding, bands_of(space_.reference), scored_columns(), sums);
            for (uint64_t& sum : sums) sum = round_shift(sum, level_.reference_row_shift);
        } else {
            WeightedSum weighted[kBands];
            measure_reference_weighted(index_, rounding, bands_of(space_.reference), scored_columns(), weights_->row(y),
                                       weighted);
            for (int b = 0; b < kBands; b++)
                sums[b] = weighted[b].rounded(full_weight(index_), level_.reference_row_shift);
        }
        for (int b = 0; b < kBands; b++) accumulator(kReference, b) += sums[b];
    }

    /// Energies of row y; its neighbours have been masked.
    void measure(int y) {
        MaskingRow& here = space_.masking[y % 3];
        MaskingRow& above = space_.masking[mirror_with_last_edge_inside(y - 1, level_.height) % 3];
        MaskingRow& below = space_.masking[mirror_with_last_edge_inside(y + 1, level_.height) % 3];
        add_energy(kDetail, here.restored, y,
                   {above.detail_neighbour.data(), here.detail_neighbour.data(), below.detail_neighbour.data(),
                    here.detail_centre.data()});
        if (!plan_.impairment) return;
        add_energy(kImpairment, here.additive, y,
                   {above.impairment_neighbour.data(), here.impairment_neighbour.data(),
                    below.impairment_neighbour.data(), here.impairment_centre.data()});
    }

    void add_energy(Measure measure, BandRows& measured, int y, const MaskerRows& masker) {
        // Sums wrap in 32 bits, so the column sums can share the buffers' signed type.
        const MeasuringScratch scratch{reinterpret_cast<uint32_t*>(space_.column_sum.data()), space_.threshold.data()};
        uint64_t sums[kBands];
        if (weights_ == nullptr) {
            passes_.measure(index_, level_.energy, bands_of(measured), masker, scored_columns(), scratch, sums);
            for (uint64_t& sum : sums)
                sum = static_cast<uint64_t>(round_shift(static_cast<int64_t>(sum), level_.row_shift));
        } else {
            WeightedSum weighted[kBands];
            measure_weighted(index_, level_.energy, bands_of(measured), masker, scored_columns(), scratch,
                             weights_->row(y), weighted);
            for (int b = 0; b < kBands; b++) sums[b] = weighted[b].rounded(full_weight(index_), level_.row_shift);
        }
        for (int b = 0; b < kBands; b++) accumulator(measure, b) += sums[b];
    }

    uint64_t& accumulator(Measure measure, int band) { return sums_[static_cast<size_t>(measure * kBands + band)]; }

    const Plan& plan_;
    const LevelPlan& level_;
    int index_;
    const device::Image<Weight>* weights_;
    device::WordLanes lanes_;
    LowBands& low_;
    Workspace& space_;
    const MaskingPasses& passes_;
    std::array<uint64_t, kWordsPerLevel> sums_{};
};

} // namespace

struct RowWorkspace {
    LowBands low; ///< of the thread that a pair belongs to
    Workspace rows;
};

namespace {

/// One level. Rows are shared with idle threads: their sums are integers, so the order does not matter.
template <typename T>
void score_level(const Plan& plan, int index, const Plane<const T>& reference, const Plane<const T>& distorted,
                 const BandWeights& band_weights, device::WordLanes lanes, Helpers* helpers, LowBands& low,
                 RowWorkspaces& workspaces, uint64_t* accumulators) {
    constexpr int kSharedRows = 16;
    const device::Image<Weight>* const weights = plan.has_weights ? &band_weights[static_cast<size_t>(index)] : nullptr;
    std::mutex mutex;
    share_runs(helpers, plan.level[index].height, kSharedRows, [&](int begin, int end) {
        const auto lease = workspaces.borrow();
        (*lease).rows.fit(plan);
        LevelScorer scorer(plan, index, weights, lanes, low, (*lease).rows);
        scorer.run(reference, distorted, begin, end);
        const std::lock_guard lock(mutex);
        for (int i = 0; i < kWordsPerLevel; ++i)
            accumulators[index * kWordsPerLevel + i] += scorer.sums()[static_cast<size_t>(i)];
    });
}

template <typename T>
void score_levels(const Plan& plan, const HostPair& pair, device::WordLanes lanes, uint64_t* accumulators,
                  RowWorkspaces& workspaces) {
    const auto lease = workspaces.borrow();
    LowBands& low = (*lease).low;
    low.fit(plan);
    const BandWeights band_weights = plan.has_weights ? weigh_bands(pair.weights, plan) : BandWeights();
    if (plan.has_weights) sum_weights(band_weights, plan, accumulators);
    score_level(plan, 0, pair.reference.plane[0].as<T>(), pair.distorted.plane[0].as<T>(), band_weights, lanes,
                pair.helpers, low, workspaces, accumulators);
    for (int i = 1; i < kLevels; i++) {
        const LevelPlan& level = plan.level[i];
        Plane<const int32_t> band[2];
        for (int picture = 0; picture < 2; picture++) {
            band[picture] = {low.of[picture][(i - 1) & 1].data(),
                             ElementPitch<const int32_t>{LowBands::stride(plan.level[i - 1])}, level.in_width,
                             level.in_height};
        }
        score_level(plan, i, band[0], band[1], band_weights, lanes, pair.helpers, low, workspaces, accumulators);
    }
}

} // namespace

void score_cpu_rows(const Plan& plan, SampleType sample, const HostPair& pair, std::span<uint64_t> accumulators,
                    RowWorkspaces& workspaces, device::WordLanes lanes) {
    if (sample == SampleType::kU8)
        score_levels<uint8_t>(plan, pair, lanes, accumulators.data(), workspaces);
    else
        score_levels<uint16_t>(plan, pair, lanes, accumulators.data(), workspaces);
}

} // namespace qc::adm
