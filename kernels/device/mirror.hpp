// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures beyond their borders, as libvmaf's wavelets and windows see them.
#pragma once

#include "contract/types.hpp"

namespace qc {

/// The first sample is not repeated, the last one is. Clamped, so that positions far outside, whose values nobody uses,
/// still read inside.
QC_HD int mirror(int i, int size) {
    i = i < 0 ? -i : i;
    i = i >= size ? 2 * size - 1 - i : i;
    return i < 0 ? 0 : (i >= size ? size - 1 : i);
}

} // namespace qc
