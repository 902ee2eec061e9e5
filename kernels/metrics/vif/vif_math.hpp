// SPDX-License-Identifier: BSD-2-Clause-Patent
// Arithmetic of integer VIF, one function per step, shared by both backends.
//
// VIF (Sheikh and Bovik, "Image information and visual quality", IEEE TIP 2006; here the multi-scale pixel-domain
// variant) compares how much information about a source an observer gets from the reference and from the distorted
// picture. Locally, the distorted picture is modelled as  dist = g * ref + v,  and both are seen through noise of
// variance sigma_n^2 = 2. Variances are 16.16 fixed point on the scale of 8-bit samples, whatever the depth.
#pragma once

#include <cmath>
#include <cstdint>

#include "contract/map.hpp"
#include "contract/types.hpp"
#include "device/unroll.hpp"

namespace qc::vif {

constexpr int kScales = 4;
constexpr int kMinimumSize = 16; ///< scale s reflects 8 >> s samples at the edges of a picture of size >> s

/// Sums of one scale over all pixels. "Active" pixels have a reference variance of at least sigma_n^2.
enum AccumulatorWord {
    kNumeratorLog,   ///< active: sum of L(1 + g^2 sigma_1^2 / (sigma_v^2 + sigma_n^2)), in 1/2048 bit
    kDenominatorLog, ///< active: sum of L(1 + sigma_1^2 / sigma_n^2), in 1/2048 bit
    kFlatVariance,   ///< others: sum of the distorted picture's variance, 16.16
    kFlatCount,      ///< others: their number
    kWordsPerScale
};
constexpr int kAccumulatorWords = kScales * kWordsPerScale;

// ---- Gaussian windows -----------------------------------------------------------------------------------------------

/// Half-width of the window of a scale: 8, 4, 2, 1.
template <int kScale>
inline constexpr int kRadius = 8 >> kScale;

/// Weight of sample k = 0 .. 2 * radius in the window of a scale. The weights of a scale add up to 65536.
template <int kScale>
QC_HD constexpr uint32_t tap(int k) {
    const int i = k <= kRadius<kScale> ? k : 2 * kRadius<kScale> - k;
    if constexpr (kScale == 0) {
        constexpr uint32_t kHalf[] = {489, 935, 1640, 2640, 3896, 5274, 6547, 7455, 7784};
        return kHalf[i];
    } else if constexpr (kScale == 1) {
        constexpr uint32_t kHalf[] = {1244, 3663, 7925, 12590, 14692};
        return kHalf[i];
    } else if constexpr (kScale == 2) {
        constexpr uint32_t kHalf[] = {3571, 16004, 26386};
        return kHalf[i];
    } else {
        constexpr uint32_t kHalf[] = {10904, 43728};
        return kHalf[i];
    }
}

/// Reflection at the edges without repeating the edge sample, for -n < i < 2n - 1.
QC_HD int reflect(int i, int n) {
    i = i < 0 ? -i : i;
    return i >= n ? 2 * n - 2 - i : i;
}

/// Weighted sum over the window, modulo 2^32. `sample(k)` returns sample k = 0 .. 2 * radius.
template <int kScale, typename Sample>
QC_HD uint32_t window_sum(const Sample& sample) {
    constexpr int kR = kRadius<kScale>;
    uint32_t sum = tap<kScale>(kR) * sample(kR);
    QC_UNROLL for (int k = 0; k < kR; ++k) sum += tap<kScale>(k) * (sample(k) + sample(2 * kR - k));
    return sum;
}

/// A 48-bit sum, high * 65536 + low. Both parts are sums of 16-bit values with weights that add up to 65536, so both
/// fit 32 bits; only together do they need more.
struct SplitSum {
    uint32_t high, low;
};

/// Weighted sum of 32-bit samples without 64-bit arithmetic: the sum of the high halves is exact in 32 bits, and what
/// it leaves of the whole sum, taken modulo 2^32, is the sum of the low halves. Two 16-bit samples packed in one word
/// (a | b << 16) are filtered by the same means: low is a's sum, high b's.
template <int kScale, typename Sample>
QC_HD SplitSum window_split_sum(const Sample& sample) {
    const uint32_t whole = window_sum<kScale>(sample);
    const uint32_t high = window_sum<kScale>([&](int k) { return sample(k) >> 16; });
    return {high, whole - (high << 16)};
}

/// (value + half) >> shift for sums that fit 32 bits with the rounding added; 0 < shift <= 16.
QC_HD uint32_t round_shift(uint32_t value, int shift) {
    return (value + (1u << (shift - 1))) >> shift;
}

/// The same for a split sum whose result fits 32 bits: 2^16 * high is a multiple of 2^shift.
QC_HD uint32_t round_shift(SplitSum sum, int shift) {
    return (sum.high << (16 - shift)) + round_shift(sum.low, shift);
}

/// Shifts that bring the vertical sums of a scale to the common fixed point.
struct VerticalShifts {
    int mean;    ///< of weighted samples: the result has 16 bits, 8 of them fractional
    int product; ///< of weighted products: the result has 32 bits, 16 of them fractional; 0 for 8-bit samples
};

/// Pictures of scale 0 have the samples' own depth, those of deeper scales 16 bits.
QC_HD VerticalShifts vertical_shifts(int scale, int depth) {
    return scale == 0 ? VerticalShifts{depth, 2 * (depth - 8)} : VerticalShifts{16, 16};
}

// ---- local statistics -----------------------------------------------------------------------------------------------

/// What the two filter passes leave of the window around one pixel.
struct WindowMoments {
    uint32_t mean_1, mean_2;                 ///< means of reference and distorted, 8.24
    uint32_t square_1, square_2, product_12; ///< means of squares and of the product, 16.16
};

/// Variances and covariance, 16.16. The rounding of the moments may leave them below zero.
struct Covariance {
    int32_t sigma_1_sq, sigma_2_sq, sigma_12;
};

/// (a * b + 2^31) >> 32
QC_HD uint32_t multiply_high_rounded(uint32_t a, uint32_t b) {
    return static_cast<uint32_t>((static_cast<uint64_t>(a) * b + (uint64_t{1} << 31)) >> 32);
}

/// E[aa] - E[a] E[a], modulo 2^32.
QC_HD int32_t variance_of(uint32_t mean, uint32_t square) {
    return static_cast<int32_t>(square - multiply_high_rounded(mean, mean));
}

/// sigma_12 = E[ab] - E[a] E[b], modulo 2^32; the distorted picture's variance is not taken below zero.
QC_HD Covariance covariance(int32_t sigma_1_sq, uint32_t mean_1, uint32_t mean_2, uint32_t square_2,
                            uint32_t product_12) {
    const int32_t sigma_2_sq = variance_of(mean_2, square_2);
    const auto sigma_12 = static_cast<int32_t>(product_12 - multiply_high_rounded(mean_1, mean_2));
    return {sigma_1_sq, sigma_2_sq < 0 ? 0 : sigma_2_sq, sigma_12};
}

QC_HD Covariance covariance(const WindowMoments& m) {
    return covariance(variance_of(m.mean_1, m.square_1), m.mean_1, m.mean_2, m.square_2, m.product_12);
}

/// sigma_n^2, the variance of the noise both pictures are seen through, 16.16.
constexpr int32_t kNoiseVariance = 2 << 16;

/// Keeps the division defined in the paper's formula; 1e-10 in 16.16.
constexpr double kEpsilon = 65536 * 1.0e-10;

/// value as double, for value >= 0.
QC_HD double to_double(int32_t value) {
#if defined(__CUDA_ARCH__)
    // 2^52 + value by its bits: one addition instead of a conversion, which is several times slower.
    return __hiloint2double(0x43300000, value) - 4503599627370496.0;
#else
    return value;
#endif
}

/// value rounded towards zero, or 0 if it is negative; for |value| < 2^31.
QC_HD uint32_t truncate_to_u32(double value) {
#if defined(__CUDA_ARCH__)
    const int truncated = __double2loint(__dadd_rz(value, 4503599627370496.0)); // lowest bits of 2^52 + value
    return __double2hiint(value) < 0 ? 0u : static_cast<uint32_t>(truncated);
#else
    const auto truncated = static_cast<int32_t>(value);
    return static_cast<uint32_t>(truncated < 0 ? 0 : truncated);
#endif
}

/// Correctly rounded a / b for 0 <= a < 2^31, 2^17 <= b < 2^31.
QC_HD double divide(double a, double b) {
#if defined(__CUDA_ARCH__)
    // The operands need none of the library's special cases. A cubic and a quadratic Newton step make the reciprocal
    // good to the last bit; the exact remainder then corrects the quotient (Markstein, "Computation of elementary
    // functions on the IBM RISC System/6000", 1990). The fused operations are meant.
    double reciprocal;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(reciprocal) : "d"(b));
    double error = fma(-b, reciprocal, 1.0);
    error = fma(error, error, error);
    reciprocal = fma(reciprocal, error, reciprocal);
    error = fma(-b, reciprocal, 1.0);
    reciprocal = fma(reciprocal, error, reciprocal);
    const double quotient = a * reciprocal;
    return fma(fma(-b, quotient, a), reciprocal, quotient);
#else
    return a / b;
#endif
}

/// Arguments of the numerator's logarithms, 16.16: an active pixel adds L(signal_and_noise) - L(noise), which is
/// log2(1 + g^2 sigma_1^2 / (sigma_v^2 + sigma_n^2)).
struct LogArguments {
    uint32_t noise;            ///< sigma_v^2 + sigma_n^2
    uint32_t signal_and_noise; ///< g^2 sigma_1^2 + sigma_v^2 + sigma_n^2
};

/// Gain g = sigma_12 / sigma_1^2 and what it does not explain, sigma_v^2 = sigma_2^2 - g sigma_12, with the gain
/// limited only after that. For sigma_1_sq >= kNoiseVariance and sigma_2_sq, sigma_12 >= 0. sigma_12 = 0 gives equal
/// arguments.
///
/// Ranges: true variances are at most 2^30 (half the range of the samples, squared). The means' rounding shifts a
/// measured sigma_1^2 by up to 2^16, so sigma_12^2 / sigma_1^2 exceeds sigma_2^2 by at most a half: all stays below
/// 2^31.
QC_HD LogArguments log_arguments(const Covariance& c, double gain_limit) {
    const double sigma_1_sq = to_double(c.sigma_1_sq);
    const double sigma_12 = to_double(c.sigma_12);
    double gain = divide(sigma_12, sigma_1_sq + kEpsilon);
    const double unexplained = to_double(c.sigma_2_sq) - gain * sigma_12;
    const uint32_t sigma_v_sq = truncate_to_u32(unexplained);
    gain = gain < gain_limit ? gain : gain_limit;
    const uint32_t noise = sigma_v_sq + kNoiseVariance;
    return {noise, noise + truncate_to_u32((gain * gain) * sigma_1_sq)};
}

// ---- map ------------------------------------------------------------------------------------------------------------

/// Information that a pixel of the distorted picture has lost, in bits: what the pixel adds to the denominator, less
/// what it adds to the numerator. Below zero where it is enhanced.
QC_HD float lost_bits(int denominator_log, int numerator_log) {
    return static_cast<float>(denominator_log - numerator_log) * (1.0f / 2048.0f);
}

/// The same of a pixel below the noise's variance: a part of the one bit that it counts for.
QC_HD float lost_flat_bits(uint32_t sigma_2_sq) {
    return static_cast<float>(sigma_2_sq) * (1.0f / (16384.0f * 65025.0f));
}

// ---- weights --------------------------------------------------------------------------------------------------------

/// How the pixels of a scale lie over the weights: each counts by the sum of the 4^scale weights under it.
QC_HD MapShape weight_shape(int width, int height, int scale) {
    return {width, height, 0, 0, 1 << scale};
}

/// The most luma samples that a picture with weights has: sums of weighted variances stay below 2^64, at scale 0 by
/// 2^30 (of 16.16) times 2^8 (the weight) times this.
constexpr int64_t kMostWeightedSamples = int64_t{1} << 26;

// ---- logarithm ------------------------------------------------------------------------------------------------------

/// log2 is taken of the upper 16 bits of a number, by table: entry i = 32768 .. 65535 is log2(i) in 1/2048, rounded.
constexpr uint32_t kLogTableFirst = 32768;
constexpr int kLogTableSize = 32768;
/// The table is a staircase from 15 * 2048 to 16 * 2048 in steps of one.
constexpr int kLogTableLowest = 15 * 2048;
constexpr int kLogSteps = 2048;

/// L(2^17): what L(sigma_n^2 + sigma_1^2) has to be reduced by to be log2(1 + sigma_1^2 / sigma_n^2).
constexpr int kLogOfNoiseVariance = 17 * 2048;

/// Entry of the table as libvmaf fills it: the logarithm is rounded to single precision before it is scaled, which
/// decides 38 of the entries.
inline uint16_t log_table_entry(uint32_t i) {
    const auto log2_single = static_cast<float>(std::log2(static_cast<double>(i)));
    return static_cast<uint16_t>(std::lround(static_cast<double>(log2_single) * 2048.0));
}

QC_HD int leading_zeros(uint32_t x) {
#if defined(__CUDA_ARCH__)
    return __clz(static_cast<int>(x));
#else
    return __builtin_clz(x);
#endif
}

/// L(x) = log2(x) in 1/2048 for x >= 2^17, with 16 significant bits of x: by table.
struct LogTable {
    const uint16_t* entries; ///< of kLogTableFirst and up

    QC_HD int operator()(uint32_t x) const {
        const int zeros = leading_zeros(x);
        const uint16_t* entry = entries + (((x << zeros) >> 16) - kLogTableFirst);
#if defined(__CUDA_ARCH__)
        const int fraction = __ldg(entry);
#else
        const int fraction = *entry;
#endif
        return fraction + 2048 * (16 - zeros);
    }
};

/// Bits of the largest float that is not larger than x > 0.
QC_HD uint32_t float_bits_towards_zero(uint32_t x) {
#if defined(__CUDA_ARCH__)
    return __float_as_uint(__uint2float_rz(x));
#else
    const int zeros = leading_zeros(x);
    return static_cast<uint32_t>(127 + 31 - zeros) << 23 | (x << zeros << 1) >> 9;
#endif
}

/// floor(2048 * log2(x)), give or take one near its steps, for a float 1 <= x < 2 given by its bits.
QC_HD int approximate_log2_step(uint32_t float_bits) {
#if defined(__CUDA_ARCH__)
    float log2; // error below 2^-22
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log2) : "f"(__uint_as_float(float_bits)));
    // The integer part lands in the lowest bits of 2^23 + 2048 log2, without a conversion. The one more keeps the sum
    // from falling below 2^23.
    return static_cast<int>(__float_as_uint(__fmaf_rd(log2, 2048.0f, 8388609.0f)) - 0x4b000001u);
#else
    return static_cast<int>(std::floor(log2f(__builtin_bit_cast(float, float_bits)) * 2048.0f));
#endif
}

/// The same L(x) from 8 KB of thresholds: an approximate logarithm names two neighbouring steps of the staircase, the
/// threshold between them decides.
///
/// thresholds[j] is the largest float below 2 (its bits) whose upper 16 bits lie below step j of the table, for
/// j = 0 .. kLogSteps; thresholds[kLogSteps + 1] is larger than any. The approximation sees 24 bits of x, the table 16:
/// at most 0.09 steps apart. The rule holds for deviations up to half a step; only the lowest and the highest step are
/// narrower, the latter by the one extra threshold.
struct LogThresholds {
    const uint32_t* thresholds;

    QC_HD int operator()(uint32_t x) const {
        const uint32_t bits = float_bits_towards_zero(x);
        const uint32_t mantissa = (bits & 0x007fffffu) | 0x3f800000u;
        const int upper_step = approximate_log2_step(mantissa) + 1; // 0 .. kLogSteps + 1
        const bool reached = mantissa > thresholds[upper_step];
        return (static_cast<int>(bits >> 23) - 127) * 2048 + upper_step - (reached ? 0 : 1);
    }
};
constexpr int kLogThresholds = kLogSteps + 2;

/// The same L(x) from 64 KB of bytes: the bits of x as a float, without their lowest 12, are a line through the
/// staircase (exponent and mantissa, 1/2048 a step) that lies up to 177 steps below it. One byte for each of the
/// table's entries says how far, found by the float's two middle bytes; the highest of these bits belongs to the
/// exponent, so all is there twice.
struct LogCorrections {
    const uint8_t* corrections;

    QC_HD int operator()(uint32_t x) const {
        const uint32_t bits = float_bits_towards_zero(x);
        return static_cast<int>(bits >> 12) + corrections[bits >> 8 & 0xffff] - 127 * 2048;
    }
};
constexpr int kLogCorrections = 2 * kLogTableSize;

} // namespace qc::vif
