// SPDX-License-Identifier: BSD-2-Clause-Patent
// From light to responses, by rows: the part of the fast CPU version that takes double precision. Compiled for several
// instruction sets, to the same bits.
#pragma once

#include "metrics/butteraugli/butteraugli_math.hpp"

namespace qc::butteraugli::rows {

constexpr int kSides = 2, kColours = 3; ///< planes of both pictures: side * kColours + colour
constexpr int kBoth = kSides * kColours;
constexpr int kBanded = 2; ///< X and Y: of blue, whose bands are taken as they are, only differences are ever wanted

/// Neighbours that share a base, which is taken from their responses: what is left has few digits before the point, so
/// single precision has many behind it. No blur reaches further than one such segment.
constexpr int kSegment = kMaxRadius;
constexpr int segments_of(int width) {
    return (width + kSegment - 1) / kSegment;
}

constexpr int kResponseRows = 4; ///< that are made at once

/// Linear RGB to the light that each kind of cone takes in. @param to [cone], with the light of kRadius[kAdaptation]
/// more columns at both ends, the picture being mirrored there
void mix_cones(double intensity, const double* const* rgb, int width, double* const* to);
/// Means of 2x2 blocks, and columns beyond both ends as above. The last column of odd widths counts twice.
void halve(const double* upper, const double* lower, int width, double* to);

/// Light in the rows around those whose responses are wanted: the first lies kRadius[kAdaptation] above them.
struct LightRows {
    const double* row[kBoth][kResponseRows + 2 * kRadius[kAdaptation]];
    double darkness[kColours]; ///< kDarkness: what compilers know, they make two ways of, for light and for none
};
/// The reference's X and Y, which are base + detail, and how the distorted picture's X, Y and blue differ.
struct ResponseRow {
    double* base[kBanded]; ///< of each segment
    float *detail[kBanded], *difference[kColours];
};
/// @param count rows, up to kResponseRows
void respond(const Gaussian<double>& adaptation, const LightRows& light, int count, int width, const ResponseRow* to);

} // namespace qc::butteraugli::rows
