// SPDX-License-Identifier: BSD-2-Clause-Patent
// What became of frames, as numbers.
#include "quality_cuda_run/counts.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace {

TEST(Counts, TooFewPairs) {
    const auto judged = [](int64_t paired, int64_t gaps, int64_t restarts = 0) {
        qcr_counts counts{};
        counts.paired = paired;
        counts.gaps = gaps;
        counts.restarts = restarts;
        return qcr_pairs_too_few(&counts) != 0;
    };
    EXPECT_TRUE(judged(2, 118));
    EXPECT_TRUE(judged(49, 50));
    EXPECT_FALSE(judged(50, 50)) << "half of the rate";
    EXPECT_FALSE(judged(0, 0));
    EXPECT_FALSE(judged(1, 2, 1)) << "switched on between two partners";
    EXPECT_TRUE(judged(0, 1));
    qcr_counts outside{};
    outside.paired = 1;
    outside.before = outside.after = outside.disabled = outside.late = outside.ended = 1000;
    EXPECT_FALSE(qcr_pairs_too_few(&outside)) << "both inputs have to run";
    outside.holes = 2;
    EXPECT_TRUE(qcr_pairs_too_few(&outside));
    outside.holes = 0;
    outside.untimed = 2;
    EXPECT_TRUE(qcr_pairs_too_few(&outside));
}

TEST(Counts, SwitchingOnIsCountedBehindFramesWithout) {
    qcr_counts counts{};
    for (const int disabled : {1, 1, 0, 0, 1, 0}) qcr_count_frame(&counts, disabled);
    EXPECT_EQ(counts.frames, 6);
    EXPECT_EQ(counts.restarts, 2);
    qcr_counts always_on{};
    qcr_count_frame(&always_on, 0);
    EXPECT_EQ(always_on.restarts, 0);
}

TEST(Counts, WhatARenditionLacks) {
    qcr_counts counts{};
    for (const qcr_lack lack : {QCR_LACKS_BEFORE, QCR_LACKS_GAP, QCR_LACKS_GAP, QCR_LACKS_ENDED})
        qcr_count_without_rendition(&counts, lack);
    qcr_count_unpaired(&counts, QCR_LACKS_BEFORE, 0, 0);
    EXPECT_EQ(counts.late, 1);
    EXPECT_EQ(counts.holes, 2);
    EXPECT_EQ(counts.ended, 1);
    EXPECT_EQ(qcr_rendition_missing(&counts), 4) << "the reference's own absence is not the rendition's";
    EXPECT_EQ(qcr_unscored(&counts), 5);
}

TEST(Counts, SwitchedOffComesFirst) {
    qcr_counts counts{};
    qcr_count_unpaired(&counts, QCR_HAS_FRAME, 1, 1);
    EXPECT_EQ(counts.disabled, 1);
    // Behind the end of the run even a frame with a partner gets no scores.
    qcr_count_unpaired(&counts, QCR_HAS_FRAME, 0, 0);
    EXPECT_EQ(counts.after, 1);
    EXPECT_EQ(qcr_unscored(&counts), 2);
}

TEST(Counts, ALongRowIsAPauseOnce) {
    qcr_counts counts{};
    for (int round = 0; round < 2; ++round) {
        for (int i = 1; i <= 2 * QCR_LONGEST_GAP; ++i)
            EXPECT_EQ(qcr_count_unpaired(&counts, QCR_LACKS_GAP, 0, 0), i == QCR_LONGEST_GAP + 1) << "frame " << i;
        counts.unpaired_row = 0; // a pair
    }
}

} // namespace
