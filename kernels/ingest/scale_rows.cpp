// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ingest/scale_rows.hpp"

#include "device/cpu_clones.hpp"

namespace qc {
namespace {

/// @param kTaps known when compiled, or 0
template <int kTaps>
QC_INLINE_HELPER void across_row(const uint16_t* samples, const ScaleAxis& across, int width, const ScaleMath& math,
                                 int32_t* middles) {
    const int taps = kTaps > 0 ? kTaps : across.taps;
    const int16_t* weight = across.weight;
    for (int x = 0; x < width; ++x, weight += taps) {
        const uint16_t* const source = samples + across.first[x];
        int sum = 0;
        for (int t = 0; t < taps; ++t) sum += weight[t] * source[t];
        middles[x] = math.middle(sum);
    }
}

QC_INLINE_HELPER void sum_rows(const int32_t* const* rows, const int16_t* weights, int taps, int width, int32_t* sums) {
    for (int x = 0; x < width; ++x) sums[x] = weights[0] * rows[0][x];
    for (int t = 1; t < taps; ++t) {
        const int32_t* const row = rows[t];
        const int weight = weights[t];
        for (int x = 0; x < width; ++x) sums[x] += weight * row[x];
    }
}

template <typename Target>
QC_INLINE_HELPER void finish_row(const int32_t* sums, int width, const ScaleMath& math, Target* target) {
    for (int x = 0; x < width; ++x) target[x] = static_cast<Target>(math.target(sums[x]));
}

} // namespace

QC_CPU_CLONES void scale_across(const uint16_t* samples, const ScaleAxis& across, int width, const ScaleMath& math,
                                int32_t* middles) {
    if (across.taps == 4)
        across_row<4>(samples, across, width, math, middles);
    else
        across_row<0>(samples, across, width, math, middles);
}

QC_CPU_CLONES void scale_down(const int32_t* const* rows, const int16_t* weights, int taps, int width,
                              const ScaleMath& math, int32_t* sums, uint8_t* target) {
    sum_rows(rows, weights, taps, width, sums);
    finish_row(sums, width, math, target);
}

QC_CPU_CLONES void scale_down(const int32_t* const* rows, const int16_t* weights, int taps, int width,
                              const ScaleMath& math, int32_t* sums, uint16_t* target) {
    sum_rows(rows, weights, taps, width, sums);
    finish_row(sums, width, math, target);
}

} // namespace qc
