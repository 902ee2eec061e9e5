// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2.1: what has to be done with a pair of pictures, as plain data, and the arithmetic of one pixel. Shared
// by both backends: the CPU evaluates it in double precision (the definition), CUDA in single precision.
//
// J. Sneyers, Cloudinary, 2022 and 2023. Linear RGB is halved into up to six levels; at each level the pictures are
// taken to XYB and compared per channel: a structural error with local statistics from a 9-tap blur, and edges that
// were added (artifact) or lost (detail). Means and 4-norms of these maps, 108 numbers, make the score.
#pragma once

#include <cmath>
#include <cstdint>

#include "contract/types.hpp"
#include "metrics/ssimulacra2/ssimulacra2_weights.hpp"

namespace qc::ssimulacra2 {

constexpr int kMinimumSize = 8;

// ---- what to do: settled on the host, before the first picture ------------------------------------------------------

enum class ChromaFilter : int32_t { kCatmullRom, kBilinear, kNearest };

/// How one axis of the chroma planes relates to luma.
struct ChromaAxis {
    int32_t log2_factor; ///< 0: as many samples as luma; 1: half as many, rounded up
    int32_t centred;     ///< luma sample i lies at chroma position (i - 0.5) / 2 if 1, at i / 2 if 0
    bool operator==(const ChromaAxis&) const = default;
};

/// What happens to R'G'B' beyond [0, 1].
enum class Gamut : int32_t {
    kClip,  ///< clipped to [0, 1]
    kFloor, ///< below 0 becomes 0, above 1 is kept
    kExtend ///< kept; the transfer function is extended to negative values by odd symmetry
};

/// From non-linear R'G'B' to linear light.
enum class Transfer : int32_t {
    kLinear,
    kPower, ///< v ^ exponent
    kSrgb,  ///< IEC 61966-2-1
    kBt709, ///< inverse of the camera curve of BT.709
    kPq,    ///< SMPTE ST 2084, times light_scale
    kHlg ///< ARIB STD-B67: inverse OETF, then the OOTF for 1000 cd/m2 (needs all three components), times light_scale
};

/// From the codes of one input to linear RGB with BT.709 primaries, 1.0 being reference white. In this order:
///   1. every sample is clamped to [code_low, code_high] of its plane if clamp_codes,
///   2. chroma planes are brought to luma size (they are absent if planes is 1),
///   3. R'G'B'[i] = sum over planes p of matrix[i][p] * (sample[p] - origin[p]),
///   4. gamut, 5. transfer function, 6. rgb = primaries * rgb if convert_primaries.
/// Pictures of RGB samples have their planes in the order G, B, R; the matrix sorts that out.
template <typename Real>
struct ColourConversion {
    int32_t planes; ///< 1 (grey) or 3
    int32_t clamp_codes;
    Real code_low[3], code_high[3];
    ChromaFilter chroma_filter;
    ChromaAxis axis_x, axis_y; ///< both factors 1 for 4:4:4 and RGB
    Real origin[3];            ///< code of zero, e.g. 16, 128, 128
    Real matrix[3][3];         ///< [R, G, B][plane]; columns 1 and 2 are 0 for grey
    Gamut gamut;
    Transfer transfer;
    Real exponent;    ///< of Transfer::kPower
    Real light_scale; ///< of kPq: 10000 / white, of kHlg: 1000 / white, in cd/m2
    int32_t convert_primaries;
    Real primaries[3][3];
    bool operator==(const ColourConversion&) const = default;
};

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

// Accumulators: kNorms words whatever the number of levels. Word norm_index(levels, channel, level, term) is the
// bit-cast double sum over all pixels of the level of the map (power kFirst) or of its fourth power (kFourth); words
// that are not needed, or beyond the last level, are 0.
constexpr int kAccumulatorWords = kNorms;

QC_HD constexpr bool needs(uint8_t terms, int map) {
    return (terms & (1u << term_index(kFirst, map) | 1u << term_index(kFourth, map))) != 0;
}
QC_HD constexpr bool needs_structure(uint8_t terms) {
    return needs(terms, kStructure);
}
QC_HD constexpr bool needs_edges(uint8_t terms) {
    return needs(terms, kArtifact) || needs(terms, kDetail);
}

/// The same in single precision.
ColourConversion<float> to_single(const ColourConversion<double>& from);
BlurKernel<float> to_single(const BlurKernel<double>& from);

// ---- chroma ---------------------------------------------------------------------------------------------------------

/// Four neighbouring chroma samples and their weights; `first` may lie outside the plane, whose edge samples repeat.
template <typename Real>
struct ChromaTaps {
    int32_t first;
    Real weight[4];
};

/// Taps for luma sample i of an axis with half as many chroma samples. The position is a multiple of 1/4 sample, hence
/// all weights are multiples of 1/128, exact in single precision.
template <typename Real>
QC_HD ChromaTaps<Real> chroma_taps(ChromaFilter filter, int centred, int i) {
    if (filter == ChromaFilter::kNearest) return {(i >> 1) - 1, {0, 1, 0, 0}};
    const int quarters = 2 * i - centred;
    const int k = quarters >> 2;
    const Real t = static_cast<Real>(quarters & 3) / 4;
    if (filter == ChromaFilter::kBilinear) return {k - 1, {0, 1 - t, t, 0}};
    const Real t2 = t * t, t3 = t2 * t;
    return {k - 1, {-t / 2 + t2 - t3 / 2, 1 - t2 * 5 / 2 + t3 * 3 / 2, t / 2 + t2 * 2 - t3 * 3 / 2, -t2 / 2 + t3 / 2}};
}

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

// ---- maps -----------------------------------------------------------------------------------------------------------

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
