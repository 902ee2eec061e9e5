// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures, bands and maps in the memory of the host, for the CPU implementations.
#pragma once

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

} // namespace qc::device
