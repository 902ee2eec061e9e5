// SPDX-License-Identifier: BSD-2-Clause-Patent
// Structural similarity of integer samples, as Daala's tools and libvmaf's extractor "ssim" compute it: sums under a
// window of nine taps in integers, the index in double precision. Host and device.
#pragma once

#include "contract/types.hpp"
#include "device/unroll.hpp"
#include "families/structural/structural_math.hpp"

namespace qc::ssim {

/// Accumulators: the sum of the weighted indices, and with weights that of the weights, each window's times its
/// sample's: at most 2^24, so that the sum of 2^29 of them fits the 53 bits of a double.
enum Word { kIndices, kWeights, kWeightedWords };

constexpr int kRadius = 4, kTaps = 2 * kRadius + 1;

/// A Gaussian of sigma 1.5 in units of 1/256.
QC_HD constexpr uint32_t tap(int k) {
    constexpr uint32_t kTap[kTaps] = {2, 9, 28, 55, 68, 55, 28, 9, 2};
    return kTap[k];
}

constexpr int kWeightBits = 16; ///< the window's weight is 2^16 where it lies inside the picture

/// Weight of the taps around i that lie inside 0..n-1. The others are dropped.
QC_HD uint32_t weight_at(int i, int n) {
    uint32_t weight = 0;
    QC_UNROLL for (int k = 0; k < kTaps; ++k) {
        const int at = i + k - kRadius;
        weight += at >= 0 && at < n ? tap(k) : 0;
    }
    return weight;
}

/// What is summed up, made of the samples a and b of the two pictures.
enum Quantity { kA, kB, kSquareA, kProduct, kSquareB, kQuantities };

/// One sample of both pictures, weighted by `weight`, onto sums of all quantities. Bounds: along a row 2^8 samples'
/// worth, so that 32 bits hold samples of up to 12 bits; under the whole window 2^16, so that they hold those of 8
/// bits.
template <typename Sum>
QC_HD void add_samples(uint32_t weight, uint32_t a, uint32_t b, Sum* sums) {
    const Sum weighted_a = static_cast<Sum>(weight) * a, weighted_b = static_cast<Sum>(weight) * b;
    sums[kA] += weighted_a;
    sums[kB] += weighted_b;
    sums[kSquareA] += weighted_a * a;
    sums[kProduct] += weighted_a * b;
    sums[kSquareB] += weighted_b * b;
}

/// The index at a position times the weight of its window, from the window's sums (equation 13 of Wang et al., with
/// numerator and denominator multiplied by the weight's fourth power).
template <typename Sum>
QC_HD double weighted_index(const Sum* sums, uint32_t window_weight, uint32_t peak) {
    const double largest = peak, w = window_weight;
    const double c1 = largest * largest * (0.01 * 0.01) * w * w, c2 = largest * largest * (0.03 * 0.03) * w * w;
    const auto a = static_cast<double>(sums[kA]), b = static_cast<double>(sums[kB]);
    const auto square_a = static_cast<double>(sums[kSquareA]), square_b = static_cast<double>(sums[kSquareB]);
    const double mean_aa = a * a, mean_bb = b * b, mean_ab = a * b;
    const double covariance = static_cast<double>(sums[kProduct]) * w - mean_ab;
    const double numerator = w * (2 * mean_ab + c1) * (c2 + 2 * covariance);
    const double denominator = (mean_aa + mean_bb + c1) * (square_a * w - mean_aa + square_b * w - mean_bb + c2);
    return numerator / denominator;
}

/// The term of a position in a FixedPoint sum: at most about 1.
QC_HD uint64_t fixed_term(double weighted, const structural::FixedPoint& fixed) {
    return fixed.from(weighted * (1.0 / (1 << kWeightBits)));
}

} // namespace qc::ssim
