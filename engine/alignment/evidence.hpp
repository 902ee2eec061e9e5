// SPDX-License-Identifier: BSD-2-Clause-Patent
// What distances between signatures say for and against an offset, and how much of it is beyond doubt.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace qc {

// Distances are mean squares, in squared codes of 8 bits; below 0: there is no such picture.

/// Below it two signatures are the same.
constexpr float kSameSignature = 0.05F;
/// A difference counts where it is this many times the least one: closer ones are a matter of chance and of the
/// encoder.
constexpr float kClearRatio = 2.0F;
/// While less than this changes, nothing moves that one could be sure of.
constexpr float kClearMotion = 1.0F;
/// Between two distorted pictures in a row: it is a still.
constexpr float kStill = kSameSignature / 5;
/// An encoder that saves all it can lags behind by less.
constexpr float kTellingDifference = 2.0F * kClearMotion;
/// Part of the mean distance that a picture's own may be away.
constexpr float kMostOfMean = 0.25F;

constexpr float kMostEvidence = 3.0F;   ///< of one frame
constexpr float kAgainstFormer = 24.0F; ///< against the expected offset, before another one is believed
constexpr float kAgainstOthers = 6.0F;
constexpr int kTellingFrames = 10;
inline const float kTelling = std::log(kClearRatio); ///< evidence of a frame that says clearly what it fits

/// Whether what is taken for the same pictures looks the same at all.
struct Fit {
    int64_t moving = 0, fitting = 0; ///< frames
    bool is_good() const { return fitting * 5 >= moving * 4; }
};

/// How much nearer than one distance another one is, the natural logarithm of it within limits.
float evidence(float other, float own);

/// Whether a frame says clearly that its own distance is the smaller one.
bool is_telling(float other, float own);

/// Of those that there are.
float mean_distance(std::span<const float> distances);

} // namespace qc
