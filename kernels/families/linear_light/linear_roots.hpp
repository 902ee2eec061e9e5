// SPDX-License-Identifier: BSD-2-Clause-Patent
// Newton's start for roots on the CPU, in loops that compilers vectorise.
#pragma once

#include <bit>
#include <cstdint>

#include "device/cpu_clones.hpp"

namespace qc::linear_light {

// Newton's start for the n-th root: the exponent divided by n. Bits of a float are, up to a constant, its logarithm.
QC_INLINE_HELPER float root_start(double value, uint32_t divisor, uint32_t offset) {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(value)) / divisor + offset);
}

/// Keeps the start away from denormals; far below the last place of what any code but black becomes. Its cube root,
/// 5e-13, is as good as that of 0.
constexpr double kTiniest = 1e-37;

// Behind it come two steps of Halley's iteration, each of which triples the number of right digits: from 3.4 % to 1e-12
// of fifth roots and to 1e-14 of cube roots. The first one is single precision, whose divisions take half the time.

} // namespace qc::linear_light
