// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores of many frames in one number. Sums run in frame order: the last bit is part of the contract.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "quality_cuda.h"

namespace qc {

/// What can be pooled without keeping the scores.
class RunningPool {
public:
    void add(double score);

    int64_t count() const { return count_; }
    // Precondition of the following: count() > 0.
    double minimum() const { return minimum_; }
    double maximum() const { return maximum_; }
    double mean() const { return sum_ / static_cast<double>(count_); }
    /// n / sum(1 / (score + 1)) - 1
    double harmonic_mean() const { return static_cast<double>(count_) / reciprocal_sum_ - 1.0; }

private:
    int64_t count_ = 0;
    double minimum_ = 0.0, maximum_ = 0.0;
    double sum_ = 0.0, reciprocal_sum_ = 0.0;
};

/// Linear between ranks: rank = percent * (n - 1) / 100. NaN where the two neighbours do not settle it.
/// @param scores no NaN, not empty; are reordered
double percentile_of(std::span<double> scores, double percent);

/// The percentage of QC_POOL_P1 ... QC_POOL_P50; nothing for other methods.
std::optional<double> percentile_percent(qc_pool pool);

/// Whether RunningPool answers the method.
bool is_running_pool(qc_pool pool);

/// "mean", "harmonic_mean", ...; null for values outside the enumeration.
const char* pool_name(qc_pool pool);
std::optional<qc_pool> parse_pool(std::string_view text);

} // namespace qc
