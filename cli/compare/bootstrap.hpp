// SPDX-License-Identifier: BSD-2-Clause-Patent
// How sure a difference of two encodes is: scenes of one title, drawn again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace qc::cli {

/// Fewer scenes say too little of the others that the title might have had.
constexpr size_t kFewestScenes = 5;

struct Resampling {
    int count = 5000;
    uint32_t seed = 1;
    double confidence = 95; ///< per cent
};

struct Interval {
    double low = 0, high = 0;
};

/// Frames that both encodes have a score of.
struct PairedScores {
    std::vector<double> a, b;
    std::vector<size_t> scene; ///< of each frame, ascending from 0
    size_t scenes = 0;
};

struct Intervals {
    std::optional<Interval> mean; ///< of the mean of b - a: BCa
    std::optional<Interval> p5;   ///< of the difference of 5th percentiles: percentile method
};

/// Draws as many scenes as there are, with replacement, `count` times, from a Mersenne twister (MT19937): scene
/// `number * scenes / 2^32` of each number. Both methods: B. Efron, "Better bootstrap confidence intervals", Journal of
/// the American Statistical Association 82(397), 1987.
/// @return nothing where there are fewer than kFewestScenes
Intervals bootstrap(const PairedScores& scores, const Resampling& resampling);

} // namespace qc::cli
