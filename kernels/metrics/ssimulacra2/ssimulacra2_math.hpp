// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2.1: what has to be done with a pair of pictures, as plain data, and the arithmetic of one pixel. Shared
// by both backends: the CPU evaluates it in double precision (the definition), CUDA in single precision.
//
// J. Sneyers, Cloudinary, 2022 and 2023. Linear RGB is halved into up to six levels; at each level the pictures are
// taken to XYB and compared per channel: a structural error with local statistics from a 9-tap blur, and edges that
// were added (artifact) or lost (detail). Means and 4-norms of these fields, 108 numbers, make the score.
#pragma once

#include <cmath>
#include <cstdint>

#include "contract/types.hpp"
#include "families/linear_light/linear_conversion.hpp"
#include "metrics/ssimulacra2/ssimulacra2_weights.hpp"

namespace qc::ssimulacra2 {

using namespace linear_light;

constexpr int kMinimumSize = 8;

// ---- what to do: settled on the host, before the first picture ------------------------------------------------------

constexpr int kMaxRadius = 8;

/// Separable symmetric blur, the same along both axes.
template <typename Real>
struct BlurKernel {
    int32_t radius;           ///< 4 (cosine) or 8 (Gaussian)
    int32_t renormalise;      ///< 0: zeros lie outside the picture; 1: divided by the kernel's mass inside the picture
    Real tap[kMaxRadius + 1]; ///< tap[i] weighs the samples at distance i; 0 beyond radius
};

struct LevelSize {
    int32_t width, height;
};

/// The whole task. For each level and channel, bit term_index() of `needed` tells whether that term has to be computed.
struct Plan {
    ColourConversion<double> reference, distorted;
    BlurKernel<double> blur;
    int32_t levels; ///< 1..6
    LevelSize level[kMaxLevels];
    uint8_t needed[kMaxLevels][kChannels];
};

/// What each field of a level and channel weighs in the map that is drawn.
using FieldWeights = double[kMaxLevels][kChannels][kFields];

// Accumulators: kNorms words whatever the number of levels. Word norm_index(levels, channel, level, term) is the
// bit-cast double sum over all pixels of the level of the field (power kFirst) or of its fourth power (kFourth); words
// that are not needed, or beyond the last level, are 0.
constexpr int kAccumulatorWords = kNorms;

QC_HD constexpr bool needs(uint8_t terms, int field) {
    return (terms & (1u << term_index(kFirst, field) | 1u << term_index(kFourth, field))) != 0;
}
QC_HD constexpr bool needs_structure(uint8_t terms) {
    return needs(terms, kStructure);
}
QC_HD constexpr bool needs_edges(uint8_t terms) {
    return needs(terms, kArtifact) || needs(terms, kDetail);
}

/// The same in single precision.
BlurKernel<float> to_single(const BlurKernel<double>& from);

/// max(value, 0), exactly. Without a branch on the host: compilers follow the constant and then do not vectorise.
template <typename Real>
QC_HD Real positive_part(Real value) {
#if defined(__CUDA_ARCH__)
    return value > 0 ? value : Real{0};
#else
    return (value + std::abs(value)) / 2;
#endif
}

// ---- XYB ------------------------------------------------------------------------------------------------------------

constexpr double kAbsorbance = 0.0037930732552754493; ///< added before the cube root
constexpr double kAbsorbanceRoot = 0.15595420054924863;
constexpr double kMixing[3][3] = { ///< linear RGB to the responses of long, middle and short cones; rows add up to 1
    {0.30, 0.622, 0.078},
    {0.23, 0.692, 0.078},
    {0.24342268924547819, 0.20476744424496821, 0.5518098665095536}};

/// Response of cone i to linear RGB, never negative.
template <typename Real>
QC_HD Real cone(int i, Real red, Real green, Real blue) {
    const Real sum = static_cast<Real>(kMixing[i][0]) * red + static_cast<Real>(kMixing[i][1]) * green +
                     static_cast<Real>(kMixing[i][2]) * blue + static_cast<Real>(kAbsorbance);
    return positive_part(sum);
}

/// X, Y and B (minus Y, all shifted to be positive) from the cube roots of the cones' responses.
template <typename Real>
QC_HD void xyb_of_roots(Real long_root, Real middle_root, Real short_root, Real xyb[kChannels]) {
    const Real l = long_root - static_cast<Real>(kAbsorbanceRoot);
    const Real m = middle_root - static_cast<Real>(kAbsorbanceRoot);
    const Real s = short_root - static_cast<Real>(kAbsorbanceRoot);
    const Real mean = (l + m) / 2;
    xyb[kX] = (l - m) * 7 + static_cast<Real>(0.42);
    xyb[kY] = mean + static_cast<Real>(0.01);
    xyb[kB] = s - mean + static_cast<Real>(0.55);
}

// ---- fields ---------------------------------------------------------------------------------------------------------

constexpr double kStructureConstant = 0.0009;

/// Structural error. mean_difference: of the blurred pictures; difference_variance and variances (sum of both
/// pictures') may have become slightly negative by rounding. Identical pictures give exactly 0.
template <typename Real>
QC_HD Real structural_error(Real mean_difference, Real difference_variance, Real variances) {
    const Real squared = mean_difference * mean_difference;
    const Real numerator = positive_part(difference_variance);
    const Real denominator = positive_part(variances) + static_cast<Real>(kStructureConstant);
    return squared + (1 - squared) * (numerator / denominator);
}

/// How much stronger the distorted picture's edges are: positive where edges were added, negative where they were lost.
/// Arguments: distances of each picture's sample from its blurred neighbourhood.
template <typename Real>
QC_HD Real edge_change(Real reference_distance, Real distorted_distance) {
    return (distorted_distance - reference_distance) / (1 + reference_distance);
}

} // namespace qc::ssimulacra2
