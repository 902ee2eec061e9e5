// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "compare/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "logs/scores.hpp"
#include "ranks/percentile.hpp"

namespace qc::cli {

namespace {

constexpr double kLowPercent = 5.0;

struct SceneSum {
    double difference = 0; ///< of b - a over its frames
    double frames = 0;
};

std::vector<SceneSum> sums_of(const PairedScores& scores) {
    std::vector<SceneSum> sums(scores.scenes);
    for (size_t i = 0; i < scores.a.size(); ++i) {
        sums[scores.scene[i]].difference += scores.b[i] - scores.a[i];
        sums[scores.scene[i]].frames += 1;
    }
    return sums;
}

double normal_share(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

/// Inverse of normal_share(), by halving: a few calls in all.
double normal_quantile(double share) {
    double low = -9, high = 9; // beyond them a share is 0 or 1 in double precision, nearly
    for (int i = 0; i < 80; ++i) {
        const double middle = 0.5 * (low + high);
        (normal_share(middle) < share ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

/// Efron's acceleration, by leaving out each scene in turn.
double acceleration(const std::vector<SceneSum>& sums) {
    double difference = 0, frames = 0, mean = 0, squares = 0, cubes = 0;
    for (const SceneSum& each : sums) {
        difference += each.difference;
        frames += each.frames;
    }
    std::vector<double> without;
    without.reserve(sums.size());
    for (const SceneSum& each : sums)
        without.push_back((difference - each.difference) / std::max(1.0, frames - each.frames));
    for (const double each : without) mean += each / static_cast<double>(without.size());
    for (const double each : without) {
        squares += (mean - each) * (mean - each);
        cubes += (mean - each) * (mean - each) * (mean - each);
    }
    return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

/// Share of the distribution below the observed value; values equal to it count by half.
double share_below(const std::vector<double>& sorted, double observed) {
    const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), observed);
    const auto below = static_cast<double>(low - sorted.begin()), up_to = static_cast<double>(high - sorted.begin());
    const double count = static_cast<double>(sorted.size());
    // At either end as if half a draw lay beyond: an infinite correction is none.
    return std::clamp(0.5 * (below + up_to) / count, 0.5 / count, 1 - 0.5 / count);
}

Interval bca(std::vector<double>* draws, double observed, double accelerated, double confidence) {
    std::sort(draws->begin(), draws->end());
    const double bias = normal_quantile(share_below(*draws, observed)), tail = (1 - confidence / 100) / 2;
    const auto end = [&](double share) {
        const double z = bias + normal_quantile(share);
        return percentile_of(*draws, 100 * normal_share(bias + z / (1 - accelerated * z)));
    };
    return {end(tail), end(1 - tail)};
}

Interval percentile_interval(std::vector<double>* draws, double confidence) {
    std::sort(draws->begin(), draws->end());
    const double tail = (1 - confidence / 100) / 2;
    return {percentile_of(*draws, 100 * tail), percentile_of(*draws, 100 * (1 - tail))};
}

/// Sorted scores that know their scene, for percentiles of drawn scenes: no draw has to be sorted.
class DrawnPercentile {
public:
    DrawnPercentile(const std::vector<double>& values, const std::vector<size_t>& scene) {
        for (size_t i = 0; i < values.size(); ++i) sorted_.emplace_back(values[i], scene[i]);
        std::sort(sorted_.begin(), sorted_.end());
    }

    /// @param times how often each scene was drawn  @param frames in all of them
    double of(const std::vector<uint32_t>& times, double frames) const {
        const auto rank = PercentileRank::of_share(kLowPercent / 100, frames);
        double passed = 0, at_low = 0;
        bool has_low = false;
        for (const auto& [value, scene] : sorted_) {
            passed += times[scene];
            if (!has_low && passed > rank.low) {
                at_low = value;
                has_low = true;
            }
            if (has_low && passed > rank.high) return rank.up_from(at_low, value);
        }
        return at_low;
    }

private:
    std::vector<std::pair<double, size_t>> sorted_;
};

} // namespace

Intervals bootstrap(const PairedScores& scores, const Resampling& resampling) {
    if (scores.scenes < kFewestScenes || scores.a.empty()) return {};
    const std::vector<SceneSum> sums = sums_of(scores);
    const DrawnPercentile low_a(scores.a, scores.scene), low_b(scores.b, scores.scene);
    std::mt19937 numbers(resampling.seed);
    std::vector<double> means, lows;
    std::vector<uint32_t> times(sums.size());
    for (int draw = 0; draw < resampling.count; ++draw) {
        std::fill(times.begin(), times.end(), 0);
        double difference = 0, frames = 0;
        for (size_t k = 0; k < sums.size(); ++k) {
            const auto at = static_cast<size_t>((uint64_t{numbers()} * sums.size()) >> 32);
            ++times[at];
            difference += sums[at].difference;
            frames += sums[at].frames;
        }
        means.push_back(difference / frames);
        lows.push_back(low_b.of(times, frames) - low_a.of(times, frames));
    }
    double difference = 0, frames = 0;
    for (const SceneSum& each : sums) {
        difference += each.difference;
        frames += each.frames;
    }
    return {bca(&means, difference / frames, acceleration(sums), resampling.confidence),
            percentile_interval(&lows, resampling.confidence)};
}

} // namespace qc::cli
