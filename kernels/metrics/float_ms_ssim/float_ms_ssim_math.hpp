// SPDX-License-Identifier: BSD-2-Clause-Patent
// The low-pass filter between the scales of MS-SSIM.
#pragma once

#include "families/structural/structural_math.hpp"

namespace qc::float_ms_ssim {

constexpr int kScales = 5;

constexpr int kRadius = 4, kSide = 2 * kRadius + 1;

/// Weight at the distances dx and dy from the centre, dx, dy in 0..4. The table is that of libvmaf: the product of two
/// biorthogonal 9/7 filters, rounded to six decimals, so that it is not separable any more. It is symmetric.
QC_HD constexpr float low_pass_tap(int dx, int dy) {
    constexpr float kTap[kRadius + 1][kRadius + 1] = {{0.363505f, 0.160885f, -0.047149f, -0.010146f, 0.016114f},
                                                      {0.160885f, 0.071207f, -0.020867f, -0.004490f, 0.007132f},
                                                      {-0.047149f, -0.020867f, 0.006115f, 0.001316f, -0.002090f},
                                                      {-0.010146f, -0.004490f, 0.001316f, 0.000283f, -0.000450f},
                                                      {0.016114f, 0.007132f, -0.002090f, -0.000450f, 0.000714f}};
    return kTap[dy][dx];
}

QC_HD constexpr int distance(int i) {
    return i < kRadius ? kRadius - i : i - kRadius;
}

/// Size of the next scale.
QC_HD constexpr int halved(int side) {
    return (side + 1) / 2;
}

/// kRun samples of the next scale, one below the other: result(i) = sum over rows v, then columns u, 0..8, of
/// weight * read(2 i + v, u), products in single precision, added in double, rounded once. Reads rows 0 .. 2 kRun + 6.
///
/// A product is the same v rows above and below a centre: it is made and widened once for both. Negative weights are
/// subtracted, so that samples that are not negative make products that are not.
template <int kRun, bool kSigned, typename Read, typename Write>
QC_HD void low_pass_run(const Read& read, const Write& write) {
    double sum[kRun];
    QC_UNROLL for (int row = 0; row < 2 * kRun + kSide - 2; ++row) {
        QC_UNROLL for (int u = 0; u < kSide; ++u) {
            const structural::Factor<kSigned> sample(read(row, u));
            QC_UNROLL for (int dy = row % 2; dy <= kRadius; dy += 2) {
                // The results whose centres lie dy rows below and dy rows above.
                const int below = row - kRadius + dy, above = row - kRadius - dy;
                const bool has_below = below >= 0 && below / 2 < kRun;
                const bool has_above = above >= 0 && above / 2 < kRun && dy != 0;
                if (!has_below && !has_above) continue;
                const float tap = low_pass_tap(distance(u), dy);
                const double product = sample.widened_product(tap < 0.0f ? -tap : tap);
                if (has_below) {
                    double& to = sum[below / 2];
                    to = dy == kRadius && u == 0 ? product : tap < 0.0f ? to - product : to + product;
                }
                if (has_above) {
                    double& to = sum[above / 2];
                    to = tap < 0.0f ? to - product : to + product;
                }
            }
        }
        if (row >= kSide - 1 && row % 2 == 0) {
            const int done = (row - (kSide - 1)) / 2;
            write(done, structural::narrowed(sum[done]));
        }
    }
}

} // namespace qc::float_ms_ssim
