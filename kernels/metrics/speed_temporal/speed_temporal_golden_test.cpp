// SPDX-License-Identifier: BSD-2-Clause-Patent
// Held against libvmaf's golden scores; skipped where they are missing.
#include <gtest/gtest.h>

#include "metrics/speed_temporal/speed_temporal.hpp"
#include "tests/golden/golden_scores.hpp"

namespace qc::speed_temporal {
namespace {

/// The reference gives single pictures their 0 without looking at their size.
bool is_single_picture(const golden::Clip& clip) {
    return clip.frames == 1;
}

TEST(SpeedTemporalGolden, EveryScoreOfEveryClip) {
    golden::expect_golden_scores({.metric = descriptor(),
                                  .options_from = golden::OptionsFrom::kNames,
                                  .least = 600,
                                  .tolerance = 1e-6,
                                  .subsampled = false,
                                  .refusals = golden::Refusals::kSame,
                                  .refused_alone = is_single_picture});
}

} // namespace
} // namespace qc::speed_temporal
