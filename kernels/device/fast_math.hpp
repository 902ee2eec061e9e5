// SPDX-License-Identifier: BSD-2-Clause-Patent
// Approximations of the GPU's special function unit, one instruction each; exact functions stand for them on the host.
// PTX documents errors up to 2^-23 of the value for the reciprocal, 2^-22.9 for the inverse root, 2^-22 for exp2, and
// 2^-22 of the larger of 1 and the value for log2. Denormal numbers count as 0.
#pragma once

#include <cmath>

#include "contract/types.hpp"

namespace qc::device {

#if defined(__CUDA_ARCH__)
#define QC_FAST_FUNCTION(name, instruction, exact)                                                                     \
    QC_HD float name(float x) {                                                                                        \
        float result;                                                                                                  \
        asm(instruction " %0, %1;" : "=f"(result) : "f"(x));                                                           \
        return result;                                                                                                 \
    }
#else
#define QC_FAST_FUNCTION(name, instruction, exact)                                                                     \
    QC_HD float name(float x) {                                                                                        \
        return exact;                                                                                                  \
    }
#endif

QC_FAST_FUNCTION(fast_reciprocal, "rcp.approx.ftz.f32", 1.0f / x)
QC_FAST_FUNCTION(fast_inverse_root, "rsqrt.approx.ftz.f32", 1.0f / std::sqrt(x))
QC_FAST_FUNCTION(fast_log2, "lg2.approx.ftz.f32", std::log2(x))
QC_FAST_FUNCTION(fast_exp2, "ex2.approx.ftz.f32", std::exp2(x))

#undef QC_FAST_FUNCTION

} // namespace qc::device
