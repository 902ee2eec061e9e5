// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point ADM on the CPU: the readable reference. One level at a time, one row at a time; only the a bands are
// kept whole. Each step is a loop over a contiguous row, which the compiler vectorises, except for the running sums.
#include "metrics/float_adm/float_adm_cpu.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "device/centred_rows.hpp"
#include "device/cpu_clones.hpp"
#include "device/image.hpp"
#include "families/detail_loss/detail_loss_weights.hpp"
#include "metrics/float_adm/float_adm_math.hpp"

namespace qc::float_adm {
namespace {

// ---- row loops: per step one function, compiled for several instruction sets ----------------------------------------

/// Columns of a row that a step works on, half open.
struct Columns {
    int begin, end;
};

QC_CPU_CLONES void filter_down(const float* const* rows, int width, float* low, float* high) {
    const float *r0 = rows[0], *r1 = rows[1], *r2 = rows[2], *r3 = rows[3];
    for (int x = 0; x < width; x++) {
        low[x] = low_pass(r0[x], r1[x], r2[x], r3[x]);
        high[x] = high_pass(r0[x], r1[x], r2[x], r3[x]);
    }
}

/// `row` starts one sample left of the picture. `high` may be null.
QC_CPU_CLONES void filter_along(const float* row, int width, float* low, float* high) {
    for (int x = 0; x < width; x++) low[x] = low_pass(row[2 * x], row[2 * x + 1], row[2 * x + 2], row[2 * x + 3]);
    if (high == nullptr) return;
    for (int x = 0; x < width; x++) high[x] = high_pass(row[2 * x], row[2 * x + 1], row[2 * x + 2], row[2 * x + 3]);
}

/// Rows of the three detail bands.
struct DetailRows {
    float* band[kBands];
};

/// Angle flags of a row; as wide as the coefficients, for the vectoriser's sake.
QC_CPU_CLONES void same_angles(const DetailRows& reference, const DetailRows& distorted, Columns columns,
                               int32_t* __restrict flags) {
    const float *oh = reference.band[kBandH], *ov = reference.band[kBandV];
    const float *th = distorted.band[kBandH], *tv = distorted.band[kBandV];
    for (int x = columns.begin; x < columns.end; x++) {
        const float o[2] = {oh[x], ov[x]}, t[2] = {th[x], tv[x]};
        flags[x] = same_angle(o, t) ? 1 : 0;
    }
}

/// Splits one of the distorted picture's details, and weighs both parts with the contrast sensitivity.
template <bool kSingle>
QC_HD void decouple(const float* __restrict reference, const float* __restrict distorted, const int32_t* enhanced,
                    Columns columns, float factor, const Gain& gain, float* __restrict restored,
                    float* __restrict additive) {
    for (int x = columns.begin; x < columns.end; x++) {
        const float r = restore<kSingle>(reference[x], distorted[x], enhanced[x] != 0, gain);
        restored[x] = magnitude(r * factor);
        additive[x] = magnitude((distorted[x] - r) * factor);
    }
}
QC_CPU_CLONES void decouple_band(const float* reference, const float* distorted, const int32_t* enhanced,
                                 Columns columns, float factor, Gain gain, float* restored, float* additive) {
    if (gain.single)
        decouple<true>(reference, distorted, enhanced, columns, factor, gain, restored, additive);
    else
        decouple<false>(reference, distorted, enhanced, columns, factor, gain, restored, additive);
}

QC_CPU_CLONES void neighbour_terms(const float* __restrict masker, Columns columns, float* __restrict terms) {
    for (int x = columns.begin; x < columns.end; x++) terms[x] = neighbour_term(masker[x]);
}

/// Adds one band's masking window to the threshold. The rows of neighbour terms reach one column beyond the region.
QC_CPU_CLONES void add_window(const float* above, const float* here, const float* below, const float* masker,
                              Columns columns, float* __restrict threshold) {
    for (int x = columns.begin; x < columns.end; x++) {
        float sum = (above[x - 1] + above[x]) + above[x + 1];
        sum = add_centre(sum + here[x - 1], masker[x]) + here[x + 1];
        threshold[x] += ((sum + below[x - 1]) + below[x]) + below[x + 1];
    }
}

QC_CPU_CLONES void masked_cubes(const float* measured, const float* threshold, Columns columns, float* energies) {
    for (int x = columns.begin; x < columns.end; x++) {
        energies[x] = energy<true>(larger(measured[x] - threshold[x], 0.0f), 3.0f);
    }
}

QC_CPU_CLONES void reference_cubes(const float* band, float factor, Columns columns, float* energies) {
    for (int x = columns.begin; x < columns.end; x++) energies[x] = energy<true>(magnitude(factor * band[x]), 3.0f);
}

/// Running sums along a row, all at once: each is a chain of dependent additions.
void add_in_order(const std::vector<float>* energies, Columns columns, float (&sums)[kWordsPerLevel]) {
    const float* terms[kWordsPerLevel];
    float running[kWordsPerLevel] = {};
    for (int i = 0; i < kWordsPerLevel; i++) terms[i] = energies[i].data();
    for (int x = columns.begin; x < columns.end; x++) {
        for (int i = 0; i < kWordsPerLevel; i++) running[i] += terms[i][x];
    }
    std::copy(running, running + kWordsPerLevel, sums);
}

// ---- one level ------------------------------------------------------------------------------------------------------

constexpr int kPad = 2; ///< floats before the first column of a row

/// A band or picture of floats.
using Image = device::Image<float>;
using Source = device::CentredSource;

/// Rows with room for a mirrored column at either end.
class RowBuffer {
public:
    explicit RowBuffer(int width) {
        for (auto& band : bands_) band.resize(static_cast<size_t>(width + 2 * kPad));
    }
    DetailRows rows() { return {{bands_[0].data() + kPad, bands_[1].data() + kPad, bands_[2].data() + kPad}}; }

private:
    std::vector<float> bands_[kBands];
};

/// Scores a level row by row; rows come in order.
class LevelScorer {
public:
    /// @param weights of the level; null: each coefficient counts once
    LevelScorer(const Plan& plan, const LevelPlan& level, const device::Image<Weight>* weights, float whole)
        : plan_(plan), level_(level), weights_(weights), whole_(whole), columns_{level.left, level.right},
          reference_(level.width), distorted_(level.width) {
        for (Window& window : windows_) {
            for (int i = 0; i < kRing; i++) {
                window.weighted.emplace_back(level.width);
                window.neighbours.emplace_back(level.width);
            }
        }
        for (auto& row : energies_) row.resize(static_cast<size_t>(level.width));
        threshold_.resize(static_cast<size_t>(level.width));
        enhanced_.resize(static_cast<size_t>(level.width));
        for (int i = 0; i < kRing; i++) reference_energies_.emplace_back(level.width);
    }

    DetailRows reference() { return reference_.rows(); }
    DetailRows distorted() { return distorted_.rows(); }

    /// Row y of the details lies in reference() and distorted().
    void take_row(int y) {
        if (!masks_row(level_, y)) return;
        const Columns masked = {std::max(level_.left - 1, 0), std::min(level_.right + 1, level_.width)};
        same_angles(reference(), distorted(), masked, enhanced_.data());
        for (int b = 0; b < kBands; b++) {
            decouple_band(reference().band[b], distorted().band[b], enhanced_.data(), masked, level_.factor[b],
                          plan_.rules.gain, restored(y).band[b], additive(y).band[b]);
        }
        for (Window& window : windows_) {
            for (int b = 0; b < kBands; b++) {
                float* const terms = window.neighbours[y % kRing].rows().band[b];
                neighbour_terms(window.weighted[y % kRing].rows().band[b], masked, terms);
                // A narrow band is scored to its borders, where the window mirrors.
                terms[-1] = terms[mirror_with_last_edge_inside(-1, level_.width)];
                terms[level_.width] = terms[mirror_with_last_edge_inside(level_.width, level_.width)];
            }
        }
        if (scores_row(level_, y)) measure_reference(y);
        if (scores_row(level_, y - 1)) score_row(y - 1);
        if (y + 1 == level_.height && scores_row(level_, y)) score_row(y);
    }

    float sum(Measure measure, int band) const { return sums_[measure * kBands + band]; }

private:
    static constexpr int kRing = 3; ///< rows that the window needs

    /// What masks, or is measured: weighted magnitudes and, in the other role, what they add to thresholds around.
    struct Window {
        std::vector<RowBuffer> weighted, neighbours;
    };

    DetailRows restored(int y) { return windows_[0].weighted[y % kRing].rows(); }
    DetailRows additive(int y) { return windows_[1].weighted[y % kRing].rows(); }

    void measure_reference(int y) {
        const DetailRows in = reference(), out = reference_energies_[y % kRing].rows();
        for (int b = 0; b < kBands; b++) {
            if (plan_.cube) {
                reference_cubes(in.band[b], level_.factor[b], columns_, out.band[b]);
            } else {
                for (int x = columns_.begin; x < columns_.end; x++) {
                    out.band[b][x] = power(magnitude(level_.factor[b] * in.band[b][x]), plan_.rules.power);
                }
            }
        }
    }

    void find_threshold(int y, Window& masker) {
        std::fill(threshold_.begin(), threshold_.end(), 0.0f);
        if (!plan_.rules.masking) return;
        // Above row 0 lies row 1, below the last row the last row.
        const int rows[3] = {mirror_with_last_edge_inside(y - 1, level_.height) % kRing, y % kRing,
                             mirror_with_last_edge_inside(y + 1, level_.height) % kRing};
        for (int b = 0; b < kBands; b++) {
            const float* terms[3];
            for (int i = 0; i < 3; i++) terms[i] = masker.neighbours[rows[i]].rows().band[b];
            add_window(terms[0], terms[1], terms[2], masker.weighted[rows[1]].rows().band[b], columns_,
                       threshold_.data());
        }
    }

    /// Energies of what exceeds the threshold.
    void measure(int y, Window& measured, Measure words) {
        for (int b = 0; b < kBands; b++) {
            const float* const in = measured.weighted[y % kRing].rows().band[b];
            std::vector<float>& out = energies_[words * kBands + b];
            if (plan_.cube) {
                masked_cubes(in, threshold_.data(), columns_, out.data());
            } else {
                for (int x = columns_.begin; x < columns_.end; x++) {
                    out[x] = power(larger(in[x] - threshold_[x], 0.0f), plan_.rules.power);
                }
            }
        }
    }

    void score_row(int y) {
        find_threshold(y, windows_[1]);
        measure(y, windows_[0], kDetail);
        find_threshold(y, windows_[0]);
        measure(y, windows_[1], kImpairment);
        const DetailRows reference = reference_energies_[y % kRing].rows();
        for (int b = 0; b < kBands; b++) {
            std::copy(reference.band[b], reference.band[b] + level_.width, energies_[kReference * kBands + b].begin());
        }
        if (weights_ != nullptr) weigh(weights_->row(y));
        float row[kWordsPerLevel];
        add_in_order(energies_, columns_, row);
        for (int i = 0; i < kWordsPerLevel; i++) sums_[i] += row[i];
    }

    /// Multiplies by the shares, which are exactly 1 of coefficients that count whole.
    void weigh(const Weight* weights) {
        for (std::vector<float>& energies : energies_)
            for (int x = columns_.begin; x < columns_.end; x++) {
                float& energy = energies[static_cast<size_t>(x)];
                energy = energy * (static_cast<float>(weights[x]) / whole_);
            }
    }

    const Plan& plan_;
    const LevelPlan& level_;
    const device::Image<Weight>* weights_;
    const float whole_;
    const Columns columns_;
    RowBuffer reference_, distorted_;
    Window windows_[2]; ///< of the restored and of the additive part
    std::vector<RowBuffer> reference_energies_;
    std::vector<float> energies_[kWordsPerLevel], threshold_;
    std::vector<int32_t> enhanced_;
    float sums_[kWordsPerLevel] = {};
};

/// Filters row y of a level's bands. The low-pass band goes to `low`, the details to `details`.
void transform_row(device::CentredRows& in, int y, std::vector<float>* scratch, float* low, const DetailRows& details,
                   int width) {
    const float* rows[4];
    for (int k = 0; k < 4; k++) rows[k] = in.row(mirror_with_last_edge_inside(2 * y - 1 + k, in.height()));
    const auto padded = static_cast<size_t>(in.width() + 4);
    scratch->resize(2 * padded);
    float* const down[2] = {scratch->data() + 1, scratch->data() + padded + 1};
    filter_down(rows, in.width(), down[0], down[1]);
    for (float* row : down) {
        row[-1] = row[mirror_with_last_edge_inside(-1, in.width())];
        const float after[2] = {row[mirror_with_last_edge_inside(in.width(), in.width())],
                                row[mirror_with_last_edge_inside(in.width() + 1, in.width())]};
        row[in.width()] = after[0];
        row[in.width() + 1] = after[1];
    }
    filter_along(down[0] - 1, width, low, details.band[kBandV]);
    filter_along(down[1] - 1, width, details.band[kBandH], details.band[kBandD]);
}

} // namespace

void score_cpu(const Plan& plan, SampleType sample, const HostPair& pair, std::span<uint64_t> accumulators) {
    constexpr int kTaps = 4;
    Source reference(pair.reference.plane[0], sample, plan.rules.luma);
    Source distorted(pair.distorted.plane[0], sample, plan.rules.luma);
    Image low[2]; // of the level before
    const BandWeights weights = plan.has_weights ? weigh_bands(pair.weights, plan) : BandWeights();
    if (plan.has_weights) sum_weights(weights, plan, accumulators.data());
    std::vector<float> scratch;
    for (int i = 0; i < kLevels; i++) {
        const LevelPlan& level = plan.level[i];
        LevelScorer scorer(plan, level, plan.has_weights ? &weights[static_cast<size_t>(i)] : nullptr,
                           static_cast<float>(full_weight(i)));
        Image reference_low(level.width, level.height), distorted_low(level.width, level.height);
        device::CentredRows reference_rows(reference, kTaps), distorted_rows(distorted, kTaps);
        for (int y = 0; y < level.height; y++) {
            transform_row(reference_rows, y, &scratch, reference_low.row(y), scorer.reference(), level.width);
            transform_row(distorted_rows, y, &scratch, distorted_low.row(y), scorer.distorted(), level.width);
            scorer.take_row(y);
        }
        for (int word = 0; word < kWordsPerLevel; word++) {
            const double sum = scorer.sum(static_cast<Measure>(word / kBands), word % kBands);
            accumulators[i * kWordsPerLevel + word] = std::bit_cast<uint64_t>(sum);
        }
        low[0] = std::move(reference_low);
        low[1] = std::move(distorted_low);
        reference = Source(low[0]);
        distorted = Source(low[1]);
    }
}

} // namespace qc::float_adm
