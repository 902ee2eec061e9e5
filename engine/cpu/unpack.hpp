// SPDX-License-Identifier: BSD-2-Clause-Patent
// Makes planes of samples that lie elsewhere in host memory: in words with other bits, between others, byte-swapped.
#pragma once

#include "api/sample_layout.hpp"
#include "contract/types.hpp"

namespace qc::cpu {

/// One component of a picture in host memory.
struct ComponentRows {
    const uint8_t* data = nullptr; ///< its first sample
    ptrdiff_t pitch_bytes = 0;
    SampleSource samples{};
    Subsampling repeated{}; ///< each sample becomes so many, as powers of two
};
ComponentRows component_rows(const qc_picture& picture, const qc_format& format, int component);

/// @param shift_left of the samples, for the target's depth; @param target as large as is wanted
void unpack_plane(const ComponentRows& source, int shift_left, const Plane<uint8_t>& target);
void unpack_plane(const ComponentRows& source, int shift_left, const Plane<uint16_t>& target);

} // namespace qc::cpu
