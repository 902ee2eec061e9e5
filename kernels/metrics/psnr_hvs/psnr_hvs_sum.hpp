// SPDX-License-Identifier: BSD-2-Clause-Patent
// The sequential single-precision sum, found in parallel.
//
// Terms are never negative, so the running sum only grows. While it stays in one binade [2^e, 2^(e+1)), it is an
// integer number A of units, and adding a term adds an integer that depends on A only through its parity (a tie rounds
// to the even neighbour). A run of terms therefore acts as a transition: parity of A -> increment of A. Transitions of
// neighbouring runs compose, in any grouping. The transition of a run is found by really adding its terms to the two
// smallest values of the binade, one even, one odd. It holds for the running sum if the sum is in that binade and stays
// there; where it does not, the terms are added one by one.
#pragma once

#include <cstdint>

#include "contract/types.hpp"
#include "device/bits.hpp"
#include "device/unroll.hpp"

namespace qc::psnr_hvs {

// Bits of a float: exponent << 23 | mantissa. For positive values they are ordered as the values are, and neighbours
// differ by 1.
using device::bits_of;
using device::float_of;

constexpr int kMantissaBits = 23;

/// The binade of a value that is not negative: its exponent field; 0 for zero, which has none.
QC_HD uint32_t binade_of(float value) {
    return bits_of(value) >> kMantissaBits;
}

/// What a run of terms adds to the running sum, in units of its binade, by the parity of the sum before.
struct Transition {
    uint32_t increment[2];

    QC_HD uint32_t after(uint32_t parity) const { return (parity & 1) != 0 ? increment[1] : increment[0]; }
};

/// No sum stays in its binade with this: the transition of a run that leaves it.
constexpr uint32_t kLeavesBinade = 1u << kMantissaBits;

QC_HD Transition identity_transition() {
    return Transition{{0, 0}};
}

QC_HD uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/// First `first`, then `second`.
QC_HD Transition compose(const Transition& first, const Transition& second) {
    Transition both;
    QC_UNROLL
    for (uint32_t parity = 0; parity < 2; ++parity) {
        const uint32_t before = first.increment[parity];
        both.increment[parity] = smaller(before + second.after(parity + before), kLeavesBinade);
    }
    return both;
}

/// Finds the transition of a run by adding its terms.
class TransitionBuilder {
public:
    QC_HD explicit TransitionBuilder(uint32_t binade)
        : start_(binade << kMantissaBits), even_(float_of(start_)), odd_(float_of(start_ + 1)) {}

    QC_HD void add(float term) {
        even_ = even_ + term;
        odd_ = odd_ + term;
    }

    QC_HD Transition transition() const {
        return Transition{
            {smaller(bits_of(even_) - start_, kLeavesBinade), smaller(bits_of(odd_) - (start_ + 1), kLeavesBinade)}};
    }

private:
    uint32_t start_;
    float even_, odd_;
};

/// Whether `transition`, made for `binade`, holds for the running sum: the sum is in that binade and does not leave it.
QC_HD bool transition_holds(float sum, const Transition& transition, uint32_t binade) {
    const uint32_t bits = bits_of(sum);
    const uint32_t own = bits >> kMantissaBits;
    return own != 0 && own == binade && (bits + transition.after(bits)) >> kMantissaBits == own;
}

QC_HD float apply(float sum, const Transition& transition) {
    const uint32_t bits = bits_of(sum);
    return float_of(bits + transition.after(bits));
}

} // namespace qc::psnr_hvs
