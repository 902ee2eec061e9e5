// SPDX-License-Identifier: BSD-2-Clause-Patent
// Four bytes of a word at once, on both sides. A word's byte 0 is its lowest.
#pragma once

#include <cstdint>
#include <type_traits>

#include "contract/types.hpp"
#include "device/unroll.hpp"

namespace qc::device {

/// A selector for select_bytes(): four neighbours from byte `first` on.
QC_HD uint32_t bytes_from(int first) {
    return 0x3210u + 0x1111u * static_cast<uint32_t>(first);
}

/// Four of the bytes of two words: those of `low` are numbered 0 to 3, those of `high` 4 to 7. Digit i of the
/// hexadecimal selector says which becomes byte i.
QC_HD uint32_t select_bytes(uint32_t low, uint32_t high, uint32_t selector) {
#if defined(__CUDA_ARCH__)
    return __byte_perm(low, high, selector);
#else
    const uint64_t both = static_cast<uint64_t>(high) << 32 | low;
    uint32_t selected = 0;
    for (int i = 0; i < 4; ++i)
        selected |= static_cast<uint32_t>(both >> (selector >> (4 * i) & 7) * 8 & 0xff) << (8 * i);
    return selected;
#endif
}

/// sum + the products of two 16-bit weights with bytes 0 and 1 of a word, or 2 and 3. The weights are signed if the sum
/// is.
/// @tparam Sum int or uint32_t
template <bool kUpper, typename Sum>
QC_HD Sum add_two_products(uint32_t weights, uint32_t bytes, Sum sum) {
#if defined(__CUDA_ARCH__)
    Sum result;
    if constexpr (kUpper && std::is_signed_v<Sum>)
        asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(bytes), "r"(sum));
    else if constexpr (kUpper)
        asm("dp2a.hi.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(bytes), "r"(sum));
    else if constexpr (std::is_signed_v<Sum>)
        asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(bytes), "r"(sum));
    else
        asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(bytes), "r"(sum));
    return result;
#else
    using Weight = std::conditional_t<std::is_signed_v<Sum>, int16_t, uint16_t>;
    if (kUpper) bytes >>= 16;
    return sum + static_cast<Weight>(weights) * static_cast<Sum>(bytes & 0xff) +
           static_cast<Weight>(weights >> 16) * static_cast<Sum>(bytes >> 8 & 0xff);
#endif
}

/// sum + the products of the bytes of two words.
QC_HD uint32_t add_four_products(uint32_t weights, uint32_t bytes, uint32_t sum) {
#if defined(__CUDA_ARCH__)
    return __dp4a(weights, bytes, sum);
#else
    for (int i = 0; i < 32; i += 8) sum += (weights >> i & 0xff) * (bytes >> i & 0xff);
    return sum;
#endif
}

/// Two words of 16 bits, each brought into its range.
QC_HD uint32_t clamped_words(int low, int high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 720
    uint32_t both;
    asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(both) : "r"(high), "r"(low));
    return both;
#else
    low = low < 0 ? 0 : low > 0xffff ? 0xffff : low;
    high = high < 0 ? 0 : high > 0xffff ? 0xffff : high;
    return static_cast<uint32_t>(low) | static_cast<uint32_t>(high) << 16;
#endif
}

/// Bytes 0 to 3, each brought into its range.
QC_HD uint32_t clamped_bytes(const int (&value)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 720
    uint32_t upper, all;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(upper) : "r"(value[3]), "r"(value[2]), "r"(0));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(value[1]), "r"(value[0]), "r"(upper));
    return all;
#else
    uint32_t bytes = 0;
    QC_UNROLL for (int i = 0; i < 4; ++i) {
        const int clamped = value[i] < 0 ? 0 : value[i] > 255 ? 255 : value[i];
        bytes |= static_cast<uint32_t>(clamped) << (8 * i);
    }
    return bytes;
#endif
}

} // namespace qc::device
