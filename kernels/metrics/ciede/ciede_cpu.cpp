// SPDX-License-Identifier: BSD-2-Clause-Patent
// Everything is computed in double precision, with the C library's functions, and the variables of type float round:
// on flat pictures, where all pixels round alike, these roundings are part of the score.
#include <cmath>
#include <numbers>

#include "metrics/ciede/ciede.hpp"

namespace qc::ciede {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kTurn = 2.0 * kPi;

/// The double-precision functions, whatever the argument's type.
double root(double value) {
    return std::sqrt(value);
}

double linear_light(double channel) {
    if (channel > 10.0 / 255.0) return std::pow((channel + 0.055) * (1.0 / 1.055), 2.4);
    return channel * (1.0 / 12.92);
}

/// Lightness function of CIE Lab.
float lab_curve(double t) {
    if (t > kCurveThreshold) return static_cast<float>(std::pow(t, 1.0 / 3.0));
    return static_cast<float>((kCurveSlope * t + 16.0) * (1.0 / 116.0));
}

float chroma_of(double a, double b) {
    return static_cast<float>(root(a * a + b * b));
}

/// In radians, 0 to a whole turn.
float hue_of(double b, double a) {
    if (a == 0.0 && b == 0.0) return 0.0f;
    const auto angle = static_cast<float>(std::atan2(b, a));
    return angle < 0.0f ? static_cast<float>(angle + kTurn) : angle;
}

float hue_difference(float first, float second) {
    const float difference = second - first;
    if (std::abs(static_cast<double>(difference)) <= kPi) return difference;
    return static_cast<float>(second <= first ? difference + kTurn : difference - kTurn);
}

/// Where the standard would subtract half a turn, libvmaf adds it too.
float mean_hue(float first, float second) {
    const float sum = first + second;
    const bool across_zero = std::abs(static_cast<double>(first - second)) > kPi;
    return static_cast<float>(across_zero ? (sum + kTurn) / 2.0 : sum / 2.0);
}

/// T of the standard.
float hue_weight(double hue) {
    return static_cast<float>(1.0 - 0.17 * std::cos(hue - kPi / 6.0) + 0.24 * std::cos(2.0 * hue) +
                              0.32 * std::cos(3.0 * hue + kPi / 30.0) - 0.20 * std::cos(4.0 * hue - 7.0 * kPi / 20.0));
}

/// R_T of the standard: turns the axes of the ellipses in the blue.
float rotation(float chroma, float hue) {
    const auto degrees = static_cast<float>(hue * (180.0 / kPi));
    const auto distance = static_cast<float>((degrees - 275.0) * (1.0 / 25.0));
    const float square = distance * distance;
    const auto angle = static_cast<float>(60.0 * std::exp(-static_cast<double>(square)));
    const auto radians = static_cast<float>(angle * (kPi / 180.0));
    const float seventh = std::pow(chroma, 7.0f);
    const float share = seventh / (seventh + static_cast<float>(kChromaKnee));
    return static_cast<float>(-2.0 * root(share) * std::sin(static_cast<double>(radians)));
}

} // namespace

Lab reference_lab(const Sample& sample, int depth) {
    const double scale = 1 << (depth - 8);
    const double y = (sample.y - 16.0 * scale) * (1.0 / (219.0 * scale));
    const double u = (sample.u - 128.0 * scale) * (1.0 / (224.0 * scale));
    const double v = (sample.v - 128.0 * scale) * (1.0 / (224.0 * scale));
    const double red = linear_light(y + kRedFromV * v);
    const double green = linear_light(y - kGreenFromU * u - kGreenFromV * v);
    const double blue = linear_light(y + kBlueFromU * u);
    double tristimulus[3];
    for (int i = 0; i < 3; ++i) {
        tristimulus[i] = red * kTristimulus[i][0] + green * kTristimulus[i][1] + blue * kTristimulus[i][2];
    }
    const double fx = lab_curve(tristimulus[0] * (1.0 / kWhiteX));
    const double fy = lab_curve(tristimulus[1]);
    const double fz = lab_curve(tristimulus[2] * (1.0 / kWhiteZ));
    return {static_cast<float>(116.0 * fy - 16.0), static_cast<float>(500.0 * (fx - fy)),
            static_cast<float>(200.0 * (fy - fz))};
}

float reference_difference(const Lab& reference, const Lab& distorted) {
    const float lightness_step = distorted.lightness - reference.lightness;
    const float mean_lightness = (reference.lightness + distorted.lightness) / 2.0f;

    const float chroma1 = chroma_of(reference.a, reference.b), chroma2 = chroma_of(distorted.a, distorted.b);
    const double seventh = std::pow(static_cast<double>((chroma1 + chroma2) / 2.0f), 7.0);
    const double stretch = 1.0 - root(seventh / (seventh + kChromaKnee));
    const auto a1 = static_cast<float>(reference.a + reference.a / 2.0f * stretch);
    const auto a2 = static_cast<float>(distorted.a + distorted.a / 2.0f * stretch);

    const float stretched1 = chroma_of(a1, reference.b), stretched2 = chroma_of(a2, distorted.b);
    const float mean_chroma = (stretched1 + stretched2) / 2.0f;
    const float chroma_step = stretched2 - stretched1;

    const float hue1 = hue_of(reference.b, a1), hue2 = hue_of(distorted.b, a2);
    const float hue_angle = chroma1 == 0.0f || chroma2 == 0.0f ? 0.0f : hue_difference(hue1, hue2);
    const float hue = mean_hue(hue1, hue2);
    const float chroma_product = stretched1 * stretched2;
    const auto hue_step = static_cast<float>(2.0 * root(chroma_product) * std::sin(hue_angle / 2.0));

    const float offset = mean_lightness - 50.0f;
    const double square = static_cast<double>(offset) * offset;
    const auto lightness_scale = static_cast<float>(1.0 + 0.015 * square / root(20.0 + square));
    const auto chroma_scale = static_cast<float>(1.0 + 0.045 * mean_chroma);
    const auto hue_scale = static_cast<float>(1.0 + 0.015 * mean_chroma * hue_weight(hue));
    const float l = lightness_step / (kLightnessWeight * lightness_scale);
    const float c = chroma_step / chroma_scale;
    const float h = hue_step / (kHueWeight * hue_scale);
    const auto squared = [](double value) { return value * value; };
    const double crossed = rotation(mean_chroma, hue) * c * h;
    return static_cast<float>(root(squared(l) + squared(c) + squared(h) + crossed));
}

namespace {

template <typename T>
double sum_of(const FrameGeometry& geometry, const HostPair& pair) {
    const ChromaGrid grid = make_chroma_grid(geometry);
    const auto lab = [&](const HostPicture& picture, int x, int y) {
        const auto code = [&](int p) {
            return picture.plane[p].as<T>().at(p == 0 ? x : grid.column(x), p == 0 ? y : grid.row(y));
        };
        return reference_lab({code(0), code(1), code(2)}, geometry.depth);
    };
    double sum = 0.0;
    for (int y = 0; y < geometry.height; ++y)
        for (int x = 0; x < geometry.width; ++x)
            sum += reference_difference(lab(pair.reference, x, y), lab(pair.distorted, x, y));
    return sum;
}

} // namespace

double score_cpu(const FrameGeometry& geometry, const HostPair& pair) {
    return geometry.sample == SampleType::kU8 ? sum_of<uint8_t>(geometry, pair) : sum_of<uint16_t>(geometry, pair);
}

} // namespace qc::ciede
