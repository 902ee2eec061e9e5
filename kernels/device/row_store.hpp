// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rows in the memory of the host, for CPU implementations that work row by row.
#pragma once

#include <cstddef>

#include "device/row_memory.hpp"

namespace qc::device {

/// Some planes' rows, each with a margin that loops may read and write. All rows of a picture, or the latest ones: then
/// row y is where y modulo their number is. Rows begin where cache lines do. What is in them at first is undefined.
template <typename Sample>
class RowStore {
public:
    static constexpr int kMargin = 16;

    void open(int planes, int width, int rows) {
        pitch_ = static_cast<size_t>((width + kMargin - 1) / kMargin * kMargin + 2 * kMargin);
        rows_ = rows;
        samples_.resize(static_cast<size_t>(planes) * static_cast<size_t>(rows) * pitch_);
    }
    Sample* row(int plane, int y) {
        return samples_.data() + static_cast<size_t>(plane * rows_ + y % rows_) * pitch_ + kMargin;
    }

private:
    RowMemory<Sample> samples_;
    size_t pitch_ = 0;
    int rows_ = 0;
};

} // namespace qc::device
