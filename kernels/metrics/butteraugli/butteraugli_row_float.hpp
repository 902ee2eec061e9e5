// SPDX-License-Identifier: BSD-2-Clause-Patent
// Single precision for the CPU's rows: the arithmetic of butteraugli_math.hpp, where no function is called, so that
// compilers vectorise it for every instruction set, to the same bits.
#pragma once

#include <cmath>

#include "device/cpu_versions.hpp"

namespace qc::butteraugli {

template <typename Cpu>
struct RowFloat {
    float value;

    RowFloat() = default;
    QC_INLINE_HELPER constexpr RowFloat(double x) : value(static_cast<float>(x)) {}
    QC_INLINE_HELPER constexpr RowFloat(float x) : value(x) {}
    QC_INLINE_HELPER constexpr RowFloat(int x) : value(static_cast<float>(x)) {}

    friend QC_INLINE_HELPER constexpr RowFloat operator+(RowFloat a, RowFloat b) { return a.value + b.value; }
    friend QC_INLINE_HELPER constexpr RowFloat operator-(RowFloat a, RowFloat b) { return a.value - b.value; }
    friend QC_INLINE_HELPER constexpr RowFloat operator*(RowFloat a, RowFloat b) { return a.value * b.value; }
    friend QC_INLINE_HELPER constexpr RowFloat operator-(RowFloat a) { return -a.value; }

    friend QC_INLINE_HELPER RowFloat reciprocal(RowFloat x) { return 1.0f / x.value; }
    friend QC_INLINE_HELPER RowFloat multiply_add(RowFloat a, RowFloat b, RowFloat c) {
        return Cpu::fused(a.value, b.value, c.value);
    }
    friend QC_INLINE_HELPER RowFloat smaller(RowFloat a, RowFloat b) { return a.value < b.value ? a.value : b.value; }
    friend QC_INLINE_HELPER RowFloat larger(RowFloat a, RowFloat b) { return a.value > b.value ? a.value : b.value; }
    friend QC_INLINE_HELPER RowFloat magnitude(RowFloat x) { return std::abs(x.value); }
    friend QC_INLINE_HELPER RowFloat square_root(RowFloat x) { return std::sqrt(x.value); }
};

} // namespace qc::butteraugli
