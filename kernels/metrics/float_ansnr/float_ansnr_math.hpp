// SPDX-License-Identifier: BSD-2-Clause-Patent
// The two smoothing filters, in single precision and a fixed order: along the rows first, then the sums of the rows
// from top to bottom. A row takes part in several windows with the same weights, so its sums are kept apart from
// theirs.
#pragma once

#include <cstdint>

#include "contract/types.hpp"
#include "device/borders.hpp"
#include "device/float_luma.hpp"

namespace qc::float_ansnr {

constexpr int kRadius = 2;      ///< of the distorted picture's filter, the larger one
constexpr int kMinimumSize = 3; ///< smaller pictures do not hold the mirrored window
constexpr int kWindow = 2 * kRadius + 1;

/// 3 x 3 filter of the reference, weights {1 2 1; 2 4 2; 1 2 1} / 16, from five samples of a row around the middle one.
/// The middle row of the window has exactly twice the sum of the outer ones.
QC_HD float reference_row(const float* x) {
    return (x[1] * 0.0625f + x[2] * 0.125f) + x[3] * 0.0625f;
}
QC_HD float reference_window(float above, float middle, float below) {
    return (above + 2.0f * middle) + below;
}

/// 5 x 5 filter of the distorted picture: sums of one row with the weights of the window's outermost, second, and
/// middle row.
struct RowSums {
    float outer, second, middle;
};

QC_HD float weigh(const float* x, float w0, float w1, float w2) {
    return (((w0 * x[0] + w1 * x[1]) + w2 * x[2]) + w1 * x[3]) + w0 * x[4];
}

QC_HD RowSums distorted_row(const float* x) {
    constexpr double kTotal = 571.0;
    constexpr float k2 = static_cast<float>(2 / kTotal), k7 = static_cast<float>(7 / kTotal);
    constexpr float k12 = static_cast<float>(12 / kTotal), k31 = static_cast<float>(31 / kTotal);
    constexpr float k52 = static_cast<float>(52 / kTotal), k127 = static_cast<float>(127 / kTotal);
    return {weigh(x, k2, k7, k12), weigh(x, k7, k31, k52), weigh(x, k12, k52, k127)};
}
QC_HD float distorted_window(float row0, float row1, float row2, float row3, float row4) {
    return (((row0 + row1) + row2) + row3) + row4;
}

QC_HD float signal_term(float reference) {
    return reference * reference;
}
QC_HD float noise_term(float reference, float distorted) {
    const float difference = reference - distorted;
    return difference * difference;
}

} // namespace qc::float_ansnr
