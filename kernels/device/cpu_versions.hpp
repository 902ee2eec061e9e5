// SPDX-License-Identifier: BSD-2-Clause-Patent
// Several versions of a hot CPU function, as cpu_clones.hpp makes them, where the source has to know which one it is: a
// function NAME_on<Cpu>(...), always inlined, says what is done, and
//
//     QC_CPU_VERSIONS(NAME, (const float* from, int width, float* to), (from, width, to))
//
// defines NAME for each instruction set. Cpu says how wide registers are, and has Cpu::fused(a, b, c), a * b + c with
// one rounding, which is an instruction from AVX2 on. Results don't depend on it.
#pragma once

#include <bit>
#include <cstdint>

#include "device/cpu_clones.hpp"

namespace qc::device {

// ---- a * b + c, rounded once, where there is no instruction for it: arithmetic that vectorises, right to the last bit
// (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008)

/// A sum and what its rounding has left out.
struct ExactSum {
    double sum, rest;
};
QC_INLINE_HELPER ExactSum exact_sum(double a, double b) {
    const double sum = a + b, of_b = sum - a;
    return {sum, (a - (sum - of_b)) + (b - of_b)};
}

/// Where something was left out, the neighbour whose last bit is 1: rounded again, it is right.
QC_INLINE_HELPER double rounded_to_odd(const ExactSum& exact) {
    const auto bits = std::bit_cast<uint64_t>(exact.sum);
    const uint64_t towards_zero = 0 - ((bits ^ std::bit_cast<uint64_t>(exact.rest)) >> 63);
    const uint64_t step = exact.rest != 0.0 ? ~bits & 1 : 0;
    return std::bit_cast<double>(bits + ((step ^ towards_zero) - towards_zero));
}

QC_INLINE_HELPER float exact_fused(float a, float b, float c) {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    return static_cast<float>(rounded_to_odd(exact_sum(product, static_cast<double>(c))));
}

/// A number as the sum of two that have half of its digits.
struct Halves {
    double high, low;
};
QC_INLINE_HELPER Halves halves_of(double x) {
    const double large = 134217729.0 * x, high = large - (large - x);
    return {high, x - high};
}
/// Of numbers whose products are neither huge nor tiny.
QC_INLINE_HELPER double exact_fused(double a, double b, double c) {
    const Halves of_a = halves_of(a), of_b = halves_of(b);
    const double product = a * b;
    const double rest =
        ((of_a.high * of_b.high - product) + of_a.high * of_b.low + of_a.low * of_b.high) + of_a.low * of_b.low;
    const ExactSum low = exact_sum(c, rest), high = exact_sum(product, low.sum);
    return high.sum + rounded_to_odd(exact_sum(low.rest, high.rest));
}

// ---- what a version is compiled for ---------------------------------------------------------------------------------

struct AnyCpu {
    static constexpr int kVectorBytes = 16;
#if defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF)
    QC_INLINE_HELPER static float fused(float a, float b, float c) {
        return __builtin_fmaf(a, b, c);
    }
    QC_INLINE_HELPER static double fused(double a, double b, double c) {
        return __builtin_fma(a, b, c);
    }
#else
    QC_INLINE_HELPER static float fused(float a, float b, float c) {
        return exact_fused(a, b, c);
    }
    QC_INLINE_HELPER static double fused(double a, double b, double c) {
        return exact_fused(a, b, c);
    }
#endif
};
struct CpuWithAvx2 {
    static constexpr int kVectorBytes = 32;
    QC_INLINE_HELPER static float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
    QC_INLINE_HELPER static double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct CpuWithAvx512 : CpuWithAvx2 {
    static constexpr int kVectorBytes = 64;
};

} // namespace qc::device

// Chosen by a branch at each call, not by the loader: so do sanitizers and all compilers have them. nvcc sees host code
// of headers only.
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__CUDACC__)

namespace qc::device {

inline bool has_avx2() {
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                            __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    return has;
}
inline bool has_avx512() {
    static const bool has = has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl");
    return has;
}

} // namespace qc::device

#define QC_CPU_VERSION(set, cpu, name, parameters, arguments)                                                          \
    __attribute__((target(set), flatten)) static void name##_##cpu parameters {                                        \
        name##_on<::qc::device::cpu> arguments;                                                                        \
    }
#define QC_CPU_VERSIONS(name, parameters, arguments)                                                                   \
    QC_CPU_VERSION("arch=x86-64-v3", CpuWithAvx2, name, parameters, arguments)                                         \
    QC_CPU_VERSION("arch=x86-64-v4", CpuWithAvx512, name, parameters, arguments)                                       \
    __attribute__((flatten)) static void name##_AnyCpu parameters {                                                    \
        name##_on<::qc::device::AnyCpu> arguments;                                                                     \
    }                                                                                                                  \
    void name parameters {                                                                                             \
        if (::qc::device::has_avx512()) return name##_CpuWithAvx512 arguments;                                         \
        if (::qc::device::has_avx2()) return name##_CpuWithAvx2 arguments;                                             \
        name##_AnyCpu arguments;                                                                                       \
    }

#else

#define QC_CPU_VERSIONS(name, parameters, arguments)                                                                   \
    void name parameters {                                                                                             \
        name##_on<::qc::device::AnyCpu> arguments;                                                                     \
    }

#endif
