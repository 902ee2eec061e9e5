// SPDX-License-Identifier: BSD-2-Clause-Patent
// Held against libvmaf's golden scores; skipped where they are missing.
#include <gtest/gtest.h>

#include "metrics/motion/motion.hpp"
#include "tests/golden/golden_scores.hpp"

namespace qc::motion {
namespace {

TEST(MotionGolden, EveryClipAndOptionEqualsLibvmaf) {
    golden::expect_golden_scores({.metric = descriptor(),
                                  .options_from = golden::OptionsFrom::kNames,
                                  .least = 10000,
                                  .required = {"default", "debug", "subsample3", "options_motion", "", "_mffw", "_mma",
                                               "_mffw_mma", "_force_0", "_mbf_0.5_mbo_2", "_mfw_0.5", "_mmxv_3"}});
}

} // namespace
} // namespace qc::motion
