// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on the CPU: the reference, in double precision. Whole pictures, every step by itself:
//
//     response      of the eye to linear light: X, Y and blue
//     bands         lowest, middle, high and ultra-high frequencies of each (blue: lowest and middle)
//     differences   of the bands: squared, and along lines
//     map           both weighted by what the reference's activity hides
//
// The same again at half size, whose map is added. Loops run over rows, so that compilers vectorise them.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "device/cpu_clones.hpp"
#include "device/image.hpp"
#include "device/weights.hpp"
#include "families/linear_light/linear_rows.hpp"
#include "metrics/butteraugli/butteraugli.hpp"
#include "metrics/butteraugli/butteraugli_lines.hpp"

namespace qc::butteraugli {
namespace {

using Image = device::Image<double>;
using Colour = std::array<Image, 3>;
using Row = std::vector<double>;

Colour make_colour(int width, int height) {
    return {Image(width, height), Image(width, height), Image(width, height)};
}

Colour linear_rgb(const HostPicture& picture, const FrameGeometry& geometry,
                  const ColourConversion<double>& conversion) {
    Colour rgb = make_colour(geometry.width, geometry.height);
    LinearReader reader;
    reader.open(picture, geometry, conversion);
    // The reader writes an even number of samples.
    Row padded[3];
    for (Row& row : padded) row.resize(static_cast<size_t>(geometry.width) + 1);
    for (int y = 0; y < geometry.height; ++y) {
        double* const rows[3] = {padded[0].data(), padded[1].data(), padded[2].data()};
        reader.read(y, rows);
        for (size_t c = 0; c < 3; ++c) std::copy(rows[c], rows[c] + geometry.width, rgb[c].row(y));
    }
    return rgb;
}

// ---- blur -----------------------------------------------------------------------------------------------------------

template <int kR>
QC_INLINE_HELPER void blur_along(const double* from, const double* tap, const double* scale, int count,
                                 double* __restrict to) {
    for (int i = 0; i < count; ++i) {
        double sum = tap[0] * from[i];
        for (int k = 1; k <= kR; ++k) sum += tap[k] * (from[i - k] + from[i + k]);
        to[i] = scale[i] * sum;
    }
}

template <int kR>
QC_INLINE_HELPER void blur_across(const double* const* rows, const double* tap, double scale, int count,
                                  double* __restrict to) {
    for (int i = 0; i < count; ++i) {
        double sum = tap[0] * rows[0][i];
        for (int k = 1; k <= kR; ++k) sum += tap[k] * (rows[-k][i] + rows[k][i]);
        to[i] = scale * sum;
    }
}

/// Along a row with `radius` samples more on both sides; `scale`: for each place.
QC_CPU_CLONES void blur_row(const double* from, const double* tap, int radius, const double* scale, int count,
                            double* __restrict to) {
    switch (radius) {
    case kRadius[kAdaptation]:
        return blur_along<kRadius[kAdaptation]>(from, tap, scale, count, to);
    case kRadius[kHighest]:
        return blur_along<kRadius[kHighest]>(from, tap, scale, count, to);
    case kRadius[kMasking]:
        return blur_along<kRadius[kMasking]>(from, tap, scale, count, to);
    case kRadius[kMiddle]:
        return blur_along<kRadius[kMiddle]>(from, tap, scale, count, to);
    default:
        return blur_along<kRadius[kLowest]>(from, tap, scale, count, to);
    }
}

/// Across rows[-radius .. radius].
QC_CPU_CLONES void blur_rows(const double* const* rows, const double* tap, int radius, double scale, int count,
                             double* __restrict to) {
    switch (radius) {
    case kRadius[kAdaptation]:
        return blur_across<kRadius[kAdaptation]>(rows, tap, scale, count, to);
    case kRadius[kHighest]:
        return blur_across<kRadius[kHighest]>(rows, tap, scale, count, to);
    case kRadius[kMasking]:
        return blur_across<kRadius[kMasking]>(rows, tap, scale, count, to);
    case kRadius[kMiddle]:
        return blur_across<kRadius[kMiddle]>(rows, tap, scale, count, to);
    default:
        return blur_across<kRadius[kLowest]>(rows, tap, scale, count, to);
    }
}

/// 1 / the Gaussian's mass inside a line of `length` samples.
double inverse_mass(const Gaussian<double>& blur, int position, int length) {
    double mass = 0.0;
    for (int k = -blur.radius; k <= blur.radius; ++k)
        if (position + k >= 0 && position + k < length) mass += blur.tap[std::abs(k)];
    return 1.0 / mass;
}

int mirrored(int i, int length) {
    return i < 0 ? -1 - i : i < length ? i : 2 * length - 1 - i;
}

/// What lies outside: nothing, and the blur is divided by its mass inside; or the picture's mirror image.
enum class Border { kRenormalised, kMirrored };

Image blurred(const Image& image, const Gaussian<double>& blur, Border border = Border::kRenormalised) {
    const int width = image.width, height = image.height, radius = blur.radius;
    const bool mirror = border == Border::kMirrored;
    Image along(width, height), both(width, height);
    Row padded(static_cast<size_t>(width + 2 * radius)), scale(static_cast<size_t>(width), 1.0), zeros(scale.size());
    if (!mirror)
        for (int x = 0; x < width; ++x) scale[static_cast<size_t>(x)] = inverse_mass(blur, x, width);
    double* const inside = padded.data() + radius;
    for (int y = 0; y < height; ++y) {
        std::copy(image.row(y), image.row(y) + width, inside);
        for (int i = 1; mirror && i <= radius; ++i) {
            inside[-i] = inside[mirrored(-i, width)];
            inside[width - 1 + i] = inside[mirrored(width - 1 + i, width)];
        }
        blur_row(inside, blur.tap, radius, scale.data(), width, along.row(y));
    }
    const double* rows[2 * kMaxRadius + 1];
    for (int y = 0; y < height; ++y) {
        for (int k = -radius; k <= radius; ++k) {
            const bool is_inside = y + k >= 0 && y + k < height;
            rows[kMaxRadius + k] = is_inside || mirror ? along.row(mirrored(y + k, height)) : zeros.data();
        }
        blur_rows(rows + kMaxRadius, blur.tap, radius, mirror ? 1.0 : inverse_mass(blur, y, height), width,
                  both.row(y));
    }
    return both;
}

// ---- response -------------------------------------------------------------------------------------------------------

/// What a kind of cone makes of light, being adapted to `soft` light around. Both are R, G, B.
QC_CPU_CLONES void cone_row(const double* mixing, double darkness, const double* const* rgb, const double* const* soft,
                            int count, double* __restrict to) {
    const double *red = rgb[0], *green = rgb[1], *blue = rgb[2];
    const double *soft_red = soft[0], *soft_green = soft[1], *soft_blue = soft[2];
    for (int i = 0; i < count; ++i) {
        const double light = mixing[0] * red[i] + mixing[1] * green[i] + mixing[2] * blue[i];
        const double around = mixing[0] * soft_red[i] + mixing[1] * soft_green[i] + mixing[2] * soft_blue[i];
        to[i] = adapted_response(light, around, darkness);
    }
}

/// X, Y and blue.
Colour response_to(const Colour& rgb, const Plan& plan) {
    const int width = rgb[0].width, height = rgb[0].height;
    Colour soft, response = make_colour(width, height);
    for (size_t c = 0; c < 3; ++c) soft[c] = blurred(rgb[c], plan.blur[kAdaptation], Border::kMirrored);
    double mixing[3][3]; // times the light of white
    for (int k = 0; k < 3; ++k)
        for (int c = 0; c < 3; ++c) mixing[k][c] = plan.intensity_target * kMixing[k][c];
    for (int y = 0; y < height; ++y) {
        const double* const light[3] = {rgb[0].row(y), rgb[1].row(y), rgb[2].row(y)};
        const double* const around[3] = {soft[0].row(y), soft[1].row(y), soft[2].row(y)};
        double* const cones[3] = {response[0].row(y), response[1].row(y), response[2].row(y)};
        for (int k = 0; k < 3; ++k) cone_row(mixing[k], kDarkness[k], light, around, width, cones[k]);
        for (int x = 0; x < width; ++x) {
            const double first = cones[0][x], second = cones[1][x];
            cones[0][x] = first - second;
            cones[1][x] = first + second;
        }
    }
    return response;
}

// ---- bands ----------------------------------------------------------------------------------------------------------

/// Of one picture: X, Y, blue; the higher ones without blue.
struct Bands {
    Colour low, middle;
    std::array<Image, 2> high, ultra;
};

Image difference_of(const Image& a, const Image& b) {
    Image difference(a.width, a.height);
    for (size_t i = 0; i < a.samples.size(); ++i) difference.samples[i] = a.samples[i] - b.samples[i];
    return difference;
}

QC_CPU_CLONES void split_high(double* x, double* y, const double* blurred_x, const double* blurred_y, size_t count,
                              double compression, double* high_x, double* high_y) {
    for (size_t i = 0; i < count; ++i) {
        const HighBands<double> of_x = high_bands_of_x(x[i], blurred_x[i]);
        const HighBands<double> of_y = high_bands_of_y(y[i], blurred_y[i], compression);
        x[i] = of_x.ultra;
        y[i] = of_y.ultra;
        high_x[i] = of_x.high;
        high_y[i] = of_y.high;
    }
}

Bands bands_of(const Colour& response, const Plan& plan) {
    Bands bands;
    for (size_t c = 0; c < 3; ++c) {
        bands.low[c] = blurred(response[c], plan.blur[kLowest]);
        const Image above = difference_of(response[c], bands.low[c]);
        bands.middle[c] = blurred(above, plan.blur[kMiddle]);
        if (c < 2) bands.ultra[c] = difference_of(above, bands.middle[c]);
    }
    for (double& x : bands.middle[0].samples) x = middle_of_x(x);
    for (double& y : bands.middle[1].samples) y = middle_of_y(y);
    Row &x = bands.ultra[0].samples, &y = bands.ultra[1].samples;
    for (size_t i = 0; i < x.size(); ++i) x[i] = suppressed_by_y(x[i], y[i]);
    const Image blurred_x = blurred(bands.ultra[0], plan.blur[kHighest]);
    const Image blurred_y = blurred(bands.ultra[1], plan.blur[kHighest]);
    for (Image& high : bands.high) high = Image(blurred_x.width, blurred_x.height);
    split_high(x.data(), y.data(), blurred_x.samples.data(), blurred_y.samples.data(), x.size(),
               plan.constants.compression, bands.high[0].samples.data(), bands.high[1].samples.data());
    return bands;
}

// ---- differences ----------------------------------------------------------------------------------------------------

QC_CPU_CLONES void line_difference_row(const double* a, const double* b, const LineWeights<double>* weights, int count,
                                       double* __restrict to) {
    for (int i = 0; i < count; ++i) to[i] = line_difference(a[i], b[i], *weights);
}

template <int kSamples>
QC_INLINE_HELPER void add_line_of(const double* at, const ptrdiff_t* offset, double times, int count,
                                  double* __restrict sums) {
    for (int i = 0; i < count; ++i) {
        double line = at[i];
        for (int k = 0; k < kSamples; ++k) line += at[i + offset[k]] + at[i - offset[k]];
        sums[i] += times * (line * line);
    }
}

/// Adds the square of what a line through each place adds up to. `offset`: of half the line.
QC_CPU_CLONES void add_line(const double* at, const ptrdiff_t* offset, int samples, double times, int count,
                            double* __restrict sums) {
    if (samples == 2) return add_line_of<2>(at, offset, times, count, sums);
    if (samples == 3) return add_line_of<3>(at, offset, times, count, sums);
    return add_line_of<4>(at, offset, times, count, sums);
}

void add_lines(const Image& a, const Image& b, const LineWeights<double>& weights, std::span<const Line> lines,
               Image* sum) {
    Image padded(a.width + 2 * kLineReach, a.height + 2 * kLineReach);
    for (int y = 0; y < a.height; ++y)
        line_difference_row(a.row(y), b.row(y), &weights, a.width, padded.row(y + kLineReach) + kLineReach);
    for (int y = 0; y < a.height; ++y)
        for (const Line& line : lines) {
            ptrdiff_t offset[kLineReach];
            for (int k = 0; k < line.samples; ++k)
                offset[k] = static_cast<ptrdiff_t>(line.at[k].y) * padded.width + line.at[k].x;
            add_line(padded.row(y + kLineReach) + kLineReach, offset, line.samples, line.times, a.width, sum->row(y));
        }
}

QC_CPU_CLONES void add_squares(const double* a, const double* b, double weight, size_t count, double* __restrict sum) {
    for (size_t i = 0; i < count; ++i) sum[i] += weight * ((a[i] - b[i]) * (a[i] - b[i]));
}

QC_CPU_CLONES void add_asymmetric_squares(const double* a, const double* b, double weight, double weight_of_lost,
                                          size_t count, double* __restrict sum) {
    for (size_t i = 0; i < count; ++i) sum[i] += squared_difference(a[i], b[i], weight, weight_of_lost);
}

void add_squares(const Image& a, const Image& b, double weight, Image* sum) {
    add_squares(a.samples.data(), b.samples.data(), weight, a.samples.size(), sum->samples.data());
}

void add_high_squares(const Image& a, const Image& b, double weight, double asymmetry, Image* sum) {
    add_asymmetric_squares(a.samples.data(), b.samples.data(), kHighShare * weight * asymmetry,
                           kHighShare * weight / asymmetry, a.samples.size(), sum->samples.data());
}

/// Of all bands but the lowest.
Image high_differences(const Bands& a, const Bands& b, const Plan& plan) {
    Image sum(a.low[0].width, a.low[0].height);
    add_lines(a.ultra[1], b.ultra[1], plan.lines[kUltraY], kDenseLines, &sum);
    add_lines(a.ultra[0], b.ultra[0], plan.lines[kUltraX], kDenseLines, &sum);
    add_lines(a.high[1], b.high[1], plan.lines[kHighY], kSparseLines, &sum);
    add_lines(a.high[0], b.high[0], plan.lines[kHighX], kSparseLines, &sum);
    add_lines(a.middle[1], b.middle[1], plan.lines[kMiddleY], kSparseLines, &sum);
    add_lines(a.middle[0], b.middle[0], plan.lines[kMiddleX], kSparseLines, &sum);
    add_high_squares(a.high[0], b.high[0], kHighWeightX, plan.asymmetry, &sum);
    add_high_squares(a.high[1], b.high[1], kHighWeightY, plan.asymmetry, &sum);
    for (size_t c = 0; c < 3; ++c) add_squares(a.middle[c], b.middle[c], kMiddleWeight[c], &sum);
    return sum;
}

Image low_differences(const Bands& a, const Bands& b, const Constants<double>& constants) {
    Image sum(a.low[0].width, a.low[0].height);
    for (size_t i = 0; i < sum.samples.size(); ++i) {
        double low[3];
        for (size_t c = 0; c < 3; ++c) low[c] = a.low[c].samples[i] - b.low[c].samples[i];
        const double x = constants.low_x * low[0], y = constants.low_y * low[1],
                     blue = constants.low_blue * (low[2] - kLowBlueOfY * low[1]);
        sum.samples[i] = kLowWeight[0] * x * x + kLowWeight[1] * y * y + kLowWeight[2] * blue * blue;
    }
    return sum;
}

// ---- map ------------------------------------------------------------------------------------------------------------

QC_CPU_CLONES void activities(const double* ultra_x, const double* high_x, const double* ultra_y, const double* high_y,
                              size_t count, double* __restrict to) {
    for (size_t i = 0; i < count; ++i) to[i] = activity(ultra_x[i] + high_x[i], ultra_y[i] + high_y[i]);
}

Image activity_of(const Bands& bands, const Plan& plan) {
    Image image(bands.low[0].width, bands.low[0].height);
    activities(bands.ultra[0].samples.data(), bands.high[0].samples.data(), bands.ultra[1].samples.data(),
               bands.high[1].samples.data(), image.samples.size(), image.samples.data());
    return blurred(image, plan.blur[kMasking]);
}

/// What is around a place of the masking image: three rows, which begin kErosionStep places before the first one.
QC_CPU_CLONES void distance_row(const double* const* masking, const double* high, const double* low,
                                double masking_gain, int count, double* __restrict map) {
    constexpr int kStep = kErosionStep;
    const double *above = masking[0] + kStep, *own = masking[1] + kStep, *below = masking[2] + kStep;
    for (int x = 0; x < count; ++x) {
        Erosion<double> smallest(own[x]);
        smallest.take(own[x - kStep]);
        smallest.take(own[x + kStep]);
        for (int side = -kStep; side <= kStep; side += kStep) {
            smallest.take(above[x + side]);
            smallest.take(below[x + side]);
        }
        map[x] = distance(high[x], low[x], smallest.value(), masking_gain);
    }
}

Image map_of(const Colour& reference, const Colour& distorted, const Plan& plan) {
    const Bands a = bands_of(response_to(reference, plan), plan);
    const Bands b = bands_of(response_to(distorted, plan), plan);
    Image high = high_differences(a, b, plan);
    const Image low = low_differences(a, b, plan.constants);
    const Image activity_a = activity_of(a, plan), activity_b = activity_of(b, plan);
    add_squares(activity_a, activity_b, kActivityWeight, &high);
    // The masking image with a margin of what is never among the smallest.
    const int width = high.width, height = high.height;
    Image masking(width + 2 * kErosionStep, height + 2 * kErosionStep), map(width, height);
    std::fill(masking.samples.begin(), masking.samples.end(), HUGE_VAL);
    for (int y = 0; y < height; ++y)
        std::copy(activity_a.row(y), activity_a.row(y) + width, masking.row(y + kErosionStep) + kErosionStep);
    for (int y = 0; y < height; ++y) {
        const double* const rows[3] = {masking.row(y), masking.row(y + kErosionStep),
                                       masking.row(y + 2 * kErosionStep)};
        distance_row(rows, high.row(y), low.row(y), plan.constants.masking_gain, width, map.row(y));
    }
    return map;
}

/// Of both scales.
Image whole_map(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair) {
    Colour reference = linear_rgb(pair.reference, geometry, plan.reference);
    Colour distorted = linear_rgb(pair.distorted, geometry, plan.distorted);
    Image map = map_of(reference, distorted, plan);
    if (plan.scales > 1) {
        for (Image& image : reference) image = halved(image);
        for (Image& image : distorted) image = halved(image);
        const Image half = map_of(reference, distorted, plan);
        for (int y = 0; y < map.height; ++y)
            for (int x = 0; x < map.width; ++x)
                map.at(x, y) = kFullShare * map.at(x, y) + kHalfShare * half.at(x / 2, y / 2);
    }
    return map;
}

/// Norms of a map whose places count by weights.
void add_weighted_norms(const Image& map, const HostPlane& weights, std::span<uint64_t> accumulators) {
    const WeightReader reader(weights);
    double sum[kPowers] = {}, largest = 0.0;
    for (int y = 0; y < map.height; ++y)
        for (int x = 0; x < map.width; ++x) {
            const uint32_t weight = reader.at(x, y);
            if (weight == 0) continue;
            const double value = map.at(x, y), square = value * value, cube = square * value, sixth = cube * cube;
            const double powers[kPowers] = {square, cube, sixth, sixth * sixth};
            for (int p = 0; p < kPowers; ++p) sum[p] += static_cast<double>(weight) / kFullWeight * powers[p];
            largest = std::max(largest, value);
            accumulators[kSumOfWeights] += weight;
        }
    for (size_t p = 0; p < kPowers; ++p) accumulators[p] = std::bit_cast<uint64_t>(sum[p]);
    accumulators[kLargest] = std::bit_cast<uint64_t>(largest);
}

} // namespace

void draw_cpu(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair, Plane<float> values) {
    const Image map = whole_map(geometry, plan, pair);
    for (int y = 0; y < map.height; ++y)
        std::transform(map.row(y), map.row(y) + map.width, values.row(y),
                       [](double value) { return static_cast<float>(value); });
}

void score_cpu(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair,
               std::span<uint64_t> accumulators) {
    const Image map = whole_map(geometry, plan, pair);
    if (geometry.has_weights) return add_weighted_norms(map, pair.weights, accumulators);
    double sum[kPowers] = {}, largest = 0.0;
    for (const double value : map.samples) {
        const double square = value * value, cube = square * value, sixth = cube * cube;
        const double powers[kPowers] = {square, cube, sixth, sixth * sixth};
        for (int p = 0; p < kPowers; ++p) sum[p] += powers[p];
        largest = std::max(largest, value);
    }
    for (size_t p = 0; p < kPowers; ++p) accumulators[p] = std::bit_cast<uint64_t>(sum[p]);
    accumulators[kLargest] = std::bit_cast<uint64_t>(largest);
}

} // namespace qc::butteraugli
