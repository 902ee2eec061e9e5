// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "scores/pooling.hpp"

#include <algorithm>
#include <cmath>

#include "ranks/percentile.hpp"

namespace qc {

namespace {

struct PoolEntry {
    qc_pool pool;
    const char* name;
    double percent; ///< negative: not a percentile
};

constexpr PoolEntry kPools[] = {
    {QC_POOL_MEAN, "mean", -1.0},     {QC_POOL_HARMONIC_MEAN, "harmonic_mean", -1.0},
    {QC_POOL_MIN, "min", -1.0},       {QC_POOL_MAX, "max", -1.0},
    {QC_POOL_P1, "p1", 1.0},          {QC_POOL_P5, "p5", 5.0},
    {QC_POOL_P10, "p10", 10.0},       {QC_POOL_P50, "p50", 50.0},
    {QC_POOL_STDDEV, "stddev", -1.0},
};
static_assert(std::size(kPools) == QC_POOL_COUNT);

} // namespace

void RunningPool::add(double score) {
    if (count_ == 0 || score < minimum_) minimum_ = score;
    if (count_ == 0 || score > maximum_) maximum_ = score;
    sum_ += score;
    reciprocal_sum_ += 1.0 / (score + 1.0);
    ++count_;
}

double percentile_of(std::span<double> scores, double percent) {
    const PercentileRank rank(percent, static_cast<double>(scores.size()));
    const auto lower = scores.begin() + static_cast<std::ptrdiff_t>(rank.below());
    std::nth_element(scores.begin(), lower, scores.end());
    const double at_low = *lower;
    return rank.between(at_low, rank.below() == rank.above() ? at_low : *std::min_element(lower + 1, scores.end()));
}

std::optional<double> percentile_percent(qc_pool pool) {
    for (const PoolEntry& entry : kPools)
        if (entry.pool == pool && entry.percent >= 0.0) return entry.percent;
    return std::nullopt;
}

bool is_running_pool(qc_pool pool) {
    return pool == QC_POOL_MEAN || pool == QC_POOL_HARMONIC_MEAN || pool == QC_POOL_MIN || pool == QC_POOL_MAX;
}

const char* pool_name(qc_pool pool) {
    for (const PoolEntry& entry : kPools)
        if (entry.pool == pool) return entry.name;
    return nullptr;
}

std::optional<qc_pool> parse_pool(std::string_view text) {
    for (const PoolEntry& entry : kPools)
        if (text == entry.name) return entry.pool;
    return std::nullopt;
}

} // namespace qc
