// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point ADM, coefficient by coefficient: wavelet, decoupling, masking, energies. Shared by both backends.
// Single precision; every operation is rounded by itself and in a fixed order, so both give the same bits.
//
// Detail loss and additive impairment: Li, Zhang, Ma, Ngan, "Image Quality Assessment by Separately Evaluating Detail
// Losses and Additive Impairments", IEEE Trans. Multimedia 13(5), 2011. Constants are libvmaf's.
//
// Band names: a = low/low, v = low-pass vertically and high-pass horizontally, h = the reverse, d = high/high.
#pragma once

#include <cstdint>
#include <cstring>

#include "contract/types.hpp"
#include "device/bits.hpp"
#include "device/borders.hpp"
#include "device/unroll.hpp"
#include "families/detail_loss/detail_loss_level.hpp"

namespace qc::float_adm {

using namespace detail_loss; // levels, bands

// ---- floats ---------------------------------------------------------------------------------------------------------

using device::bits_of;
using device::float_of;

QC_HD float magnitude(float x) {
    return float_of(bits_of(x) & 0x7fffffffu);
}
QC_HD float smaller(float a, float b) {
#if defined(__CUDA_ARCH__)
    return fminf(a, b);
#else
    return a < b ? a : b;
#endif
}
QC_HD float larger(float a, float b) {
#if defined(__CUDA_ARCH__)
    return fmaxf(a, b);
#else
    return a > b ? a : b;
#endif
}
/// a * b + c, rounded once.
QC_HD float fused(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
    return __fmaf_rn(a, b, c);
#else
    return __builtin_fmaf(a, b, c);
#endif
}

// ---- wavelet (Daubechies, 4 taps) -----------------------------------------------------------------------------------

constexpr float kTap0 = 0.482962913144690f, kTap1 = 0.836516303737469f;
constexpr float kTap2 = 0.224143868041857f, kTap3 = -0.129409522550921f;

QC_HD float low_pass(float x0, float x1, float x2, float x3) {
    return ((kTap0 * x0 + kTap1 * x1) + kTap2 * x2) + kTap3 * x3;
}
/// The quadrature mirror of the low-pass taps.
QC_HD float high_pass(float x0, float x1, float x2, float x3) {
    return ((kTap3 * x0 - kTap2 * x1) + kTap1 * x2) - kTap0 * x3;
}

// ---- decoupling: which part of the distorted band is the reference's detail? ----------------------------------------

/// Whether the orientation (h, v) of both pictures differs by less than a degree.
QC_HD bool same_angle(const float* o, const float* t) {
    constexpr float kCosSquared = 0.99969542026519775f; // of one degree
    const float dot = o[kBandH] * t[kBandH] + o[kBandV] * t[kBandV];
    const float reference = o[kBandH] * o[kBandH] + o[kBandV] * o[kBandV];
    const float distorted = t[kBandH] * t[kBandH] + t[kBandV] * t[kBandV];
    return dot >= 0.0f && dot * dot >= (kCosSquared * reference) * distorted;
}

/// The estimate of 1 / x that Intel's RCPSS gives: the reciprocal of the middle of the 2^-11 wide interval that holds
/// the mantissa, rounded to 13 bits. `rough` is the reciprocal of that middle within a few units of the last place.
QC_HD float round_estimate(float middle, float rough) {
    // `tie` is half way between the two 13-bit values around the reciprocal. It lies below the reciprocal if tie *
    // middle is below 1; both ways to find that out are exact.
    const uint32_t below = bits_of(rough) & 0xfffff800u;
    const float tie = float_of(below | 0x400u);
#if defined(__CUDA_ARCH__)
    const bool up = __fmaf_rn(-tie, middle, 1.0f) > 0.0f;
#else
    const bool up = static_cast<double>(tie) * static_cast<double>(middle) < 1.0;
#endif
    return float_of(below + (up ? 0x800u : 0u));
}

QC_HD float reciprocal_estimate(float x) {
    const float middle = float_of((bits_of(x) & 0xfffff000u) | 0x800u);
#if defined(__CUDA_ARCH__)
    float rough;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(rough) : "f"(middle));
#else
    const float rough = 1.0f / middle;
#endif
    return round_estimate(middle, rough);
}

/// The estimate after one step of Newton's.
QC_HD float reciprocal(float x) {
    const float estimate = reciprocal_estimate(x);
    return estimate + estimate * (1.0f - x * estimate);
}

/// adm_enhn_gain_limit. Where it is a single-precision number, so are all steps; otherwise products are doubles.
struct Gain {
    double limit = 100.0;
    float limit_single = 100.0f;
    bool single = true;
};

/// Magnitude of the restored part, amplified up to what is there.
template <bool kSingle>
QC_HD float amplify(float restored, float distorted, const Gain& gain) {
    if constexpr (kSingle) return smaller(restored * gain.limit_single, distorted);
    const double amplified = static_cast<double>(restored) * gain.limit, most = static_cast<double>(distorted);
    return static_cast<float>(amplified < most ? amplified : most);
}

/// Restored part of one distorted coefficient t at a reference coefficient o; the rest of t is additive. `enhanced` is
/// the angle test: the content keeps its orientation, so the detail may have been amplified, up to the gain limit.
template <bool kSingle>
QC_HD float restore(float o, float t, bool enhanced, const Gain& gain) {
    const float ratio = t * reciprocal(o + 1e-30f);
    const float restored = smaller(larger(ratio, 0.0f), 1.0f) * o;
    // Unless it is zero, the restored part has the sign of t.
    const float amplified = amplify<kSingle>(magnitude(restored), magnitude(t), gain);
    const float gained = float_of(bits_of(amplified) | (bits_of(restored) & 0x80000000u));
    return enhanced ? gained : restored;
}
QC_HD float restore(float o, float t, bool enhanced, const Gain& gain) {
    return gain.single ? restore<true>(o, t, enhanced, gain) : restore<false>(o, t, enhanced, gain);
}

// ---- masking --------------------------------------------------------------------------------------------------------

/// What a masker of weighted magnitude c adds to the threshold around it: c / 30 by libvmaf's decimal constant, rounded
/// as the product in double precision would be. (A test tries all mantissas.)
constexpr double kThirtieth = 0.0333333351, kFifteenth = 0.0666666701;
QC_HD float neighbour_term(float c) {
    constexpr float kHigh = static_cast<float>(kThirtieth);
    constexpr float kLow = static_cast<float>(kThirtieth - static_cast<double>(kHigh));
    return fused(kHigh, c, kLow * c);
}

/// sum + c / 15, rounded once: what a masker adds at its own place. Doubles would do, but their conversions are slow.
/// Both operands are positive or zero.
QC_HD float add_centre(float sum, float c) {
    constexpr float kHigh = static_cast<float>(kFifteenth);
    constexpr float kLow = static_cast<float>(kFifteenth - static_cast<double>(kHigh));
    const float term = kHigh * c;
    const float term_rest = fused(kLow, c, fused(kHigh, c, -term));
    // Knuth's sum of two floats, with its error.
    const float total = sum + term;
    const float part = total - sum;
    const float total_rest = (sum - (total - part)) + (term - part);
    return total + (total_rest + term_rest);
}

// ---- energies -------------------------------------------------------------------------------------------------------

QC_HD double double_of(uint64_t bits) {
#if defined(__CUDA_ARCH__)
    return __longlong_as_double(static_cast<long long>(bits));
#else
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
#endif
}
/// x^p for x >= 0 and p from 1 to 20, rounded from a double with about 50 good bits. C libraries differ from each other
/// and from the device's here; this has the same bits everywhere.
QC_HD float power(float x, float p) {
    if (!(x > 0.0f)) return 0.0f;
    // x = 2^exponent * m, m from sqrt(1/2) to sqrt(2).
    const uint64_t bits = bits_of(static_cast<double>(x));
    constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1, kRootHalf = 0x6a09e667f3bcdu;
    const uint64_t mantissa = bits & kMantissa;
    const int above_root = mantissa > kRootHalf ? 1 : 0;
    const int exponent = static_cast<int>(bits >> 52) - 1023 + above_root;
    const double m = double_of(static_cast<uint64_t>(1023 - above_root) << 52 | mantissa);
    // ln m = 2 atanh(s)
    const double s = (m - 1.0) / (m + 1.0), s2 = s * s;
    double series = 0.0;
    QC_UNROLL
    for (int k = 10; k >= 0; --k) series = series * s2 + 1.0 / (2 * k + 1);
    constexpr double kLog2E = 1.44269504088896340736, kLn2 = 0.69314718055994530942;
    const double exponent2 = (static_cast<double>(exponent) + (2.0 * kLog2E) * (s * series)) * static_cast<double>(p);
    // 2^exponent2 = 2^whole * e^rest
    constexpr double kRounder = 6755399441055744.0; // 1.5 * 2^52
    const double whole = (exponent2 + kRounder) - kRounder;
    const double rest = (exponent2 - whole) * kLn2;
    double sum = 1.0;
    QC_UNROLL
    for (int k = 13; k >= 1; --k) sum = 1.0 + sum * rest * (1.0 / k);
    // The exponent stays far inside a double's range: |log2 x| < 150.
    if (whole < -1000.0) return 0.0f;
    const double scale =
        double_of(static_cast<uint64_t>(1023 + static_cast<int>(whole < 1000.0 ? whole : 1000.0)) << 52);
    return static_cast<float>(sum * scale);
}

/// x^p for x >= 0.
template <bool kCube>
QC_HD float energy(float x, float p) {
    if constexpr (kCube)
        return (x * x) * x;
    else
        return power(x, p);
}

} // namespace qc::float_adm
