// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/adm_cpu_masking.hpp"

#include <algorithm>

#include "device/cpu_clones.hpp"
#include "metrics/adm/adm_math.hpp"

namespace qc::adm {
namespace {

// ---- plain loops, which are right for all factors -------------------------------------------------------------------

template <bool kDeep>
QC_HD void weigh_columns(const uint32_t* factor, const PartRow& row, Columns columns) {
    int32_t *h = row.band[kBandH], *v = row.band[kBandV], *d = row.band[kBandD];
    const auto store = [](int32_t* place, int32_t weighted) { *place = static_cast<int32_t>(magnitude(weighted)); };
    for (int x = columns.begin; x < columns.end; x++) {
        MaskerTerms th, tv, td;
        if constexpr (kDeep) {
            const int32_t wh = weigh_deep(factor[kBandH], h[x]), wv = weigh_deep(factor[kBandV], v[x]),
                          wd = weigh_deep(factor[kBandD], d[x]);
            th = masker_deep(magnitude(wh));
            tv = masker_deep(magnitude(wv));
            td = masker_deep(magnitude(wd));
            store(h + x, wh);
            store(v + x, wv);
            store(d + x, wd);
        } else {
            const int32_t wh = weigh_level0(factor[kBandH], h[x]), wv = weigh_level0(factor[kBandV], v[x]),
                          wd = weigh_level0(factor[kBandD], d[x]);
            th = masker_level0<kBandH>(wh);
            tv = masker_level0<kBandV>(wv);
            td = masker_level0<kBandD>(wd);
            store(h + x, wh);
            store(v + x, wv);
            store(d + x, wd);
        }
        if (row.neighbour == nullptr) continue;
        const uint32_t neighbour = static_cast<uint32_t>(th.neighbour) + static_cast<uint32_t>(tv.neighbour) +
                                   static_cast<uint32_t>(td.neighbour);
        const uint32_t centre =
            static_cast<uint32_t>(th.centre) + static_cast<uint32_t>(tv.centre) + static_cast<uint32_t>(td.centre);
        row.neighbour[x] = static_cast<int32_t>(neighbour);
        row.centre[x] = static_cast<int32_t>(centre - neighbour);
    }
}

QC_CPU_CLONES void weigh(int level, const uint32_t* factor, const PartRow& row, Columns columns) {
    if (level == 0)
        weigh_columns<false>(factor, row, columns);
    else
        weigh_columns<true>(factor, row, columns);
}

/// Masking threshold: the 3x3 sum of neighbour terms plus the centre's excess. Sums wrap in 32 bits.
QC_CPU_CLONES void sum_window(const MaskerRows& masker, Columns columns, uint32_t* column, int32_t* threshold) {
    const int32_t *above = masker.above, *here = masker.here, *below = masker.below, *centre = masker.centre;
    for (int x = columns.begin - 1; x < columns.end + 1; x++) {
        column[x] = static_cast<uint32_t>(above[x]) + static_cast<uint32_t>(here[x]) + static_cast<uint32_t>(below[x]);
    }
    for (int x = columns.begin; x < columns.end; x++) {
        threshold[x] =
            static_cast<int32_t>(static_cast<uint32_t>(centre[x]) + column[x - 1] + column[x] + column[x + 1]);
    }
}

/// Adds energies, or each times its weight.
struct PlainSum {
    uint64_t sum = 0;

    QC_HD void add(uint64_t energy, int /*x*/) { sum += energy; }
};
struct SumByWeight {
    const uint16_t* weights;
    WeightedSum sum{};

    QC_HD void add(uint64_t energy, int x) { sum.add(energy, weights[x]); }
};

template <bool kDeep, int kBand, class Sum>
QC_HD void add_energy_columns(Rounding rounding, Columns columns, const int32_t* sizes, const int32_t* threshold,
                              Sum& total) {
    Sum sum = total;
    for (int x = columns.begin; x < columns.end; x++) {
        const auto size = static_cast<uint32_t>(sizes[x]);
        sum.add(static_cast<uint64_t>(kDeep ? energy_deep(size, threshold[x], rounding)
                                            : energy_level0<kBand>(size, threshold[x], rounding)),
                x);
    }
    total = sum;
}

/// The deep levels treat all bands alike; at level 0 only the diagonal differs.
template <class Sum>
QC_HD void add_energies(int level, int band, Rounding rounding, Columns columns, const int32_t* sizes,
                        const int32_t* threshold, Sum& sum) {
    if (level > 0)
        add_energy_columns<true, kBandH>(rounding, columns, sizes, threshold, sum);
    else if (band == kBandD)
        add_energy_columns<false, kBandD>(rounding, columns, sizes, threshold, sum);
    else
        add_energy_columns<false, kBandH>(rounding, columns, sizes, threshold, sum);
}

QC_CPU_CLONES void add_energy(int level, int band, Rounding rounding, Columns columns, const int32_t* sizes,
                              const int32_t* threshold, PlainSum& sum) {
    add_energies(level, band, rounding, columns, sizes, threshold, sum);
}
QC_CPU_CLONES void add_energy(int level, int band, Rounding rounding, Columns columns, const int32_t* sizes,
                              const int32_t* threshold, SumByWeight& sum) {
    add_energies(level, band, rounding, columns, sizes, threshold, sum);
}

void measure(int level, const Rounding* rounding, const std::array<int32_t*, kBands>& sizes, const MaskerRows& masker,
             Columns columns, MeasuringScratch scratch, uint64_t* sums) {
    sum_window(masker, columns, scratch.column, scratch.threshold);
    for (int b = 0; b < kBands; b++) {
        PlainSum sum;
        add_energy(level, b, rounding[b], columns, sizes[static_cast<size_t>(b)], scratch.threshold, sum);
        sums[b] = sum.sum;
    }
}

template <int kLevel, class Sum>
QC_HD void add_reference_columns(Rounding rounding, Columns columns, const int32_t* o, Sum& total) {
    Sum sum = total;
    for (int x = columns.begin; x < columns.end; x++) {
        if constexpr (kLevel == 0)
            sum.add(reference_energy_level0(o[x]), x);
        else
            sum.add(reference_energy_deep<kLevel>(o[x], rounding), x);
    }
    total = sum;
}

/// Level 3 has level 1's format.
template <class Sum>
QC_HD void add_reference_energies(int level, Rounding rounding, Columns columns, const int32_t* o, Sum& sum) {
    if (level == 0)
        add_reference_columns<0>(rounding, columns, o, sum);
    else if (level == 2)
        add_reference_columns<2>(rounding, columns, o, sum);
    else
        add_reference_columns<1>(rounding, columns, o, sum);
}

QC_CPU_CLONES void add_reference_energy(int level, Rounding rounding, Columns columns, const int32_t* o,
                                        PlainSum& sum) {
    add_reference_energies(level, rounding, columns, o, sum);
}
QC_CPU_CLONES void add_reference_energy(int level, Rounding rounding, Columns columns, const int32_t* o,
                                        SumByWeight& sum) {
    add_reference_energies(level, rounding, columns, o, sum);
}

void measure_reference(int level, Rounding rounding, const std::array<int32_t*, kBands>& coefficients, Columns columns,
                       uint64_t* sums) {
    for (size_t b = 0; b < kBands; b++) {
        PlainSum sum;
        add_reference_energy(level, rounding, columns, coefficients[b], sum);
        sums[b] = sum.sum;
    }
}

constexpr MaskingPasses kPlainPasses{weigh, measure, measure_reference};

// ---- instruction sets -----------------------------------------------------------------------------------------------

/// No coefficient of level 0 is larger: 27411 (level0_vertical_low()) times the taps' magnitudes, which are 54822, in
/// units of 2^16; and the additive part may be one more.
constexpr uint64_t kMostOfLevel0 = 22931;

/// Whether the vectors' formats hold what is weighed with these factors.
[[maybe_unused]] bool suit_lanes(int level, const uint32_t* factor) {
    const uint64_t largest = *std::max_element(factor, factor + kBands);
    const uint64_t straight = std::max(factor[kBandH], factor[kBandV]);
    // At level 0 straight bands are narrowed to 16 bits, which must not wrap to -32768: that has no magnitude.
    if (level == 0) return largest < 65536 && straight * kMostOfLevel0 + 16384 < (uint64_t{1} << 30);
    return largest < (uint64_t{1} << 31);
}

#define QC_LANE_PASSES "metrics/adm/adm_masking_lane_passes.hpp"
#include "device/lane_versions.hpp"

} // namespace

void measure_weighted(int level, const Rounding* rounding, const std::array<int32_t*, kBands>& sizes,
                      const MaskerRows& masker, Columns columns, MeasuringScratch scratch, const uint16_t* weights,
                      WeightedSum* sums) {
    sum_window(masker, columns, scratch.column, scratch.threshold);
    for (int b = 0; b < kBands; b++) {
        SumByWeight sum{weights};
        add_energy(level, b, rounding[b], columns, sizes[static_cast<size_t>(b)], scratch.threshold, sum);
        sums[b] = sum.sum;
    }
}

void measure_reference_weighted(int level, Rounding rounding, const std::array<int32_t*, kBands>& coefficients,
                                Columns columns, const uint16_t* weights, WeightedSum* sums) {
    for (size_t b = 0; b < kBands; b++) {
        SumByWeight sum{weights};
        add_reference_energy(level, rounding, columns, coefficients[b], sum);
        sums[b] = sum.sum;
    }
}

const MaskingPasses& masking_passes([[maybe_unused]] device::WordLanes lanes, [[maybe_unused]] int level,
                                    [[maybe_unused]] const uint32_t* factor) {
#if QC_HAS_WORD_LANES
    if (suit_lanes(level, factor)) {
        if (lanes == device::WordLanes::kAvx512) return avx512::kPasses;
        if (lanes == device::WordLanes::kAvx2) return avx2::kPasses;
    }
#endif
    return kPlainPasses;
}

} // namespace qc::adm
