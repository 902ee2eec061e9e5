// SPDX-License-Identifier: BSD-2-Clause-Patent
// Structural similarity (Wang, Bovik, Sheikh, Simoncelli, IEEE TIP 2004), the arithmetic of libvmaf 3.2.0: samples and
// means in single precision, sums of products in double. Shared by float_ssim and float_ms_ssim, host and device.
//
// Where this differs from libvmaf in operations, it does not in results: see Factor and FixedPoint.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "contract/types.hpp"
#include "device/bits.hpp"
#include "device/unroll.hpp"

namespace qc::structural {

// ---- bits -----------------------------------------------------------------------------------------------------------

QC_HD double double_of(uint32_t high, uint32_t low) {
#if defined(__CUDA_ARCH__)
    return __hiloint2double(static_cast<int>(high), static_cast<int>(low));
#else
    return std::bit_cast<double>(static_cast<uint64_t>(high) << 32 | low);
#endif
}

// ---- sums of single-precision products in double precision ----------------------------------------------------------
//
// A GPU converts float to double at a quarter of the rate at which it adds doubles, and there is one conversion for
// each product. Moving the bits instead gives the value times 2^-896: the exponents' biases are 127 and 1023. Powers of
// two change nothing in a sum but its exponent, so the sum is scaled back once, at its end. Zeros and subnormal numbers
// come out right too.

/// A sample, taken apart so that its products can be widened with their sign in few instructions.
/// @tparam kSigned whether samples may be negative
template <bool kSigned>
struct Factor {
    float magnitude;
    uint32_t sign; ///< the sign bit

    QC_HD explicit Factor(float sample)
        : magnitude(kSigned ? fabsf(sample) : sample), sign(kSigned ? device::bits_of(sample) & 0x80000000u : 0) {}

    /// f32(sample * weight) * 2^-896, exactly. Precondition: weight >= 0.
    QC_HD double widened_product(float weight) const {
        const uint32_t bits = device::bits_of(magnitude * weight);
        return double_of((bits >> 3) + sign, bits << 29);
    }
};

/// A sum of widened values in single precision, rounded once.
QC_HD float narrowed(double sum) {
    return static_cast<float>(sum * 0x1p896);
}

// ---- the window -----------------------------------------------------------------------------------------------------

constexpr int kTaps = 11, kMargin = kTaps - 1; ///< results are kMargin fewer than samples
constexpr int kDistinctTaps = 6;               ///< the window is symmetric

/// A Gaussian of sigma 1.5, rounded to six decimals; the sum is 1.000002.
QC_HD constexpr float window_tap(int k) {
    constexpr float kTap[kDistinctTaps] = {0.001028f, 0.007599f, 0.036001f, 0.109361f, 0.213006f, 0.266012f};
    return kTap[k < kDistinctTaps ? k : kMargin - k];
}

/// kRun neighbouring results of the window: result(i) = sum over k of window_tap(k) * read(i + k), products in single
/// precision, added in double in the order of k. Calls write(i, result). Reads each of the kRun + kMargin samples once,
/// and never after writing a result with its number.
///
/// A product is the same for tap k of one result and tap kMargin - k of another: it is made and widened once for both.
template <int kRun, bool kSigned, typename Read, typename Write>
QC_HD void filter_run(const Read& read, const Write& write) {
    double sum[kRun];
    QC_UNROLL for (int i = 0; i < kRun + kMargin; ++i) {
        const Factor<kSigned> sample(read(i));
        QC_UNROLL for (int k = 0; k < kDistinctTaps; ++k) {
            const int later = i - k, earlier = i - (kMargin - k); // results with this sample at tap k and kMargin - k
            const bool has_later = later >= 0 && later < kRun;
            const bool has_earlier = earlier >= 0 && earlier < kRun && earlier != later;
            if (!has_later && !has_earlier) continue;
            const double product = sample.widened_product(window_tap(k));
            if (has_later) sum[later] = k == 0 ? product : sum[later] + product;
            if (has_earlier) sum[earlier] = sum[earlier] + product;
        }
        if (i >= kMargin) write(i - kMargin, narrowed(sum[i - kMargin]));
    }
}

// ---- terms of a position --------------------------------------------------------------------------------------------

constexpr float kC1 = 0x1.a028f4p+2f; ///< (0.01 * 255)^2
constexpr float kC2 = 0x1.d42e12p+5f; ///< (0.03 * 255)^2
constexpr float kC3 = 0x1.d42e12p+4f; ///< half of it

/// What the window is run over, made of the samples a and b of the two pictures.
enum Quantity { kA, kB, kSquareA, kSquareB, kProduct, kQuantities };

/// The window's results at one position, by Quantity.
struct Moments {
    float of[kQuantities];
};

/// Variances and covariance under the window, in single precision as in libvmaf.
struct Spread {
    float variance_a, variance_b, covariance;
    float deviations; ///< product of the standard deviations
};

QC_HD Spread spread_of(const Moments& m) {
    const float mean_a = m.of[kA], mean_b = m.of[kB];
    const float difference_a = m.of[kSquareA] - mean_a * mean_a, difference_b = m.of[kSquareB] - mean_b * mean_b;
    Spread spread;
    spread.variance_a = difference_a > 0.0f ? difference_a : 0.0f;
    spread.variance_b = difference_b > 0.0f ? difference_b : 0.0f;
    spread.covariance = m.of[kProduct] - mean_a * mean_b;
    // libvmaf takes the root in double precision and rounds it: the same number.
    spread.deviations = sqrtf(spread.variance_a * spread.variance_b);
    return spread;
}

/// Equation 6.
QC_HD double luminance(const Moments& m) {
    const float a = m.of[kA], b = m.of[kB];
    const float denominator = (a * a + b * b) + kC1;
    return (2.0 * static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(kC1)) /
           static_cast<double>(denominator);
}

/// Equation 9.
QC_HD double contrast(const Spread& s) {
    const float denominator = (s.variance_a + s.variance_b) + kC2;
    return (2.0 * static_cast<double>(s.deviations) + static_cast<double>(kC2)) / static_cast<double>(denominator);
}

/// Equation 10.
QC_HD double structure(const Spread& s) {
    const float covariance = s.covariance < 0.0f && s.deviations <= 0.0f ? 0.0f : s.covariance;
    return static_cast<double>((covariance + kC3) / (s.deviations + kC3));
}

// ---- sums over a picture --------------------------------------------------------------------------------------------

/// Words that a picture's sums take, each a FixedPoint sum.
enum SumWord { kSumProduct, kSumLuminance, kSumContrast, kSumStructure, kSumWords };
/// With weights, where every term counts as often as its position's weight says, the sum of these follows.
constexpr int kSumOfWeights = kSumWords, kWeightedSumWords = kSumWords + 1;

/// Terms are added as integers, so that the order does not matter: threads may add them as they come. A term is below
/// 2; its rounding, to 2^-41 for 1920x1080, is far below the rounding of the mean to single precision that follows.
class FixedPoint {
public:
    /// For sums of `terms` terms.
    static FixedPoint for_sum_of(int64_t terms) {
        // |sum| < 2^63, and |term| < 2^(51 - fraction bits) for add() below.
        const int room = 62 - std::bit_width(static_cast<uint64_t>(terms));
        return FixedPoint(room < 50 ? room : 50);
    }

    /// The integer for a term: the low bits of the sum with a number whose last bit has the right weight. Two's
    /// complement.
    QC_HD uint64_t from(double term) const { return device::bits_of(term + shifter_) - device::bits_of(shifter_); }

    double to_double(uint64_t sum) const { return std::ldexp(static_cast<double>(static_cast<int64_t>(sum)), -bits_); }

    FixedPoint() = default;

private:
    explicit FixedPoint(int bits) : shifter_(std::ldexp(1.5, 52 - bits)), bits_(bits) {}

    double shifter_ = 0.0;
    int bits_ = 0;
};

/// Adds the terms of a position to sums[kSumWords].
/// @param with_luminance else its sum, and that of the product, are left as they are
/// @param weight how often the terms count
/// @return the product of all terms; without luminance 1
QC_HD double add_terms(const Moments& moments, bool with_luminance, const FixedPoint& fixed, uint64_t* sums,
                       uint32_t weight = 1) {
    const Spread spread = spread_of(moments);
    const double c = contrast(spread), s = structure(spread);
    sums[kSumContrast] += fixed.from(c) * weight;
    sums[kSumStructure] += fixed.from(s) * weight;
    if (!with_luminance) return 1.0;
    const double l = luminance(moments);
    const double product = l * c * s;
    sums[kSumLuminance] += fixed.from(l) * weight;
    sums[kSumProduct] += fixed.from(product) * weight;
    return product;
}

/// What a map shows of a position: how much of its similarity is missing.
QC_HD float loss_of(double similarity) {
    return static_cast<float>(1.0 - similarity);
}

} // namespace qc::structural
