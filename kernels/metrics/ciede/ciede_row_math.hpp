// SPDX-License-Identifier: BSD-2-Clause-Patent
// Functions of the rows on the CPU (ciede_cpu_rows.cpp), without branches and tables, in loops that compilers
// vectorise. Where the reference calls the C library they are good to kRelativeError; everything else is the
// reference's own operations, one by one. Coefficients: polynomials through Chebyshev's points, computed with 113 bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "device/cpu_clones.hpp"
#include "metrics/ciede/ciede_math.hpp"

namespace qc::ciede::rows {

/// Of a value that is about to be rounded to a float.
constexpr double kRelativeError = 0x1p-41;

constexpr double kPi = 3.14159265358979323846, kTurn = 2.0 * kPi;

/// As a float, and back.
QC_INLINE_HELPER double rounded(double value) {
    return static_cast<double>(static_cast<float>(value));
}

// ---- doubt: whether a rounding to float could have gone the other way --------------------------------------------

/// Negative if a value this close to `value` might be another float: the bits of a double that a float has no room for,
/// relative to those of a number halfway between two floats.
/// @param reach distance, in units of the double's last place
QC_INLINE_HELPER int64_t doubt(double value, int64_t reach) {
    constexpr uint64_t kHalfway = uint64_t{1} << 28, kLowest = (uint64_t{1} << 29) - 1;
    const uint64_t beyond = std::bit_cast<uint64_t>(value) - kHalfway + static_cast<uint64_t>(reach);
    return static_cast<int64_t>(beyond & kLowest) - 2 * reach;
}

/// Four times kRelativeError, in units of a number between 1 and 2. A pixel in some 3000 is computed again for it.
constexpr int64_t kReach = int64_t{1} << 13;
static_assert(static_cast<double>(kReach) * 0x1p-53 >= 2.0 * kRelativeError);

QC_INLINE_HELPER int64_t doubt(double value) {
    return doubt(value, kReach);
}

// ---- powers ---------------------------------------------------------------------------------------------------------

/// x^(-1/n), roughly: bits of a float are, up to a constant, its logarithm.
QC_INLINE_HELPER float inverse_root_start(float x, float inverse_degree, int32_t offset) {
    const auto logarithm = static_cast<float>(std::bit_cast<int32_t>(x));
    return std::bit_cast<float>(offset - static_cast<int32_t>(logarithm * inverse_degree));
}

/// t^(1/3) of what is not far from 1. With r near t^(-1/3), and w = 1 - t r^3, it is t r^2 (1 - w)^(-2/3).
QC_INLINE_HELPER double cube_root(double t) {
    const auto rough = static_cast<float>(t);
    const float start = inverse_root_start(rough, 1.0f / 3.0f, 0x54a20000); // |v| < 0.103
    const float v = 1.0f - rough * start * (start * start);
    const float inverse = start + start * v * (1.0f / 3.0f + v * (2.0f / 9.0f + v * (14.0f / 81.0f)));
    const double r = inverse, square = r * r; // |w| < 5e-5
    const double w = 1.0 - t * (square * r);
    return t * square * (1.0 + w * (2.0 / 3.0 + w * (5.0 / 9.0 + w * (40.0 / 81.0))));
}

/// x^2.4, likewise: with r near x^(-1/5), and w = 1 - x r^5, it is (x r)^3 (1 - w)^(-3/5).
QC_INLINE_HELPER double power_of_twelve_fifths(double x) {
    const auto rough = static_cast<float>(x);
    const float start = inverse_root_start(rough, 1.0f / 5.0f, 0x4c2b4000); // |v| < 0.156
    const float start2 = start * start;
    const float v = 1.0f - rough * start * (start2 * start2);
    const float inverse = start + start * v * (0.2f + v * (0.12f + v * 0.088f));
    const double r = inverse, square = r * r, xr = x * r; // |w| < 3e-4
    const double w = 1.0 - xr * (square * square);
    return xr * (xr * xr) * (1.0 + w * (0.6 + w * (0.48 + w * 0.416)));
}

/// x^7
QC_INLINE_HELPER double seventh_power(double x) {
    const double square = x * x, cube = square * x;
    return cube * cube * x;
}

/// exp(-x) for x from 0 to 64.
QC_INLINE_HELPER double decay(double x) {
    constexpr double kLog2E = 1.44269504088896340736, kRounder = 0x1.8p52;
    const double exponent = x * -kLog2E, shifted = exponent + kRounder;
    const double part = exponent - (shifted - kRounder); // -0.5 to 0.5
    double p = 1.0205905424907286e-07;
    p = p * part + 1.3259645262576621e-06;
    p = p * part + 1.5252672924801992e-05;
    p = p * part + 0.00015403433751173619;
    p = p * part + 0.0013333558200794658;
    p = p * part + 0.0096181291939344167;
    p = p * part + 0.05550410866465167;
    p = p * part + 0.24022650695640338;
    p = p * part + 0.69314718055994617;
    p = p * part + 1.0000000000000135;
    return std::bit_cast<double>(std::bit_cast<int64_t>(p) +
                                 static_cast<int64_t>(std::bit_cast<uint64_t>(shifted) << 52));
}

// ---- angles ---------------------------------------------------------------------------------------------------------

/// |x| up to a quarter turn, and a little beyond.
QC_INLINE_HELPER double sine(double x) {
    const double square = x * x;
    double p = -7.3743521102633179e-13;
    p = p * square + 1.6048165479351419e-10;
    p = p * square - 2.5051881857789091e-08;
    p = p * square + 2.7557316607702009e-06;
    p = p * square - 0.00019841269824851123;
    p = p * square + 0.0083333333332827157;
    p = p * square - 0.16666666666666072;
    return x * (p * square + 0.99999999999999989);
}

/// |x| up to 0.99.
QC_INLINE_HELPER double cosine(double x) {
    const double square = x * x;
    double p = 2.0486666664988964e-09;
    p = p * square - 2.7552077112236255e-07;
    p = p * square + 2.4801552318740756e-05;
    p = p * square - 0.001388888876897555;
    p = p * square + 0.041666666664708717;
    p = p * square - 0.4999999999998801;
    return p * square + 0.99999999999999878;
}

/// atan2(b, a), and 0 for 0 and 0.
QC_INLINE_HELPER double angle_of(double b, double a) {
    constexpr double kTangent = 0.41421356237309504880; // of pi / 8
    constexpr double kSmallest = 0x1p-1000;             // where both are 0
    const double across = std::abs(a), up = std::abs(b);
    const double longer = std::max(std::max(across, up), kSmallest), shorter = std::min(across, up);
    // atan(x) = pi / 4 - atan((1 - x) / (1 + x))
    const bool wide = shorter > kTangent * longer;
    const double tangent = (wide ? shorter - longer : shorter) / (wide ? shorter + longer : longer);
    const double square = tangent * tangent;
    double p = 0.030662402628910412;
    p = p * square - 0.058745031872276962;
    p = p * square + 0.075637029167885728;
    p = p * square - 0.09078391987052542;
    p = p * square + 0.11110385039747965;
    p = p * square - 0.1428569042358194;
    p = p * square + 0.19999999604886934;
    p = p * square - 0.33333333330803411;
    const double small = tangent * (p * square + 0.99999999999997324);
    const double octant = wide ? kPi / 4.0 + small : small;
    const double quadrant = up > across ? kPi / 2.0 - octant : octant;
    return std::copysign(a < 0.0 ? kPi - quadrant : quadrant, b);
}

/// T of the standard, not rounded. With h the hue less 5/8 of a turn, its waves are polynomials in cos h and sin h.
QC_INLINE_HELPER double hue_weight(double hue) {
    // Of amplitudes and phases in h: factor * cos(n h + phase) = even * cos(n h) + odd * sin(n h).
    struct Wave {
        double even, odd;
    };
    // cos and sin of n * 225 degrees + phase, for phases of -30, 0, 6 and -63 degrees
    constexpr Wave kFirst{-0.17 * -0.96592582628906828675, 0.17 * -0.25881904510252076235}; // 195 degrees
    constexpr Wave kSecond{0.0, -0.24};                                                     // 450
    constexpr Wave kThird{0.32 * 0.77714596145697087998, 0.32 * 0.62932039104983745271};    // 681
    constexpr Wave kFourth{-0.20 * -0.45399049973954679156, 0.20 * 0.89100652418836786236}; // 837
    // A quarter of the angle, so that nothing is to be reduced.
    const double quarter = 0.25 * (hue - 1.25 * kPi);
    const double s0 = sine(quarter), c0 = cosine(quarter);
    const double sh = 2.0 * s0 * c0, ch = 1.0 - 2.0 * s0 * s0;
    const double s = 2.0 * sh * ch, c = 1.0 - 2.0 * sh * sh;
    const double s2 = 2.0 * s * c, c2 = 1.0 - 2.0 * s * s;
    const double s3 = s2 * c + c2 * s, c3 = c2 * c - s2 * s;
    const double s4 = 2.0 * s2 * c2, c4 = 1.0 - 2.0 * s2 * s2;
    return 1.0 + (kFirst.even * c + kFirst.odd * s) + (kSecond.even * c2 + kSecond.odd * s2) +
           (kThird.even * c3 + kThird.odd * s3) + (kFourth.even * c4 + kFourth.odd * s4);
}

} // namespace qc::ciede::rows
