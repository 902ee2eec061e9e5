// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where a percentile lies among values in order, for whoever has them in whatever form.
#pragma once

#include <cmath>
#include <cstddef>

namespace qc {

/// Linear between ranks: rank = percent * (n - 1) / 100, counted from 0.
struct PercentileRank {
    double rank, low, high; ///< the latter two are its whole neighbours; equal where it is whole itself

    /// @param count of values, above 0 @param percent 0..100
    PercentileRank(double percent, double count)
        : rank(percent * (count - 1) / 100.0), low(std::floor(rank)), high(std::ceil(rank)) {}

    size_t below() const { return static_cast<size_t>(low); }
    size_t above() const { return static_cast<size_t>(high); }

    /// @param at_low value number below() @param at_high value number above()
    double between(double at_low, double at_high) const {
        // Equal neighbours also when both are infinite: no rounding, no inf times 0.
        if (low == high || at_low == at_high) return at_low;
        return at_low + (at_high - at_low) * (rank - low);
    }
};

} // namespace qc
