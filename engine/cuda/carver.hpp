// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sizes and places of arrays that share one piece of memory. Pure arithmetic: depends on nothing.
#pragma once

#include <cstddef>

namespace qc::cuda {

/// Of every array in device memory.
constexpr size_t kAlignment = 256;

constexpr size_t align_up(size_t bytes, size_t alignment = kAlignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

/// Hands out aligned pieces of a buffer whose size is known when all of them are: offsets first, memory later.
class Carver {
public:
    /// @return byte offset of the next piece
    size_t take(size_t bytes) {
        const size_t offset = used_;
        used_ += align_up(bytes);
        return offset;
    }
    size_t used() const { return used_; }

private:
    size_t used_ = 0;
};

} // namespace qc::cuda
