// SPDX-License-Identifier: BSD-2-Clause-Patent
// Approximations of the GPU's special function unit, one instruction each; exact functions stand for them on the host.
// PTX documents errors up to 2^-23 of the value for the reciprocal, 2^-22.9 for the inverse root, 2^-22 for exp2, and
// 2^-22 of the larger of 1 and the value for log2. Denormal numbers count as 0.
#pragma once

#include <cmath>

#include "contract/types.hpp"

namespace qc::device {

QC_HD float fast_reciprocal(float x) {
#if defined(__CUDA_ARCH__)
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#else
    return 1.0f / x;
#endif
}

QC_HD float fast_inverse_root(float x) {
#if defined(__CUDA_ARCH__)
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#else
    return 1.0f / std::sqrt(x);
#endif
}

QC_HD float fast_log2(float x) {
#if defined(__CUDA_ARCH__)
    float result;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#else
    return std::log2(x);
#endif
}

QC_HD float fast_exp2(float x) {
#if defined(__CUDA_ARCH__)
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#else
    return std::exp2(x);
#endif
}

} // namespace qc::device
