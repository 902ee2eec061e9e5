// SPDX-License-Identifier: BSD-2-Clause-Patent
// Logarithms, exponentials and powers in single precision for the CPU's loops over rows: arithmetic alone, so that
// compilers vectorise the loops, and every machine gets the same bits. Polynomials are minimax (Remez).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "device/cpu_versions.hpp"

namespace qc::device {

/// A positive normal number as 2^exponent times something between the roots of 1/2 and 2, whose log2 is `fraction`,
/// right to 1e-8 and two last places.
struct BinaryLog {
    float exponent, fraction;
};

template <typename Cpu>
QC_INLINE_HELPER BinaryLog binary_log(float x) {
    constexpr uint32_t kRootOfHalf = 0x3f3504f3u, kMantissa = 0x007fffffu;
    const uint32_t above = std::bit_cast<uint32_t>(x) - kRootOfHalf;
    const auto exponent = static_cast<float>(static_cast<int32_t>(above) >> 23);
    const float f = std::bit_cast<float>((above & kMantissa) + kRootOfHalf) - 1.0f;
    // By pairs: chains of additions that wait for each other are what takes the time.
    const float squared = f * f, fourth = squared * squared;
    const float first = Cpu::fused(-0.721347332f, f, 1.44269502f), second = Cpu::fused(-0.360696435f, f, 0.480897903f);
    const float third = Cpu::fused(-0.2396366f, f, 0.288585275f),
                fourth_pair = Cpu::fused(-0.19061242f, f, 0.204295844f);
    const float last = Cpu::fused(-0.112976365f, f, 0.187827587f);
    const float high = Cpu::fused(last, fourth, Cpu::fused(fourth_pair, squared, third));
    const float sum = Cpu::fused(high, fourth, Cpu::fused(second, squared, first));
    return {exponent, sum * f};
}

template <typename Cpu>
QC_INLINE_HELPER float log2_of_row(float x) {
    const BinaryLog log = binary_log<Cpu>(x);
    return log.exponent + log.fraction;
}

/// 2^(whole + rest), where |whole| < 120 and their sum is known better than a float holds it.
template <typename Cpu>
QC_INLINE_HELPER float exp2_of_row(float whole, float rest) {
    constexpr float kRound = 12582912.0f; // 1.5 * 2^23: the last place is 1
    const float shifted = (whole + rest) + kRound, n = shifted - kRound;
    const float r = (whole - n) + rest;
    const float squared = r * r;
    const float first = Cpu::fused(0.693147182f, r, 1.0f), second = Cpu::fused(0.0555033423f, r, 0.240226477f);
    const float third = Cpu::fused(0.00133982929f, r, 0.00961843971f);
    const float high = Cpu::fused(Cpu::fused(0.000153519271f, squared, third), squared, second);
    const float power = Cpu::fused(high, squared, first);
    return std::bit_cast<float>(std::bit_cast<uint32_t>(power) + (std::bit_cast<uint32_t>(shifted) << 23));
}

/// An exponent p, parted so that its first part times that of a number is exact.
struct RowPower {
    float high, low, value;

    RowPower() = default;
    explicit RowPower(double p)
        : high(static_cast<float>(std::round(p * 1024.0) / 1024.0)), low(static_cast<float>(p - high)),
          value(static_cast<float>(p)) {}
};

/// x^p, right to about two last places, if 2^-120 < x^p < 2^120. x: positive and normal.
template <typename Cpu>
QC_INLINE_HELPER float power_of_row(float x, const RowPower& p) {
    const BinaryLog log = binary_log<Cpu>(x);
    return exp2_of_row<Cpu>(p.high * log.exponent, Cpu::fused(p.value, log.fraction, p.low * log.exponent));
}

} // namespace qc::device
