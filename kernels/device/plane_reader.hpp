// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads samples of a DevicePlane in place. Compiles on the host too, where the tests run the kernels' code.
#pragma once

#include <cstring>

#include "contract/types.hpp"

namespace qc {

/// Consecutive bytes of a row, fetched with one load.
template <int kBytes>
struct alignas(kBytes) Words {
    uint32_t word[kBytes / 4];
};

QC_HD const unsigned char* row_bytes(const DevicePlane& plane, int y) {
    return static_cast<const unsigned char*>(plane.data) +
           static_cast<size_t>(static_cast<uint32_t>(y)) * plane.pitch_bytes;
}

/// Whether every row starts at a multiple of `bytes`.
QC_HD bool rows_aligned(const DevicePlane& plane, unsigned bytes) {
    return ((reinterpret_cast<uintptr_t>(plane.data) | plane.pitch_bytes) & (bytes - 1)) == 0;
}

// Pictures do not change while a kernel runs, so the device reads them through __ldg. It also tells the compiler that
// the address, which comes out of memory itself, is in global memory.

template <typename T>
QC_HD unsigned read_sample(const DevicePlane& plane, int x, int y) {
    const T* sample = reinterpret_cast<const T*>(row_bytes(plane, y)) + static_cast<size_t>(x) * plane.step;
#if defined(__CUDA_ARCH__)
    return static_cast<unsigned>(__ldg(sample)) >> plane.shift;
#else
    return static_cast<unsigned>(*sample) >> plane.shift;
#endif
}

/// Precondition: the address is a multiple of kBytes, which is 4, 8 or 16.
template <int kBytes>
QC_HD Words<kBytes> load_words(const void* address) {
    Words<kBytes> words;
#if defined(__CUDA_ARCH__)
    if constexpr (kBytes == 4) {
        words.word[0] = __ldg(static_cast<const unsigned*>(address));
    } else if constexpr (kBytes == 8) {
        const uint2 pair = __ldg(static_cast<const uint2*>(address));
        words.word[0] = pair.x;
        words.word[1] = pair.y;
    } else {
        const uint4 four = __ldg(static_cast<const uint4*>(address));
        words.word[0] = four.x;
        words.word[1] = four.y;
        words.word[2] = four.z;
        words.word[3] = four.w;
    }
#else
    std::memcpy(&words, address, kBytes);
#endif
    return words;
}

} // namespace qc
