// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums of single-precision products in double precision on the CPU, in the way of Factor (structural_math.hpp): a
// product is widened by moving its bits, so that the sum is 2^-896 times what it should be, to the same bits.
//
// Samples lie in the upper halves of 64-bit words whose lower halves are zero. There a product is made of each, and one
// shift widens it: conversions of whole registers take three to five instructions.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "device/cpu_versions.hpp"

namespace qc::structural {

static_assert(std::endian::native == std::endian::little, "a word's second float is its upper half");

/// A sample as the upper half.
using WideSample = uint64_t;

template <typename Element, int kBytes>
struct VectorType {
    typedef Element Type __attribute__((vector_size(kBytes)));
};
template <typename Element, int kBytes>
using VectorOf = typename VectorType<Element, kBytes>::Type;

/// As many as a register holds.
template <typename Cpu>
struct WideVector {
    static constexpr int kBytes = Cpu::kVectorBytes, kLanes = kBytes / static_cast<int>(sizeof(WideSample));
    using Words = VectorOf<uint64_t, kBytes>;
    using Pairs = VectorOf<float, kBytes>;
    using Sums = VectorOf<double, kBytes>;
    using Narrow = VectorOf<float, kBytes / 2>;
    using NarrowWords = VectorOf<uint32_t, kBytes / 2>;

    static constexpr uint64_t kSign = uint64_t{1} << 63;

    /// Samples to be multiplied. @tparam kSigned whether they may be negative
    template <bool kSigned>
    struct Factors {
        Pairs magnitudes;
        Words signs;

        QC_INLINE_HELPER explicit Factors(const Words& samples)
            : magnitudes(__builtin_bit_cast(Pairs, kSigned ? samples & ~kSign : samples)),
              signs(kSigned ? samples & kSign : samples) {}

        /// f32(sample * weight) * 2^-896 of each, exactly. Precondition: weight >= 0.
        QC_INLINE_HELPER void multiply(float weight, Sums* products) const {
            Words bits = __builtin_bit_cast(Words, magnitudes * weight) >> 3;
            if (kSigned) bits = bits | signs;
            *products = __builtin_bit_cast(Sums, bits);
        }
    };

    QC_INLINE_HELPER static void load(const WideSample* from, Words* samples) {
        std::memcpy(samples, from, sizeof *samples);
    }
    QC_INLINE_HELPER static void store(const Words& samples, WideSample* to) {
        std::memcpy(to, &samples, sizeof samples);
    }
    QC_INLINE_HELPER static void load(const double* from, Sums* sums) { std::memcpy(sums, from, sizeof *sums); }
    QC_INLINE_HELPER static void store(const Sums& sums, double* to) { std::memcpy(to, &sums, sizeof sums); }

    QC_INLINE_HELPER static void multiply(const Words& factors, Words* samples) {
        *samples = __builtin_bit_cast(Words, __builtin_bit_cast(Pairs, *samples) * __builtin_bit_cast(Pairs, factors));
    }

    QC_INLINE_HELPER static void widen(const float* from, Words* samples) {
        NarrowWords bits;
        std::memcpy(&bits, from, sizeof bits);
        // One shuffle with zeros where there is one. Else two instructions, and not the five that gcc makes of them for
        // 64 bytes.
        if constexpr (kLanes == 8)
            *samples = __builtin_bit_cast(Words, __builtin_shufflevector(bits, NarrowWords{}, 8, 0, 9, 1, 10, 2, 11, 3,
                                                                         12, 4, 13, 5, 14, 6, 15, 7));
        else if constexpr (kLanes == 2)
            *samples = __builtin_bit_cast(Words, __builtin_shufflevector(bits, NarrowWords{}, 2, 0, 3, 1));
        else
            *samples = __builtin_convertvector(bits, Words) << 32;
    }
    /// Sums in single precision, rounded once.
    QC_INLINE_HELPER static void store_narrowed(const Sums& sums, float* to) {
        const Narrow rounded = __builtin_convertvector(sums * 0x1p896, Narrow);
        std::memcpy(to, &rounded, sizeof rounded);
    }
};

} // namespace qc::structural
