// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point numbers as their bits and back, on both sides.
#pragma once

#include <cstdint>
#include <cstring>

#include "contract/types.hpp"

namespace qc::device {

QC_HD uint32_t bits_of(float value) {
#if defined(__CUDA_ARCH__)
    return __float_as_uint(value);
#else
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
#endif
}

/// What an accumulator keeps of a sum.
QC_HD uint64_t bits_of(double value) {
#if defined(__CUDA_ARCH__)
    return static_cast<uint64_t>(__double_as_longlong(value));
#else
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
#endif
}

QC_HD float float_of(uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return __uint_as_float(bits);
#else
    float value = 0.0f;
    std::memcpy(&value, &bits, sizeof value);
    return value;
#endif
}

} // namespace qc::device
