// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums of squared errors with weights, for both backends: each error counts as much as its sample's weight.
#pragma once

#include <span>

#include "contract/types.hpp"
#include "device/weights.hpp"
#include "families/sse/squared_error.hpp"

namespace qc::sse {

/// Words of a plane with weights. Weights are below 2^10 and there are at most 2^30 samples (2^28 of chroma that has
/// four luma samples each), so that no sum reaches 2^56.
enum WeightedWord { kLowErrors, kHighErrors, kWeights, kWeightedWords };

/// How a plane lies under the weights.
struct WeightedPlane {
    int width = 0, height = 0; ///< samples
    bool halved_x = false, halved_y = false;

    QC_HD uint32_t weight(const WeightReader& weights, int x, int y) const {
        return weights.at_chroma(x, y, halved_x, halved_y);
    }
    /// Of a sample that is let through whole.
    uint32_t full_weight() const { return uint32_t{kFullWeight} << (int{halved_x} + int{halved_y}); }
};

inline WeightedPlane weighted_plane(const FrameGeometry& geometry, int plane) {
    const bool is_chroma = plane > 0;
    return {geometry.plane_width(plane), geometry.plane_height(plane),
            is_chroma && geometry.stored_chroma_width < geometry.width,
            is_chroma && geometry.stored_chroma_height < geometry.height};
}

/// Adds a sample's squared error, of up to 32 bits, to words[kWeightedWords].
QC_HD void add_weighted(uint32_t squared_error, uint32_t weight, uint64_t* words) {
    words[kLowErrors] += static_cast<uint64_t>(squared_error & 0xffffu) * weight;
    words[kHighErrors] += static_cast<uint64_t>(squared_error >> 16) * weight;
    words[kWeights] += weight;
}

/// What the words of a plane amount to, in the unit of sums without weights: of weights that are all whole exactly
/// those, as long as 255 times the errors fit the 53 bits of a double.
struct WeightedErrors {
    double squared, samples;
};

inline WeightedErrors weighted_errors(std::span<const uint64_t> words, const WeightedPlane& plane) {
    const double errors = static_cast<double>(words[kHighErrors]) * 65536.0 + static_cast<double>(words[kLowErrors]);
    const double full = plane.full_weight();
    return {errors / full, static_cast<double>(words[kWeights]) / full};
}

/// The CPU backend's sums of one plane. @param words kWeightedWords
template <Square kSquare>
void add_weighted_errors(const HostPlane& reference, const HostPlane& distorted, const HostPlane& weights,
                         const WeightedPlane& plane, SampleType sample, uint64_t* words);

} // namespace qc::sse
