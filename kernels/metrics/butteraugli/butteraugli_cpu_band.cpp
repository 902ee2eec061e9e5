// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/butteraugli/butteraugli_cpu_band.hpp"

#include <algorithm>

#include "device/cpu_clones.hpp"
#include "device/row_blur.hpp"
#include "device/unroll.hpp"
#include "device/weights.hpp"
#include "metrics/butteraugli/butteraugli_lines_device.hpp"
#include "metrics/butteraugli/butteraugli_row_float.hpp"

/// Helpers of other files are compiled for the same instruction set.
#define QC_ROW_FUNCTION QC_CPU_CLONES __attribute__((flatten))

namespace qc::butteraugli::rows {
namespace {

/// A place's neighbourhood in nine rows.
template <typename Cpu>
struct RowWindow {
    const float* const* rows;

    QC_INLINE_HELPER static float add_square(float line, float sum) { return Cpu::fused(line, line, sum); }
    QC_INLINE_HELPER float at(int /*row*/, int x, int dx, int dy) const { return rows[kLineReach + dy][x + dx]; }
};

template <typename Cpu>
QC_INLINE_HELPER void add_dense_lines_on(const float* const* rows, int width, float* __restrict sum) {
    const RowWindow<Cpu> window{rows};
    for (int x = 0; x < width; ++x) sum[x] += dense_lines(window, 0, x);
}
QC_CPU_VERSIONS(add_dense_lines, (const float* const* rows, int width, float* sum), (rows, width, sum))
template <typename Cpu>
QC_INLINE_HELPER void add_sparse_lines_on(const float* const* rows, int width, float* __restrict sum) {
    const RowWindow<Cpu> window{rows};
    for (int x = 0; x < width; ++x) sum[x] += sparse_lines(window, 0, x);
}
QC_CPU_VERSIONS(add_sparse_lines, (const float* const* rows, int width, float* sum), (rows, width, sum))

LineWeights<float> to_single(const LineWeights<double>& from) {
    return {static_cast<float>(from.plain), static_cast<float>(from.asymmetric), static_cast<float>(from.norm)};
}

template <typename Cpu>
QC_INLINE_HELPER void line_difference_row_on(const LineWeights<float>* weights, const float* reference,
                                             const float* distorted, int width, float* __restrict to) {
    const LineWeights<RowFloat<Cpu>> of{weights->plain, weights->asymmetric, weights->norm};
    for (int x = 0; x < width; ++x) to[x] = line_difference<RowFloat<Cpu>>(reference[x], distorted[x], of).value;
}
QC_CPU_VERSIONS(line_difference_row,
                (const LineWeights<float>* weights, const float* reference, const float* distorted, int width,
                 float* to),
                (weights, reference, distorted, width, to))

template <typename Cpu>
QC_INLINE_HELPER void square_row_on(const SquareWeights* weights, const MiddleBands* bands, int width,
                                    float* __restrict sum) {
    using Value = RowFloat<Cpu>;
    const float *a_x = bands->high[0][0], *a_y = bands->high[0][1], *b_x = bands->high[1][0], *b_y = bands->high[1][1];
    const float *c_x = bands->middle[0][0], *c_y = bands->middle[0][1];
    const float *d_x = bands->middle[1][0], *d_y = bands->middle[1][1], *blue = bands->blue;
    const Value added_x = weights[0].added, lost_x = weights[0].lost;
    const Value added_y = weights[1].added, lost_y = weights[1].lost;
    constexpr auto kOfX = static_cast<float>(kMiddleWeight[0]), kOfY = static_cast<float>(kMiddleWeight[1]),
                   kOfBlue = static_cast<float>(kMiddleWeight[2]);
    for (int i = 0; i < width; ++i) {
        const Value high = squared_difference<Value>(a_x[i], b_x[i], added_x, lost_x) +
                           squared_difference<Value>(a_y[i], b_y[i], added_y, lost_y);
        const float x = c_x[i] - d_x[i], y = c_y[i] - d_y[i];
        sum[i] = Cpu::fused(kOfBlue * blue[i], blue[i], Cpu::fused(kOfY * y, y, Cpu::fused(kOfX * x, x, high.value)));
    }
}
QC_CPU_VERSIONS(square_row, (const SquareWeights* weights, const MiddleBands* bands, int width, float* sum),
                (weights, bands, width, sum))

template <typename Cpu>
QC_INLINE_HELPER void add_plain_squares_on(const float* reference, const float* distorted, float weight, int width,
                                           float* __restrict sum) {
    for (int x = 0; x < width; ++x) {
        const float difference = reference[x] - distorted[x];
        sum[x] = Cpu::fused(weight * difference, difference, sum[x]);
    }
}
QC_CPU_VERSIONS(add_plain_squares,
                (const float* reference, const float* distorted, float weight, int width, float* sum),
                (reference, distorted, weight, width, sum))

template <typename Cpu>
QC_INLINE_HELPER void part_middle_row_on(const float* above_x, const float* above_y, int width,
                                         float* __restrict middle_x, float* __restrict middle_y,
                                         float* __restrict ultra_x, float* __restrict ultra_y) {
    for (int x = 0; x < width; ++x) {
        const float of_y = above_y[x] - middle_y[x];
        ultra_x[x] = suppressed_by_y<RowFloat<Cpu>>(above_x[x] - middle_x[x], of_y).value;
        ultra_y[x] = of_y;
        middle_x[x] = middle_of_x<RowFloat<Cpu>>(middle_x[x]).value;
        middle_y[x] = middle_of_y<RowFloat<Cpu>>(middle_y[x]).value;
    }
}
QC_CPU_VERSIONS(part_middle_row,
                (const float* above_x, const float* above_y, int width, float* middle_x, float* middle_y,
                 float* ultra_x, float* ultra_y),
                (above_x, above_y, width, middle_x, middle_y, ultra_x, ultra_y))

template <typename Cpu>
QC_INLINE_HELPER void part_high_x_on(const float* above, const float* blurred, int width, float* __restrict ultra,
                                     float* __restrict high) {
    for (int x = 0; x < width; ++x) {
        const HighBands<RowFloat<Cpu>> bands = high_bands_of_x<RowFloat<Cpu>>(above[x], blurred[x]);
        ultra[x] = bands.ultra.value;
        high[x] = bands.high.value;
    }
}
QC_CPU_VERSIONS(part_high_x, (const float* above, const float* blurred, int width, float* ultra, float* high),
                (above, blurred, width, ultra, high))
template <typename Cpu>
QC_INLINE_HELPER void part_high_y_on(const float* above, const float* blurred, float compression, int width,
                                     float* __restrict ultra, float* __restrict high) {
    for (int x = 0; x < width; ++x) {
        const HighBands<RowFloat<Cpu>> bands = high_bands_of_y<RowFloat<Cpu>>(above[x], blurred[x], compression);
        ultra[x] = bands.ultra.value;
        high[x] = bands.high.value;
    }
}
QC_CPU_VERSIONS(part_high_y,
                (const float* above, const float* blurred, float compression, int width, float* ultra, float* high),
                (above, blurred, compression, width, ultra, high))

/// @param share_of how much a place counts; 1 changes no bit
template <typename ShareOf>
QC_INLINE_HELPER void add_shared_powers(const float* map, int width, const ShareOf& share_of, double* lanes,
                                        double* largest) {
    constexpr int kLanes = 8;
    double square_sum[kLanes] = {}, cube_sum[kLanes] = {}, sixth_sum[kLanes] = {}, twelfth_sum[kLanes] = {};
    double most[kLanes] = {};
    const auto add = [&](int l, int at) {
        const double value = static_cast<double>(map[at]), share = share_of(at);
        const double square = value * value, cube = square * value, sixth = cube * cube;
        square_sum[l] += share * square;
        cube_sum[l] += share * cube;
        sixth_sum[l] += share * sixth;
        twelfth_sum[l] += share * (sixth * sixth);
        most[l] = larger(most[l], share > 0.0 ? value : 0.0);
    };
    int x = 0;
    for (; x + kLanes <= width; x += kLanes)
        for (int l = 0; l < kLanes; ++l) add(l, x + l);
    for (int l = 0; x + l < width; ++l) add(l, x + l);
    for (int l = 0; l < kLanes; ++l) {
        lanes[0] += square_sum[l];
        lanes[1] += cube_sum[l];
        lanes[2] += sixth_sum[l];
        lanes[3] += twelfth_sum[l];
        *largest = larger(*largest, most[l]);
    }
}
QC_ROW_FUNCTION void add_power_lanes(const float* map, int width, double* lanes, double* largest) {
    add_shared_powers(
        map, width, [](int) { return 1.0; }, lanes, largest);
}
QC_ROW_FUNCTION void add_weighted_lanes(const float* map, const uint8_t* weights, int width, double* lanes,
                                        double* largest) {
    add_shared_powers(
        map, width, [&](int x) { return static_cast<double>(weights[x]) / kFullWeight; }, lanes, largest);
}

} // namespace

Gaussian<float> to_single(const Gaussian<double>& from) {
    Gaussian<float> to{from.radius, {}};
    std::transform(std::begin(from.tap), std::end(from.tap), std::begin(to.tap),
                   [](double tap) { return static_cast<float>(tap); });
    return to;
}

template <typename Cpu>
QC_INLINE_HELPER void blur_bases_on(const Gaussian<double>& blur, const double* const* rows, const double* scale,
                                    int count, int width, double* const* to) {
    device::blur_columns<Cpu, kRadius[kLowest]>(blur.tap, rows, scale, count, width, to);
}
QC_CPU_VERSIONS(blur_bases,
                (const Gaussian<double>& blur, const double* const* rows, const double* scale, int count, int width,
                 double* const* to),
                (blur, rows, scale, count, width, to))

template <typename Cpu>
QC_INLINE_HELPER void blur_down_on(const Gaussian<float>& blur, const float* const* rows, const float* scale, int count,
                                   int width, float* const* to) {
    switch (blur.radius) {
    case kRadius[kHighest]:
        return device::blur_columns<Cpu, kRadius[kHighest]>(blur.tap, rows, scale, count, width, to);
    case kRadius[kMasking]:
        return device::blur_columns<Cpu, kRadius[kMasking]>(blur.tap, rows, scale, count, width, to);
    case kRadius[kMiddle]:
        return device::blur_columns<Cpu, kRadius[kMiddle]>(blur.tap, rows, scale, count, width, to);
    default:
        return device::blur_columns<Cpu, kRadius[kLowest]>(blur.tap, rows, scale, count, width, to);
    }
}
QC_CPU_VERSIONS(blur_down,
                (const Gaussian<float>& blur, const float* const* rows, const float* scale, int count, int width,
                 float* const* to),
                (blur, rows, scale, count, width, to))

template <typename Cpu>
QC_INLINE_HELPER void blur_across_on(const Gaussian<float>& blur, const float* row, const float* scale, int width,
                                     float* to) {
    switch (blur.radius) {
    case kRadius[kHighest]:
        return device::blur_along<Cpu, kRadius[kHighest]>(blur.tap, row, scale, width, to);
    case kRadius[kMasking]:
        return device::blur_along<Cpu, kRadius[kMasking]>(blur.tap, row, scale, width, to);
    case kRadius[kMiddle]:
        return device::blur_along<Cpu, kRadius[kMiddle]>(blur.tap, row, scale, width, to);
    default:
        return device::blur_along<Cpu, kRadius[kLowest]>(blur.tap, row, scale, width, to);
    }
}
QC_CPU_VERSIONS(blur_across, (const Gaussian<float>& blur, const float* row, const float* scale, int width, float* to),
                (blur, row, scale, width, to))

QC_ROW_FUNCTION void part_low(const LowBand& band, int width, float* __restrict reference,
                              float* __restrict distorted) {
    const float *detail = band.detail, *low_detail = band.low_detail;
    const float *difference = band.difference, *low_difference = band.low_difference;
    const float *share_of_left = band.share_of_left, *share_of_right = band.share_of_right;
    const double* const low_base = band.low_base;
    const int last = segments_of(width) - 1;
    for (int i = 0; i <= last; ++i) {
        const auto own = static_cast<float>(band.base[i] - low_base[i]);
        const auto left = static_cast<float>(low_base[i > 0 ? i - 1 : 0] - low_base[i]);
        const auto right = static_cast<float>(low_base[i < last ? i + 1 : last] - low_base[i]);
        for (int x = i * kSegment; x < (i + 1) * kSegment; ++x) {
            const float of_bases = own - (share_of_left[x] * left + share_of_right[x] * right);
            const float above = (detail[x] - low_detail[x]) + of_bases;
            reference[x] = above;
            distorted[x] = above + (difference[x] - low_difference[x]);
        }
    }
}

QC_ROW_FUNCTION void part_low_difference(const float* difference, const float* low_difference, int width,
                                         float* __restrict above) {
    for (int x = 0; x < width; ++x) above[x] = difference[x] - low_difference[x];
}

template <typename Cpu>
QC_INLINE_HELPER void add_low_row_on(const Constants<double>* constants, const float* difference_x,
                                     const float* difference_y, const float* difference_blue, int width,
                                     float* __restrict to) {
    const auto of_x = static_cast<float>(constants->low_x), of_y = static_cast<float>(constants->low_y),
               of_blue = static_cast<float>(constants->low_blue), blue_of_y = static_cast<float>(kLowBlueOfY);
    const auto weight_x = static_cast<float>(kLowWeight[0]), weight_y = static_cast<float>(kLowWeight[1]),
               weight_blue = static_cast<float>(kLowWeight[2]);
    for (int i = 0; i < width; ++i) {
        const float x = of_x * difference_x[i], y = of_y * difference_y[i],
                    blue = of_blue * (difference_blue[i] - blue_of_y * difference_y[i]);
        to[i] = Cpu::fused(weight_x * x, x, Cpu::fused(weight_y * y, y, weight_blue * blue * blue));
    }
}
QC_CPU_VERSIONS(add_low_row,
                (const Constants<double>* constants, const float* difference_x, const float* difference_y,
                 const float* difference_blue, int width, float* to),
                (constants, difference_x, difference_y, difference_blue, width, to))

void add_low(const Constants<double>& constants, const float* const* low_difference, int width, float* to) {
    add_low_row(&constants, low_difference[0], low_difference[1], low_difference[2], width, to);
}

void part_middle(const float* const* above, float* const* middle, int width, float* const* ultra) {
    part_middle_row(above[0], above[1], width, middle[0], middle[1], ultra[0], ultra[1]);
}

void part_high(double compression, const float* const* above, const float* const* blurred, int width,
               float* const* ultra, float* const* high) {
    part_high_x(above[0], blurred[0], width, ultra[0], high[0]);
    part_high_y(above[1], blurred[1], static_cast<float>(compression), width, ultra[1], high[1]);
}

template <typename Cpu>
QC_INLINE_HELPER void find_activity_on(const float* const* ultra, const float* const* high, int width,
                                       float* __restrict to) {
    const float *ultra_x = ultra[0], *ultra_y = ultra[1], *high_x = high[0], *high_y = high[1];
    for (int x = 0; x < width; ++x)
        to[x] = activity<RowFloat<Cpu>>(ultra_x[x] + high_x[x], ultra_y[x] + high_y[x]).value;
}
QC_CPU_VERSIONS(find_activity, (const float* const* ultra, const float* const* high, int width, float* to),
                (ultra, high, width, to))

void line_differences(const LineWeights<double>& weights, const float* reference, const float* distorted, int width,
                      float* to) {
    const LineWeights<float> single = to_single(weights);
    line_difference_row(&single, reference, distorted, width, to);
}

void add_lines(bool dense, const float* const* rows, int width, float* sum) {
    dense ? add_dense_lines(rows, width, sum) : add_sparse_lines(rows, width, sum);
}

void take_squares(const SquareWeights* high_weights, const MiddleBands& bands, int width, float* sum) {
    square_row(high_weights, &bands, width, sum);
}

void add_activity_squares(const float* reference, const float* distorted, int width, float* sum) {
    add_plain_squares(reference, distorted, static_cast<float>(kActivityWeight), width, sum);
}

template <typename Cpu>
QC_INLINE_HELPER void measure_row_on(float masking_gain, const float* above, const float* own, const float* below,
                                     const float* high, const float* low, int width, float* __restrict map) {
    constexpr int kStep = kErosionStep;
    for (int x = 0; x < width; ++x) {
        Erosion<RowFloat<Cpu>> smallest(own[x]);
        smallest.take(own[x - kStep]);
        smallest.take(own[x + kStep]);
        QC_UNROLL for (int side = -kStep; side <= kStep; side += kStep) {
            smallest.take(above[x + side]);
            smallest.take(below[x + side]);
        }
        map[x] = distance<RowFloat<Cpu>>(high[x], low[x], smallest.value(), masking_gain).value;
    }
}
QC_CPU_VERSIONS(measure_row,
                (float masking_gain, const float* above, const float* own, const float* below, const float* high,
                 const float* low, int width, float* map),
                (masking_gain, above, own, below, high, low, width, map))

void measure(double masking_gain, const float* const* masking, const float* high, const float* low, int width,
             float* map) {
    measure_row(static_cast<float>(masking_gain), masking[0], masking[1], masking[2], high, low, width, map);
}

QC_ROW_FUNCTION void join_scales(const float* half, int width, float* __restrict map) {
    constexpr auto kFull = static_cast<float>(kFullShare), kHalf = static_cast<float>(kHalfShare);
    for (int i = 0; i < width / 2; ++i) {
        map[2 * i] = kFull * map[2 * i] + kHalf * half[i];
        map[2 * i + 1] = kFull * map[2 * i + 1] + kHalf * half[i];
    }
    if (width % 2 == 1) map[width - 1] = kFull * map[width - 1] + kHalf * half[width / 2];
}

void add_powers(const float* map, int width, double (&sums)[kPowers], double& largest) {
    add_power_lanes(map, width, sums, &largest);
}
void add_weighted_powers(const float* map, const uint8_t* weights, int width, double (&sums)[kPowers],
                         double& largest) {
    add_weighted_lanes(map, weights, width, sums, &largest);
}

} // namespace qc::butteraugli::rows
