// SPDX-License-Identifier: BSD-2-Clause-Patent
// SpEED on the CPU: the readable reference of both metrics, plane by plane.
#pragma once

#include <cmath>
#include <vector>

#include "device/borders.hpp"
#include "families/speed/speed_linear.hpp"
#include "families/speed/speed_plan.hpp"

namespace qc::speed {

/// Entropies of all blocks of a plane, row by row.
struct PlaneStatistics {
    std::vector<BlockStatistics> blocks;
    bool singular = false;
};

/// A row of a plane, or of the resized plane. at(x, y): a sample on the scale of 8 bits.
template <Resize kMethod, class At>
void fetch_row(const Plan& plan, const At& at, int y, std::vector<float>& row) {
    for (int x = 0; x < plan.scaled.width; ++x) {
        if constexpr (kMethod == Resize::kNone)
            row[static_cast<size_t>(x)] = at(x, y);
        else
            row[static_cast<size_t>(x)] =
                resized<kMethod>(at, plan.columns[static_cast<size_t>(x)], plan.rows[static_cast<size_t>(y)],
                                 plan.source.width, plan.source.height);
    }
}

/// Smooths and decimates in one go: only rows and columns at multiples of 16 are made. Vertical pass first.
template <Resize kMethod, class At>
std::vector<float> decimated(const Plan& plan, const At& at) {
    const int taps = plan.smoothing.taps, reach = taps / 2;
    std::vector<float> grid(plan.grid_samples()), row(static_cast<size_t>(plan.scaled.width)), column_sums(row.size());
    for (int y = 0; y < plan.grid.height; ++y) {
        std::fill(column_sums.begin(), column_sums.end(), 0.0f);
        for (int tap = 0; tap < taps; ++tap) {
            fetch_row<kMethod>(plan, at, mirror_without_edges(y * kDecimation + tap - reach, plan.scaled.height), row);
            const float weight = plan.smoothing.weight[tap];
            for (size_t x = 0; x < row.size(); ++x) column_sums[x] += weight * row[x];
        }
        for (int x = 0; x < plan.grid.width; ++x) {
            float sum = 0.0f;
            for (int tap = 0; tap < taps; ++tap) {
                const int source = mirror_without_edges(x * kDecimation + tap - reach, plan.scaled.width);
                sum += plan.smoothing.weight[tap] * column_sums[static_cast<size_t>(source)];
            }
            grid[static_cast<size_t>(y) * static_cast<size_t>(plan.grid.width) + static_cast<size_t>(x)] = sum;
        }
    }
    return grid;
}

template <class At>
std::vector<float> decimated(const Plan& plan, const At& at) {
    switch (plan.resize) {
    case Resize::kNearest:
        return decimated<Resize::kNearest>(plan, at);
    case Resize::kBilinear:
        return decimated<Resize::kBilinear>(plan, at);
    case Resize::kBicubic:
        return decimated<Resize::kBicubic>(plan, at);
    case Resize::kLanczos4:
        return decimated<Resize::kLanczos4>(plan, at);
    default:
        return decimated<Resize::kNone>(plan, at);
    }
}

/// The grid less its local mean: what is left are band-pass coefficients.
inline std::vector<float> band_pass(const Plan& plan, const std::vector<float>& grid) {
    const int width = plan.grid.width, height = plan.grid.height;
    const int taps = plan.mean.taps, reach = taps / 2;
    std::vector<float> result(grid.size()), column_sums(static_cast<size_t>(width));
    const auto index = [&](int x, int y) { return static_cast<size_t>(y) * static_cast<size_t>(width) + x; };
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            float sum = 0.0f;
            for (int tap = 0; tap < taps; ++tap)
                sum += plan.mean.weight[tap] * grid[index(x, mirror_without_edges(y + tap - reach, height))];
            column_sums[static_cast<size_t>(x)] = sum;
        }
        for (int x = 0; x < width; ++x) {
            float mean = 0.0f;
            for (int tap = 0; tap < taps; ++tap)
                mean += plan.mean.weight[tap] *
                        column_sums[static_cast<size_t>(mirror_without_edges(x + tap - reach, width))];
            result[index(x, y)] = grid[index(x, y)] - mean;
        }
    }
    return result;
}

/// Covariance of the 25 coefficients of a block, over all positions of the block in the used part of the grid.
Matrix covariance_of(const Plan& plan, const std::vector<float>& coefficients);

inline PlaneStatistics statistics_of(const Plan& plan, const std::vector<float>& coefficients) {
    const SerialTeam team;
    EigenWork eigen;
    FactorWork factor;
    const Matrix covariance = covariance_of(plan, coefficients);
    eigen.a = covariance;
    find_eigenvalues<PlainStep>(team, eigen);
    bool regular = eigen.regular;
    if (regular) {
        factorise(team, covariance, factor);
        regular = factor.regular;
    }
    PlaneStatistics statistics;
    statistics.singular = !regular;
    statistics.blocks.resize(static_cast<size_t>(plan.block_count()));
    for (int block = 0; block < plan.block_count(); ++block) {
        const int x = block % plan.blocks.width * kBlockSide, y = block / plan.blocks.width * kBlockSide;
        const auto sample = [&](int o) {
            return coefficients[static_cast<size_t>(y + o / kBlockSide) * plan.grid.width + x + o % kBlockSide];
        };
        BlockStatistics& result = statistics.blocks[static_cast<size_t>(block)];
        result.energy = regular ? block_energy(factor, sample) : 0.0f;
        result.entropy = block_entropy(eigen.diagonal, result.energy, plan.noise);
    }
    return statistics;
}

template <class At>
PlaneStatistics analysed(const Plan& plan, const At& at) {
    return statistics_of(plan, band_pass(plan, decimated(plan, at)));
}

/// Compares two planes; writes kWordsPerPlane words.
inline void compare(const Plan& plan, const PlaneStatistics& reference, const PlaneStatistics& distorted,
                    uint64_t* words) {
    float score = 0.0f;
    if (reference.singular == distorted.singular) {
        for (size_t j = 0; j < reference.blocks.size(); ++j)
            score +=
                entropy_difference(reference.blocks[j], distorted.blocks[j], plan.weight_mode, plan.visible_entropy);
        score /= static_cast<float>(plan.block_count());
    }
    words[kScoreBits] = score_bits(score);
    words[kSingular] = reference.singular || distorted.singular;
}

} // namespace qc::speed
