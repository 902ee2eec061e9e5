// SPDX-License-Identifier: BSD-2-Clause-Patent
// The lines of butteraugli_lines.hpp through four neighbouring places, on the GPU. A line is symmetric, so opposite
// samples are added first, and lines that begin alike share their beginnings: 77 operations a place for the dense lines
// instead of 96, 64 for the sparse ones instead of 80.
#pragma once

#include "device/unroll.hpp"
#include "device/wide_floats.hpp"
#include "metrics/butteraugli/butteraugli_lines.hpp"

namespace qc::butteraugli {

/// The neighbourhood of four places in a row and of the four below, in registers: what only the upper ones need makes
/// room for what only the lower ones do.
class LineWindow {
public:
    /// `corner`: four rows above and four columns left of the first place; aligned to 16 bytes.
    QC_HD LineWindow(const float* corner, int pitch) : corner_(corner), pitch_(pitch) {
        QC_UNROLL for (int row = 0; row < kRows; ++row) load(row);
    }
    QC_HD void load_last() { load(kRows); }

    /// `row`: 0 or 1.
    QC_HD float centre(int row, int place) const { return sample_[row + kLineReach][kLineReach + place]; }
    /// A sample and the opposite one.
    QC_HD float both(int row, int place, int dx, int dy) const {
        return sample_[row + kLineReach + dy][kLineReach + place + dx] +
               sample_[row + kLineReach - dy][kLineReach + place - dx];
    }

private:
    static constexpr int kRows = 2 * kLineReach + 1, kColumns = 4 + 2 * kLineReach;

    QC_HD void load(int row) {
        QC_UNROLL for (int w = 0; w < kColumns / 4; ++w) {
            const device::Float4 four = device::load_shared4(corner_ + row * pitch_ + 4 * w);
            QC_UNROLL for (int i = 0; i < 4; ++i) sample_[row][4 * w + i] = four.value[i];
        }
    }

    const float* corner_;
    int pitch_;
    float sample_[kRows + 1][kColumns];
};

QC_HD float add_square(float line, float sum) {
    return fmaf(line, line, sum);
}

QC_HD float dense_lines(const LineWindow& window, int row, int place) {
    const auto both = [&](int dx, int dy) { return window.both(row, place, dx, dy); };
    const float centre = window.centre(row, place);
    const float across = centre + both(1, 0), down = centre + both(0, 1);
    const float falling = centre + both(1, 1), rising = centre + both(-1, 1);
    float twice = (down + both(-1, 2)) + (both(-1, 3) + both(-1, 4));
    twice *= twice;
    twice = add_square((down + both(1, 2)) + (both(1, 3) + both(1, 4)), twice);
    twice = add_square((across + both(2, 1)) + (both(3, 1) + both(4, 1)), twice);
    twice = add_square((across + both(2, -1)) + (both(3, -1) + both(4, -1)), twice);
    float sum = twice + twice;
    sum = add_square((across + both(2, 0)) + (both(3, 0) + both(4, 0)), sum);
    sum = add_square((down + both(0, 2)) + (both(0, 3) + both(0, 4)), sum);
    sum = add_square(falling + (both(2, 2) + both(3, 3)), sum);
    sum = add_square(rising + (both(-2, 2) + both(-3, 3)), sum);
    sum = add_square(falling + (both(1, 2) + both(2, 3)), sum);
    sum = add_square(rising + (both(-1, 2) + both(-2, 3)), sum);
    sum = add_square(falling + (both(2, 1) + both(3, 2)), sum);
    return add_square(rising + (both(-2, 1) + both(-3, 2)), sum);
}

QC_HD float sparse_lines(const LineWindow& window, int row, int place) {
    const auto both = [&](int dx, int dy) { return window.both(row, place, dx, dy); };
    const float centre = window.centre(row, place);
    const float steep_falling = centre + both(1, 2), steep_rising = centre + both(-1, 2);
    const float flat_falling = centre + both(2, 1), flat_rising = centre + both(2, -1);
    float sum = centre + (both(2, 0) + both(4, 0));
    sum *= sum;
    sum = add_square(centre + (both(0, 2) + both(0, 4)), sum);
    sum = add_square(centre + (both(2, 2) + both(3, 3)), sum);
    sum = add_square(centre + (both(-2, 2) + both(-3, 3)), sum);
    sum = add_square(steep_rising + both(-1, 4), sum);
    sum = add_square(steep_falling + both(1, 4), sum);
    sum = add_square(flat_falling + both(4, 1), sum);
    sum = add_square(flat_rising + both(4, -1), sum);
    sum = add_square(steep_falling + both(2, 3), sum);
    sum = add_square(steep_rising + both(-2, 3), sum);
    sum = add_square(flat_falling + both(3, 2), sum);
    sum = add_square(flat_rising + both(-3, 2), sum);
    sum = add_square(flat_rising + both(4, -2), sum);
    sum = add_square(flat_falling + both(4, 2), sum);
    sum = add_square(steep_falling + both(2, 4), sum);
    return add_square(steep_rising + both(-2, 4), sum);
}

} // namespace qc::butteraugli
