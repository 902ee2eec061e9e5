// SPDX-License-Identifier: BSD-2-Clause-Patent
// A pair of synthetic pictures, and what holds for every metric that sees colours. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <array>

#include "tests/support/synthetic_clip.hpp"

namespace qc::test {

/// The first frames of a synthetic clip of this size and layout.
struct SyntheticPair {
    explicit SyntheticPair(int width, int height, qc_chroma chroma = QC_CHROMA_420, int depth = 8)
        : SyntheticPair(SyntheticClip{"", width, height, chroma, depth, 1, 0, 0}) {}
    explicit SyntheticPair(const SyntheticClip& clip)
        : geometry(synthetic_geometry(clip)), reference(clip, false, 0), distorted(clip, true, 0) {}

    HostPair views() const { return {reference.view(), distorted.view()}; }

    /// The reference, except for one plane.
    HostPicture distorted_in(int plane) const {
        HostPicture mixed = reference.view();
        mixed.plane[plane] = distorted.view().plane[plane];
        return mixed;
    }

    FrameGeometry geometry;
    SyntheticPicture reference, distorted;
};

/// Codes of 8 bits, Y, Cb and Cr or G, B and R: black, white, red and blue of video, the ends of the codes.
inline constexpr std::array<int, 3> kFlatCodes[] = {{16, 128, 128}, {235, 128, 128}, {0, 0, 0},   {255, 255, 255},
                                                    {81, 90, 240},  {41, 240, 110},  {0, 255, 0}, {255, 0, 255}};

inline SamplePicture flat_picture(const FrameGeometry& geometry, const std::array<int, 3>& codes) {
    return SamplePicture(geometry, [&](int plane, int, int) { return codes[static_cast<size_t>(plane)]; });
}

/// Every pair of flat pictures. @param visit (reference, distorted, are_equal)
template <class Visit>
void visit_flat_pairs(const FrameGeometry& geometry, const Visit& visit) {
    for (const auto& first : kFlatCodes)
        for (const auto& second : kFlatCodes) {
            const SamplePicture a = flat_picture(geometry, first), b = flat_picture(geometry, second);
            visit(a.view(), b.view(), &first == &second);
        }
}

/// Tags of both inputs as a metric sees them, none like the other's.
inline void tag_differently(FrameGeometry* geometry) {
    geometry->reference_colour = {.matrix = 1, .range = 1, .primaries = 1, .transfer = 1, .chroma_location = 1};
    geometry->distorted_colour = {.matrix = 6, .range = 2, .primaries = 9, .transfer = 13, .chroma_location = 3};
}

/// Grey scores what colour with neutral chroma scores. @param score_of (geometry, words, reference, distorted)
template <class ScoreOf>
void expect_grey_is_neutral_colour(const ScoreOf& score_of) {
    const SyntheticPair grey(60, 52, QC_CHROMA_400), colour(60, 52, QC_CHROMA_420);
    const SamplePicture neutral(colour.geometry, [](int, int, int) { return 128; });
    HostPicture pictures[2] = {colour.reference.view(), colour.distorted.view()};
    for (HostPicture& picture : pictures)
        for (int p = 1; p < 3; ++p) picture.plane[p] = neutral.plane(p);
    EXPECT_NEAR(score_of(grey.geometry, {}, grey.reference.view(), grey.distorted.view()),
                score_of(colour.geometry, {}, pictures[0], pictures[1]), 1e-10);
}

} // namespace qc::test
