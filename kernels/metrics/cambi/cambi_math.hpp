// SPDX-License-Identifier: BSD-2-Clause-Patent
// Per-sample arithmetic of CAMBI, shared by both backends.
//
// P. Tandon, M. Afonso, J. Sole, L. Krasula: "CAMBI: Contrast-aware Multiscale Banding Index", PCS 2021. The details
// follow libvmaf 3.2.0, which differs from the paper in weights, pooling and options.
#pragma once

#include "contract/types.hpp"
#include "device/bits.hpp"

namespace qc::cambi {

constexpr int kScales = 5;
constexpr int kDepth = 10; ///< of the samples that are analysed, whatever the input has
/// Largest sample: rounding 12- and 16-bit input may give one more than 10 bits hold.
constexpr int kLargestSample = 1 << kDepth;
constexpr int kMaxWindow = 65;      ///< side of the square of neighbours, odd
constexpr int kMaxDifferences = 32; ///< luma steps that are looked for: 1 .. kMaxDifferences

// ---- spatial mask ---------------------------------------------------------------------------------------------------

/// Banding is looked for in smooth areas: where enough samples of a square around the sample equal their neighbours on
/// the right and below.
constexpr int kMaskReach = 3;
constexpr int kMaskSide = 2 * kMaskReach + 1;

/// The smallest e with 2^e >= value; 0 for 0.
constexpr int ceil_log2(int value) {
    int exponent = 0;
    while ((1 << exponent) < value) ++exponent;
    return exponent;
}

/// A sample is masked in when more than this many of the kMaskSide^2 around it are flat.
constexpr int mask_limit(int width, int height) {
    constexpr int kArea = kMaskSide * kMaskSide;
    return (kArea + 3 * (ceil_log2((width >> 6) * (height >> 6)) - 11) - 1) >> 1;
}

// ---- mode filter ----------------------------------------------------------------------------------------------------

/// What at least two of the three are, or the smallest. Two equal ones are the median too; if they are the two
/// smallest, then they are also the minimum.
template <typename T>
QC_HD T mode_of_three(T a, T b, T c) {
    const T low = a < b ? a : b, high = a < b ? b : a;
    const T top = high < c ? c : high, rest = high < c ? high : c;
    const T middle = low < rest ? rest : low, bottom = low < rest ? low : rest;
    return middle == top ? top : bottom;
}

// ---- c-values -------------------------------------------------------------------------------------------------------

/// Weight of a luma step of `difference` codes.
QC_HD int contrast_weight(int difference) {
    // libvmaf's table: 1 2 3 4, then steps at 5, 7, 9, 13, 17 and 24.
    return difference <= 4    ? difference
           : difference <= 5  ? 4
           : difference <= 7  ? 5
           : difference <= 11 ? 6
           : difference <= 15 ? 7
           : difference <= 22 ? 8
                              : 9;
}

/// How visible a step is between `own` samples of the pixel's value and `other` samples of a value some codes away,
/// both in the window around the pixel: weight * own * other / (own + other). The product is at most 9 * 2112 * 2113,
/// and rounded once, as weight * own is exact in single precision.
/// @param reciprocal of own + other, see reciprocals()
QC_HD float contrast(int weight, float own, float other, float reciprocal) {
    return weight * own * other * reciprocal;
}

// A c-value that is not 0 lies in [0.5, 2^14): it is a multiple of 2^-24, and so a 64-bit sum of c-values in units of
// 2^-24 is exact up to 2^25 of them.
constexpr int kFractionBits = 24;

/// c in units of 2^-kFractionBits. Precondition: c >= 0.5.
QC_HD uint64_t to_fixed_point(float c) {
    const uint32_t bits = device::bits_of(c);
    return static_cast<uint64_t>((bits & 0x7fffffu) | 0x800000u) << ((bits >> 23) - 126);
}

/// Order-preserving key of a c-value that is not 0: below 2^27.
constexpr int kKeyBits = 27;
constexpr uint32_t kKeyOrigin = 0x3f000000u; ///< bits of 0.5
QC_HD uint32_t key_of(float c) {
    return device::bits_of(c) - kKeyOrigin;
}
QC_HD uint64_t fixed_point_of_key(uint32_t key) {
    const uint32_t bits = key + kKeyOrigin;
    return static_cast<uint64_t>((bits & 0x7fffffu) | 0x800000u) << ((bits >> 23) - 126);
}

/// Heat maps hold c-values as 16-bit samples; `full` is the c-value that becomes the largest.
QC_HD uint16_t heat(float c, float full) {
    const float sample = full > 0.0f ? c * 65535.0f / full : 0.0f;
    return static_cast<uint16_t>(sample < 65535.0f ? sample : 65535.0f);
}

// ---- map ------------------------------------------------------------------------------------------------------------

/// What a map keeps of a c-value between counting and drawing: the upper half of its bits, and so 8 significant ones. A
/// picture shows no more.
QC_HD uint16_t short_c_value(float c) {
    return static_cast<uint16_t>(device::bits_of(c) >> 16);
}
QC_HD float from_short(uint16_t kept) {
    return device::float_of(static_cast<uint32_t>(kept) << 16);
}

/// What a c-value of a scale adds to a score or to a value of the map, over the area of the window.
inline float scale_weight(int scale, int window) {
    return static_cast<float>(16 >> scale) / static_cast<float>(window * window);
}

/// Sample of the analysis' scale 0 that a sample of the picture shows, along one axis. Sides are below 2^15.
QC_HD int analysed_sample(int x, int picture, int analysis, int halving) {
    const int at = picture == analysis ? x : static_cast<int>(static_cast<int64_t>(x) * analysis / picture);
    return at >> halving;
}

} // namespace qc::cambi
