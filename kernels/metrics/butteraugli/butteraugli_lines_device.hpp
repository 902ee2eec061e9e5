// SPDX-License-Identifier: BSD-2-Clause-Patent
// The lines of butteraugli_lines.hpp, and four neighbouring places that they go through, on the GPU. The dense lines
// are made of the same few pieces, three samples in a row or column and two along a diagonal, which neighbouring places
// share: what compilers leave of them are 61 operations a place instead of 96. A sparse line is symmetric, so opposite
// samples are added first, and lines that begin alike share their beginnings: 65 operations instead of 80.
#pragma once

#include "device/unroll.hpp"
#include "device/wide_floats.hpp"
#include "metrics/butteraugli/butteraugli_lines.hpp"

namespace qc::butteraugli {

/// The neighbourhood of four places in a row and of those in the kPlaceRows - 1 rows below, in registers: what only the
/// upper ones need makes room for what only the lower ones do.
template <int kPlaceRows>
class LineWindow {
public:
    /// `corner`: four rows above and four columns left of the first place; aligned to 16 bytes.
    QC_HD LineWindow(const float* corner, int pitch) : corner_(corner), pitch_(pitch) {
        QC_UNROLL for (int row = 0; row < kRows; ++row) load(row);
    }
    /// What `row` needs and the one before did not.
    QC_HD void load_next(int row) { load(kRows - 1 + row); }

    /// `row`: the last that was loaded for.
    QC_HD float at(int row, int place, int dx, int dy) const {
        return sample_[row + kLineReach + dy][kLineReach + place + dx];
    }
    /// sum + line * line
    QC_HD static float add_square(float line, float sum) { return fmaf(line, line, sum); }

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
    float sample_[kRows + kPlaceRows - 1][kColumns];
};

// Pieces of lines: three samples around one, in a row and in a column; two one below the other, to the right or left; a
// sample and the opposite one.
template <class Window>
QC_HD float dense_lines(const Window& window, int row, int place) {
    const auto at = [&](int dx, int dy) { return window.at(row, place, dx, dy); };
    const auto across = [&](int dx, int dy) { return (at(dx - 1, dy) + at(dx, dy)) + at(dx + 1, dy); };
    const auto down = [&](int dx, int dy) { return (at(dx, dy - 1) + at(dx, dy)) + at(dx, dy + 1); };
    const auto falling = [&](int dx, int dy) { return at(dx, dy) + at(dx + 1, dy + 1); };
    const auto rising = [&](int dx, int dy) { return at(dx, dy) + at(dx - 1, dy + 1); };
    const float across_here = across(0, 0), down_here = down(0, 0);
    const float falling_here = falling(-1, -1) + at(1, 1);
    const float rising_here = rising(1, -1) + at(-1, 1);
    float twice = (down_here + down(-1, 3)) + down(1, -3);
    twice *= twice;
    twice = Window::add_square((down_here + down(1, 3)) + down(-1, -3), twice);
    twice = Window::add_square((across_here + across(3, 1)) + across(-3, -1), twice);
    twice = Window::add_square((across_here + across(3, -1)) + across(-3, 1), twice);
    float sum = twice + twice;
    sum = Window::add_square((across_here + across(3, 0)) + across(-3, 0), sum);
    sum = Window::add_square((down_here + down(0, 3)) + down(0, -3), sum);
    sum = Window::add_square((falling_here + falling(2, 2)) + falling(-3, -3), sum);
    sum = Window::add_square((rising_here + rising(-2, 2)) + rising(3, -3), sum);
    sum = Window::add_square((falling_here + falling(1, 2)) + falling(-2, -3), sum);
    sum = Window::add_square((rising_here + rising(-1, 2)) + rising(2, -3), sum);
    sum = Window::add_square((falling_here + falling(2, 1)) + falling(-3, -2), sum);
    return Window::add_square((rising_here + rising(-2, 1)) + rising(3, -2), sum);
}

template <class Window>
QC_HD float sparse_lines(const Window& window, int row, int place) {
    const auto both = [&](int dx, int dy) { return window.at(row, place, dx, dy) + window.at(row, place, -dx, -dy); };
    const float centre = window.at(row, place, 0, 0);
    const float steep_falling = centre + both(1, 2), steep_rising = centre + both(-1, 2);
    const float flat_falling = centre + both(2, 1), flat_rising = centre + both(2, -1);
    float sum = centre + (both(2, 0) + both(4, 0));
    sum *= sum;
    sum = Window::add_square(centre + (both(0, 2) + both(0, 4)), sum);
    sum = Window::add_square(centre + (both(2, 2) + both(3, 3)), sum);
    sum = Window::add_square(centre + (both(-2, 2) + both(-3, 3)), sum);
    sum = Window::add_square(steep_rising + both(-1, 4), sum);
    sum = Window::add_square(steep_falling + both(1, 4), sum);
    sum = Window::add_square(flat_falling + both(4, 1), sum);
    sum = Window::add_square(flat_rising + both(4, -1), sum);
    sum = Window::add_square(steep_falling + both(2, 3), sum);
    sum = Window::add_square(steep_rising + both(-2, 3), sum);
    sum = Window::add_square(flat_falling + both(3, 2), sum);
    sum = Window::add_square(flat_rising + both(-3, 2), sum);
    sum = Window::add_square(flat_rising + both(4, -2), sum);
    sum = Window::add_square(flat_falling + both(4, 2), sum);
    sum = Window::add_square(steep_falling + both(2, 4), sum);
    return Window::add_square(steep_rising + both(-2, 4), sum);
}

} // namespace qc::butteraugli
