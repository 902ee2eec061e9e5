// SPDX-License-Identifier: BSD-2-Clause-Patent
// Neighbouring samples of a row as one value, where compilers do not find by themselves what belongs together. As wide
// as the registers of the instruction set that is compiled for (device/cpu_versions.hpp): compilers keep wider ones in
// memory. Arithmetic is that of single samples.
#pragma once

#include <cstring>

#include "device/cpu_versions.hpp"
#include "device/unroll.hpp"

namespace qc::device {

template <typename Sample, typename Cpu>
struct RowVector {
    static constexpr int kBytes = Cpu::kVectorBytes, kLanes = kBytes / static_cast<int>(sizeof(Sample));
    typedef Sample Type __attribute__((vector_size(kBytes)));

    QC_INLINE_HELPER static void load(const Sample* row, Type* vector) { std::memcpy(vector, row, kBytes); }
    QC_INLINE_HELPER static void store(const Type& vector, Sample* row) { std::memcpy(row, &vector, kBytes); }
    /// a * b + sum, rounded once.
    QC_INLINE_HELPER static void add_product(const Type& a, const Type& b, Type* sum) {
        Type result;
        QC_UNROLL for (int i = 0; i < kLanes; ++i) result[i] = Cpu::fused(a[i], b[i], (*sum)[i]);
        *sum = result;
    }
    QC_INLINE_HELPER static void add_product(Sample a, const Type& b, Type* sum) {
        Type result;
        QC_UNROLL for (int i = 0; i < kLanes; ++i) result[i] = Cpu::fused(a, b[i], (*sum)[i]);
        *sum = result;
    }
    /// product * factor + number, rounded once.
    QC_INLINE_HELPER static void next_of_series(const Type& factor, Sample number, Type* product) {
        Type result;
        QC_UNROLL for (int i = 0; i < kLanes; ++i) result[i] = Cpu::fused((*product)[i], factor[i], number);
        *product = result;
    }
    /// table[at % 8]: a shuffle where registers hold as many. @param at of a Word as long as a Sample
    template <typename Word>
    QC_INLINE_HELPER static void look_up(const Sample (&table)[8], const Word& at, Type* result) {
#if !defined(__clang__)
        if constexpr (kLanes >= 8) {
            Type repeated;
            QC_UNROLL for (int i = 0; i < kLanes; ++i) repeated[i] = table[i % 8];
            *result = __builtin_shuffle(repeated, at);
            return;
        }
#endif
        QC_UNROLL for (int i = 0; i < kLanes; ++i)(*result)[i] = table[at[i] & 7];
    }
    /// Has it made here and now. Compilers else finish one of several sums before they begin with the next.
    QC_INLINE_HELPER static void make(Type& vector) {
#if defined(__x86_64__) && !defined(__clang__)
        __asm__("" : "+v"(vector));
#else
        static_cast<void>(vector);
#endif
    }
};

} // namespace qc::device
