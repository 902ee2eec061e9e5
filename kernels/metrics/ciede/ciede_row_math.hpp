// SPDX-License-Identifier: BSD-2-Clause-Patent
// Functions of the rows on the CPU (ciede_cpu_rows.cpp), without branches and tables, in loops that compilers
// vectorise. Where the reference calls the C library they are good to kRelativeError. Coefficients: polynomials through
// Chebyshev's points, computed with 113 bits.
//
// As they are not exact, they may have a rounding less: Cpu says whether there is an instruction for a * b + c. Whoever
// rounds a result of theirs to a float asks doubt(). What is rounded without asking is the reference's own operations,
// one by one, or a * b + c where a * b is exact anyway.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "device/cpu_versions.hpp"
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

// ---- products and sums ----------------------------------------------------------------------------------------------

/// a * b + c, with one rounding where that is an instruction, with two elsewhere.
template <class Cpu, typename T>
QC_INLINE_HELPER T product_sum(T a, T b, T c) {
    if constexpr (std::is_same_v<Cpu, device::AnyCpu>)
        return a * b + c;
    else
        return Cpu::fused(a, b, c);
}

/// A polynomial, its constant first.
template <class Cpu, typename T>
QC_INLINE_HELPER T polynomial(T, T last) {
    return last;
}
template <class Cpu, typename T, typename... Higher>
QC_INLINE_HELPER T polynomial(T x, T constant, Higher... higher) {
    return product_sum<Cpu>(polynomial<Cpu>(x, higher...), x, constant);
}

// ---- powers ---------------------------------------------------------------------------------------------------------

/// x^(-1/n), roughly: bits of a float are, up to a constant, its logarithm.
template <class Cpu>
QC_INLINE_HELPER float inverse_root_start(float x, float inverse_degree, float offset) {
    const auto logarithm = static_cast<float>(std::bit_cast<int32_t>(x));
    return std::bit_cast<float>(static_cast<int32_t>(product_sum<Cpu>(-inverse_degree, logarithm, offset)));
}

/// t^(-1/3) of what is not far from 1, with an error of 2e-5.
template <class Cpu>
QC_INLINE_HELPER float inverse_cube_root(double t) {
    const auto rough = static_cast<float>(t);
    const float start = inverse_root_start<Cpu>(rough, 1.0f / 3.0f, 0x54a20000); // |v| < 0.103
    const float v = product_sum<Cpu>(-(rough * start), start * start, 1.0f);
    return product_sum<Cpu>(start * v, polynomial<Cpu>(v, 1.0f / 3.0f, 2.0f / 9.0f, 14.0f / 81.0f), start);
}

/// t^(1/3). With r near t^(-1/3), and w = 1 - t r^3, it is t r^2 (1 - w)^(-2/3).
template <class Cpu>
QC_INLINE_HELPER double cube_root(double t, float inverse) {
    const double r = inverse, near = t * (r * r); // |w| < 5e-5
    const double w = product_sum<Cpu>(-near, r, 1.0);
    return product_sum<Cpu>(near * w, polynomial<Cpu>(w, 2.0 / 3.0, 5.0 / 9.0), near);
}
template <class Cpu = device::AnyCpu>
QC_INLINE_HELPER double cube_root(double t) {
    return cube_root<Cpu>(t, inverse_cube_root<Cpu>(t));
}

/// x^(-1/5), with an error of 6e-6.
template <class Cpu>
QC_INLINE_HELPER float inverse_fifth_root(double x) {
    const auto rough = static_cast<float>(x);
    const float start = inverse_root_start<Cpu>(rough, 1.0f / 5.0f, 0x4c2b4000); // |v| < 0.156
    const float start2 = start * start;
    const float v = product_sum<Cpu>(-(rough * start), start2 * start2, 1.0f);
    return product_sum<Cpu>(start * v, polynomial<Cpu>(v, 0.2f, 0.12f, 0.088f, 0.0704f), start);
}

/// x^2.4, likewise: with r near x^(-1/5), and w = 1 - x r^5, it is (x r)^3 (1 - w)^(-3/5).
template <class Cpu>
QC_INLINE_HELPER double power_of_twelve_fifths(double x, float inverse) {
    const double r = inverse, square = r * r, xr = x * r; // |w| < 3e-5
    const double w = product_sum<Cpu>(-xr, square * square, 1.0), near = xr * (xr * xr);
    return product_sum<Cpu>(near * w, polynomial<Cpu>(w, 0.6, 0.48), near);
}
template <class Cpu = device::AnyCpu>
QC_INLINE_HELPER double power_of_twelve_fifths(double x) {
    return power_of_twelve_fifths<Cpu>(x, inverse_fifth_root<Cpu>(x));
}

/// x^7
QC_INLINE_HELPER double seventh_power(double x) {
    const double square = x * x, cube = square * x;
    return cube * cube * x;
}

/// exp(-x) for x from 0 to 64.
template <class Cpu = device::AnyCpu>
QC_INLINE_HELPER double decay(double x) {
    constexpr double kLog2E = 1.44269504088896340736, kRounder = 0x1.8p52;
    const double shifted = product_sum<Cpu>(x, -kLog2E, kRounder);
    const double part = product_sum<Cpu>(x, -kLog2E, kRounder - shifted); // -0.5 to 0.5, and hardly beyond
    const double p =
        polynomial<Cpu>(part, 1.0000000000000135, 0.69314718055994617, 0.24022650695640338, 0.05550410866465167,
                        0.0096181291939344167, 0.0013333558200794658, 0.00015403433751173619, 1.5252672924801992e-05,
                        1.3259645262576621e-06, 1.0205905424907286e-07);
    return std::bit_cast<double>(std::bit_cast<int64_t>(p) +
                                 static_cast<int64_t>(std::bit_cast<uint64_t>(shifted) << 52));
}

// ---- angles ---------------------------------------------------------------------------------------------------------

/// |x| up to a quarter turn, and a little beyond.
template <class Cpu = device::AnyCpu>
QC_INLINE_HELPER double sine(double x) {
    return x * polynomial<Cpu>(x * x, 0.9999999999999496, -0.16666666666466515, 0.0083333333203498353,
                               -0.00019841266681475399, 2.7556952769156053e-06, -2.5030262496013584e-08,
                               1.541113587105698e-10);
}

struct Direction {
    double cosine, sine;
};

/// |x| up to 0.99: better than the other functions, for the angle is multiplied afterwards.
template <class Cpu>
QC_INLINE_HELPER Direction direction_of(double x) {
    const double square = x * x;
    return {polynomial<Cpu>(square, 0.99999999999999878, -0.4999999999998801, 0.041666666664708717,
                            -0.001388888876897555, 2.4801552318740756e-05, -2.7552077112236255e-07,
                            2.0486666664988964e-09),
            x * polynomial<Cpu>(square, 0.99999999999999989, -0.16666666666665866, 0.0083333333332025871,
                                -0.00019841269761199359, 2.7557295866741735e-06, -2.5048608908958e-08,
                                1.5798718364982918e-10)};
}

/// Of twice the angle.
template <class Cpu>
QC_INLINE_HELPER Direction twice(const Direction& direction) {
    const double two_sines = direction.sine + direction.sine;
    return {product_sum<Cpu>(-two_sines, direction.sine, 1.0), two_sines * direction.cosine};
}

/// The sides of a right-angled triangle.
struct Sides {
    double longer, shorter;
    bool wide; ///< its smaller angle is above pi / 8
};
QC_INLINE_HELPER Sides sides_of(double b, double a) {
    constexpr double kTangent = 0.41421356237309504880; // of pi / 8
    constexpr double kSmallest = 0x1p-1000;             // where both are 0
    const double across = std::abs(a), up = std::abs(b);
    const double longer = std::max(std::max(across, up), kSmallest), shorter = std::min(across, up);
    return {longer, shorter, shorter > kTangent * longer};
}

/// What atan2(b, a) is made of: atan(x) = pi / 4 - atan((1 - x) / (1 + x)).
QC_INLINE_HELPER double octant_tangent(double b, double a) {
    const auto [longer, shorter, wide] = sides_of(b, a);
    return (wide ? shorter - longer : shorter) / (wide ? shorter + longer : longer);
}

/// atan2(b, a), and 0 for 0 and 0.
/// @param tangent octant_tangent()
template <class Cpu>
QC_INLINE_HELPER double angle_of(double b, double a, double tangent) {
    const double small =
        tangent * polynomial<Cpu>(tangent * tangent, 0.99999999999997324, -0.33333333330803411, 0.19999999604886934,
                                  -0.1428569042358194, 0.11110385039747965, -0.09078391987052542, 0.075637029167885728,
                                  -0.058745031872276962, 0.030662402628910412);
    const double octant = sides_of(b, a).wide ? kPi / 4.0 + small : small;
    const double quadrant = std::abs(b) > std::abs(a) ? kPi / 2.0 - octant : octant;
    return std::copysign(a < 0.0 ? kPi - quadrant : quadrant, b);
}
template <class Cpu = device::AnyCpu>
QC_INLINE_HELPER double angle_of(double b, double a) {
    return angle_of<Cpu>(b, a, octant_tangent(b, a));
}

/// T of the standard, not rounded. With h the hue less 5/8 of a turn, its waves are polynomials in cos h and sin h.
template <class Cpu = device::AnyCpu>
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
    const auto [c, s] = twice<Cpu>(twice<Cpu>(direction_of<Cpu>(0.25 * (hue - 1.25 * kPi))));
    // cos(n h) and sin(n h) / sin h as Chebyshev's polynomials in cos h, gathered by powers.
    const double even = polynomial<Cpu>(c, 1.0 + kFourth.even, kFirst.even - 3.0 * kThird.even, -8.0 * kFourth.even,
                                        4.0 * kThird.even, 8.0 * kFourth.even);
    const double odd = polynomial<Cpu>(c, kFirst.odd - kThird.odd, 2.0 * kSecond.odd - 4.0 * kFourth.odd,
                                       4.0 * kThird.odd, 8.0 * kFourth.odd);
    return product_sum<Cpu>(s, odd, even);
}

} // namespace qc::ciede::rows
