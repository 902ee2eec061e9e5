// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli: what has to be done with a pair of pictures, as plain data, and the arithmetic of one pixel. Shared by
// both backends: the CPU evaluates it in double precision (the definition), CUDA in single precision.
//
// J. Alakuijala, Google. There is no paper with the exact algorithm; the constants are those of libjxl (see NOTICE). At
// full and at half size, light goes through a model of the eye's gain (X, Y and blue), each of these is split into four
// bands of frequencies, and the bands are compared; what the reference shows of activity hides errors. The result is a
// map of distances, whose largest value and norms are the scores.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "contract/types.hpp"
#include "device/fast_math.hpp"
#include "families/linear_light/linear_conversion.hpp"

namespace qc::butteraugli {

using namespace linear_light;

constexpr int kMinimumSize = 8; ///< of a scale

// ---- what to do: settled on the host, before the first picture ------------------------------------------------------

/// What differs between versions of libjxl.
template <typename Real>
struct Constants {
    Real compression;                          ///< of the high bands of Y, beyond a limit
    Real low_x, low_y, low_blue, masking_gain; ///< of the lowest band; of the masking
};

inline constexpr Constants<double> kConstants07{0.724216145665, 32.2217497012, 13.7697791434, 47.504615728,
                                                1.0 / (17.8 * 0.79079917404)};
inline constexpr Constants<double> kConstants011{0.688059627878, 33.832837186260, 14.458268100570, 49.87984651440,
                                                 1.0 / (17.83 * 0.79079917404)};

constexpr int kMaxRadius = 16;

/// Separable Gaussian, cut off and with mass 1. At borders it is divided by its mass inside the picture, except the
/// first blur, which sees the picture mirrored (the edge's sample twice).
template <typename Real>
struct Gaussian {
    int32_t radius;
    Real tap[kMaxRadius + 1]; ///< tap[i] weighs the samples at distance i
};

enum GaussianIndex { kAdaptation, kHighest, kMasking, kMiddle, kLowest, kGaussians };
inline constexpr double kDeviation[kGaussians] = {1.2, 1.56416327805, 2.7, 3.22489901262, 7.15593339443};
inline constexpr int kRadius[kGaussians] = {2, 3, 6, 7, 16};

/// The bands that line detectors look at, in the order of kLineSpecs.
enum LineBand { kUltraY, kUltraX, kHighY, kHighX, kMiddleY, kMiddleX, kLineBands };

/// Of a difference at a place: P and Q for what differs and for what was lost or exaggerated; n, added to the signal.
template <typename Real>
struct LineWeights {
    Real plain, asymmetric, norm;
};

constexpr int kScales = 2;
struct ScaleSize {
    int32_t width, height;
};

/// The whole task.
struct Plan {
    ColourConversion<double> reference, distorted;
    double intensity_target; ///< cd/m2 of linear 1.0
    double asymmetry;        ///< how much worse added high frequencies are than lost ones
    Constants<double> constants;
    LineWeights<double> lines[kLineBands];
    Gaussian<double> blur[kGaussians];
    int32_t scales; ///< 1, or 2 where the halved picture is large enough
    ScaleSize scale[kScales];
};

// Accumulators: bit-cast doubles of the whole map. The sums of its powers 2, 3, 6 and 12, and its largest value. Under
// weights, as a whole number, that of the weights follows.
constexpr int kPowers = 4;
inline constexpr int kPower[kPowers] = {2, 3, 6, 12};
constexpr int kLargest = kPowers;
constexpr int kAccumulatorWords = kPowers + 1;
constexpr int kSumOfWeights = kAccumulatorWords, kWeightedWords = kAccumulatorWords + 1;

// ---- arithmetic -----------------------------------------------------------------------------------------------------

QC_HD double reciprocal(double x) {
    return 1.0 / x;
}
QC_HD float reciprocal(float x) {
    return device::fast_reciprocal(x);
}
QC_HD double multiply_add(double a, double b, double c) {
    return a * b + c;
}
QC_HD float multiply_add(float a, float b, float c) {
    return fmaf(a, b, c);
}
QC_HD double smaller(double a, double b) {
    return a < b ? a : b;
}
QC_HD float smaller(float a, float b) {
    return fminf(a, b);
}
QC_HD double larger(double a, double b) {
    return a > b ? a : b;
}
QC_HD float larger(float a, float b) {
    return fmaxf(a, b);
}

QC_HD double magnitude(double x) {
    return std::abs(x);
}
QC_HD float magnitude(float x) {
    return std::abs(x);
}

QC_HD double square_root(double x) {
    return std::sqrt(x);
}
/// 0 for what is hardly more than 0, whose inverse root is not finite.
QC_HD float square_root(float x) {
    return x * device::fast_inverse_root(larger(x, 1e-30f));
}

// ---- the eye's gain -------------------------------------------------------------------------------------------------

/// Linear RGB to the responses of three kinds of cones, and what these respond to darkness.
inline constexpr double kMixing[3][3] = {{0.29956550340058319, 0.63373087833825936, 0.077705617820981968},
                                         {0.22158691104574774, 0.69391388044116142, 0.0987313588422},
                                         {0.02, 0.02, 0.20480129041026129}};
inline constexpr double kDarkness[3] = {1.7557483643287353, 1.7557483643287353, 12.226454707163354};

inline constexpr double kGainScale = 19.245013259874995, kGainShift = 9.9710635769299145,
                        kGainOffset = -23.16046239805755, kLeastGain = 1e-4;

/// Of positive numbers, by arithmetic alone: the same bits on every machine, and in loops that compilers vectorise.
/// x = 2^k m with m around 1; the logarithm of m is 2 artanh(s), s = (m - 1) / (m + 1), whose square is below 0.03.
inline double natural_log(double x) {
    constexpr uint64_t kRootOfHalfBits = 0x3fe6a09e667f3bcdu;
    const uint64_t above = std::bit_cast<uint64_t>(x) - kRootOfHalfBits, power = above & 0xfff0000000000000u;
    const double m = std::bit_cast<double>(above - power + kRootOfHalfBits);
    // The exponent as a number: added to the bits of 2^52 + 2^51, whose last place is 1.
    const double k = std::bit_cast<double>((above >> 52 ^ 0x800) + 0x4338000000000000u) - (6755399441055744.0 + 2048.0);
    const double s = (m - 1.0) / (m + 1.0), square = s * s;
    double sum = 0.0;
    for (int odd = 23; odd >= 1; odd -= 2) sum = sum * square + 1.0 / odd;
    return k * 0.693147180559945309 + 2.0 * s * sum;
}
QC_HD float natural_log(float x) {
    return 0.693147180559945309f * device::fast_log2(x);
}

/// How much a cone that is adapted to `light` (at least its darkness, which is positive) makes of what it sees.
template <typename Real>
QC_HD Real gain(Real light) {
    const Real response =
        multiply_add(static_cast<Real>(kGainScale), natural_log(light + static_cast<Real>(kGainShift)),
                     static_cast<Real>(kGainOffset));
    return larger(response * reciprocal(light), static_cast<Real>(kLeastGain));
}

/// What a cone of this darkness makes of light (without darkness), being adapted to other light around.
template <typename Real>
QC_HD Real adapted_response(Real light, Real around, Real darkness) {
    return larger((light + darkness) * gain(larger(around + darkness, darkness)), darkness);
}

// ---- bands ----------------------------------------------------------------------------------------------------------

/// Nothing up to `width`, and what is beyond it.
template <typename Real>
QC_HD Real without_small(Real x, Real width) {
    return x - smaller(larger(x, -width), width);
}
/// Twice up to `width`, and `width` more beyond it.
template <typename Real>
QC_HD Real with_small_doubled(Real x, Real width) {
    return x + smaller(larger(x, -width), width);
}
/// Only `factor` of what is beyond `limit`.
template <typename Real>
QC_HD Real compressed(Real x, Real limit, Real factor) {
    const Real inside = smaller(larger(x, -limit), limit);
    return multiply_add(x - inside, factor, inside);
}

/// High frequencies of X count less where Y has some.
template <typename Real>
QC_HD Real suppressed_by_y(Real x, Real y) {
    constexpr auto kShare = static_cast<Real>(0.653020556257), kStrength = static_cast<Real>(46.0);
    constexpr Real kFree = (1 - kShare) * kStrength;
    return x * multiply_add(kFree, reciprocal(multiply_add(y, y, kStrength)), kShare);
}

inline constexpr double kMiddleXWidth = 0.29, kMiddleYWidth = 0.1;
template <typename Real>
QC_HD Real middle_of_x(Real x) {
    return without_small(x, static_cast<Real>(kMiddleXWidth));
}
template <typename Real>
QC_HD Real middle_of_y(Real y) {
    return with_small_doubled(y, static_cast<Real>(kMiddleYWidth));
}

/// The two highest bands of one place.
template <typename Real>
struct HighBands {
    Real ultra, high;
};
/// From what is above the middle band, after suppression, and its blur.
template <typename Real>
QC_HD HighBands<Real> high_bands_of_x(Real x, Real blurred) {
    return {without_small(x - blurred, static_cast<Real>(0.04)), without_small(blurred, static_cast<Real>(1.5))};
}
template <typename Real>
QC_HD HighBands<Real> high_bands_of_y(Real y, Real blurred, Real compression) {
    const Real high = compressed(blurred, static_cast<Real>(28.4691806922), compression);
    const Real ultra = compressed(y - high, static_cast<Real>(5.19175294647), compression);
    return {static_cast<Real>(2.69313763794) * ultra,
            with_small_doubled(static_cast<Real>(2.155) * high, static_cast<Real>(0.132))};
}

// ---- differences ----------------------------------------------------------------------------------------------------

/// How far b lies outside of the interval between two multiples of a, given by their mean and half their distance.
template <typename Real>
QC_HD Real beyond(Real a, Real b, double mean, double half_width) {
    const Real from_mean = multiply_add(static_cast<Real>(-mean), a, b);
    const Real width = static_cast<Real>(half_width) * magnitude(a);
    return smaller(larger(from_mean, -width), width) - from_mean;
}

/// What line detectors see of a place before it is divided: the difference, and more of it where the distorted picture
/// b has less than 0.55 or more than 1.05 of the reference's a, or the other sign.
template <typename Real>
QC_HD Real undivided_line_difference(Real a, Real b, const LineWeights<Real>& weights) {
    return multiply_add(weights.asymmetric, beyond(a, b, 0.8, 0.25), weights.plain * (a - b));
}
template <typename Real>
QC_HD Real line_difference(Real a, Real b, const LineWeights<Real>& weights) {
    const Real mean = multiply_add(static_cast<Real>(0.5), magnitude(a) + magnitude(b), weights.norm);
    return undivided_line_difference(a, b, weights) * reciprocal(mean);
}

/// Squares of differences, and of what was lost below 0.4 of a or exaggerated beyond it: that is told by the
/// difference, for nothing may be left of it where the pictures are the same.
template <typename Real>
QC_HD Real squared_difference(Real a, Real b, Real weight, Real weight_of_lost) {
    const Real difference = a - b, lost = beyond(a, difference, 0.3, 0.3);
    return multiply_add(weight * difference, difference, weight_of_lost * lost * lost);
}

inline constexpr double kHighWeightX = 400.0, kHighWeightY = 1.50815703118, kHighShare = 0.8;
inline constexpr double kMiddleWeight[3] = {2150.0, 10.6195433239, 16.2176043152};       ///< X, Y, blue
inline constexpr double kLowWeight[3] = {29.2353797994, 0.844626970982, 0.703646627719}; ///< X, Y, blue
inline constexpr double kLowBlueOfY = 0.362267051518;

// ---- masking --------------------------------------------------------------------------------------------------------

inline constexpr double kActivityScale = 6.19424080439, kActivityShift = 6.19424080439 * 12.61050594197,
                        kActivityShiftRoot = 8.838128222070164;
inline constexpr double kActivityWeight = 10.0; ///< of a difference between both pictures' activities

/// What a picture's highest bands hide, before it is blurred. Sums of both bands of X and of Y.
template <typename Real>
QC_HD Real activity(Real x, Real y) {
    const Real from_x = static_cast<Real>(2.5) * x, from_y = static_cast<Real>(0.4) * y;
    const Real root = square_root(multiply_add(from_x, from_x, from_y * from_y));
    const Real shifted = multiply_add(static_cast<Real>(kActivityScale), root, static_cast<Real>(kActivityShift));
    return square_root(shifted) - static_cast<Real>(kActivityShiftRoot);
}

/// The three smallest of what comes, weighted.
template <typename Real>
struct Erosion {
    Real first, second, third;

    /// `centre` counts once, and twice its value two times.
    QC_HD explicit Erosion(Real centre) : first(centre), second(2 * centre), third(2 * centre) {}
    QC_HD void take(Real value) {
        const Real above = larger(first, value);
        first = smaller(first, value);
        const Real rest = larger(second, above);
        second = smaller(second, above);
        third = smaller(third, rest);
    }
    QC_HD Real value() const {
        return multiply_add(static_cast<Real>(0.45), first,
                            multiply_add(static_cast<Real>(0.3), second, static_cast<Real>(0.25) * third));
    }
};
constexpr int kErosionStep = 3;

/// How much a difference counts where the reference masks as much as `masking`: the higher bands', and the lowest's.
template <typename Real>
QC_HD Real visibility(Real masking, Real masking_gain, double offset, double scale, double strength) {
    const Real hidden = multiply_add(static_cast<Real>(scale), masking, static_cast<Real>(offset));
    const Real value =
        masking_gain * multiply_add(static_cast<Real>(strength), reciprocal(hidden), static_cast<Real>(1));
    return value * value;
}
template <typename Real>
QC_HD Real distance(Real high, Real low, Real masking, Real masking_gain) {
    const Real of_high = visibility(masking, masking_gain, 0.829591754942, 0.451936922203, 2.5485944793);
    const Real of_low = visibility(masking, masking_gain, 0.20025578522, 3.87449418804, 0.505054525019);
    return square_root(multiply_add(of_high, high, of_low * low));
}

inline constexpr double kFullShare = 0.85, kHalfShare = 0.5; ///< of a scale's distance

} // namespace qc::butteraugli
