// SPDX-License-Identifier: BSD-2-Clause-Patent
// Vectors of 16-bit words whose products are added in pairs: one instruction multiplies twice as many words as a vector
// has 32-bit lanes. Compilers find it in sums along a row only, not in filters; hence this file, one structure for each
// instruction set. What is computed is exact, so all of them, and plain loops, give the same.
//
// Code that uses them is compiled once for each set. It lies in a header, written over a type Lanes, which is included
// between QC_BEGIN_LANES(set) and QC_END_LANES, in a namespace of its own:
//
//     QC_BEGIN_LANES("avx2")
//     namespace avx2 {
//     using Lanes = device::Avx2Words;
//     #include "..."
//     }
//     QC_END_LANES
#pragma once

#include <cstdint>
#include <vector>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__CUDACC__)
#define QC_HAS_WORD_LANES 1
#else
#define QC_HAS_WORD_LANES 0
#endif

namespace qc::device {

/// Instruction sets that have them, each richer than the ones before.
enum class WordLanes { kNone, kAvx2, kAvx512 };

/// The richest one of this machine.
inline WordLanes best_word_lanes() {
#if QC_HAS_WORD_LANES
    // Those of Ice Lake, of Zen 4 and later.
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512vnni"))
        return WordLanes::kAvx512;
    if (__builtin_cpu_supports("avx2")) return WordLanes::kAvx2;
#endif
    return WordLanes::kNone;
}

/// All that this machine has, for tests.
inline std::vector<WordLanes> all_word_lanes() {
    std::vector<WordLanes> all;
    for (const WordLanes lanes : {WordLanes::kNone, WordLanes::kAvx2, WordLanes::kAvx512})
        if (lanes <= best_word_lanes()) all.push_back(lanes);
    return all;
}

} // namespace qc::device

#if QC_HAS_WORD_LANES
#include <immintrin.h>

#define QC_LANES_PRAGMA(text) _Pragma(#text)
#define QC_BEGIN_LANES(set) QC_LANES_PRAGMA(GCC push_options) QC_LANES_PRAGMA(GCC target(set))
#define QC_END_LANES QC_LANES_PRAGMA(GCC pop_options)

#define QC_AVX2_LANES "avx2"
#define QC_AVX512_LANES "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni,avx2"

namespace qc::device {

QC_BEGIN_LANES(QC_AVX2_LANES)
struct Avx2Words; // ends the macro's line for readers that take it for the head of a function
struct Avx2Words {
    using Vector = __m256i;
    static constexpr int kWords = 16;

    static Vector load(const uint16_t* words) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)); }
    static Vector load(const uint8_t* bytes) {
        return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
    }
    static void store(void* target, Vector v) { _mm256_storeu_si256(static_cast<__m256i*>(target), v); }
    static Vector zero() { return _mm256_setzero_si256(); }
    static Vector word(uint16_t value) { return _mm256_set1_epi16(static_cast<int16_t>(value)); }
    static Vector long_word(uint32_t value) { return _mm256_set1_epi32(static_cast<int32_t>(value)); }
    static Vector exclusive_or(Vector a, Vector b) { return _mm256_xor_si256(a, b); }
    static Vector low_product(Vector a, Vector b) { return _mm256_mullo_epi16(a, b); }
    static Vector high_product(Vector a, Vector b) { return _mm256_mulhi_epu16(a, b); }
    /// sum + a.even * b.even + a.odd * b.odd of signed words, modulo 2^32.
    static Vector add_pairs(Vector sum, Vector a, Vector b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }
    static Vector add(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
    static Vector subtract(Vector a, Vector b) { return _mm256_sub_epi32(a, b); }
    static Vector larger(Vector a, Vector b) { return _mm256_max_epi32(a, b); }
    static Vector bitwise_and(Vector a, Vector b) { return _mm256_and_si256(a, b); }
    static Vector long_product(Vector a, Vector b) { return _mm256_mullo_epi32(a, b); }
    static Vector add_words(Vector a, Vector b) { return _mm256_add_epi16(a, b); }
    /// |a - b| of bytes, and the even and the odd bytes of a vector as words.
    static Vector distance_of_bytes(Vector a, Vector b) {
        return _mm256_or_si256(_mm256_subs_epu8(a, b), _mm256_subs_epu8(b, a));
    }
    static Vector even_bytes(Vector a) { return _mm256_and_si256(a, _mm256_set1_epi16(0xff)); }
    static Vector odd_bytes(Vector a) { return _mm256_srli_epi16(a, 8); }
    /// (a * b + 2^14) >> 15 of signed words.
    static Vector rounded_product(Vector a, Vector b) { return _mm256_mulhrs_epi16(a, b); }
    // Products of long words have 64 bits: those of the even ones, or of the odd ones that odd() has moved there.
    static Vector odd(Vector a) { return _mm256_srli_epi64(a, 32); }
    static Vector wide(uint64_t value) { return _mm256_set1_epi64x(static_cast<int64_t>(value)); }
    static Vector wide_product(Vector a, Vector b) { return _mm256_mul_epu32(a, b); }
    static Vector wide_product_signed(Vector a, Vector b) { return _mm256_mul_epi32(a, b); }
    static Vector add_wide(Vector a, Vector b) { return _mm256_add_epi64(a, b); }
    template <int kBits>
    static Vector shift_right_wide(Vector a) {
        return _mm256_srli_epi64(a, kBits);
    }
    /// By as many bits as each wide element of `bits` says.
    static Vector shift_right_wide(Vector a, Vector bits) { return _mm256_srlv_epi64(a, bits); }
    template <int kBits>
    static Vector shift_left_wide(Vector a) {
        return _mm256_slli_epi64(a, kBits);
    }
    /// The lower halves of wide elements, and the upper halves of others, as long words.
    static Vector join(Vector lower, Vector upper) { return _mm256_blend_epi32(lower, upper, 0xaa); }
    /// All bits of the first `count` long words.
    static Vector first_longs(int count) {
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    }
    static Vector shift_right(Vector a, int bits) { return _mm256_srl_epi32(a, _mm_cvtsi32_si128(bits)); }
    static Vector shift_right_signed(Vector a, int bits) { return _mm256_sra_epi32(a, _mm_cvtsi32_si128(bits)); }
    static Vector shift_left(Vector a, int bits) { return _mm256_sll_epi32(a, _mm_cvtsi32_si128(bits)); }
    static Vector subtract_words(Vector a, Vector b) { return _mm256_sub_epi16(a, b); }
    static Vector absolute(Vector a) { return _mm256_abs_epi32(a); }
    static Vector low_byte(Vector a) { return _mm256_and_si256(a, _mm256_set1_epi32(0xff)); }
    static Vector low_half(Vector a) { return _mm256_blend_epi16(a, _mm256_setzero_si256(), 0xaa); }
    /// Words of a and b in turn, four and four; pack() puts what was made of them in their places again.
    static Vector interleave_low(Vector a, Vector b) { return _mm256_unpacklo_epi16(a, b); }
    static Vector interleave_high(Vector a, Vector b) { return _mm256_unpackhi_epi16(a, b); }
    static Vector pack(Vector low, Vector high) { return _mm256_packus_epi32(low, high); }
    static Vector pack_signed(Vector low, Vector high) { return _mm256_packs_epi32(low, high); }
    /// The lower (upper) words of the long words in a and in b, as pairs.
    static Vector pair_lower(Vector a, Vector b) { return _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa); }
    static Vector pair_upper(Vector a, Vector b) { return _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xaa); }
    /// The lower (upper) words of the long words in a, then those in b.
    static Vector lower_words(Vector a, Vector b) {
        return _mm256_permute4x64_epi64(_mm256_packus_epi32(low_half(a), low_half(b)), 0xd8);
    }
    static Vector upper_words(Vector a, Vector b) {
        return _mm256_permute4x64_epi64(_mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16)), 0xd8);
    }
    /// The lower words of the long words in a.
    static void store_words(uint16_t* target, Vector a) {
        const Vector packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, a), 0x08);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(target), _mm256_castsi256_si128(packed));
    }
    /// Stores even[0], odd[0], even[1], ...
    static void store_in_turn(uint32_t* target, Vector even, Vector odd) {
        const Vector low = _mm256_unpacklo_epi32(even, odd), high = _mm256_unpackhi_epi32(even, odd);
        store(target, _mm256_permute2x128_si256(low, high, 0x20));
        store(target + 8, _mm256_permute2x128_si256(low, high, 0x31));
    }
};
QC_END_LANES

QC_BEGIN_LANES(QC_AVX512_LANES)
struct Avx512Words;
struct Avx512Words {
    using Vector = __m512i;
    static constexpr int kWords = 32;

    static Vector load(const uint16_t* words) { return _mm512_loadu_si512(words); }
    static Vector load(const uint8_t* bytes) {
        return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes)));
    }
    static void store(void* target, Vector v) { _mm512_storeu_si512(target, v); }
    static Vector zero() { return _mm512_setzero_si512(); }
    static Vector word(uint16_t value) { return _mm512_set1_epi16(static_cast<int16_t>(value)); }
    static Vector long_word(uint32_t value) { return _mm512_set1_epi32(static_cast<int32_t>(value)); }
    static Vector exclusive_or(Vector a, Vector b) { return _mm512_xor_si512(a, b); }
    static Vector low_product(Vector a, Vector b) { return _mm512_mullo_epi16(a, b); }
    static Vector high_product(Vector a, Vector b) { return _mm512_mulhi_epu16(a, b); }
    static Vector add_pairs(Vector sum, Vector a, Vector b) { return _mm512_dpwssd_epi32(sum, a, b); }
    static Vector add(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
    static Vector subtract(Vector a, Vector b) { return _mm512_sub_epi32(a, b); }
    static Vector larger(Vector a, Vector b) { return _mm512_max_epi32(a, b); }
    static Vector bitwise_and(Vector a, Vector b) { return _mm512_and_si512(a, b); }
    static Vector long_product(Vector a, Vector b) { return _mm512_mullo_epi32(a, b); }
    static Vector add_words(Vector a, Vector b) { return _mm512_add_epi16(a, b); }
    static Vector distance_of_bytes(Vector a, Vector b) {
        return _mm512_or_si512(_mm512_subs_epu8(a, b), _mm512_subs_epu8(b, a));
    }
    static Vector even_bytes(Vector a) { return _mm512_and_si512(a, _mm512_set1_epi16(0xff)); }
    static Vector odd_bytes(Vector a) { return _mm512_srli_epi16(a, 8); }
    static Vector rounded_product(Vector a, Vector b) { return _mm512_mulhrs_epi16(a, b); }
    static Vector odd(Vector a) { return _mm512_srli_epi64(a, 32); }
    static Vector wide(uint64_t value) { return _mm512_set1_epi64(static_cast<int64_t>(value)); }
    static Vector wide_product(Vector a, Vector b) { return _mm512_mul_epu32(a, b); }
    static Vector wide_product_signed(Vector a, Vector b) { return _mm512_mul_epi32(a, b); }
    static Vector add_wide(Vector a, Vector b) { return _mm512_add_epi64(a, b); }
    template <int kBits>
    static Vector shift_right_wide(Vector a) {
        return _mm512_srli_epi64(a, kBits);
    }
    static Vector shift_right_wide(Vector a, Vector bits) { return _mm512_srlv_epi64(a, bits); }
    template <int kBits>
    static Vector shift_left_wide(Vector a) {
        return _mm512_slli_epi64(a, kBits);
    }
    static Vector join(Vector lower, Vector upper) { return _mm512_mask_blend_epi32(0xaaaa, lower, upper); }
    static Vector first_longs(int count) {
        return _mm512_maskz_set1_epi32(static_cast<__mmask16>((1u << count) - 1), -1);
    }
    static Vector shift_right(Vector a, int bits) { return _mm512_srl_epi32(a, _mm_cvtsi32_si128(bits)); }
    static Vector shift_right_signed(Vector a, int bits) { return _mm512_sra_epi32(a, _mm_cvtsi32_si128(bits)); }
    static Vector shift_left(Vector a, int bits) { return _mm512_sll_epi32(a, _mm_cvtsi32_si128(bits)); }
    static Vector subtract_words(Vector a, Vector b) { return _mm512_sub_epi16(a, b); }
    static Vector absolute(Vector a) { return _mm512_abs_epi32(a); }
    static Vector low_byte(Vector a) { return _mm512_and_si512(a, _mm512_set1_epi32(0xff)); }
    static Vector low_half(Vector a) { return _mm512_and_si512(a, _mm512_set1_epi32(0xffff)); }
    static Vector interleave_low(Vector a, Vector b) { return _mm512_unpacklo_epi16(a, b); }
    static Vector interleave_high(Vector a, Vector b) { return _mm512_unpackhi_epi16(a, b); }
    static Vector pack(Vector low, Vector high) { return _mm512_packus_epi32(low, high); }
    static Vector pack_signed(Vector low, Vector high) { return _mm512_packs_epi32(low, high); }
    static Vector pair_lower(Vector a, Vector b) {
        return _mm512_mask_blend_epi16(0xaaaaaaaa, a, _mm512_slli_epi32(b, 16));
    }
    static Vector pair_upper(Vector a, Vector b) {
        return _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(a, 16), b);
    }
    static Vector lower_words(Vector a, Vector b) {
        return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(a)), _mm512_cvtepi32_epi16(b), 1);
    }
    static Vector upper_words(Vector a, Vector b) {
        return lower_words(_mm512_srli_epi32(a, 16), _mm512_srli_epi32(b, 16));
    }
    static void store_words(uint16_t* target, Vector a) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), _mm512_cvtepi32_epi16(a));
    }
    static void store_in_turn(uint32_t* target, Vector even, Vector odd) {
        const Vector first = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
        const Vector second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
        store(target, _mm512_permutex2var_epi32(even, first, odd));
        store(target + 16, _mm512_permutex2var_epi32(even, second, odd));
    }
};
QC_END_LANES

} // namespace qc::device
#endif
