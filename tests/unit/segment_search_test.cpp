// SPDX-License-Identifier: BSD-2-Clause-Patent
// A part of a video that is looked for in the whole, on made-up signatures: what is found, and what is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "alignment/segment_search.hpp"
#include "tests/support/signatures.hpp"

namespace qc {
namespace {

using namespace test;

/// Pairs as long as both have pictures, then the rest of the longer one.
int64_t offset_of(const Video& reference, const Video& distorted) {
    SegmentSearch search;
    const size_t pairs = std::min(reference.size(), distorted.size());
    for (size_t n = 0; n < pairs; ++n)
        search.add(static_cast<int64_t>(n), Signature(reference[n]), Signature(distorted[n]));
    search.finish();
    for (const auto& [video, pictures] : {std::pair{SegmentSearch::Video::kReference, &reference},
                                          std::pair{SegmentSearch::Video::kDistorted, &distorted}})
        for (size_t n = pairs; n < pictures->size() && search.seeks_in(video); ++n)
            search.look_at(video, static_cast<int64_t>(n), Signature((*pictures)[n]));
    return search.offset().value_or(0);
}

Video part_of(const Video& video, int first, int frames) {
    return {video.begin() + first, video.begin() + first + frames};
}

/// Both ways.
void expect_found(const Video& whole, const Video& part, int64_t first) {
    EXPECT_EQ(offset_of(whole, part), -first);
    EXPECT_EQ(offset_of(part, whole), first);
}

TEST(SegmentSearch, ShortAndLongParts) {
    const Video all = moving(900);
    for (const int frames : {16, 25, 48, 49, 130, 250})
        for (const int first : {31, 48, 50, 120, 640})
            expect_found(all, noisy(part_of(all, first, frames), frames < 20 ? 0.3F : 2.0F), first);
}

TEST(SegmentSearch, TwoOfTheSameLength) {
    const Video all = moving(900);
    expect_found(part_of(all, 0, 700), noisy(part_of(all, 77, 700), 2.0F), 77);
}

/// Whose business these are: the watch's, or nobody's.
TEST(SegmentSearch, NearPlacesAreNoFinding) {
    const Video all = moving(600);
    for (const int first : {0, 1, 29, 30}) expect_found(all, noisy(part_of(all, first, 100), 1.0F), 0);
    expect_found(all, noisy(part_of(all, 100, 15), 0.3F), 0); // too short
}

/// What begins dark is sampled where it shows something.
TEST(SegmentSearch, BlackBeginnings) {
    Video all = moving(900);
    for (size_t n = 300; n < 340; ++n) all[n] = faded(all[n], n < 320 ? 0.0 : 0.1);
    expect_found(all, noisy(part_of(all, 300, 150), 1.0F), 300);
}

TEST(SegmentSearch, WhatIsShownTwiceIsNotTold) {
    Video all = moving(900);
    for (size_t n = 0; n < 100; ++n) all[700 + n] = all[300 + n];
    expect_found(all, noisy(part_of(all, 300, 80), 1.0F), 0);
    const Video loop = video(600, [](int n) { return scene(n % 60); });
    expect_found(loop, noisy(part_of(loop, 70, 200), 1.0F), 0);
}

TEST(SegmentSearch, WhatMovesTooLittleIsNotTold) {
    const Video still = video(400, [](int) { return scene(3); });
    expect_found(still, noisy(part_of(still, 100, 100), 0.3F), 0);
    const Video slow = moving(400, 0.01);
    expect_found(slow, noisy(part_of(slow, 100, 100), 1.0F), 0);
    const Video black = video(400, [](int) { return Luma{}; });
    expect_found(black, part_of(black, 100, 100), 0);
    const Video slates = video(400, [](int n) { return scene(100 * (n / 80)); });
    expect_found(slates, noisy(part_of(slates, 80, 100), 0.3F), 0);
}

TEST(SegmentSearch, AnotherVideoIsNoPart) {
    for (const double speed : {0.37, 1.7, 5.0}) {
        const Video all = moving(900);
        expect_found(all, video(100, [&](int n) { return scene(5000 + n, speed); }), 0);
    }
    const Video noise = noisy(video(900, [](int) { return Luma{}; }), 20.0F, 1);
    expect_found(noise, noisy(video(100, [](int) { return Luma{}; }), 20.0F, 2), 0);
}

} // namespace
} // namespace qc
