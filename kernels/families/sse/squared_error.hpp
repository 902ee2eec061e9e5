// SPDX-License-Identifier: BSD-2-Clause-Patent
// Squared errors of samples, one by one and packed into 32-bit words.
#pragma once

#include <cstdint>

#include "contract/types.hpp"

namespace qc::sse {

/// Up to 65535^2, which fits 32 bits unsigned.
QC_HD uint32_t squared_error(uint32_t reference, uint32_t distorted) {
    const uint32_t error = reference > distorted ? reference - distorted : distorted - reference;
    return error * error;
}

/// The same, rounded to the 24 significant bits of a float. Exact up to errors of 4096; at most 4294836224.
QC_HD uint32_t rounded_squared_error(uint32_t reference, uint32_t distorted) {
    const float error = static_cast<float>(reference > distorted ? reference - distorted : distorted - reference);
    return static_cast<uint32_t>(error * error);
}

/// How the error of a sample is squared.
enum class Square { kExact, kRounded };

template <Square kSquare>
QC_HD uint32_t squared_error_as(uint32_t reference, uint32_t distorted) {
    if constexpr (kSquare == Square::kRounded) return rounded_squared_error(reference, distorted);
    return squared_error(reference, distorted);
}

/// Adds the squared errors of four 8-bit samples, at most 260100.
QC_HD uint32_t add_squared_errors_u8x4(uint32_t sum, uint32_t reference, uint32_t distorted) {
#if defined(__CUDA_ARCH__)
    const unsigned errors = __vabsdiffu4(reference, distorted);
    return __dp4a(errors, errors, sum);
#else
    for (int shift = 0; shift < 32; shift += 8) {
        sum += squared_error(reference >> shift & 0xffu, distorted >> shift & 0xffu);
    }
    return sum;
#endif
}

/// Adds the squared errors of two 16-bit samples.
template <Square kSquare, typename Sum>
QC_HD Sum add_squared_errors_u16x2(Sum sum, uint32_t reference, uint32_t distorted) {
    sum += squared_error_as<kSquare>(reference & 0xffffu, distorted & 0xffffu);
    return sum + squared_error_as<kSquare>(reference >> 16, distorted >> 16);
}

/// Takes two 16-bit containers down to the session's depth.
QC_HD uint32_t shift_u16x2(uint32_t pair, unsigned shift) {
    return pair >> shift & (0xffffu >> shift) * 0x10001u;
}

} // namespace qc::sse
