// SPDX-License-Identifier: BSD-2-Clause-Patent
// Held against libvmaf's golden scores; skipped where they are missing.
#include <gtest/gtest.h>

#include "metrics/float_ms_ssim/float_ms_ssim.hpp"
#include "tests/golden/golden_scores.hpp"

namespace qc::float_ms_ssim {
namespace {

TEST(FloatMsSsimGolden, EveryScoreOfEveryRun) {
    golden::expect_golden_scores({.metric = descriptor(),
                                  .least = 3900,
                                  .required = {"default", "ssim_lcs", "ssim_db", "ssim_db_clip"},
                                  .refusals = golden::Refusals::kUndefined});
}

} // namespace
} // namespace qc::float_ms_ssim
