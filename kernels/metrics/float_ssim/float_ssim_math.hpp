// SPDX-License-Identifier: BSD-2-Clause-Patent
// Decimation by a whole factor: means of factor x factor samples around every factor-th one.
#pragma once

#include "device/borders.hpp"

namespace qc::float_ssim {

/// Decimation by `factor`; 1 leaves a picture as it is.
struct Decimation {
    int factor;
    int width, height; ///< of the result
};

/// As libvmaf rounds it: an odd side gets one more sample, whatever the factor.
inline int decimated(int side, int factor) {
    return factor == 1 ? side : side / factor + side % 2;
}

/// The factor that leaves about 256 lines or columns, whichever are fewer.
inline int automatic_factor(int width, int height) {
    const int factor = ((width < height ? width : height) + 128) / 256;
    return factor > 1 ? factor : 1;
}

inline Decimation decimation_of(int width, int height, int scale) {
    const int factor = scale > 0 ? scale : automatic_factor(width, height);
    return {factor, decimated(width, factor), decimated(height, factor)};
}

/// Weight of a sample in a mean.
QC_HD float weight_of(int factor) {
    return 1.0f / static_cast<float>(factor * factor);
}

/// Mean around sample (x, y) * factor: weighted samples in single precision, added in double, rounded once. The sum is
/// exact, so that its order does not matter: samples have 16 bits, products 24, and there are at most 2^12 of them
/// (pictures of 16384 lines).
/// @param sample gives the sample at (x, y) of a picture of width x height
template <class Sample>
QC_HD float mean_around(int x, int y, int factor, int width, int height, const Sample& sample) {
    const float weight = weight_of(factor);
    const int left = x * factor - factor / 2, top = y * factor - factor / 2;
    const bool inside = left >= 0 && top >= 0 && left + factor <= width && top + factor <= height;
    double sum = 0.0;
    for (int v = top; v < top + factor; ++v) {
        const int row = inside ? v : mirror_with_edges(v, height);
        for (int u = left; u < left + factor; ++u) {
            const float product = sample(inside ? u : mirror_with_edges(u, width), row) * weight;
            sum += static_cast<double>(product);
        }
    }
    return static_cast<float>(sum);
}

/// The same where factor is a power of two: every step but the last rounding is exact then, in integers too.
/// @param sample gives integer samples
/// @param weight of a sample: weight_of(factor), times the scale that brings samples to 8 bits
template <class Sample>
QC_HD float integer_mean_around(int x, int y, int factor, int width, int height, float weight, const Sample& sample) {
    const int left = x * factor - factor / 2, top = y * factor - factor / 2;
    const bool inside = left >= 0 && top >= 0 && left + factor <= width && top + factor <= height;
    uint32_t sum = 0; // below 2^28
    for (int v = top; v < top + factor; ++v) {
        const int row = inside ? v : mirror_with_edges(v, height);
        for (int u = left; u < left + factor; ++u) sum += sample(inside ? u : mirror_with_edges(u, width), row);
    }
    return static_cast<float>(sum) * weight;
}

} // namespace qc::float_ssim
