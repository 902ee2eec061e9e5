// SPDX-License-Identifier: BSD-2-Clause-Patent
// How the samples of one component lie in a row of memory, and reading them. Both backends share it.
#pragma once

#include "contract/types.hpp"

namespace qc {

/// A container every so many bytes, and the sample's bits in it. Bits above the sample ought to be 0, but pictures come
/// from anywhere, and metrics count on their samples' range: what is above the largest sample counts as it.
struct SampleSource {
    int32_t step_bytes; ///< from sample to sample
    uint32_t mask;      ///< of what the shift leaves: a container of 4 bytes holds other components too
    uint32_t largest;   ///< sample
    uint8_t bytes;      ///< of a container: 1, 2 or 4
    uint8_t swapped;    ///< 1: its most significant byte comes first
    uint8_t shift;      ///< to the right, for the sample
    uint8_t reserved;

    QC_HD unsigned sample(unsigned container) const {
        const unsigned raw = container >> shift & mask;
        return raw < largest ? raw : largest;
    }
};

QC_HD unsigned swapped_bytes(uint8_t container) {
    return container;
}
QC_HD unsigned swapped_bytes(uint16_t container) {
    return (container & 0xffu) << 8 | container >> 8;
}
QC_HD unsigned swapped_bytes(uint32_t container) {
    return container << 24 | (container & 0xff00u) << 8 | (container >> 8 & 0xff00u) | container >> 24;
}

template <typename Container>
QC_HD unsigned read_container(const SampleSource& source, const uint8_t* row, int x) {
    const auto* const at = reinterpret_cast<const Container*>(row + static_cast<ptrdiff_t>(x) * source.step_bytes);
#if defined(__CUDA_ARCH__)
    const Container container = __ldg(at);
#else
    const Container container = *at;
#endif
    return source.swapped != 0 ? swapped_bytes(container) : container;
}

/// @param row where the component's first sample lies
QC_HD unsigned read_sample(const SampleSource& source, const uint8_t* row, int x) {
    return source.sample(source.bytes == 1   ? read_container<uint8_t>(source, row, x)
                         : source.bytes == 2 ? read_container<uint16_t>(source, row, x)
                                             : read_container<uint32_t>(source, row, x));
}

} // namespace qc
