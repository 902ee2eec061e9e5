// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ingest/recode_rows.hpp"

#include "device/cpu_clones.hpp"

namespace qc {
namespace {

/// @param offset, shift, brightest copies: the target may be bytes, which could be anything's
template <typename Sum, typename Target>
QC_INLINE_HELPER void mix_one(const int32_t* row, int32_t weight, int64_t offset, int shift, int brightest, int width,
                              Target* __restrict target) {
    const auto begin = static_cast<Sum>(offset);
    for (int x = 0; x < width; ++x) {
        const Sum sum = begin + static_cast<Sum>(weight) * row[x];
        const auto value = static_cast<int32_t>(sum >> shift);
        target[x] = static_cast<Target>(value < 0 ? 0 : value > brightest ? brightest : value);
    }
}

template <typename Sum, typename Target>
QC_INLINE_HELPER void mix_three(const int32_t* const* rows, const int32_t* weight, int64_t offset, int shift,
                                int brightest, int width, Target* __restrict target) {
    const int32_t *const first = rows[0], *const second = rows[1], *const third = rows[2];
    const auto begin = static_cast<Sum>(offset);
    const auto a = static_cast<Sum>(weight[0]), b = static_cast<Sum>(weight[1]), c = static_cast<Sum>(weight[2]);
    for (int x = 0; x < width; ++x) {
        const Sum sum = begin + a * first[x] + b * second[x] + c * third[x];
        const auto value = static_cast<int32_t>(sum >> shift);
        target[x] = static_cast<Target>(value < 0 ? 0 : value > brightest ? brightest : value);
    }
}

template <typename Sum, typename Target>
QC_INLINE_HELPER void mix(const Recoding& recoding, int plane, const int32_t* const* rows, int width, Target* target) {
    const int32_t* const weight = recoding.weight[plane];
    const int64_t offset = recoding.offset[plane];
    const int shift = recoding.shift[plane], brightest = recoding.brightest;
    if (recoding.kind == kRecodePlanes)
        mix_one<Sum>(rows[plane], weight[plane], offset, shift, brightest, width, target);
    else if (recoding.source_planes == 1)
        mix_one<Sum>(rows[0], weight[0], offset, shift, brightest, width, target);
    else
        mix_three<Sum>(rows, weight, offset, shift, brightest, width, target);
}

template <typename Target>
QC_INLINE_HELPER void mix_any(const Recoding& recoding, int plane, const int32_t* const* rows, int width,
                              Target* target) {
    if (recoding.is_narrow != 0)
        mix<int32_t>(recoding, plane, rows, width, target);
    else
        mix<int64_t>(recoding, plane, rows, width, target);
}

} // namespace

QC_CPU_CLONES void recode_row(const Recoding& recoding, int plane, const int32_t* const* rows, int width,
                              uint8_t* target) {
    mix_any(recoding, plane, rows, width, target);
}

QC_CPU_CLONES void recode_row(const Recoding& recoding, int plane, const int32_t* const* rows, int width,
                              uint16_t* target) {
    mix_any(recoding, plane, rows, width, target);
}

QC_CPU_CLONES void shrink_rows(const int32_t* const* rows, const int32_t* weight, int width, int32_t* sums) {
    const int32_t *const a = rows[0], *const b = rows[1], *const c = rows[2];
    const int32_t of_a = weight[0], of_b = weight[1], of_c = weight[2];
    for (int x = 0; x < width; ++x) sums[x] = of_a * a[x] + of_b * b[x] + of_c * c[x];
}

QC_CPU_CLONES void shrink_row(const int32_t* row, const ShrinkAxis& across, int width, int32_t* sums) {
    const int32_t a = across.weight[0], b = across.weight[1], c = across.weight[2];
    const int32_t* const first = row + across.first;
    if (across.factor == 1)
        for (int x = 0; x < width; ++x) sums[x] = a * first[x];
    else
        for (int x = 0; x < width; ++x) sums[x] = a * first[2 * x] + b * first[2 * x + 1] + c * first[2 * x + 2];
}

QC_CPU_CLONES void grow_rows(const int32_t* const* rows, const int32_t* weight, int width, int32_t* sums) {
    const int32_t *const a = rows[0], *const b = rows[1], *const c = rows[2], *const d = rows[3];
    const int32_t of_a = weight[0], of_b = weight[1], of_c = weight[2], of_d = weight[3];
    for (int x = 0; x < width; ++x) sums[x] = of_a * a[x] + of_b * b[x] + of_c * c[x] + of_d * d[x];
}

QC_CPU_CLONES void grow_row(const int32_t* row, const GrowAxis& across, int width, int32_t* sums) {
    if (across.halved == 0) {
        for (int x = 0; x < width; ++x) sums[x] = 128 * row[x];
        return;
    }
    for (int parity = 0; parity < 2; ++parity) {
        const GrowTaps taps = grow_taps(across, parity);
        const int32_t* const first = row + taps.first;
        const int32_t a = taps.weight[0], b = taps.weight[1], c = taps.weight[2], d = taps.weight[3];
        for (int x = parity; x < width; x += 2) {
            const int32_t* const four = first + x / 2;
            sums[x] = a * four[0] + b * four[1] + c * four[2] + d * four[3];
        }
    }
}

} // namespace qc
