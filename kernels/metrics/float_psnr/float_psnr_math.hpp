// SPDX-License-Identifier: BSD-2-Clause-Patent
// From the sum of squared errors to float_psnr. libvmaf divides samples by 2^(depth - 8) before anything else, so its
// sum is ours divided by 4^(depth - 8), exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace qc::float_psnr {

/// Whether a float holds the square of every error: 24 bits.
constexpr bool squares_are_exact(int depth) {
    return depth <= 12;
}

/// 2^depth - 1 on the scale of 8 bits: 255, 255.75, 255.9375, 255.99609375.
inline double peak(int depth) {
    return std::ldexp((1 << depth) - 1, 8 - depth);
}

/// Identical pictures reach it.
constexpr double cap(int depth) {
    return 6 * depth + 12;
}

inline double score(double squared_errors, double pixels, int depth) {
    constexpr double kSmallestNoise = 1e-10;
    const double sum = std::ldexp(squared_errors, -2 * (depth - 8));
    const double noise = sum / pixels;
    return std::min(10.0 * std::log10(peak(depth) * peak(depth) / std::max(noise, kSmallestNoise)), cap(depth));
}

} // namespace qc::float_psnr
