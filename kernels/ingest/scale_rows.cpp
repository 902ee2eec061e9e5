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

/// @param math a copy: the target may be bytes, which could be anything's
template <typename Target>
QC_INLINE_HELPER void down_rows(const int32_t* const* rows, const int16_t* weights, int taps, int width, ScaleMath math,
                                int32_t* sums, Target* __restrict target) {
    if (taps == 4) { // once over the rows in place of four times
        const int32_t *const row0 = rows[0], *const row1 = rows[1], *const row2 = rows[2], *const row3 = rows[3];
        const int w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
        for (int x = 0; x < width; ++x)
            target[x] = static_cast<Target>(math.target(w0 * row0[x] + w1 * row1[x] + w2 * row2[x] + w3 * row3[x]));
        return;
    }
    sum_rows(rows, weights, taps, width, sums);
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
    down_rows(rows, weights, taps, width, math, sums, target);
}

QC_CPU_CLONES void scale_down(const int32_t* const* rows, const int16_t* weights, int taps, int width,
                              const ScaleMath& math, int32_t* sums, uint16_t* target) {
    down_rows(rows, weights, taps, width, math, sums, target);
}

} // namespace qc
