// SPDX-License-Identifier: BSD-2-Clause-Patent
// Roots and powers in double precision on the CPU, in loops that compilers vectorise, without a division: near a number
// x, r is what single precision has of x^(-1/n). With w = 1 - x r^n, x^(-1/n) is r (1 - w)^(-1/n), and so are powers of
// it, by a few terms of their series: right to 1e-14.
#pragma once

#include <bit>
#include <cstdint>

#include "device/cpu_versions.hpp"

namespace qc::linear_light {

/// Keeps roots away from denormals; far below the last place of what any code but black becomes. Its cube root, 5e-13,
/// is as good as that of 0.
constexpr double kTiniest = 1e-37;

/// 1 + a w + a (a + 1) / 2 w^2 + a (a + 1) (a + 2) / 6 w^3: (1 - w)^(-a) for small w.
template <typename Cpu, typename Real>
QC_INLINE_HELPER Real inverse_power_near_one(Real w, double a) {
    const Real first = static_cast<Real>(a), second = static_cast<Real>(a * (a + 1.0) / 2.0),
               third = static_cast<Real>(a * (a + 1.0) * (a + 2.0) / 6.0);
    return Cpu::fused(w, Cpu::fused(w, Cpu::fused(w, third, second), first), static_cast<Real>(1.0));
}

/// x^(-1/n), to 2e-5 for n = 3, to 6e-5 for 5. Bits of a float are, up to a constant, its logarithm.
template <typename Cpu, int kDegree>
QC_INLINE_HELPER double rough_inverse_root(double x) {
    static_assert(kDegree == 3 || kDegree == 5);
    constexpr int32_t kOffset = kDegree == 3 ? 0x54a20000 : 0x4c2b4000; // then |w| < 0.103, or 0.156
    const auto single = static_cast<float>(x), logarithm = static_cast<float>(std::bit_cast<int32_t>(single));
    const float start =
        std::bit_cast<float>(kOffset - static_cast<int32_t>(logarithm * (1.0f / static_cast<float>(kDegree))));
    const float square = start * start, power = kDegree == 3 ? square : square * square;
    const float w = Cpu::fused(-(single * start), power, 1.0f);
    return static_cast<double>(start * inverse_power_near_one<Cpu>(w, 1.0 / kDegree));
}

template <typename Cpu>
QC_INLINE_HELPER double cube_root(double argument) {
    const double x = argument + kTiniest, r = rough_inverse_root<Cpu, 3>(x), square = r * r;
    const double w = Cpu::fused(-(x * r), square, 1.0);
    return x * square * inverse_power_near_one<Cpu>(w, 2.0 / 3.0);
}

/// x^(kFifths / 5), 11 to 14 of them, for x of 0 and more.
template <typename Cpu, int kFifths>
QC_INLINE_HELPER double power_of_fifths(double argument) {
    static_assert(kFifths >= 11 && kFifths <= 14);
    constexpr int kRoots = 15 - kFifths; // of x^3 they are too many
    const double x = argument + kTiniest, r = rough_inverse_root<Cpu, 5>(x), square = r * r, fourth = square * square;
    const double w = Cpu::fused(-(x * r), fourth, 1.0);
    const double roots = kRoots == 1 ? r : kRoots == 2 ? square : kRoots == 3 ? square * r : fourth;
    return x * x * (x * roots) * inverse_power_near_one<Cpu>(w, kRoots / 5.0);
}

} // namespace qc::linear_light
