// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/adm_cpu_sums.hpp"

#include "device/cpu_clones.hpp"

namespace qc::adm {
namespace {

/// Adds energies, or those of a run of columns times their weights.
struct PlainSum {
    uint64_t sum = 0;

    QC_HD void add(int64_t energy, int /*x*/) { sum += static_cast<uint64_t>(energy); }
};
struct SumByWeight {
    const uint16_t* weights;
    WeightedSum sum{};

    QC_HD void add(int64_t energy, int x) { sum.add(static_cast<uint64_t>(energy), weights[x]); }
};

template <bool kDeep, int kBand, class Sum>
QC_HD void add_masked(const MaskedEnergies& row, Columns columns, Sum& total) {
    const uint32_t factor = row.factor;
    const Rounding rounding = row.rounding;
    const int32_t *measured = row.measured, *threshold = row.threshold;
    Sum sum = total;
    for (int x = columns.begin; x < columns.end; x++) {
        int64_t energy;
        if constexpr (kDeep)
            energy = energy_deep(magnitude(weigh_deep(factor, measured[x])), threshold[x], rounding);
        else
            energy = energy_level0<kBand>(magnitude(weigh_level0(factor, measured[x])), threshold[x], rounding);
        sum.add(energy, x);
    }
    total = sum;
}

/// The deep levels treat all bands alike; at level 0 only the diagonal differs.
template <class Sum>
QC_HD void add_masked_row(const MaskedEnergies& row, Columns columns, Sum& sum) {
    if (row.level > 0)
        add_masked<true, kBandH>(row, columns, sum);
    else if (row.band == kBandD)
        add_masked<false, kBandD>(row, columns, sum);
    else
        add_masked<false, kBandH>(row, columns, sum);
}

template <int kLevel, class Sum>
QC_HD void add_reference(const ReferenceEnergies& row, Columns columns, Sum& total) {
    const Rounding rounding = row.rounding;
    const int32_t* o = row.reference;
    Sum sum = total;
    for (int x = columns.begin; x < columns.end; x++) {
        if constexpr (kLevel == 0)
            sum.add(static_cast<int64_t>(reference_energy_level0(o[x])), x);
        else
            sum.add(static_cast<int64_t>(reference_energy_deep<kLevel>(o[x], rounding)), x);
    }
    total = sum;
}

/// Level 3 has level 1's format.
template <class Sum>
QC_HD void add_reference_row(const ReferenceEnergies& row, Columns columns, Sum& sum) {
    if (row.level == 0)
        add_reference<0>(row, columns, sum);
    else if (row.level == 2)
        add_reference<2>(row, columns, sum);
    else
        add_reference<1>(row, columns, sum);
}

QC_CPU_CLONES void add_row(const MaskedEnergies& row, Columns columns, PlainSum& sum) {
    add_masked_row(row, columns, sum);
}
QC_CPU_CLONES void add_row(const MaskedEnergies& row, Columns columns, SumByWeight& sum) {
    add_masked_row(row, columns, sum);
}
QC_CPU_CLONES void add_row(const ReferenceEnergies& row, Columns columns, PlainSum& sum) {
    add_reference_row(row, columns, sum);
}
QC_CPU_CLONES void add_row(const ReferenceEnergies& row, Columns columns, SumByWeight& sum) {
    add_reference_row(row, columns, sum);
}

template <class Energies>
uint64_t plain_sum(const Energies& row, Columns columns) {
    PlainSum sum;
    add_row(row, columns, sum);
    return sum.sum;
}

template <class Energies>
WeightedSum sum_by_weight(const Energies& row, Columns columns, const uint16_t* weights) {
    SumByWeight sum{weights};
    add_row(row, columns, sum);
    return sum.sum;
}

} // namespace

uint64_t sum_row(const MaskedEnergies& row, Columns columns) {
    return plain_sum(row, columns);
}
uint64_t sum_row(const ReferenceEnergies& row, Columns columns) {
    return plain_sum(row, columns);
}
WeightedSum sum_row(const MaskedEnergies& row, Columns columns, const uint16_t* weights) {
    return sum_by_weight(row, columns, weights);
}
WeightedSum sum_row(const ReferenceEnergies& row, Columns columns, const uint16_t* weights) {
    return sum_by_weight(row, columns, weights);
}

} // namespace qc::adm
