// SPDX-License-Identifier: BSD-2-Clause-Patent
// Luma as libvmaf's floating-point metrics see it: whatever the depth, on the scale of 8 bits. Every value is exact.
#pragma once

#include <cstdint>

#include "contract/types.hpp"

namespace qc {

/// Turns samples into floats around zero: sample / 2^(depth - 8) - 128.
class CentredLuma {
public:
    CentredLuma() = default;
    explicit CentredLuma(int depth)
        : middle_(static_cast<float>(1 << (depth - 1))), scale_(1.0f / static_cast<float>(1 << (depth - 8))) {}

    /// Precondition: sample < 2^16.
    QC_HD float operator()(uint32_t sample) const {
#if defined(__CUDA_ARCH__)
        // 2^23 + sample, by its bits: conversions run at a fraction of the rate of additions.
        return (__uint_as_float(0x4b000000u | sample) - (8388608.0f + middle_)) * scale_;
#else
        return (static_cast<float>(sample) - middle_) * scale_;
#endif
    }

    float scale() const {
        return scale_;
    }

private:
    float middle_ = 128.0f, scale_ = 1.0f;
};

} // namespace qc
