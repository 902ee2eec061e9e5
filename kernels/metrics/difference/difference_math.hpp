// SPDX-License-Identifier: BSD-2-Clause-Patent
#pragma once

#include "contract/types.hpp"

namespace qc::difference {

/// What brings samples to the scale of 8 bits.
inline float scale_of_depth(int depth) {
    return 1.0f / static_cast<float>(1 << (depth - 8));
}

QC_HD float difference_of(int reference, int distorted, float scale) {
    const int difference = reference < distorted ? distorted - reference : reference - distorted;
    return static_cast<float>(difference) * scale;
}

} // namespace qc::difference
