// SPDX-License-Identifier: BSD-2-Clause-Patent
// Arithmetic of SpEED that both backends share: C. Bampis, P. Gupta, R. Soundararajan, A. Bovik, "SpEED-QA: Spatial
// Efficient Entropic Differencing for Image and Video Quality", IEEE Signal Processing Letters 24(9), 2017, with the
// constants and the order of operations of libvmaf 3.2.0.
//
// Determinism: every sum below has one order, every step one rounding (single precision unless it says double), and no
// library function is called whose last bit may differ between a host and a device. So both backends, every run, every
// batch size and slot count give the same bits, and the decision whether a plane is singular is the same everywhere.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "contract/types.hpp"
#include "device/bits.hpp"
#include "device/fast_math.hpp"
#include "device/unroll.hpp"
#include "families/gaussian/gaussian_window.hpp"
#include "families/resize/resize.hpp"

namespace qc::speed {

constexpr int kDecimation = 16; ///< the grid keeps every 16th smoothed sample
constexpr int kBlockSide = 5;   ///< of the blocks whose entropy is estimated, in samples of the grid
constexpr int kDimensions = kBlockSide * kBlockSide;
constexpr int kMinimumSide = kDecimation * kBlockSide; ///< of a plane after resizing: one block
constexpr int kMaxSmoothingTaps = 35, kMaxMeanTaps = 9;
/// The covariance is added up over groups of rows of windows, each for itself, then over the groups in their order.
constexpr int kCovarianceGroups = 64;
/// First row of a group; that of group kCovarianceGroups is where the last one ends.
QC_HD int first_of_group(int group, int rows) {
    return group * rows / kCovarianceGroups;
}
constexpr double kSmallest = 1e-6; ///< of eigenvalues and pivots of a regular plane

using SmoothingWindow = Window<kMaxSmoothingTaps>;
using MeanWindow = Window<kMaxMeanTaps>;

// ---- functions whose last bit is defined here -----------------------------------------------------------------------

/// Base-2 logarithm in double precision, from additions, multiplications and divisions only. Within 3 units in the last
/// place of the true value; NaN below 0, minus infinity at 0.
QC_HD double log2_of(double x) {
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    constexpr uint64_t kInfinity = 0x7ff0000000000000, kMagnitude = 0x7fffffffffffffff, kMantissa = 0x000fffffffffffff;
    if ((bits & kMagnitude) == 0) return -1.0 / (x * x);
    if (bits == kInfinity || x != x) return x;
    if (bits > kInfinity) {
        constexpr uint64_t kNan = 0x7ff8000000000000;
        memcpy(&x, &kNan, sizeof x);
        return x;
    }
    int exponent = 0;
    if (bits < (kMantissa + 1)) { // subnormal
        x *= 18014398509481984.0; // 2^54
        memcpy(&bits, &x, sizeof bits);
        exponent = -54;
    }
    // x = 2^exponent * m with m from sqrt(1/2) to sqrt(2).
    constexpr uint64_t kOne = 0x3ff0000000000000, kRootHalf = 0x3fe6a09e667f3bcd;
    const uint64_t shifted = bits + (kOne - kRootHalf);
    exponent += static_cast<int>(shifted >> 52) - 1023;
    const uint64_t m_bits = (shifted & kMantissa) + kRootHalf;
    double m = 0.0;
    memcpy(&m, &m_bits, sizeof m);
    // ln(m) = 2 artanh(s) with s = (m - 1) / (m + 1), |s| <= 0.1716: eleven terms of the series leave 2^-59.
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double tail = 1.0 / 23.0;
    tail = tail * z + 1.0 / 21.0;
    tail = tail * z + 1.0 / 19.0;
    tail = tail * z + 1.0 / 17.0;
    tail = tail * z + 1.0 / 15.0;
    tail = tail * z + 1.0 / 13.0;
    tail = tail * z + 1.0 / 11.0;
    tail = tail * z + 1.0 / 9.0;
    tail = tail * z + 1.0 / 7.0;
    tail = tail * z + 1.0 / 5.0;
    tail = tail * z + 1.0 / 3.0;
    // log2(m) = s * 2/ln2 + s^3 * tail * 2/ln2; the constant is split so that the leading product is almost exact.
    constexpr double kTwoOverLn2 = 2.8853900817779268, kTwoOverLn2Low = 4.0710547481862066e-17;
    const double small = (s * z) * tail * kTwoOverLn2 + s * kTwoOverLn2Low;
    return static_cast<double>(exponent) + (s * kTwoOverLn2 + small);
}

/// log2(2 pi e), the constant of a Gaussian's differential entropy.
constexpr double kLog2TwoPiE = 4.094191170361282;

/// Largest distance, in floats, of the guess below from the float that is nearest to the true value: PTX's rsqrt.approx
/// is within 2^-22.9 of it, 2.2 units in the last place, and the nearest float within half a unit.
constexpr int kInverseRootGuessError = 2;

/// Single-precision 1/sqrt(a) for a from 1 to 2, from a guess: one step of Halley's iteration, whose residual 1 - a y^2
/// has its lost digits put back. Gives the bits of dividing 1 by the square root in double precision and rounding once,
/// for each of the 2^23 + 1 arguments and every guess that is near enough (a test tries them all), in four operations
/// that wait for a.
QC_HD float inverse_root_from(float a, float guess) {
    const float y = guess, square = y * y, lost = fmaf(y, y, -square);
    const float residual = fmaf(-a, lost, fmaf(-a, square, 1.0f));
    return fmaf(y * residual, fmaf(0.375f, residual, 0.5f), y);
}

QC_HD float inverse_root(float a) {
#if defined(__CUDA_ARCH__)
    if (a >= 1.0f && a <= 2.0f) return inverse_root_from(a, device::fast_inverse_root(a));
#endif
    return static_cast<float>(1.0 / sqrt(static_cast<double>(a)));
}

/// A quotient, and whether it is surely the nearest float.
struct Quotient {
    float value;
    bool sure;
};

/// a / b from a guess of 1 / b that is off by some units in the last place at most: three operations that wait for the
/// guess. A second correction, for which nobody waits, tells whether the first was enough: it starts within a unit of
/// the true quotient, and then gives the nearest float (P. Markstein, "Computation of elementary functions on the IBM
/// RISC System/6000 processor", IBM Journal of Research and Development 34(1), 1990). Precondition: nothing overflows
/// or loses digits to the smallest exponent.
QC_HD Quotient quotient_from(float a, float b, float guess) {
    const float first = a * guess;
    const float reciprocal = fmaf(guess, fmaf(-b, guess, 1.0f), guess);
    const float value = fmaf(fmaf(-b, first, a), reciprocal, first);
    return {value, fmaf(fmaf(-b, value, a), reciprocal, value) == value};
}

/// -(a / b), of which `magnitude` is known.
QC_HD float with_sign_of_minus(float magnitude, float a, float b) {
    constexpr uint32_t kSign = 0x80000000u;
    return device::float_of(device::bits_of(magnitude) | (~(device::bits_of(a) ^ device::bits_of(b)) & kSign));
}

// ---- entropies ------------------------------------------------------------------------------------------------------

/// Entropy of a block whose coefficients have the covariance's eigenvalues times `energy` as variances, and noise.
/// Gaussian scale mixture; the sum is rounded to single precision after each eigenvalue, in the order they are stored.
QC_HD float block_entropy(const float* eigenvalues, float energy, float noise) {
    float entropy = 0.0f;
#if defined(__CUDA_ARCH__)
#pragma unroll 5 // the logarithms do not wait for each other
#endif
    for (int k = 0; k < kDimensions; ++k) {
        const float variance = eigenvalues[k] > 0.0f ? eigenvalues[k] : 0.0f;
        const float argument = variance * energy + noise;
        entropy =
            static_cast<float>(static_cast<double>(entropy) + (log2_of(static_cast<double>(argument)) + kLog2TwoPiE));
    }
    return entropy;
}

/// Local statistics of one block of one plane.
struct BlockStatistics {
    float entropy, energy;
};

/// How the two pictures' energies weight the entropies: libvmaf's speed_weight_var_mode.
struct EntropyWeights {
    double reference, distorted; ///< 1 + a mix of the energies
};
QC_HD EntropyWeights entropy_weights(int mode, float reference, float distorted) {
    const double one_reference = static_cast<double>(1.0f + reference);
    const double one_distorted = static_cast<double>(1.0f + distorted);
    const double r = static_cast<double>(reference), d = static_cast<double>(distorted);
    const double mean = 1.0 + static_cast<double>(reference + distorted) / 2.0;
    switch (mode) {
    case 1:
        return {one_reference, one_reference};
    case 2:
        return {one_distorted, one_distorted};
    case 3:
        return {mean, mean};
    case 4:
        return {one_reference, mean};
    case 5:
        return {one_reference, 1.0 + (0.75 * r + 0.25 * d)};
    case 6:
        return {one_reference, 1.0 + (0.25 * r + 0.75 * d)};
    default:
        return {one_reference, one_distorted};
    }
}

/// Difference of a block's weighted entropies, 0 where both are below the visible ones.
QC_HD float entropy_difference(const BlockStatistics& reference, const BlockStatistics& distorted, int mode,
                               float visible_entropy) {
    if (reference.entropy < visible_entropy && distorted.entropy < visible_entropy) return 0.0f;
    const EntropyWeights weights = entropy_weights(mode, reference.energy, distorted.energy);
    const float a = static_cast<float>(static_cast<double>(reference.entropy) * log2_of(weights.reference));
    const float b = static_cast<float>(static_cast<double>(distorted.entropy) * log2_of(weights.distorted));
    return fabsf(a - b);
}

/// What a pair of planes leaves behind: two words.
enum PlaneWord { kScoreBits, kSingular, kWordsPerPlane };

/// A score as a word; one pattern for all NaNs, whose bits hardware chooses.
QC_HD uint64_t score_bits(float score) {
    constexpr uint64_t kNan = 0x7ff8000000000000;
    const double value = static_cast<double>(score);
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return score != score ? kNan : bits;
}

} // namespace qc::speed
