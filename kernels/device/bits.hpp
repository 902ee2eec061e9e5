// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point numbers as their bits and back, on both sides.
#pragma once

#include <cstdint>

#include "contract/types.hpp"

namespace qc::device {

// The compiler's own function, which std::bit_cast() is made of: it exists on the GPU as well.
QC_HD uint32_t bits_of(float value) {
    return __builtin_bit_cast(uint32_t, value);
}

/// What an accumulator keeps of a sum.
QC_HD uint64_t bits_of(double value) {
    return __builtin_bit_cast(uint64_t, value);
}

QC_HD float float_of(uint32_t bits) {
    return __builtin_bit_cast(float, bits);
}

} // namespace qc::device
