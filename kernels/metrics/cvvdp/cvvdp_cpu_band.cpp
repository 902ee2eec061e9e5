// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cvvdp_cpu_band.hpp"

#include "device/cpu_versions.hpp"
#include "device/row_limits.hpp"
#include "device/row_loops.hpp"
#include "device/row_vector.hpp"
#include "device/unroll.hpp"

namespace qc::cvvdp::rows {
namespace {

using device::at_least;
using device::at_most;
using device::RowPower;

struct BlurTaps {
    float tap[kBlurRadius + 1];
};
BlurTaps single_blur_taps() {
    BlurTaps taps{};
    const auto exact = blur_taps();
    for (size_t i = 0; i < exact.size(); ++i) taps.tap[i] = static_cast<float>(exact[i]);
    return taps;
}
const BlurTaps kBlurTaps = single_blur_taps();

/// From log2 of a luminance to the table.
constexpr double kLog2Of10 = 3.321928094887362348;
struct LuminanceScale {
    float scale, offset;
};
LuminanceScale luminance_scale() {
    const double first = std::log10(0.005), step = (4.0 - first) / (kCsfLuminances - 1);
    return {static_cast<float>(1.0 / (step * kLog2Of10)), static_cast<float>(-first / step)};
}
const LuminanceScale kLuminance = luminance_scale();

/// Everything that pooling takes besides its rows.
struct Pooling {
    RowPower masker_power[kChannels], difference_power;
    float masker_factor, masker_zero[kChannels], difference_zero, largest;
    float masking[kChannels][kChannels]; ///< [by][of]
};

template <typename Cpu>
QC_INLINE_HELPER float power_with_offset(float x, const RowPower& p) {
    return device::power_of_row<Cpu>(x + static_cast<float>(kOffset), p);
}

template <typename Cpu>
QC_INLINE_HELPER void masker_row_on(float* masker, const Pooling& pooling, int channel, int width) {
    const RowPower power = pooling.masker_power[channel];
    const float factor = pooling.masker_factor, zero = pooling.masker_zero[channel];
    for (int x = 0; x < width; ++x) masker[x] = power_with_offset<Cpu>(masker[x] * factor, power) - zero;
}
QC_CPU_VERSIONS(masker_row, (float* masker, const Pooling& pooling, int channel, int width),
                (masker, pooling, channel, width))

template <typename Cpu>
QC_INLINE_HELPER void seen_row_on(float* __restrict difference, const float* const* maskers, const Pooling& pooling,
                                  int channel, int width) {
    const RowPower power = pooling.difference_power;
    const float zero = pooling.difference_zero, largest = pooling.largest;
    const float of_first = pooling.masking[0][channel], of_second = pooling.masking[1][channel],
                of_third = pooling.masking[2][channel], of_fourth = pooling.masking[3][channel];
    const float *first = maskers[0], *second = maskers[1], *third = maskers[2], *fourth = maskers[3];
    for (int x = 0; x < width; ++x) {
        const float of_two = Cpu::fused(of_second, second[x], of_first * first[x]);
        const float masking = Cpu::fused(of_fourth, fourth[x], Cpu::fused(of_third, third[x], of_two));
        // largest * seen / (largest + seen), where seen = strength / (1 + masking)
        const float strength = power_with_offset<Cpu>(difference[x], power) - zero;
        const float limited = largest * strength / Cpu::fused(largest, 1.0f + masking, strength);
        difference[x] = limited * (limited + 2.0f * static_cast<float>(kOffset)); // P(D, 2)
    }
}
QC_CPU_VERSIONS(seen_row,
                (float* difference, const float* const* maskers, const Pooling& pooling, int channel, int width),
                (difference, maskers, pooling, channel, width))

/// In a fixed order: sample x adds to lane x % kLanes.
QC_CPU_CLONES double sum_row(const float* row, int width) {
    constexpr int kLanes = 16;
    float lane[kLanes] = {};
    int x = 0;
    for (; x + kLanes <= width; x += kLanes)
        for (int l = 0; l < kLanes; ++l) lane[l] += row[x + l];
    for (int l = 0; x + l < width; ++l) lane[l] += row[x + l];
    double sum = 0.0;
    for (const float of_lane : lane) sum += static_cast<double>(of_lane);
    return sum;
}

/// A constant of the arithmetic above: 0 is left of it exactly.
float power_of_nothing(const RowPower& power) {
    return power_with_offset<device::AnyCpu>(0.0f, power);
}

Pooling make_pooling() {
    Pooling pooling;
    const RowPower difference_power(kMaskingPower);
    pooling.difference_power = difference_power;
    pooling.difference_zero = power_of_nothing(difference_power);
    pooling.masker_factor = static_cast<float>(std::pow(10.0, kMaskerLog10));
    pooling.largest = static_cast<float>(std::pow(10.0, kLargestLog10));
    for (int c = 0; c < kChannels; ++c) {
        const RowPower masker_power(kMaskerPower[c]);
        pooling.masker_power[c] = masker_power;
        pooling.masker_zero[c] = power_of_nothing(masker_power);
        for (int by = 0; by < kChannels; ++by)
            pooling.masking[by][c] = static_cast<float>(std::exp2(kCrossMasking[by][c]));
    }
    return pooling;
}

} // namespace

Sensitivity sensitivity_of(const Plan& plan, int band) {
    Sensitivity sensitivity;
    const double detail = band == 0 ? 1.0 : kDetailFactor;
    for (size_t c = 0; c < kChannels; ++c)
        for (size_t l = 0; l <= kCsfLuminances; ++l) {
            const double row = plan.sensitivity[static_cast<size_t>(band)][c][std::min<size_t>(l, kCsfLuminances - 1)];
            sensitivity.node[c][l] =
                static_cast<float>(kLog2Of10 * (row + kSensitivityDecibels / 20.0) + std::log2(kGain[c] * detail));
        }
    return sensitivity;
}

QC_CPU_CLONES void subtract(const float* reference, int width, float* __restrict distorted) {
    for (int x = 0; x < width; ++x) distorted[x] -= reference[x];
}

template <typename Cpu>
QC_INLINE_HELPER void reduce_down_on(const float* const* rows, int width, float* __restrict to) {
    constexpr auto kFar = static_cast<float>(kReduceTap[2]), kNear = static_cast<float>(kReduceTap[1]),
                   kHere = static_cast<float>(kReduceTap[0]);
    const float *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3], *e = rows[4];
    for (int x = 0; x < width; ++x) to[x] = Cpu::fused(kFar, a[x] + e[x], Cpu::fused(kNear, b[x] + d[x], kHere * c[x]));
}
QC_CPU_VERSIONS(reduce_down, (const float* const* rows, int width, float* to), (rows, width, to))

QC_CPU_CLONES void reduce_across(const float* row, int width, const LastColumn& border, float* __restrict to) {
    constexpr auto kFar = static_cast<float>(kReduceTap[2]), kNear = static_cast<float>(kReduceTap[1]),
                   kHere = static_cast<float>(kReduceTap[0]);
    const int last = (width + 1) / 2 - 1;
    to[0] = kFar * (row[1] + row[2]) + kNear * (row[0] + row[1]) + kHere * row[0];
    for (int x = 1; x < last; ++x) {
        const float* const at = row + 2 * x;
        to[x] = kFar * (at[-2] + at[2]) + kNear * (at[-1] + at[1]) + kHere * at[0];
    }
    const float tap[3] = {kHere, kNear, kFar};
    float sum = static_cast<float>(border.last) * row[width - 1] + static_cast<float>(border.before) * row[width - 2];
    for (int at = 2 * last - 2; at < width; ++at) sum += tap[std::abs(at - 2 * last)] * row[at];
    to[last] = sum;
}

QC_CPU_CLONES void expand_down(const float* before, const float* here, const float* after, bool odd, int width,
                               float* __restrict to) {
    if (odd)
        for (int x = 0; x < width; ++x) to[x] = 0.5f * (here[x] + after[x]);
    else
        for (int x = 0; x < width; ++x) to[x] = 0.1f * (before[x] + after[x]) + 0.8f * here[x];
}

QC_CPU_CLONES void expand_pairs(const float* samples, int pairs, float* __restrict to) {
    for (int i = 0; i < pairs; ++i) {
        to[2 * i] = 0.1f * (samples[i - 1] + samples[i + 1]) + 0.8f * samples[i];
        to[2 * i + 1] = 0.5f * (samples[i] + samples[i + 1]);
    }
}

void expand_across(float* samples, int width, float* to) {
    const int n = (width + 1) / 2;
    samples[-1] = samples[0];
    samples[n] = samples[n - 1];
    expand_pairs(samples, width / 2, to);
    if (width % 2 != 0) to[width - 1] = 0.1f * (samples[n - 2] + samples[n]) + 0.8f * samples[n - 1];
}

/// As find_background(). Of pointers in structs the compiler does not know that they are far apart.
template <typename Cpu>
QC_INLINE_HELPER void background_row_on(const float* light, const float* change, int width, float* __restrict inverse_r,
                                        float* __restrict inverse_t, float* __restrict changed, float* __restrict part,
                                        int32_t* __restrict node) {
    constexpr auto kSmallest = static_cast<float>(kSmallestBackground);
    const LuminanceScale scale = kLuminance;
    for (int x = 0; x < width; ++x) {
        const float reference = light[x], distorted = reference + change[x];
        const float light_r = at_least(reference, kSmallest), light_t = at_least(distorted, kSmallest);
        inverse_r[x] = 1.0f / light_r;
        inverse_t[x] = 1.0f / light_t;
        changed[x] = reference < kSmallest || distorted < kSmallest ? light_t - light_r : change[x];
        const float at = Cpu::fused(device::log2_of_row<Cpu>(light_r), scale.scale, scale.offset);
        const float inside = at_most(at_least(at, 0.0f), static_cast<float>(kCsfLuminances - 1));
        const auto first = static_cast<int32_t>(inside);
        node[x] = first;
        part[x] = inside - static_cast<float>(first);
    }
}
QC_CPU_VERSIONS(background_row,
                (const float* light, const float* change, int width, float* inverse_r, float* inverse_t, float* changed,
                 float* part, int32_t* node),
                (light, change, width, inverse_r, inverse_t, changed, part, node))

void find_background(const float* light, const float* change, int width, const BackgroundRow& to) {
    background_row(light, change, width, to.inverse_r, to.inverse_t, to.change, to.part, to.node);
}

/// log2 of the sensitivity between nodes. A table of two registers is a shuffle where registers are that wide.
template <typename Cpu>
QC_INLINE_HELPER void interpolate(const float* nodes, const int32_t* node, const float* part, int width,
                                  float* __restrict to) {
    int x = 0;
#if !defined(__clang__)
    using Floats = device::RowVector<float, Cpu>;
    using Words = device::RowVector<int32_t, Cpu>;
    constexpr int kLanes = Floats::kLanes;
    if constexpr (kCsfLuminances == 2 * kLanes) {
        typename Floats::Type first, second, first_next, second_next, parts;
        Floats::load(nodes, &first);
        Floats::load(nodes + kLanes, &second);
        Floats::load(nodes + 1, &first_next);
        Floats::load(nodes + 1 + kLanes, &second_next);
        for (; x + kLanes <= width; x += kLanes) {
            typename Words::Type at;
            Words::load(node + x, &at);
            Floats::load(part + x, &parts);
            typename Floats::Type low = __builtin_shuffle(first, second, at);
            const typename Floats::Type high = __builtin_shuffle(first_next, second_next, at);
            Floats::add_product(parts, high - low, &low);
            Floats::store(low, to + x);
        }
    }
#endif
    for (; x < width; ++x) {
        const float low = nodes[node[x]], high = nodes[node[x] + 1];
        to[x] = Cpu::fused(part[x], high - low, low);
    }
}

// With r and t the details, l and m the backgrounds: t / m - r / l = ((t - r) - r / l * (m - l)) / m, without the
// cancellation of what both pictures have.
template <typename Cpu>
QC_INLINE_HELPER void weigh_on(const ChannelRows& rows, const BackgroundRow& background, const float* nodes, int width,
                               float* __restrict difference, float* __restrict masker) {
    constexpr auto kLargest = static_cast<float>(kLargestContrast);
    const float *fine = rows.fine, *wide = rows.wide, *fine_change = rows.fine_change, *wide_change = rows.wide_change;
    const float *inverse_r = background.inverse_r, *inverse_t = background.inverse_t;
    const float* const light_change = background.change;
    interpolate<Cpu>(nodes, background.node, background.part, width, masker);
    for (int x = 0; x < width; ++x) {
        const float weight = device::exp2_of_row<Cpu>(masker[x], 0.0f);
        const float detail = fine[x] - wide[x], detail_change = fine_change[x] - wide_change[x];
        const float r = detail * inverse_r[x], t = (detail + detail_change) * inverse_t[x];
        const float limited_r = at_most(r, kLargest), limited_t = at_most(t, kLargest);
        const float change = Cpu::fused(-r, light_change[x], detail_change) * inverse_t[x];
        const float limited_change = (r > kLargest || t > kLargest) ? limited_t - limited_r : change;
        difference[x] = weight * std::abs(limited_change);
        masker[x] = weight * at_most(std::abs(limited_t), std::abs(limited_r));
    }
}
QC_CPU_VERSIONS(weigh,
                (const ChannelRows& rows, const BackgroundRow& background, const float* nodes, int width,
                 float* difference, float* masker),
                (rows, background, nodes, width, difference, masker))

namespace {

/// @param centre of 2 kBlurRadius + 1 rows
template <typename Cpu>
QC_INLINE_HELPER float blurred(const BlurTaps& taps, const float* const* centre, int x) {
    float sum = taps.tap[0] * centre[0][x];
    QC_UNROLL for (int d = 1; d <= kBlurRadius; ++d) sum = Cpu::fused(taps.tap[d], centre[-d][x] + centre[d][x], sum);
    return sum;
}

template <typename Cpu>
QC_INLINE_HELPER void blur_row_down_on(const float* const* rows, int width, float* __restrict to) {
    const BlurTaps taps = kBlurTaps;
    for (int x = 0; x < width; ++x) to[x] = blurred<Cpu>(taps, rows + kBlurRadius, x);
}
QC_CPU_VERSIONS(blur_row_down, (const float* const* rows, int width, float* to), (rows, width, to))

template <typename Cpu>
QC_INLINE_HELPER void blur_two_down_on(const float* const* rows, int width, float* __restrict first,
                                       float* __restrict second) {
    const BlurTaps taps = kBlurTaps;
    QC_INDEPENDENT
    for (int x = 0; x < width; ++x) {
        first[x] = blurred<Cpu>(taps, rows + kBlurRadius, x);
        second[x] = blurred<Cpu>(taps, rows + kBlurRadius + 1, x);
    }
}
QC_CPU_VERSIONS(blur_two_down, (const float* const* rows, int width, float* first, float* second),
                (rows, width, first, second))

} // namespace

void blur_down(const float* const* rows, int width, float* to_first, float* to_second) {
    if (to_second == nullptr) return blur_row_down(rows, width, to_first);
    blur_two_down(rows, width, to_first, to_second);
}

template <typename Cpu>
QC_INLINE_HELPER void blur_inside_on(const float* samples, int width, float* __restrict to) {
    const BlurTaps taps = kBlurTaps;
    for (int x = 0; x < width; ++x) {
        float sum = taps.tap[0] * samples[x];
        QC_UNROLL for (int d = 1; d <= kBlurRadius; ++d) sum =
            Cpu::fused(taps.tap[d], samples[x - d] + samples[x + d], sum);
        to[x] = sum;
    }
}
QC_CPU_VERSIONS(blur_inside, (const float* samples, int width, float* to), (samples, width, to))

void blur_across(float* samples, int width, float* to) {
    for (int d = 1; d <= kBlurRadius; ++d) {
        samples[-d] = samples[d];
        samples[width - 1 + d] = samples[width - 1 - d];
    }
    blur_inside(samples, width, to);
}

void pool(float* const* difference, float* const* masker, int width, double* sums) {
    static const Pooling pooling = make_pooling();
    for (int c = 0; c < kChannels; ++c) masker_row(masker[c], pooling, c, width);
    for (int c = 0; c < kChannels; ++c) {
        seen_row(difference[c], masker, pooling, c, width);
        sums[c] = sum_row(difference[c], width);
    }
}

} // namespace qc::cvvdp::rows
