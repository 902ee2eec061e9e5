// SPDX-License-Identifier: BSD-2-Clause-Patent
// CIEDE2000 in the arithmetic of the CUDA backend. Compiles on the host, where tests hold it against the reference.
//
// The reference computes in double and rounds to float at a few places: Lab, chromas, hues. These are subtracted from
// each other afterwards, so on pictures of few colours their roundings are part of the score, and are reproduced here:
// such a value is found in single precision, and corrected once by what is missing. The correction comes from a
// residual that is exact to some 2^-46 of the value, so that one value in about 2^20 rounds the other way. What only
// scales the result (weights, RT) is single precision throughout.
//
// Square roots, powers and quotients start from the approximations of a GPU's special function unit, which the type
// Seeds provides: reciprocal(), inverse_root(), log2() and exp2() of a float. Errors of 2^-21 in them do not matter.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>

#include "ciede/ciede_math.hpp"
#include "common/unroll.hpp"

namespace qc::ciede {

constexpr double kPi = 3.14159265358979323846;

/// A value as the sum of two floats, the second a rounding error of the first.
struct Split {
    float high, low;
};

/// A constant as a Split.
consteval Split split(double value) {
    const auto high = static_cast<float>(value);
    return {high, static_cast<float>(value - static_cast<double>(high))};
}

QC_HD uint32_t bits_of(float value) {
#if defined(__CUDA_ARCH__)
    return __float_as_uint(value);
#else
    return std::bit_cast<uint32_t>(value);
#endif
}

QC_HD float float_of(uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return __uint_as_float(bits);
#else
    return std::bit_cast<float>(bits);
#endif
}

/// Upper word of a double: sign, exponent, 20 bits of the mantissa.
QC_HD uint32_t upper_word(double value) {
#if defined(__CUDA_ARCH__)
    return static_cast<uint32_t>(__double2hiint(value));
#else
    return static_cast<uint32_t>(std::bit_cast<uint64_t>(value) >> 32);
#endif
}

/// Exact, without a conversion: those of doubles are slow.
QC_HD double double_of(uint32_t value) {
    constexpr double kFirstWithUnitSteps = 4503599627370496.0; // 2^52
#if defined(__CUDA_ARCH__)
    return __hiloint2double(0x43300000, static_cast<int>(value)) - kFirstWithUnitSteps;
#else
    return std::bit_cast<double>(uint64_t{0x43300000} << 32 | value) - kFirstWithUnitSteps;
#endif
}

/// Adding it rounds values below 2^22 to integers, which then are the lowest bits.
constexpr float kRounder = 12582912.0f; // 1.5 * 2^23

/// The sum of a and b, which is smaller than a unless a is 0, with its rounding error.
QC_HD Split add(float a, float b) {
    const float sum = a + b;
    return {sum, b - (sum - a)};
}

// ---- tables ---------------------------------------------------------------------------------------------------------

/// x^2.4 around the middle of an interval of x; there are 128 per octave.
struct PowerEntry {
    double inverse, power; ///< 1 / middle, middle^2.4
};

constexpr int kIntervalShift = 13; ///< of the upper word of x
/// (c + 0.055) / 1.055 at the threshold of linear_light(), and above its largest value, at blue of 16 bits.
constexpr double kPowerThreshold = (10.0 / 255.0 + 0.055) / 1.055, kPowerEnd = 2.25;
constexpr auto kFirstPower =
    static_cast<uint32_t>(std::bit_cast<uint64_t>(kPowerThreshold) >> (32 + kIntervalShift));
constexpr auto kEndPower = static_cast<uint32_t>(std::bit_cast<uint64_t>(kPowerEnd) >> (32 + kIntervalShift));
constexpr uint32_t kPowers = kEndPower - kFirstPower;

/// atan(k / 64) for k = 0 to 64.
constexpr int kAngleSteps = 64;
constexpr int kAngles = kAngleSteps + 1;

struct Tables {
    PowerEntry power[kPowers];
    Split angle[kAngles];
};

inline void fill_tables(Tables* tables) {
    for (uint32_t i = 0; i < kPowers; ++i) {
        const auto low = std::bit_cast<double>(uint64_t{kFirstPower + i} << (32 + kIntervalShift));
        const auto high = std::bit_cast<double>(uint64_t{kFirstPower + i + 1} << (32 + kIntervalShift));
        const double inverse = 2.0 / (low + high);
        tables->power[i] = {inverse, static_cast<double>(std::pow(1.0L / inverse, 2.4L))};
    }
    for (int k = 0; k < kAngles; ++k) {
        const double angle = std::atan(static_cast<double>(k) / kAngleSteps);
        const auto high = static_cast<float>(angle);
        tables->angle[k] = {high, static_cast<float>(angle - high)};
    }
}

// ---- from samples to Lab --------------------------------------------------------------------------------------------

/// From samples to x = (c + 0.055) / 1.055 of the channels c.
struct ChannelMatrix {
    double luma; ///< of all channels
    double red_v, green_u, green_v, blue_u;
    double red, green, blue; ///< constant terms
};

inline ChannelMatrix make_channel_matrix(int depth) {
    const double scale = 1 << (depth - 8);
    const double black = 0.055 - 16.0 / 219.0, middle = 128.0 / 224.0, chroma = 1.0 / (224.0 * scale * 1.055);
    return {
        .luma = 1.0 / (219.0 * scale * 1.055),
        .red_v = kRedFromV * chroma,
        .green_u = -kGreenFromU * chroma,
        .green_v = -kGreenFromV * chroma,
        .blue_u = kBlueFromU * chroma,
        .red = (black - kRedFromV * middle) / 1.055,
        .green = (black + (kGreenFromU + kGreenFromV) * middle) / 1.055,
        .blue = (black - kBlueFromU * middle) / 1.055,
    };
}

/// x^2.4, or the straight line below the threshold. Errors of the power stay below 2^-46.
QC_HD double linear_light(double x, const PowerEntry* powers) {
    // What lies below the table wraps around, and takes the last entry: the line is taken instead of it.
    const uint32_t interval = (upper_word(x) >> kIntervalShift) - kFirstPower;
    const PowerEntry entry = powers[interval < kPowers ? interval : kPowers - 1];
    const double d = fma(x, entry.inverse, -1.0);
    const double series = fma(fma(fma(-0.0336, d, 0.224), d, 1.68), d, 2.4); // binomial
    const double power = fma(entry.power * d, series, entry.power);
    const double line = fma(x, 1.055 / 12.92, -0.055 / 12.92);
    return x > kPowerThreshold ? power : line;
}

/// Lightness function of CIE Lab.
template <typename Seeds>
QC_HD float lab_curve(double t) {
    if (!(t > kCurveThreshold)) return static_cast<float>(fma(t, kCurveSlope / 116.0, 16.0 / 116.0));
    // A Newton step in single precision, then one from the exact residual.
    const auto rough = static_cast<float>(t);
    const float inverse = Seeds::exp2(Seeds::log2(rough) * (-1.0f / 3.0f));
    const float square = inverse * inverse, third = square * (1.0f / 3.0f);
    const float seed = rough * square;
    const float step = fmaf(-(seed * seed), seed, rough) * third;
    const float root = seed + step;
    const float slope = fmaf(step * inverse, third, third); // 1 / (3 root^2)
    const double exact = root;
    const auto residual = static_cast<float>(fma(-(exact * exact), exact, t));
    return fmaf(residual, slope, root);
}

/// scale * (x - y), rounded once.
QC_HD float scaled_difference(float scale, float x, float y) {
    const float difference = x - y;
    const float minus_y = difference - x, rest = (x - (difference - minus_y)) - (y + minus_y);
    return fmaf(scale, difference, scale * rest);
}

/// X, Y or Z relative to white.
template <int kRow>
QC_HD double tristimulus(double red, double green, double blue) {
    constexpr double kWhite = kRow == 0 ? kWhiteX : kRow == 1 ? 1.0 : kWhiteZ;
    constexpr double kRed = kTristimulus[kRow][0] / kWhite, kGreen = kTristimulus[kRow][1] / kWhite,
                     kBlue = kTristimulus[kRow][2] / kWhite;
    return fma(kBlue, blue, fma(kGreen, green, kRed * red));
}

template <typename Seeds>
QC_HD Lab lab_of(const Sample& sample, const ChannelMatrix& matrix, const PowerEntry* powers) {
    const double luma = double_of(sample.y), u = double_of(sample.u), v = double_of(sample.v);
    const double red = linear_light(fma(matrix.luma, luma, fma(matrix.red_v, v, matrix.red)), powers);
    const double green = linear_light(
        fma(matrix.luma, luma, fma(matrix.green_u, u, fma(matrix.green_v, v, matrix.green))), powers);
    const double blue = linear_light(fma(matrix.luma, luma, fma(matrix.blue_u, u, matrix.blue)), powers);
    const float x = lab_curve<Seeds>(tristimulus<0>(red, green, blue));
    const float y = lab_curve<Seeds>(tristimulus<1>(red, green, blue));
    const float z = lab_curve<Seeds>(tristimulus<2>(red, green, blue));
    return {fmaf(116.0f, y, -16.0f), scaled_difference(500.0f, x, y), scaled_difference(200.0f, y, z)};
}

// ---- functions of one variable --------------------------------------------------------------------------------------

/// Keeps the seed of 1 / sqrt(0) finite; far below every square that matters.
constexpr float kTiny = 1e-30f;

QC_HD float at_least(float value, float limit) {
    return value > limit ? value : limit;
}

/// Square root of high + low, rounded once.
template <typename Seeds>
QC_HD float root_of(float high, float low) {
    const float inverse = Seeds::inverse_root(at_least(high, kTiny)), half = 0.5f * inverse;
    const float seed = high * inverse;
    const float root = fmaf(fmaf(-seed, seed, high), half, seed);
    return fmaf(fmaf(-root, root, high) + low, half, root);
}

/// sqrt(a^2 + b^2), rounded once.
template <typename Seeds>
QC_HD float chroma_of(float a, float b) {
    const float a_square = a * a, b_square = b * b;
    const float errors = fmaf(a, a, -a_square) + fmaf(b, b, -b_square);
    const bool a_larger = a_square > b_square;
    const Split sum = add(a_larger ? a_square : b_square, a_larger ? b_square : a_square);
    return root_of<Seeds>(sum.high, sum.low + errors);
}

template <typename Seeds>
QC_HD float quotient(float dividend, float divisor) {
    const float inverse = Seeds::reciprocal(divisor);
    const float seed = dividend * inverse;
    return fmaf(fmaf(-seed, divisor, dividend), inverse, seed);
}

/// |x| up to a quarter turn.
QC_HD float sine(float x) {
    const float square = x * x;
    float p = fmaf(-2.3905125e-8f, square, 2.7526396e-6f);
    p = fmaf(p, square, -1.98408909e-4f);
    p = fmaf(p, square, 8.3333313e-3f);
    p = fmaf(p, square, -0.166666666f);
    return fmaf(x * square, p, x);
}

/// |x| up to a quarter turn.
QC_HD float cosine(float x) {
    const float square = x * x;
    float p = fmaf(-2.60713304e-7f, square, 2.47615732e-5f);
    p = fmaf(p, square, -1.38883977e-3f);
    p = fmaf(p, square, 4.16666403e-2f);
    p = fmaf(p, square, -0.499999995f);
    return fmaf(square, p, 1.0f);
}

/// exp(-x) for x from 0 on; 0, roughly, from 64 on.
QC_HD float decay(float x) {
    constexpr Split kLog2E = split(1.44269504088896340736);
    const float exponent = x < 64.0f ? x : 64.0f;
    const float rounded = fmaf(exponent, -kLog2E.high, kRounder);
    const float whole = rounded - kRounder;
    const float part = fmaf(exponent, -kLog2E.low, fmaf(exponent, -kLog2E.high, -whole));
    float p = fmaf(1.54457377e-4f, part, 1.34017838e-3f);
    p = fmaf(p, part, 9.6180968e-3f);
    p = fmaf(p, part, 5.55032379e-2f);
    p = fmaf(p, part, 0.240226507f);
    p = fmaf(p, part, 0.693147208f);
    return float_of(bits_of(fmaf(p, part, 1.0f)) + (bits_of(rounded) << 23));
}

// ---- hues -----------------------------------------------------------------------------------------------------------

constexpr Split kTurn = split(2.0 * kPi), kHalfTurn = split(kPi), kQuarterTurn = split(kPi / 2.0);

/// Angle of (a, b) in radians, 0 to a whole turn; rounded once, and once more where half a turn is exceeded.
template <typename Seeds>
QC_HD float hue_of(float b, float a, const Split* angles) {
    const float across = fabsf(a), up = fabsf(b);
    const bool steep = up > across, left = a < 0.0f;
    const float longer = at_least(steep ? up : across, kTiny), shorter = steep ? across : up;

    // tan(angle) = shorter / longer = k / 64 rotated by atan(ratio). The numerator is exact, as k has few bits.
    const float rounded = fmaf(shorter * Seeds::reciprocal(longer), static_cast<float>(kAngleSteps), kRounder);
    const float tangent = (rounded - kRounder) * (1.0f / kAngleSteps);
    const Split angle = angles[bits_of(rounded) & (2 * kAngleSteps - 1)];
    const float numerator = fmaf(-tangent, longer, shorter);
    const float denominator = fmaf(tangent, shorter, longer);
    const float denominator_rest = fmaf(tangent, shorter, longer - denominator);
    const float inverse = Seeds::reciprocal(denominator);
    const float ratio = numerator * inverse;
    const float residual = fmaf(-ratio, denominator_rest, fmaf(-ratio, denominator, numerator));
    const float square = ratio * ratio;
    const float cubic = (ratio * square) * fmaf(square, 0.2f, -1.0f / 3.0f);

    const float sign = steep != left ? -1.0f : 1.0f;
    const float base = steep ? kQuarterTurn.high : left ? kHalfTurn.high : 0.0f;
    const float base_rest = steep ? kQuarterTurn.low : left ? kHalfTurn.low : 0.0f;
    const Split coarse = add(base, sign * angle.high);
    const Split fine = add(coarse.high, sign * ratio);
    const float small = fmaf(sign, fmaf(residual, inverse, cubic) + angle.low, base_rest);
    const float hue = fine.high + ((coarse.low + fine.low) + small);
    if (!(b < 0.0f)) return hue;
    const Split wrapped = add(kTurn.high, -hue);
    return wrapped.high + (wrapped.low + kTurn.low);
}

/// The largest float below pi.
constexpr float kLargestHueStep = 3.14159250f;

/// Way from hue to hue, over 0 if that is shorter.
QC_HD float hue_difference(float first, float second) {
    const float difference = second - first, size = fabsf(difference);
    if (size <= kLargestHueStep) return difference;
    const float other_way = (kTurn.high - size) + kTurn.low;
    return second <= first ? other_way : -other_way;
}

QC_HD float mean_hue(float first, float second) {
    const float sum = first + second;
    if (fabsf(first - second) <= kLargestHueStep) return 0.5f * sum;
    const bool beyond_turn = sum > kTurn.high;
    const Split total = add(beyond_turn ? sum : kTurn.high, beyond_turn ? kTurn.high : sum);
    return 0.5f * (total.high + (total.low + kTurn.low));
}

// cos(k hue - angle) = cos(angle) cos(k hue) + sin(angle) sin(k hue), with the factors of T.
constexpr double kCos30 = 0.86602540378443864676, kSin30 = 0.5;
constexpr double kCos6 = 0.99452189536827333692, kSin6 = 0.10452846326765347140;
constexpr double kCos63 = 0.45399049973954679156, kSin63 = 0.89100652418836786236;

/// T of the standard.
QC_HD float hue_weight(float hue) {
    const float rounded = fmaf(hue, static_cast<float>(1.0 / kPi), kRounder);
    const float half_turns = rounded - kRounder;
    const float rest = fmaf(-half_turns, kHalfTurn.low, fmaf(-half_turns, kHalfTurn.high, hue));
    const uint32_t sign = bits_of(rounded) << 31; // an odd number of half turns
    const float cos1 = float_of(bits_of(cosine(rest)) ^ sign), sin1 = float_of(bits_of(sine(rest)) ^ sign);
    const float twice = cos1 + cos1;
    const float cos2 = fmaf(twice, cos1, -1.0f), sin2 = twice * sin1;
    const float cos3 = fmaf(twice, cos2, -cos1), sin3 = fmaf(twice, sin2, -sin1);
    const float cos4 = fmaf(cos2 + cos2, cos2, -1.0f), sin4 = (cos2 + cos2) * sin2;
    float t = fmaf(static_cast<float>(-0.20 * kSin63), sin4, 1.0f);
    t = fmaf(static_cast<float>(-0.20 * kCos63), cos4, t);
    t = fmaf(static_cast<float>(-0.32 * kSin6), sin3, t);
    t = fmaf(static_cast<float>(0.32 * kCos6), cos3, t);
    t = fmaf(0.24f, cos2, t);
    t = fmaf(static_cast<float>(-0.17 * kSin30), sin1, t);
    return fmaf(static_cast<float>(-0.17 * kCos30), cos1, t);
}

// ---- the difference -------------------------------------------------------------------------------------------------

/// 1 + G / 2 of the standard: what a is stretched by near the grey axis.
template <typename Seeds>
QC_HD Split stretch_of(float mean_chroma) {
    const double chroma = mean_chroma, square = chroma * chroma, cube = square * chroma;
    const double seventh = cube * cube * chroma;
    const double product = seventh * (seventh + kChromaKnee);
    const double seed = Seeds::inverse_root(at_least(static_cast<float>(product), kTiny));
    const auto error = static_cast<float>(fma(-(product * seed), seed, 1.0));
    const double rough = seventh * seed; // sqrt(seventh / (seventh + knee))
    const double correction = error * fmaf(0.375f, error, 0.5f);
    const double stretch = fma(fma(rough, correction, rough), -0.5, 1.5);
    const auto high = static_cast<float>(stretch);
    return {high, static_cast<float>(stretch - static_cast<double>(high))};
}

/// -R_T of the standard.
template <typename Seeds>
QC_HD float rotation(float chroma, float hue) {
    constexpr Split kDegrees = split(180.0 / kPi), kWidth = split(1.0 / 25.0);
    const float degrees = fmaf(hue, kDegrees.high, hue * kDegrees.low);
    const float distance = fmaf(degrees - 275.0f, kWidth.high, (degrees - 275.0f) * kWidth.low);
    const float radians = static_cast<float>(kPi / 3.0) * decay(distance * distance);

    const float square = chroma * chroma, cube = square * chroma;
    const float seventh = (cube * cube) * chroma;
    const float product = seventh * (seventh + static_cast<float>(kChromaKnee));
    const float inverse = Seeds::inverse_root(at_least(product, kTiny));
    const float newton = fmaf(-0.5f * inverse, product * inverse, 0.5f);
    const float share = seventh * fmaf(inverse, newton, inverse); // sqrt(seventh / (seventh + knee))
    return (share + share) * sine(radians);
}

/// Difference of two colours; exactly 0 for the same.
template <typename Seeds>
QC_HD float difference_of(const Lab& reference, const Lab& distorted, const Split* angles) {
    const float chroma1 = chroma_of<Seeds>(reference.a, reference.b);
    const float chroma2 = chroma_of<Seeds>(distorted.a, distorted.b);
    const Split stretch = stretch_of<Seeds>(0.5f * (chroma1 + chroma2));
    const float a1 = fmaf(reference.a, stretch.high, reference.a * stretch.low);
    const float a2 = fmaf(distorted.a, stretch.high, distorted.a * stretch.low);
    const float stretched1 = chroma_of<Seeds>(a1, reference.b), stretched2 = chroma_of<Seeds>(a2, distorted.b);
    const float mean_chroma = 0.5f * (stretched1 + stretched2);

    const float hue1 = hue_of<Seeds>(reference.b, a1, angles), hue2 = hue_of<Seeds>(distorted.b, a2, angles);
    const bool grey = chroma1 == 0.0f || chroma2 == 0.0f;
    const float hue_angle = grey ? 0.0f : hue_difference(hue1, hue2);
    const float hue = mean_hue(hue1, hue2);
    const float hue_step = 2.0f * root_of<Seeds>(stretched1 * stretched2, 0.0f) * sine(0.5f * hue_angle);

    const float offset = 0.5f * (reference.lightness + distorted.lightness) - 50.0f, square = offset * offset;
    const float lightness_scale = fmaf(0.015f * square, Seeds::inverse_root(20.0f + square), 1.0f);
    const float chroma_scale = fmaf(0.045f, mean_chroma, 1.0f);
    const float hue_scale = fmaf(0.015f * mean_chroma, hue_weight(hue), 1.0f);
    const float l =
        quotient<Seeds>(distorted.lightness - reference.lightness, kLightnessWeight * lightness_scale);
    const float c = quotient<Seeds>(stretched2 - stretched1, chroma_scale);
    const float h = quotient<Seeds>(hue_step, kHueWeight * hue_scale);
    const float crossed = (rotation<Seeds>(mean_chroma, hue) * c) * -h;
    return root_of<Seeds>(fmaf(l, l, fmaf(h, h, fmaf(c, c, crossed))), 0.0f);
}

} // namespace qc::ciede
