// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2 on the CPU: the readable reference, in double precision. Both pictures become linear RGB. Then, for each
// level, starting with the pictures as they are:
//
//     XYB        cube roots of the cones' responses, and their differences
//     fields     structural error, and edges added or lost, channel by channel
//     norms      sums of the fields and of their fourth powers
//     halving    of linear RGB, for the next level
//
// Whole pictures, every step by itself and as it was published: ssimulacra2_cpu_rows.cpp does the same row by row.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "device/image.hpp"
#include "metrics/ssimulacra2/ssimulacra2.hpp"
#include "metrics/ssimulacra2/ssimulacra2_level_weights.hpp"

namespace qc::ssimulacra2 {
namespace {

using Image = device::Image<double>;
using Pixel = std::array<double, 3>;
using Colour = std::array<Image, 3>; ///< R, G, B or X, Y, B

Colour make_colour(int width, int height) {
    return {Image(width, height), Image(width, height), Image(width, height)};
}

// ---- from codes to linear RGB ---------------------------------------------------------------------------------------

template <typename T>
Image read(const Plane<const T>& plane, int width, int height) {
    Image image(width, height);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) image.at(x, y) = plane.row(y)[x];
    return image;
}

/// A plane as it is stored, clamped where the conversion asks for it.
Image codes_of(const HostPicture& picture, const FrameGeometry& geometry, const ColourConversion<double>& conversion,
               int plane) {
    const int width = geometry.stored_width(plane), height = geometry.stored_height(plane);
    const HostPlane& stored = picture.plane[plane];
    Image codes = geometry.sample == SampleType::kU8 ? read(stored.as<uint8_t>(), width, height)
                                                     : read(stored.as<uint16_t>(), width, height);
    if (conversion.clamp_codes == 0) return codes;
    for (double& code : codes.samples) code = std::clamp(code, conversion.code_low[plane], conversion.code_high[plane]);
    return codes;
}

/// The chroma samples around luma sample i of an axis: one where there are as many as of luma.
ChromaTaps<double> taps_around(const ColourConversion<double>& conversion, const ChromaAxis& axis, int i) {
    if (axis.log2_factor == 0) return {i - 1, {0.0, 1.0, 0.0, 0.0}};
    return chroma_taps<double>(conversion.chroma_filter, axis.centred, i);
}

/// A plane's value at a luma sample; its edge samples repeat outside.
double interpolated(const Image& plane, const ChromaTaps<double>& across, const ChromaTaps<double>& down) {
    double sum = 0.0;
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i)
            sum += down.weight[j] * across.weight[i] *
                   plane.at(std::clamp(across.first + i, 0, plane.width - 1),
                            std::clamp(down.first + j, 0, plane.height - 1));
    return sum;
}

double within_gamut(double value, Gamut gamut) {
    switch (gamut) {
    case Gamut::kClip:
        return std::clamp(value, 0.0, 1.0);
    case Gamut::kFloor:
        return std::max(value, 0.0);
    case Gamut::kExtend:
        break;
    }
    return value;
}

/// SMPTE ST 2084: the share of 10000 cd/m2.
double pq_light(double value) {
    const double c1 = 0.8359375, c2 = 18.8515625, c3 = 18.6875, m1 = 0.1593017578125, m2 = 78.84375;
    const double power = std::pow(value, 1.0 / m2);
    return std::pow(std::max(power - c1, 0.0) / (c2 - c3 * power), 1.0 / m1);
}

/// ARIB STD-B67: scene light, 0 to 1.
double hlg_scene_light(double value) {
    const double a = 0.17883277, b = 0.28466892, c = 0.55991073;
    return value <= 0.5 ? value * value / 3.0 : (std::exp((value - c) / a) + b) / 12.0;
}

/// Linear light of a component that is not negative.
double light_of(double value, const ColourConversion<double>& conversion) {
    switch (conversion.transfer) {
    case Transfer::kLinear:
        break;
    case Transfer::kPower:
        return std::pow(value, conversion.exponent);
    case Transfer::kSrgb:
        return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    case Transfer::kBt709:
        return value < 0.081 ? value / 4.5 : std::pow((value + 0.099) / 1.099, 1.0 / 0.45);
    case Transfer::kPq:
        return conversion.light_scale * pq_light(value);
    case Transfer::kHlg:
        return hlg_scene_light(value);
    }
    return value;
}

/// From R'G'B', for negative values by odd symmetry.
Pixel linearised(Pixel rgb, const ColourConversion<double>& conversion) {
    for (double& value : rgb) value = std::copysign(light_of(std::abs(value), conversion), value);
    if (conversion.transfer != Transfer::kHlg) return rgb;
    // On a display of 1000 cd/m2 the system's gamma is 1.2, and applies to luminance.
    const double luminance = std::max(0.2627 * rgb[0] + 0.6780 * rgb[1] + 0.0593 * rgb[2], 0.0);
    for (double& value : rgb) value *= conversion.light_scale * std::pow(luminance, 1.2 - 1.0);
    return rgb;
}

Pixel product(const double (&matrix)[3][3], const Pixel& vector) {
    Pixel result{};
    for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 3; ++j) result[i] += matrix[i][j] * vector[j];
    return result;
}

Pixel linear_pixel(const Pixel& codes, const ColourConversion<double>& conversion) {
    Pixel offset{};
    for (size_t p = 0; p < 3; ++p) offset[p] = codes[p] - conversion.origin[p];
    Pixel rgb = product(conversion.matrix, offset);
    for (double& value : rgb) value = within_gamut(value, conversion.gamut);
    rgb = linearised(rgb, conversion);
    return conversion.convert_primaries != 0 ? product(conversion.primaries, rgb) : rgb;
}

Colour linear_rgb(const HostPicture& picture, const FrameGeometry& geometry,
                  const ColourConversion<double>& conversion) {
    Image planes[3];
    for (int p = 0; p < conversion.planes; ++p) planes[p] = codes_of(picture, geometry, conversion, p);
    Colour rgb = make_colour(geometry.width, geometry.height);
    for (int y = 0; y < geometry.height; ++y)
        for (int x = 0; x < geometry.width; ++x) {
            Pixel codes{planes[0].at(x, y), 0.0, 0.0};
            for (int p = 1; p < conversion.planes; ++p)
                codes[static_cast<size_t>(p)] = interpolated(planes[p], taps_around(conversion, conversion.axis_x, x),
                                                             taps_around(conversion, conversion.axis_y, y));
            const Pixel pixel = linear_pixel(codes, conversion);
            for (size_t c = 0; c < 3; ++c) rgb[c].at(x, y) = pixel[c];
        }
    return rgb;
}

// ---- levels ---------------------------------------------------------------------------------------------------------

Colour halved(const Colour& colour) {
    return {halved(colour[0]), halved(colour[1]), halved(colour[2])};
}

Colour xyb_of(const Colour& rgb) {
    Colour xyb = make_colour(rgb[0].width, rgb[0].height);
    for (size_t i = 0; i < rgb[0].samples.size(); ++i) {
        double root[3], pixel[kChannels];
        for (int k = 0; k < 3; ++k)
            root[k] = std::cbrt(cone(k, rgb[0].samples[i], rgb[1].samples[i], rgb[2].samples[i]));
        xyb_of_roots(root[0], root[1], root[2], pixel);
        for (size_t c = 0; c < kChannels; ++c) xyb[c].samples[i] = pixel[c];
    }
    return xyb;
}

// ---- blur -----------------------------------------------------------------------------------------------------------

/// Weighted sum around a position of a line of `length` samples, beyond whose ends there is nothing.
template <typename SampleAt>
double weighted_sum(const BlurKernel<double>& blur, int position, int length, const SampleAt& sample_at) {
    double sum = 0.0, mass = 0.0;
    for (int k = -blur.radius; k <= blur.radius; ++k) {
        if (position + k < 0 || position + k >= length) continue;
        sum += blur.tap[std::abs(k)] * sample_at(position + k);
        mass += blur.tap[std::abs(k)];
    }
    return blur.renormalise != 0 ? sum / mass : sum;
}

Image blurred(const Image& image, const BlurKernel<double>& blur) {
    Image along(image.width, image.height), both(image.width, image.height);
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
            along.at(x, y) = weighted_sum(blur, x, image.width, [&](int column) { return image.at(column, y); });
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
            both.at(x, y) = weighted_sum(blur, y, image.height, [&](int row) { return along.at(x, row); });
    return both;
}

Image blurred_product(const Image& a, const Image& b, const BlurKernel<double>& blur) {
    Image product(a.width, a.height);
    for (size_t i = 0; i < a.samples.size(); ++i) product.samples[i] = a.samples[i] * b.samples[i];
    return blurred(product, blur);
}

// ---- fields and their norms -----------------------------------------------------------------------------------------

/// Calls use(i, field) with the fields' values (kFields) of each sample of a channel.
template <typename Use>
void compare(const Image& reference, const Image& distorted, const BlurKernel<double>& blur, const Use& use) {
    const Image mean_1 = blurred(reference, blur), mean_2 = blurred(distorted, blur);
    const Image square_1 = blurred_product(reference, reference, blur);
    const Image square_2 = blurred_product(distorted, distorted, blur);
    const Image product_12 = blurred_product(reference, distorted, blur);
    for (size_t i = 0; i < reference.samples.size(); ++i) {
        const double m1 = mean_1.samples[i], m2 = mean_2.samples[i];
        const double variance_1 = square_1.samples[i] - m1 * m1, variance_2 = square_2.samples[i] - m2 * m2;
        const double covariance = product_12.samples[i] - m1 * m2;
        const double similarity = (1.0 - (m1 - m2) * (m1 - m2)) * (2.0 * covariance + kStructureConstant) /
                                  (variance_1 + variance_2 + kStructureConstant);
        const double edge_1 = std::abs(reference.samples[i] - m1), edge_2 = std::abs(distorted.samples[i] - m2);
        const double change = (1.0 + edge_2) / (1.0 + edge_1) - 1.0;
        double field[kFields];
        field[kStructure] = std::max(1.0 - similarity, 0.0);
        field[kArtifact] = std::max(change, 0.0);
        field[kDetail] = std::max(-change, 0.0);
        use(i, field);
    }
}

/// Sums over a channel of a level, by term_index().
using Sums = std::array<double, kTerms>;

/// @param weights of the places; null: each counts once
Sums sums_of(const Image& reference, const Image& distorted, const BlurKernel<double>& blur, const uint32_t* weights) {
    Sums sums{};
    compare(reference, distorted, blur, [&](size_t i, const double(&field)[kFields]) {
        const double weight = weights != nullptr ? weights[i] : 1.0;
        for (int m = 0; m < kFields; ++m) {
            sums[static_cast<size_t>(term_index(kFirst, m))] += weight * field[m];
            sums[static_cast<size_t>(term_index(kFourth, m))] += weight * std::pow(field[m], 4.0);
        }
    });
    return sums;
}

/// Calls use(level, channel, reference, distorted) with the planes of each level.
template <typename Use>
void for_each_plane(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair, const Use& use) {
    Colour reference = linear_rgb(pair.reference, geometry, plan.reference);
    Colour distorted = linear_rgb(pair.distorted, geometry, plan.distorted);
    for (int level = 0; level < plan.levels; ++level) {
        const Colour first = xyb_of(reference), second = xyb_of(distorted);
        for (int c = 0; c < kChannels; ++c)
            use(level, c, first[static_cast<size_t>(c)], second[static_cast<size_t>(c)]);
        reference = halved(reference);
        distorted = halved(distorted);
    }
}

} // namespace

void score_cpu(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair,
               std::span<uint64_t> accumulators) {
    std::optional<LevelWeights> weights;
    if (geometry.has_weights) weights.emplace(plan, pair.weights).write_sums(accumulators);
    for_each_plane(geometry, plan, pair, [&](int level, int c, const Image& reference, const Image& distorted) {
        const Sums sums =
            sums_of(reference, distorted, plan.blur, weights ? weights->of(level).samples.data() : nullptr);
        for (int term = 0; term < kTerms; ++term)
            if ((plan.needed[level][c] >> term & 1) != 0)
                accumulators[static_cast<size_t>(norm_index(plan.levels, c, level, term))] =
                    std::bit_cast<uint64_t>(sums[static_cast<size_t>(term)]);
    });
}

void draw_cpu(const FrameGeometry& geometry, const Plan& plan, const FieldWeights& weights, const HostPair& pair,
              Plane<float> values) {
    Image drawn(geometry.width, geometry.height);
    for_each_plane(geometry, plan, pair, [&](int level, int c, const Image& reference, const Image& distorted) {
        Image errors(reference.width, reference.height);
        compare(reference, distorted, plan.blur, [&](size_t i, const double(&field)[kFields]) {
            for (int m = 0; m < kFields; ++m) errors.samples[i] += weights[level][c][m] * field[m];
        });
        for (int y = 0; y < drawn.height; ++y)
            for (int x = 0; x < drawn.width; ++x) drawn.at(x, y) += errors.at(x >> level, y >> level);
    });
    for (int y = 0; y < drawn.height; ++y)
        for (int x = 0; x < drawn.width; ++x) values.at(x, y) = static_cast<float>(drawn.at(x, y));
}

} // namespace qc::ssimulacra2
