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
// Seeds provides: reciprocal(), inverse_root(), log2() and exp2() of a float. Errors of 2^-22 in them do not matter.
//
// Instructions are what the time goes to, so: no conversions where bits can be moved, 64-bit constants from the
// kernel's arguments, rare cases (dark channels and colours) behind one branch for both pictures.
#pragma once

#include <bit>
#include <cmath>

#include "device/bits.hpp"
#include "device/fast_math.hpp"
#include "device/unroll.hpp"
#include "metrics/ciede/ciede_math.hpp"

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

using device::bits_of;
using device::float_of;

/// Upper word of a double: sign, exponent, 20 bits of the mantissa.
QC_HD uint32_t upper_word(double value) {
#if defined(__CUDA_ARCH__)
    return static_cast<uint32_t>(__double2hiint(value));
#else
    return static_cast<uint32_t>(bits_of(value) >> 32);
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

/// A number from 1 to below 2. The lower word has the weight 2^-52.
QC_HD Split split_of_one_to_two(double value) {
#if defined(__CUDA_ARCH__)
    const auto lower = static_cast<uint32_t>(__double2loint(value));
#else
    const auto lower = static_cast<uint32_t>(bits_of(value));
#endif
    return {float_of((upper_word(value) << 3) + 0x40000000u), static_cast<float>(lower) * 0x1p-52f};
}

#if defined(__CUDACC__)
/// 2^29 where the compiler does not see it: of a known power of two it would make two shifts instead of one product.
static __constant__ uint32_t kWidening = 1u << 29;
#else
constexpr uint32_t kWidening = 1u << 29;
#endif

/// Exact for what is not negative, except for a 0: that becomes 2^-127. A product and a sum of integers instead of a
/// conversion, which takes the special function unit.
QC_HD double widened(float value) {
    constexpr uint32_t kBiases = (1023 - 127) << 20;
#if defined(__CUDA_ARCH__)
    uint64_t bits;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(bits) : "r"(bits_of(value)), "r"(kWidening));
    return __hiloint2double(static_cast<int>(static_cast<uint32_t>(bits >> 32) + kBiases), static_cast<int>(bits));
#else
    return std::bit_cast<double>(uint64_t{bits_of(value)} * kWidening + (uint64_t{kBiases} << 32));
#endif
}

/// The seeds that the kernels start from.
struct FastSeeds {
    QC_HD static float reciprocal(float x) { return device::fast_reciprocal(x); }
    QC_HD static float inverse_root(float x) { return device::fast_inverse_root(x); }
    QC_HD static float log2(float x) { return device::fast_log2(x); }
    QC_HD static float exp2(float x) { return device::fast_exp2(x); }
};

/// Adding it rounds values below 2^22 to integers, which then are the lowest bits.
constexpr float kRounder = 12582912.0f; // 1.5 * 2^23
/// The same for multiples of 1 / 64.
constexpr float kFineRounder = kRounder / 64.0f;

/// The sum of a and b, which is smaller than a unless a is 0, with its rounding error.
QC_HD Split add(float a, float b) {
    const float sum = a + b;
    return {sum, b - (sum - a)};
}

/// The same for a and sign * b; the sign is 1 or -1.
QC_HD Split add_signed(float a, float sign, float b) {
    const float sum = fmaf(sign, b, a);
    return {sum, fmaf(sign, b, a - sum)};
}

// ---- tables ---------------------------------------------------------------------------------------------------------

/// x^2.4 around the middle of an interval of x; there are 128 per octave.
struct PowerEntry {
    double inverse, power; ///< 1 / middle, middle^2.4
};

constexpr int kIntervalShift = 13; ///< of the upper word of x
/// (c + 0.055) / 1.055 at the threshold of linear_light(), and above its largest value, at blue of 16 bits.
constexpr double kPowerThreshold = (10.0 / 255.0 + 0.055) / 1.055, kPowerEnd = 2.25;
constexpr auto kFirstPower = static_cast<uint32_t>(std::bit_cast<uint64_t>(kPowerThreshold) >> (32 + kIntervalShift));
constexpr auto kEndPower = static_cast<uint32_t>(std::bit_cast<uint64_t>(kPowerEnd) >> (32 + kIntervalShift));
constexpr uint32_t kPowers = kEndPower - kFirstPower;

/// T of the standard around a mean hue of k * kHueStep: value, first derivative, halved second, a sixth of the third.
struct HueEntry {
    float term[4];
};

/// Few bits, so that its multiples are exact. The cubic is good to 2^-25.
constexpr float kHueStep = 19.0f / 1024.0f;
constexpr int kHues = 512; ///< the last of one and a half turns, the largest mean hue, is number 508

/// atan(k / 64) for k = 0 to 64, and on to a power of two, so that no index can leave the table.
constexpr int kAngleSteps = 64;
constexpr int kAngles = 2 * kAngleSteps;

struct alignas(16) Tables {
    PowerEntry power[kPowers];
    HueEntry hue[kHues];
    Split angle[kAngles];
};

inline void fill_tables(Tables* tables) {
    for (uint32_t i = 0; i < kPowers; ++i) {
        const auto low = std::bit_cast<double>(uint64_t{kFirstPower + i} << (32 + kIntervalShift));
        const auto high = std::bit_cast<double>(uint64_t{kFirstPower + i + 1} << (32 + kIntervalShift));
        const double inverse = 2.0 / (low + high);
        tables->power[i] = {inverse, static_cast<double>(std::pow(1.0L / inverse, 2.4L))};
    }
    struct Wave {
        double factor;
        int multiple;
        double phase;
    };
    const Wave waves[] = {{-0.17, 1, -kPi / 6.0}, {0.24, 2, 0.0}, {0.32, 3, kPi / 30.0}, {-0.20, 4, -7.0 * kPi / 20.0}};
    for (int k = 0; k < kHues; ++k) {
        double term[4] = {1.0, 0.0, 0.0, 0.0};
        for (const Wave& wave : waves) {
            const double angle = wave.multiple * (k * static_cast<double>(kHueStep)) + wave.phase;
            const double n = wave.multiple, c = wave.factor * std::cos(angle), s = wave.factor * std::sin(angle);
            term[0] += c;
            term[1] -= n * s;
            term[2] -= n * n * c / 2.0;
            term[3] += n * n * n * s / 6.0;
        }
        for (int i = 0; i < 4; ++i) tables->hue[k].term[i] = static_cast<float>(term[i]);
    }
    for (int k = 0; k < kAngles; ++k) {
        const double angle = std::atan(static_cast<double>(k) / kAngleSteps);
        const auto high = static_cast<float>(angle);
        tables->angle[k] = {high, static_cast<float>(angle - high)};
    }
}

// ---- from samples to Lab --------------------------------------------------------------------------------------------

/// A straight line.
struct Line {
    double slope, start;
    QC_HD double at(double x) const { return fma(x, slope, start); }
};

/// Numbers of the way from samples to Lab. They are an argument of the kernel rather than constants: instructions read
/// arguments in place, constants of 64 bits have to be brought to registers.
struct Coefficients {
    CodeScale codes;
    double power[4];          ///< series of (1 + d)^2.4 - 1, from the highest power down
    Line dark;                ///< linear light of x below the threshold
    double tristimulus[3][3]; ///< as kTristimulus, relative to white
    Line straight;            ///< the lightness function below its threshold
};

inline Coefficients make_coefficients(int depth) {
    Coefficients coefficients{
        .codes = scale_of(depth),
        .power = {-0.0336, 0.224, 1.68, 2.4}, // binomial
        .dark = {1.055 / 12.92, -0.055 / 12.92},
        .tristimulus = {},
        .straight = {kCurveSlope / 116.0, 16.0 / 116.0},
    };
    constexpr double kWhite[3] = {kWhiteX, 1.0, kWhiteZ};
    for (int row = 0; row < 3; ++row) {
        for (int i = 0; i < 3; ++i) coefficients.tristimulus[row][i] = kTristimulus[row][i] / kWhite[row];
    }
    return coefficients;
}

/// Interval of x in the table. Beyond its end: x lies below the threshold. 0: it may.
QC_HD uint32_t power_interval(double x) {
    return (upper_word(x) >> kIntervalShift) - kFirstPower;
}

/// x^2.4, good to 2^-46, from the threshold on.
QC_HD double power_of(double x, uint32_t interval, const double (&power)[4], const PowerEntry* powers) {
    const PowerEntry entry = powers[interval < kPowers ? interval : kPowers - 1];
    const double d = fma(x, entry.inverse, -1.0);
    const double series = fma(fma(fma(power[0], d, power[1]), d, power[2]), d, power[3]);
    return fma(entry.power * d, series, entry.power);
}

QC_HD int32_t signed_upper_word(double value) {
    return static_cast<int32_t>(upper_word(value));
}

QC_HD int32_t smaller(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/// The smallest of the upper words, which order numbers as they are, negative ones before all others.
template <int kCount>
QC_HD int32_t least_upper_word(const double (&values)[kCount]) {
    int32_t least = signed_upper_word(values[0]);
    QC_UNROLL for (int i = 1; i < kCount; ++i) least = smaller(least, signed_upper_word(values[i]));
    return least;
}

/// From this upper word on x lies above the threshold.
constexpr auto kSurelyCurved = static_cast<int32_t>((kFirstPower + 1) << kIntervalShift);

/// Linear light of channels, in place.
template <int kChannels>
QC_HD void linearise(double (&channels)[kChannels], const Coefficients& coefficients, const PowerEntry* powers) {
    double powered[kChannels];
    QC_UNROLL for (int i = 0; i < kChannels; ++i) {
        powered[i] = power_of(channels[i], power_interval(channels[i]), coefficients.power, powers);
    }
    if (least_upper_word(channels) < kSurelyCurved) {
        QC_UNROLL for (int i = 0; i < kChannels; ++i) {
            if (channels[i] <= kPowerThreshold) powered[i] = coefficients.dark.at(channels[i]);
        }
    }
    QC_UNROLL for (int i = 0; i < kChannels; ++i) channels[i] = powered[i];
}

/// Cube root, rounded once. Garbage for t <= 0.
///
/// With inverse = (1 + e) t^(-1/3), the seed is (1 + 2 e) t^(1/3), and its residual r such that w = r / t is
/// seed^-1 * r * inverse^2 whatever e: no further step is needed to know root = seed * (1 - w)^(-1/3).
template <typename Seeds>
QC_HD float cube_root(double t) {
    const auto rough = static_cast<float>(t);
    const float inverse = Seeds::exp2(Seeds::log2(rough) * (-1.0f / 3.0f));
    const float square = inverse * inverse;
    const float seed = rough * square;
    const double exact = widened(seed);
    const float step = static_cast<float>(fma(-(exact * exact), exact, t)) * square;
    return fmaf(step, fmaf(step * inverse, 2.0f / 9.0f, 1.0f / 3.0f), seed);
}

/// Upper word of the threshold below which the lightness function is a straight line. Root and line touch there, so
/// that the lower word does not matter.
constexpr auto kStraightEnd = static_cast<int32_t>(std::bit_cast<uint64_t>(kCurveThreshold) >> 32);

/// X, Y or Z relative to white.
QC_HD double tristimulus(const double (&row)[3], double red, double green, double blue) {
    return fma(row[2], blue, fma(row[1], green, row[0] * red));
}

/// The channels' x of a chroma sample, without luma's part.
struct ChromaTerms {
    double red, green, blue;
};

QC_HD ChromaTerms chroma_terms(uint32_t u_code, uint32_t v_code, const Coefficients& coefficients) {
    const double u = double_of(u_code), v = double_of(v_code);
    return {fma(coefficients.codes.red_v, v, coefficients.codes.red),
            fma(coefficients.codes.green_u, u, fma(coefficients.codes.green_v, v, coefficients.codes.green)),
            fma(coefficients.codes.blue_u, u, coefficients.codes.blue)};
}

/// Colours of some pixels, step by step together: that hides latencies, and rare cases are looked for once.
template <typename Seeds, int kPixels>
QC_HD void labs_of(const uint32_t (&lumas)[kPixels], const ChromaTerms (&chromas)[kPixels],
                   const Coefficients& coefficients, const PowerEntry* powers, Lab (&labs)[kPixels]) {
    double channels[3 * kPixels];
    QC_UNROLL for (int i = 0; i < kPixels; ++i) {
        const double luma = double_of(lumas[i]);
        channels[3 * i] = fma(coefficients.codes.luma, luma, chromas[i].red);
        channels[3 * i + 1] = fma(coefficients.codes.luma, luma, chromas[i].green);
        channels[3 * i + 2] = fma(coefficients.codes.luma, luma, chromas[i].blue);
    }
    linearise(channels, coefficients, powers);
    double stimuli[3 * kPixels];
    QC_UNROLL for (int i = 0; i < kPixels; ++i) {
        const double red = channels[3 * i], green = channels[3 * i + 1], blue = channels[3 * i + 2];
        stimuli[3 * i] = tristimulus(coefficients.tristimulus[0], red, green, blue);
        stimuli[3 * i + 1] = tristimulus(coefficients.tristimulus[1], red, green, blue);
        stimuli[3 * i + 2] = tristimulus(coefficients.tristimulus[2], red, green, blue);
    }
    float lightness[3 * kPixels];
    double wide[3 * kPixels];
    QC_UNROLL for (int i = 0; i < 3 * kPixels; ++i) {
        lightness[i] = cube_root<Seeds>(stimuli[i]);
        wide[i] = widened(lightness[i]);
    }
    if (least_upper_word(stimuli) < kStraightEnd) {
        QC_UNROLL for (int i = 0; i < 3 * kPixels; ++i) {
            if (signed_upper_word(stimuli[i]) < kStraightEnd) {
                lightness[i] = static_cast<float>(coefficients.straight.at(stimuli[i]));
            }
            wide[i] = lightness[i];
        }
    }
    QC_UNROLL for (int i = 0; i < kPixels; ++i) {
        const double x = wide[3 * i], y = wide[3 * i + 1], z = wide[3 * i + 2];
        labs[i] = {fmaf(116.0f, lightness[3 * i + 1], -16.0f), static_cast<float>(500.0 * (x - y)),
                   static_cast<float>(200.0 * (y - z))};
    }
}

template <typename Seeds>
QC_HD Lab lab_of(const Sample& sample, const Coefficients& coefficients, const PowerEntry* powers) {
    Lab lab[1];
    labs_of<Seeds, 1>({sample.y}, {chroma_terms(sample.u, sample.v, coefficients)}, coefficients, powers, lab);
    return lab[0];
}

// ---- functions of one variable --------------------------------------------------------------------------------------

/// Keeps the seed of 1 / sqrt(0) finite; far below every square that matters.
constexpr float kTiny = 1e-30f;

template <typename Seeds>
QC_HD float square_root(float square) {
    const float inverse = Seeds::inverse_root(fmaxf(square, kTiny));
    const float root = square * inverse;
    return fmaf(fmaf(-root, root, square), 0.5f * inverse, root);
}

/// Square root of high + low, rounded once.
template <typename Seeds>
QC_HD float root_of(float high, float low) {
    const float inverse = Seeds::inverse_root(fmaxf(high, kTiny)), half = 0.5f * inverse;
    const float seed = high * inverse;
    const float root = fmaf(fmaf(-seed, seed, high), half, seed);
    return fmaf(fmaf(-root, root, high) + low, half, root);
}

/// sqrt(a^2 + b^2), rounded once.
template <typename Seeds>
QC_HD float chroma_of(float a, float b) {
    const float longer = fmaxf(fabsf(a), fabsf(b)), shorter = fminf(fabsf(a), fabsf(b));
    const float square = longer * longer;
    const float sum = fmaf(shorter, shorter, square);
    // The sum is at most twice the square, so that their difference is exact.
    const float sum_error = fmaf(shorter, shorter, square - sum), square_error = fmaf(longer, longer, -square);
    return root_of<Seeds>(sum, sum_error + square_error);
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
    const float longer = fmaxf(fmaxf(across, up), kTiny), shorter = fminf(across, up);

    // tan(angle) = shorter / longer = k / 64 rotated by atan(ratio). The numerator is exact, as k has few bits.
    static_assert(kAngleSteps == 64);
    const float rounded = fmaf(shorter, Seeds::reciprocal(longer), kFineRounder);
    const float tangent = rounded - kFineRounder;
    const Split angle = angles[bits_of(rounded) & (kAngles - 1)];
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
    const Split coarse = add_signed(base, sign, angle.high);
    const Split fine = add_signed(coarse.high, sign, ratio);
    const float small = fmaf(sign, fmaf(residual, inverse, cubic) + angle.low, base_rest);
    const float hue = fine.high + ((coarse.low + fine.low) + small);
    const Split wrapped = add(kTurn.high, -hue);
    const float other_half = wrapped.high + (wrapped.low + kTurn.low);
    return b < 0.0f ? other_half : hue;
}

/// The largest float below pi.
constexpr float kLargestHueStep = 3.14159250f;

/// Way from hue to hue, over 0 if that is shorter.
QC_HD float hue_difference(float first, float second) {
    const float difference = second - first, size = fabsf(difference);
    const float other_way = (kTurn.high - size) + kTurn.low;
    return size <= kLargestHueStep ? difference : difference < 0.0f ? other_way : -other_way;
}

QC_HD float mean_hue(float first, float second) {
    const float sum = first + second;
    const Split total = add(fmaxf(sum, kTurn.high), fminf(sum, kTurn.high));
    const float beyond = total.high + (total.low + kTurn.low);
    return 0.5f * (fabsf(second - first) <= kLargestHueStep ? sum : beyond);
}

/// T of the standard.
QC_HD float hue_weight(float hue, const HueEntry* hues) {
    const float rounded = fmaf(hue, 1.0f / kHueStep, kRounder);
    const HueEntry entry = hues[bits_of(rounded) & (kHues - 1)];
    const float rest = fmaf(kRounder - rounded, kHueStep, hue);
    return fmaf(fmaf(fmaf(entry.term[3], rest, entry.term[2]), rest, entry.term[1]), rest, entry.term[0]);
}

// ---- the difference -------------------------------------------------------------------------------------------------

/// 1 + G / 2 of the standard: what a is stretched by near the grey axis. Between 1 and 1.5.
template <typename Seeds>
QC_HD Split stretch_of(float mean_chroma) {
    const double chroma = widened(mean_chroma), square = chroma * chroma, cube = square * chroma;
    const double seventh = cube * cube * chroma;
    const double product = seventh * (seventh + kChromaKnee);
    const double seed = widened(Seeds::inverse_root(fmaxf(static_cast<float>(product), kTiny)));
    const double error = fma(-(product * seed), seed, 1.0);
    const double rough = seventh * seed; // sqrt(seventh / (seventh + knee))
    const double stretch = fma(rough * error, fma(error, -0.1875, -0.25), fma(rough, -0.5, 1.5));
    return split_of_one_to_two(stretch);
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
    const float inverse = Seeds::inverse_root(fmaxf(product, kTiny));
    const float newton = fmaf(-0.5f * inverse, product * inverse, 0.5f);
    const float share = seventh * fmaf(inverse, newton, inverse); // sqrt(seventh / (seventh + knee))
    return (share + share) * sine(radians);
}

/// Difference of two colours; exactly 0 for the same.
template <typename Seeds>
QC_HD float difference_of(const Lab& reference, const Lab& distorted, const Tables& tables) {
    const float chroma1 = chroma_of<Seeds>(reference.a, reference.b);
    const float chroma2 = chroma_of<Seeds>(distorted.a, distorted.b);
    const Split stretch = stretch_of<Seeds>(0.5f * (chroma1 + chroma2));
    const float a1 = fmaf(reference.a, stretch.high, reference.a * stretch.low);
    const float a2 = fmaf(distorted.a, stretch.high, distorted.a * stretch.low);
    const float stretched1 = chroma_of<Seeds>(a1, reference.b), stretched2 = chroma_of<Seeds>(a2, distorted.b);
    const float mean_chroma = 0.5f * (stretched1 + stretched2);

    const float hue1 = hue_of<Seeds>(reference.b, a1, tables.angle),
                hue2 = hue_of<Seeds>(distorted.b, a2, tables.angle);
    const bool grey = chroma1 == 0.0f || chroma2 == 0.0f;
    const float hue_angle = grey ? 0.0f : hue_difference(hue1, hue2);
    const float hue = mean_hue(hue1, hue2);
    const float half_hue_step = square_root<Seeds>(stretched1 * stretched2) * sine(0.5f * hue_angle);

    const float offset = fmaf(0.5f, reference.lightness + distorted.lightness, -50.0f), square = offset * offset;
    const float lightness_scale = fmaf(0.015f * square, Seeds::inverse_root(20.0f + square), 1.0f);
    const float chroma_scale = fmaf(0.045f, mean_chroma, 1.0f);
    const float hue_scale = fmaf(0.015f * mean_chroma, hue_weight(hue, tables.hue), 1.0f);
    const float l = quotient<Seeds>(distorted.lightness - reference.lightness, kLightnessWeight * lightness_scale);
    const float c = quotient<Seeds>(stretched2 - stretched1, chroma_scale);
    const float h = quotient<Seeds>(half_hue_step, 0.5f * kHueWeight * hue_scale);
    const float crossed = (rotation<Seeds>(mean_chroma, hue) * c) * -h;
    return square_root<Seeds>(fmaf(l, l, fmaf(h, h, fmaf(c, c, crossed))));
}

} // namespace qc::ciede
