// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM, coefficient by coefficient: wavelet, decoupling, masking, energies. Shared by both backends; every
// function is exact integer arithmetic (the angle test excepted, which rounds as written), so both give the same bits.
//
// Detail loss and additive impairment: Li, Zhang, Ma, Ngan, "Image Quality Assessment by Separately Evaluating Detail
// Losses and Additive Impairments", IEEE Trans. Multimedia 13(5), 2011. The fixed-point formats are libvmaf's.
//
// Band names: a = low/low, v = low-pass vertically and high-pass horizontally, h = the reverse, d = high/high.
// "Deep" levels are 1 to 3; level 0 has 16-bit coefficients and formats of its own.
#pragma once

#include <cmath>
#include <cstdint>

#include "contract/types.hpp"
#include "device/borders.hpp"
#include "families/detail_loss/detail_loss_level.hpp"

namespace qc::adm {

using namespace detail_loss; // levels, bands

/// The largest decoupling ratio: 1.0 in Q15.
constexpr uint32_t kRatioOne = 32768;

// ---- wavelet (Daubechies, 4 taps, Q15) ------------------------------------------------------------------------------

constexpr int32_t kTap0 = 15826, kTap1 = 27411, kTap2 = 7345, kTap3 = -4240;
constexpr int32_t kTapSum = kTap0 + kTap1 + kTap2 + kTap3;

/// Low-pass sum. Wraps modulo 2^32, as 16-bit samples need.
QC_HD int32_t low_pass(int32_t x0, int32_t x1, int32_t x2, int32_t x3) {
    return static_cast<int32_t>(static_cast<uint32_t>(kTap0) * static_cast<uint32_t>(x0) +
                                static_cast<uint32_t>(kTap1) * static_cast<uint32_t>(x1) +
                                static_cast<uint32_t>(kTap2) * static_cast<uint32_t>(x2) +
                                static_cast<uint32_t>(kTap3) * static_cast<uint32_t>(x3));
}

/// High-pass sum: the quadrature mirror of the low-pass taps.
QC_HD int32_t high_pass(int32_t x0, int32_t x1, int32_t x2, int32_t x3) {
    return static_cast<int32_t>(static_cast<uint32_t>(kTap3) * static_cast<uint32_t>(x0) -
                                static_cast<uint32_t>(kTap2) * static_cast<uint32_t>(x1) +
                                static_cast<uint32_t>(kTap1) * static_cast<uint32_t>(x2) -
                                static_cast<uint32_t>(kTap0) * static_cast<uint32_t>(x3));
}

/// x / 2^kShift, rounded half up.
template <int kShift>
QC_HD int32_t round_shift(int32_t x) {
    if constexpr (kShift == 0)
        return x;
    else
        return (x + (1 << (kShift - 1))) >> kShift;
}

/// Rounded shift of a row sum or an accumulator term.
QC_HD int64_t round_shift(int64_t x, int shift) {
    return shift == 0 ? x : (x + (int64_t{1} << (shift - 1))) >> shift;
}
QC_HD uint64_t round_shift(uint64_t x, int shift) {
    return shift == 0 ? x : (x + (uint64_t{1} << (shift - 1))) >> shift;
}

/// Level 0, down a column of samples of `depth` bits, recentred on mid-grey. |result| <= 27411.
QC_HD int32_t level0_vertical_low(int32_t x0, int32_t x1, int32_t x2, int32_t x3, int depth) {
    // Mid-grey times the tap sum goes off, half a unit for rounding comes on; both are multiples of 2^(depth - 1).
    const uint32_t offset = static_cast<uint32_t>(kTapSum - 1) << (depth - 1);
    return static_cast<int32_t>(static_cast<uint32_t>(low_pass(x0, x1, x2, x3)) - offset) >> depth;
}
QC_HD int32_t level0_vertical_high(int32_t x0, int32_t x1, int32_t x2, int32_t x3, int depth) {
    return static_cast<int32_t>(static_cast<uint32_t>(high_pass(x0, x1, x2, x3)) + (1u << (depth - 1))) >> depth;
}

/// A 32-bit value as 2^16 * high + low with low in -32768..32767. Both halves times the taps stay below 2^31 for every
/// value the pyramid can hold (at most 2.11e9), so the deep levels need no 64-bit sums.
QC_HD int32_t low_half(int32_t x) {
    return static_cast<int16_t>(x);
}
QC_HD int32_t high_half(int32_t x) {
    return static_cast<int32_t>(static_cast<uint32_t>(x) - static_cast<uint32_t>(low_half(x))) >> 16;
}

/// (2^16 * high + low) / 2^kShift, rounded half up, for kShift 15 and 16.
template <int kShift>
QC_HD int32_t join_halves(int32_t high, int32_t low) {
    static_assert(kShift == 15 || kShift == 16);
    return static_cast<int32_t>(static_cast<uint32_t>(high) << (16 - kShift)) + round_shift<kShift>(low);
}

/// Four neighbours as halves, filtered and shifted as the exact 64-bit sum would be.
struct Halves {
    int32_t high[4], low[4];
};
QC_HD Halves split(int32_t x0, int32_t x1, int32_t x2, int32_t x3) {
    return {{high_half(x0), high_half(x1), high_half(x2), high_half(x3)},
            {low_half(x0), low_half(x1), low_half(x2), low_half(x3)}};
}
template <int kShift>
QC_HD int32_t low_pass_wide(const Halves& x) {
    return join_halves<kShift>(low_pass(x.high[0], x.high[1], x.high[2], x.high[3]),
                               low_pass(x.low[0], x.low[1], x.low[2], x.low[3]));
}
template <int kShift>
QC_HD int32_t high_pass_wide(const Halves& x) {
    return join_halves<kShift>(high_pass(x.high[0], x.high[1], x.high[2], x.high[3]),
                               high_pass(x.low[0], x.low[1], x.low[2], x.low[3]));
}

/// Shift that follows the horizontal filter of a level.
template <int kLevel>
constexpr int kHorizontalShift = kLevel == 0 || kLevel == 2 ? 16 : 15;

// ---- decoupling: which part of the distorted band is the reference's detail? ----------------------------------------

/// cos^2 of one degree.
constexpr float kCosSquared = 0.99969542026519775f;

/// Whether the orientation (h, v) of both pictures differs by less than a degree: p = o.t, mo = o.o, mt = t.t, each
/// rounded to single precision. Products in double have one rounding only, so their order is free.
QC_HD bool same_angle_exact(float p, float mo, float mt) {
    const double dot = p;
    return p >= 0.0f &&
           dot * dot >= (static_cast<double>(kCosSquared) * static_cast<double>(mo)) * static_cast<double>(mt);
}

/// The same, in single precision where that is certain: both sides are within 2^-22 of the exact values.
QC_HD bool same_angle(float p, float mo, float mt) {
    const float left = p * p, right = (kCosSquared * mo) * mt;
    if (!(p >= 0.0f) || left < 0.999999f * right) return false;
    if (left >= 1.000001f * right) return true;
    return same_angle_exact(p, mo, mt);
}

/// The same without branches: the answer, and whether single precision was too coarse for it.
struct AngleSides {
    int32_t are_same, are_close; ///< 0 or 1
};
QC_HD AngleSides angle_sides(float p, float mo, float mt) {
    const float left = p * p, right = (kCosSquared * mo) * mt;
    const int32_t is_acute = p >= 0.0f, reaches = left >= 0.999999f * right, exceeds = left >= 1.000001f * right;
    return {is_acute & exceeds, is_acute & reaches & (exceeds ^ 1)};
}

/// floor(2^30 / m) for m in 1..32768, from an estimate of 1 / m that is at most 3 units in the last place off.
QC_HD uint32_t reciprocal_q30_from(int32_t m, float estimate) {
    int32_t quotient = static_cast<int32_t>(1073741824.0f * estimate);
    int32_t rest = (1 << 30) - quotient * m;
    quotient += static_cast<int32_t>(floorf(static_cast<float>(rest) * estimate));
    rest = (1 << 30) - quotient * m;
    quotient -= rest < 0 ? 1 : 0;
    quotient += rest >= m ? 1 : 0;
    return static_cast<uint32_t>(quotient);
}

QC_HD uint32_t reciprocal_q30(int32_t m) {
#if defined(__CUDA_ARCH__)
    float estimate;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(estimate) : "f"(static_cast<float>(m)));
    return reciprocal_q30_from(m, estimate);
#else
    // The quotient is further than 2^-15 from the integer above it unless it is one: truncation is exact.
    return static_cast<uint32_t>(static_cast<int32_t>(1073741824.0 / static_cast<double>(m)));
#endif
}

/// How far to shift m right to be left with 15 bits; 0 if it has no more.
QC_HD int normalising_shift(uint32_t m) {
#if defined(__CUDA_ARCH__)
    const int zeros = __clz(static_cast<int>(m | 1u));
#else
    const int zeros = __builtin_clz(m | 1u);
#endif
    return zeros < 17 ? 17 - zeros : 0;
}

/// How much of a coefficient of magnitude m is left in one that lies `along` in its direction: along / m in Q15, from 0
/// to kRatioOne. Level 0: m <= 32768.
QC_HD uint32_t ratio_level0(uint32_t m, int32_t along) {
    m = m == 0 ? 1 : m;
    // From m + 1 on the ratio is one: clamping there keeps the product below 2^31 + 2^14.
    const uint32_t most = m + 1;
    uint32_t kept = static_cast<uint32_t>(along < 0 ? 0 : along);
    kept = kept < most ? kept : most;
    const uint32_t ratio = (reciprocal_q30(static_cast<int32_t>(m)) * kept + 16384u) >> 15;
    return ratio < kRatioOne ? ratio : kRatioOne;
}

/// Deep levels: the divisor is rounded to 15 bits first. m < 2^31.
QC_HD uint32_t ratio_deep(uint32_t m, int32_t along) {
    const int shift = normalising_shift(m);
    uint32_t divisor = (m + ((1u << shift) >> 1)) >> shift;
    divisor = divisor == 0 ? 1 : divisor;
    const uint32_t most = (divisor + 1) << shift;
    uint32_t kept = static_cast<uint32_t>(along < 0 ? 0 : along);
    kept = kept < most ? kept : most;
    const uint64_t product =
        static_cast<uint64_t>(reciprocal_q30(static_cast<int32_t>(divisor))) * (kept << (16 - shift));
    const uint32_t ratio = static_cast<uint32_t>((product + (uint64_t{1} << 30)) >> 31);
    return ratio < kRatioOne ? ratio : kRatioOne;
}

/// ratio * m / 2^15, rounded as the signed product would be: half towards plus infinity. `half` is therefore 16383 for
/// negative coefficients and 16384 for the others.
QC_HD uint32_t scale_level0(uint32_t m, uint32_t ratio, uint32_t half) {
    return (m * ratio + half) >> 15;
}
/// Deep levels: split at bit 15, so that 32 bits are enough.
QC_HD uint32_t scale_deep(uint32_t m, uint32_t ratio, uint32_t half) {
    return (m >> 15) * ratio + (((m & 32767u) * ratio + half) >> 15);
}

/// adm_enhn_gain_limit, prepared for integer arithmetic.
struct Gain {
    double limit = 100.0;
    uint32_t whole = 100;    ///< the limit if it is an integer, otherwise 0
    uint32_t saturation = 0; ///< smallest magnitude that times the limit is 2^31 or more
};

/// Restored and additive part of one distorted coefficient: t = restored + additive.
struct Decoupled {
    int32_t restored, additive;
};

/// Splits the distorted coefficient t at a reference coefficient o. `enhanced` is the angle test: the content keeps its
/// orientation, so the detail may have been amplified, up to the gain limit.
template <bool kDeep, bool kWholeGain>
QC_HD Decoupled decouple(int32_t o, int32_t t, bool enhanced, const Gain& gain) {
    // Work on magnitudes, along the direction of o.
    const int32_t sign = o >> 31;
    const uint32_t m = static_cast<uint32_t>((o ^ sign) - sign);
    const int32_t along = (t ^ sign) - sign;
    const uint32_t ratio = kDeep ? ratio_deep(m, along) : ratio_level0(m, along);
    const uint32_t half = 16384u + static_cast<uint32_t>(sign);
    uint32_t restored = kDeep ? scale_deep(m, ratio, half) : scale_level0(m, ratio, half);
    if constexpr (kWholeGain) {
        // A ratio above 0 implies along > 0; with a ratio of 0 both operands of the minimum keep it 0.
        const uint32_t limited = restored < gain.saturation ? restored : gain.saturation;
        const uint32_t amplified = limited * gain.whole;
        const uint32_t reached = static_cast<uint32_t>(along);
        const uint32_t gained = amplified < reached ? amplified : reached;
        restored = enhanced ? gained : restored;
    } else {
        const double amplified = static_cast<double>(static_cast<int32_t>(restored)) * gain.limit;
        const double reached = static_cast<double>(along);
        const double gained = amplified < reached ? amplified : reached;
        restored = enhanced && ratio > 0 && m > 0 ? static_cast<uint32_t>(static_cast<int32_t>(gained)) : restored;
    }
    const int32_t value = (static_cast<int32_t>(restored) ^ sign) - sign;
    return {value, t - value};
}

// ---- contrast sensitivity and masking -------------------------------------------------------------------------------

/// Level 0: a coefficient times its CSF factor; factors have 16 bits.
QC_HD int32_t weigh_level0(uint32_t factor, int32_t x) {
    return static_cast<int32_t>(factor) * x;
}

/// Deep levels: factor * x / 2^28, rounded, wrapped to 32 bits. The factor is unsigned; its top bit is set only in the
/// overflowing csf mode 1, and then stands for another 2^32 * x.
QC_HD int32_t weigh_deep(uint32_t factor, int32_t x) {
    const int64_t low = static_cast<int64_t>(static_cast<int32_t>(factor)) * x;
    const uint64_t high = static_cast<uint64_t>(static_cast<uint32_t>(x & (static_cast<int32_t>(factor) >> 31))) << 32;
    return static_cast<int32_t>(static_cast<int64_t>(static_cast<uint64_t>(low) + high + (uint64_t{1} << 27)) >> 28);
}

/// |x| as unsigned: defined for the most negative number too.
QC_HD uint32_t magnitude(int32_t x) {
    return x < 0 ? 0u - static_cast<uint32_t>(x) : static_cast<uint32_t>(x);
}

/// What a weighted masker coefficient adds to the threshold: at its own place, and at each of its eight neighbours.
struct MaskerTerms {
    int32_t neighbour, centre;
};

/// Level 0, from the weighted coefficient; |c| / 30 and |c| / 15 in Q4 steps. The narrowings wrap at very high
/// contrast, and are part of the definition. The diagonal band rounds with 65535, not 65536.
template <int kBand>
QC_HD MaskerTerms masker_level0(int32_t weighted) {
    const int32_t c = kBand == kBandD ? static_cast<int16_t>((weighted + 65535) >> 17)
                                      : static_cast<int16_t>((weighted + 16384) >> 15);
    const int32_t size = c < 0 ? -c : c;
    return {static_cast<int16_t>((4369 * size + 2048) >> 12), static_cast<int16_t>((8738 * size + 2048) >> 12)};
}

/// Deep levels. The rounding constant is negative (so a zero coefficient gives -1); that, too, is the definition.
QC_HD MaskerTerms masker_deep(uint32_t size) {
    constexpr int64_t kRounding = -(int64_t{1} << 31);
    return {static_cast<int32_t>((static_cast<int64_t>(uint64_t{143165577} * size) + kRounding) >> 32),
            static_cast<int32_t>((static_cast<int64_t>(uint64_t{286331153} * size) + kRounding) >> 32)};
}

// ---- energies -------------------------------------------------------------------------------------------------------

/// Rounded shift with its constant precomputed, for inner loops.
struct Rounding {
    int64_t half = 0;
    int32_t shift = 0;
};
QC_HD int64_t apply(int64_t x, Rounding rounding) {
    return (x + rounding.half) >> rounding.shift;
}

/// Cube of what exceeds the threshold. `excess` >= 0.
template <int kSquareShift>
QC_HD int64_t cube(int32_t excess, Rounding rounding) {
    const int64_t square = static_cast<int64_t>(excess) * excess;
    const int32_t scaled = static_cast<int32_t>((square + (int64_t{1} << (kSquareShift - 1))) >> kSquareShift);
    return apply(static_cast<int64_t>(scaled) * excess, rounding);
}

/// What a weighted magnitude exceeds its threshold by.
template <int kBand>
QC_HD int32_t excess_level0(uint32_t weighted_size, int32_t threshold) {
    constexpr int kThresholdShift = kBand == kBandD ? 12 : 10;
    const int32_t excess = static_cast<int32_t>(weighted_size - (static_cast<uint32_t>(threshold) << kThresholdShift));
    return excess < 0 ? 0 : excess;
}
QC_HD int32_t excess_deep(uint32_t weighted_size, int32_t threshold) {
    const int32_t excess = static_cast<int32_t>(weighted_size - static_cast<uint32_t>(threshold));
    return excess < 0 ? 0 : excess;
}

template <int kBand>
QC_HD int64_t energy_level0(uint32_t weighted_size, int32_t threshold, Rounding rounding) {
    return cube < kBand == kBandD ? 30 : 29 > (excess_level0<kBand>(weighted_size, threshold), rounding);
}

QC_HD int64_t energy_deep(uint32_t weighted_size, int32_t threshold, Rounding rounding) {
    return cube<30>(excess_deep(weighted_size, threshold), rounding);
}

// ---- with weights ---------------------------------------------------------------------------------------------------

/// A row's sum of energies, each as often as its weight says. Energies have 63 bits and a sign, a row's weights
/// together at most 29 bits (65536 samples across): so it is kept as high * 2^32 + low, neither of which overflows.
struct WeightedSum {
    uint64_t low = 0;
    int64_t high = 0;

    QC_HD void add(uint64_t energy, uint32_t weight) {
        low += static_cast<uint64_t>(static_cast<uint32_t>(energy)) * weight;
        high += static_cast<int64_t>(static_cast<int32_t>(energy >> 32)) * static_cast<int32_t>(weight);
    }

    /// The sum in units of `whole`, an even weight, shifted as that of a row without weights would be: of a row that
    /// counts whole, the same.
    QC_HD uint64_t rounded(uint32_t whole, int shift) const {
        const uint64_t divisor = static_cast<uint64_t>(whole) << shift;
        const auto signed_divisor = static_cast<int64_t>(divisor);
        int64_t quotient = high / signed_divisor, rest = high % signed_divisor;
        if (rest < 0) {
            quotient -= 1;
            rest += signed_divisor;
        }
        const uint64_t lower = (static_cast<uint64_t>(rest) << 32) + low + divisor / 2;
        return (static_cast<uint64_t>(quotient) << 32) + lower / divisor;
    }
};

/// What the map shows of a band at a place: how much of the reference's weighted magnitude is lost or masked. On the
/// scale of weighted contrasts of 8-bit samples, whose fixed-point exponents are those of numerator() in adm.cpp.
template <int kLevel, int kBand>
QC_HD float lost_contrast(uint32_t reference_size, int32_t excess) {
    static_assert(kLevel <= 1);
    constexpr float kUnit = kLevel > 0 ? 0x1p-25f : kBand == kBandD ? 0x1p-29f : 0x1p-27f;
    return static_cast<float>(static_cast<int64_t>(reference_size) - excess) * kUnit;
}

/// Reference energy for the denominator.
QC_HD uint64_t reference_energy_level0(int32_t o) {
    const uint32_t size = magnitude(o);
    return static_cast<uint64_t>(size * size) * size;
}

/// Deep levels: the square is rounded with a whole unit, not half of one.
template <int kLevel>
QC_HD uint64_t reference_energy_deep(int32_t o, Rounding rounding) {
    constexpr int kShift = kLevel == 2 ? 30 : 31;
    const uint64_t size = magnitude(o);
    const uint64_t scaled = (size * size + (uint64_t{1} << kShift)) >> kShift;
    return (scaled * size + static_cast<uint64_t>(rounding.half)) >> rounding.shift;
}

} // namespace qc::adm
