// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memory of rows on the CPU that begins where a cache line does. Where registers are as wide as lines, half of what is
// read or written from elsewhere lies in two of them, which takes twice the time.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace qc::device {

template <typename T>
struct LineAllocator {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};

    LineAllocator() = default;
    template <typename U>
    LineAllocator(const LineAllocator<U>& /*other*/) {}

    T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
    void deallocate(T* memory, size_t /*count*/) noexcept { ::operator delete(memory, kLine); }
    template <typename U>
    bool operator==(const LineAllocator<U>& /*other*/) const {
        return true;
    }
};

template <typename T>
using RowMemory = std::vector<T, LineAllocator<T>>;

} // namespace qc::device
