// SPDX-License-Identifier: BSD-2-Clause-Patent
// Held against libvmaf's golden scores; skipped where they are missing.
#include <gtest/gtest.h>

#include "metrics/speed_chroma/speed_chroma.hpp"
#include "tests/golden/golden_scores.hpp"

namespace qc::speed_chroma {
namespace {

TEST(SpeedChromaGolden, EveryScoreOfEveryClip) {
    golden::expect_golden_scores({.metric = descriptor(),
                                  .options_from = golden::OptionsFrom::kNames,
                                  .least = 6000,
                                  .tolerance = 1e-6,
                                  .subsampled = false,
                                  .refusals = golden::Refusals::kSame});
}

} // namespace
} // namespace qc::speed_chroma
