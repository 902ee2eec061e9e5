// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floats kept in 16 bits (IEEE binary16), where memory is what is waited for: 11 binary digits, so rounding to nearest
// (ties to even) errs by 1/4096 of a value at the most, and by 3e-8 below 6e-5. What is beyond 65504 becomes infinite:
// users say why nothing is. Arithmetic is in single precision always.
#pragma once

#include "contract/types.hpp"
#include "device/bits.hpp"
#include "device/unroll.hpp"
#include "device/wide_floats.hpp"

namespace qc::device {

/// A float's 16 bits.
using Half = uint16_t;

QC_HD float float_of_half(Half half) {
#if defined(__CUDA_ARCH__)
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(half));
    return result;
#else
    constexpr float kBias = 0x1p112f; // of the exponents
    const float size = float_of(static_cast<uint32_t>(half & 0x7fff) << 13) * kBias;
    return half & 0x8000 ? -size : size;
#endif
}

QC_HD Half half_of(float value) {
#if defined(__CUDA_ARCH__)
    Half result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
    return result;
#else
    constexpr uint32_t kSign = 0x80000000u, kSmallestNormal = 0x38800000u, kInfinite = 0x477ff000u;
    constexpr uint32_t kBias = 112u << 23;
    const uint32_t bits = bits_of(value), size = bits & ~kSign, sign = (bits & kSign) >> 16;
    if (size >= kInfinite) return static_cast<Half>(sign | 0x7c00u);
    // Below the normal numbers, the last place is that of 0.5 in single precision, where the addition rounds.
    if (size < kSmallestNormal) return static_cast<Half>(sign | (bits_of(float_of(size) + 0.5f) - bits_of(0.5f)));
    return static_cast<Half>(sign | (size - kBias + 0xfffu + (size >> 13 & 1u)) >> 13);
#endif
}

QC_HD Float4 load_half4(const Half* from) {
#if defined(__CUDA_ARCH__)
    const uint2 v = __ldg(reinterpret_cast<const uint2*>(from));
    const Half halves[4] = {static_cast<Half>(v.x), static_cast<Half>(v.x >> 16), static_cast<Half>(v.y),
                            static_cast<Half>(v.y >> 16)};
#else
    const Half* const halves = from;
#endif
    Float4 result;
    QC_UNROLL for (int i = 0; i < 4; ++i) result.value[i] = float_of_half(halves[i]);
    return result;
}

/// Two floats in 32 bits.
QC_HD uint32_t half_pair_of(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    return half_of(low) | static_cast<uint32_t>(half_of(high)) << 16;
#endif
}
QC_HD float low_of_pair(uint32_t pair) {
    return float_of_half(static_cast<Half>(pair & 0xffff));
}
QC_HD float high_of_pair(uint32_t pair) {
    return float_of_half(static_cast<Half>(pair >> 16));
}

QC_HD void store_half2(Half* to, float first, float second) {
#if defined(__CUDA_ARCH__)
    *reinterpret_cast<uint32_t*>(to) = half_pair_of(first, second);
#else
    to[0] = half_of(first);
    to[1] = half_of(second);
#endif
}

} // namespace qc::device
