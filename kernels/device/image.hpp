// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures, bands and maps in the memory of the host, for the CPU implementations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace qc::device {

/// Samples row after row, without gaps. Zeros at first.
template <typename Sample>
struct Image {
    int width = 0, height = 0;
    std::vector<Sample> samples;

    Image() = default;
    Image(int columns, int rows)
        : width(columns), height(rows), samples(static_cast<size_t>(columns) * static_cast<size_t>(rows)) {}

    Sample* row(int y) { return samples.data() + static_cast<ptrdiff_t>(y) * width; }
    const Sample* row(int y) const { return samples.data() + static_cast<ptrdiff_t>(y) * width; }
    Sample& at(int x, int y) { return row(y)[x]; }
    const Sample& at(int x, int y) const { return row(y)[x]; }
};

/// Means of 2x2 blocks. The last row and column of odd sizes count twice.
template <typename Sample>
Image<Sample> halved(const Image<Sample>& image) {
    Image<Sample> half((image.width + 1) / 2, (image.height + 1) / 2);
    for (int y = 0; y < half.height; ++y)
        for (int x = 0; x < half.width; ++x) {
            const int right = std::min(2 * x + 1, image.width - 1), below = std::min(2 * y + 1, image.height - 1);
            half.at(x, y) =
                (image.at(2 * x, 2 * y) + image.at(right, 2 * y) + image.at(2 * x, below) + image.at(right, below)) / 4;
        }
    return half;
}

} // namespace qc::device
