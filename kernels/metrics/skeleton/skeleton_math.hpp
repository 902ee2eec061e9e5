// SPDX-License-Identifier: BSD-2-Clause-Patent
// Arithmetic that both backends share. Compiles without CUDA. Name the paper's equation at each function.
#pragma once

#include "contract/types.hpp"

namespace qc::skeleton {

/// |a - b| of two samples; at most 65535.
QC_HD uint32_t absolute_difference(uint32_t a, uint32_t b) {
    return a > b ? a - b : b - a;
}

} // namespace qc::skeleton
