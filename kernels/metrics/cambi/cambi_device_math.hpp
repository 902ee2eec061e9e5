// SPDX-License-Identifier: BSD-2-Clause-Patent
// Arithmetic on two 16-bit or four 8-bit values in a word, with what stands for it on the host.
#pragma once

#include <bit>

#include "contract/types.hpp"

namespace qc::cambi {

/// Four neighbouring samples, the leftmost in the low half of `low`.
struct Quad {
    uint32_t low, high;
};

constexpr uint32_t kBothHalves = 0x00010001u;
constexpr uint32_t kTopBits = 0x80008000u;

/// How many bits are set.
QC_HD int bits_in(uint32_t word) {
#if defined(__CUDA_ARCH__)
    return __popc(word);
#else
    return std::popcount(word);
#endif
}

/// 32 bits of high:low from bit `shift` on, which is 0..31.
QC_HD uint32_t funnel_shift(uint32_t low, uint32_t high, int shift) {
#if defined(__CUDA_ARCH__)
    return __funnelshift_r(low, high, shift);
#else
    return static_cast<uint32_t>(((static_cast<uint64_t>(high) << 32) | low) >> shift);
#endif
}

/// Bytes of high:low, by the digits of the selector, least significant first. Digits 8..15 give 0 or 255 by the sign of
/// byte 0..7.
QC_HD uint32_t permute_bytes(uint32_t low, uint32_t high, uint32_t selector) {
#if defined(__CUDA_ARCH__)
    uint32_t result;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(selector));
    return result;
#else
    const uint64_t bytes = (static_cast<uint64_t>(high) << 32) | low;
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
        const uint32_t digit = (selector >> (4 * i)) & 15;
        const auto byte = static_cast<uint32_t>((bytes >> (8 * (digit & 7))) & 255);
        result |= (digit < 8 ? byte : (byte & 128) != 0 ? 255u : 0u) << (8 * i);
    }
    return result;
#endif
}

/// Halves of two words in order.
struct SortedHalves {
    uint32_t smaller, larger;
};

QC_HD SortedHalves sort_halves(uint32_t a, uint32_t b) {
#if defined(__CUDA_ARCH__)
    return {__vminu2(a, b), __vmaxu2(a, b)};
#else
    const uint32_t low = (a & 0xffffu) < (b & 0xffffu) ? 0xffffu : 0, high = (a >> 16) < (b >> 16) ? 0xffff0000u : 0;
    const uint32_t from_a = low | high;
    return {(a & from_a) | (b & ~from_a), (b & from_a) | (a & ~from_a)};
#endif
}

/// The top bit of each half that is 0. Halves must not exceed 0x8000.
QC_HD uint32_t zero_halves(uint32_t value) {
    return kTopBits - value; // the other bits are not cleared
}

/// mode_of_three() of halves below 0x8000.
QC_HD uint32_t mode_of_three_halves(uint32_t a, uint32_t b, uint32_t c) {
    const auto [low, high] = sort_halves(a, b);
    const auto [rest, top] = sort_halves(high, c);
    const auto [bottom, middle] = sort_halves(low, rest);
    const uint32_t tie = permute_bytes(zero_halves(middle ^ top), 0, 0xbb99);
    return (top & tie) | (bottom & ~tie);
}

/// The four samples one to the right of `quad`; `next` has the one behind it in its low half.
QC_HD Quad one_to_the_right(const Quad& quad, uint32_t next) {
    return {funnel_shift(quad.low, quad.high, 16), funnel_shift(quad.high, next, 16)};
}

/// The four samples one to the left of `quad`; `previous` has the one before it in its high half.
QC_HD Quad one_to_the_left(const Quad& quad, uint32_t previous) {
    return {funnel_shift(previous, quad.low, 16), funnel_shift(quad.low, quad.high, 16)};
}

} // namespace qc::cambi
