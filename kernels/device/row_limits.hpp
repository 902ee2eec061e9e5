// SPDX-License-Identifier: BSD-2-Clause-Patent
// Limits of single-precision numbers for the CPU's loops over rows, by their bits as integers: these are ordered like
// the numbers, except for negative ones among each other. One instruction each, where compilers make a comparison and a
// choice of the numbers themselves. (std::max() is one too late for what compilers do first.)
#pragma once

#include <bit>
#include <cstdint>

#include "device/cpu_clones.hpp"

namespace qc::device {

/// The smaller one. @param limit not negative
QC_INLINE_HELPER float at_most(float x, float limit) {
    const auto bits = std::bit_cast<int32_t>(x), most = std::bit_cast<int32_t>(limit);
    return std::bit_cast<float>(bits < most ? bits : most);
}
/// The larger one. @param limit not negative
QC_INLINE_HELPER float at_least(float x, float limit) {
    const auto bits = std::bit_cast<int32_t>(x), least = std::bit_cast<int32_t>(limit);
    return std::bit_cast<float>(bits > least ? bits : least);
}

} // namespace qc::device
