// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cambi/cambi_row_steps.hpp"

#include <algorithm>
#include <functional>

#include "device/cpu_clones.hpp"

namespace qc::cambi {
namespace {

/// Containers can hold more than the depth allows; then the largest sample counts.
template <typename Sample>
QC_INLINE_HELPER void convert(const Sample* from, int width, int depth, uint16_t* to) {
    const auto largest = static_cast<Sample>((1u << depth) - 1);
    if (depth <= kDepth) {
        const int shift = kDepth - depth;
        for (int x = 0; x < width; ++x) to[x] = static_cast<uint16_t>(std::min(from[x], largest) << shift);
    } else {
        const int shift = depth - kDepth;
        const uint32_t half = 1u << (shift - 1);
        for (int x = 0; x < width; ++x)
            to[x] = static_cast<uint16_t>((uint32_t{std::min(from[x], largest)} + half) >> shift);
    }
}
QC_CPU_CLONES void to_ten_bits(const uint8_t* from, int width, int depth, uint16_t* to) {
    convert(from, width, depth, to);
}
QC_CPU_CLONES void to_ten_bits(const uint16_t* from, int width, int depth, uint16_t* to) {
    convert(from, width, depth, to);
}

template <typename Sample>
void analysed_row(const Plane<const Sample>& plane, int depth, const Analysis& analysis, int y, uint16_t* target) {
    const Sample* const source = plane.row(analysis.rows[static_cast<size_t>(y)]);
    if (!analysis.resampled) return to_ten_bits(source, analysis.width, depth, target);
    for (int x = 0; x < analysis.width; ++x) target[x] = source[analysis.columns[static_cast<size_t>(x)]];
    to_ten_bits(target, analysis.width, depth, target);
}

template <typename T>
QC_INLINE_HELPER void take_every_second(const T* from, T* to, int count) {
#pragma GCC ivdep
    for (int x = 0; x < count; ++x) to[x] = from[2 * x];
}

} // namespace

void analysed_row(const HostPlane& luma, const FrameGeometry& geometry, const Analysis& analysis, int y,
                  uint16_t* target) {
    if (geometry.sample == SampleType::kU8)
        analysed_row(luma.as<uint8_t>(), geometry.depth, analysis, y, target);
    else
        analysed_row(luma.as<uint16_t>(), geometry.depth, analysis, y, target);
}

QC_CPU_CLONES void anti_dither_row(const uint16_t* row, const uint16_t* below, uint16_t* out, int width) {
    const int last = width - 1;
    for (int x = 0; x < last; ++x) out[x] = static_cast<uint16_t>((row[x] + row[x + 1] + below[x] + below[x + 1]) >> 2);
    out[last] = static_cast<uint16_t>((row[last] + below[last]) >> 1);
}

QC_CPU_CLONES void flat_row(const uint16_t* row, const uint16_t* below, uint8_t* flat, int width) {
    const int last = width - 1;
    for (int x = 0; x < last; ++x) flat[x] = static_cast<uint8_t>((row[x] == row[x + 1]) & (row[x] == below[x]));
    flat[last] = row[last] == below[last];
}

QC_CPU_CLONES void add_row(uint8_t* sum, const uint8_t* row, int width) {
    for (int x = 0; x < width; ++x) sum[x] = static_cast<uint8_t>(sum[x] + row[x]);
}

QC_CPU_CLONES void subtract_row(uint8_t* sum, const uint8_t* row, int width) {
    for (int x = 0; x < width; ++x) sum[x] = static_cast<uint8_t>(sum[x] - row[x]);
}

QC_CPU_CLONES void mask_row(const uint8_t* columns, uint8_t* mask, int width, int limit) {
    static_assert(kMaskSide * kMaskSide < 256);
    const auto most = static_cast<uint8_t>(std::min(limit, 255));
    for (int x = 0; x < width; ++x) {
        uint8_t count = 0;
        for (int k = 0; k < kMaskSide; ++k) count = static_cast<uint8_t>(count + columns[x + k]);
        mask[x] = count > most;
    }
}

QC_CPU_CLONES void halve_row(const uint16_t* samples, const uint8_t* mask, int count, uint16_t* half_samples,
                             uint8_t* half_mask) {
    take_every_second(samples, half_samples, count);
    take_every_second(mask, half_mask, count);
}

QC_CPU_CLONES void mode_row(const uint16_t* first, const uint16_t* second, const uint16_t* third, uint16_t* out,
                            int count) {
    for (int x = 0; x < count; ++x) out[x] = mode_of_three(first[x], second[x], third[x]);
}

QC_CPU_CLONES void find_places(const uint16_t* samples, const uint8_t* mask, size_t count, int origin, int values,
                               uint16_t* places) {
    for (size_t i = 0; i < count; ++i) {
        const auto place = static_cast<uint16_t>(samples[i] - origin); // of samples below the origin a large one
        const auto refused = static_cast<uint16_t>(-static_cast<int>((mask[i] == 0) | (place >= values)));
        places[i] = static_cast<uint16_t>(place | refused);
    }
}

uint64_t sum_of_largest(std::vector<float>& c_values, uint64_t pooled) {
    if (c_values.size() > pooled) {
        const auto middle = c_values.begin() + static_cast<std::ptrdiff_t>(pooled);
        std::nth_element(c_values.begin(), middle, c_values.end(), std::greater<>());
        c_values.erase(middle, c_values.end());
    }
    uint64_t sum = 0;
    for (const float c : c_values) sum += to_fixed_point(c);
    return sum;
}

} // namespace qc::cambi
