// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where a percentile lies among values in order, for whoever has them in whatever form.
#pragma once

#include <cmath>
#include <cstddef>

namespace qc {

/// Linear between ranks: rank = percent * (n - 1) / 100, counted from 0. Logs and the command's comparisons both show
/// all digits now and then, and have rounded in two ways from the first; who compares texts would see one become the
/// other.
struct PercentileRank {
    double rank, low, high; ///< the latter two are its whole neighbours; equal where it is whole itself

    /// As in logs. @param count of values, above 0 @param percent 0..100
    PercentileRank(double percent, double count) : PercentileRank(percent * (count - 1) / 100.0) {}
    /// As in comparisons. @param share 0..1
    static PercentileRank of_share(double share, double count) { return PercentileRank(share * (count - 1)); }

    size_t below() const { return static_cast<size_t>(low); }
    size_t above() const { return static_cast<size_t>(high); }

    /// As in logs. @param at_low value number below() @param at_high value number above()
    double between(double at_low, double at_high) const {
        return is_one(at_low, at_high) ? at_low : at_low * (high - rank) + at_high * (rank - low);
    }
    /// As in comparisons.
    double up_from(double at_low, double at_high) const {
        return is_one(at_low, at_high) ? at_low : at_low + (at_high - at_low) * (rank - low);
    }

private:
    explicit PercentileRank(double exact) : rank(exact), low(std::floor(exact)), high(std::ceil(exact)) {}

    /// Equal neighbours also when both are infinite: no rounding, no inf times 0.
    bool is_one(double at_low, double at_high) const { return low == high || at_low == at_high; }
};

} // namespace qc
