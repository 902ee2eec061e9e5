// SPDX-License-Identifier: BSD-2-Clause-Patent
// Held against libvmaf's golden scores; skipped where they are missing.
#include <gtest/gtest.h>

#include "metrics/float_motion/float_motion.hpp"
#include "tests/golden/golden_scores.hpp"

namespace qc::float_motion {
namespace {

TEST(FloatMotionGolden, EveryClipAndOptionEqualsLibvmaf) {
    golden::expect_golden_scores(
        {.metric = descriptor(),
         .options_from = golden::OptionsFrom::kNames,
         .least = 8000,
         .required = {"default", "models_float", "float_motion_no_debug", "subsample3", "options_motion", "", "_mdc",
                      "_mau", "_mbf_0.5_mbo_2", "_mfs_1", "_mfs_3", "_force_0", "_mfw_0.5", "_mmxv_3"}});
}

} // namespace
} // namespace qc::float_motion
