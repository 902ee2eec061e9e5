// SPDX-License-Identifier: BSD-2-Clause-Patent
// Held against libvmaf's golden scores; skipped where they are missing.
#include <gtest/gtest.h>

#include "metrics/psnr/psnr.hpp"
#include "tests/golden/golden_scores.hpp"

namespace qc::psnr {
namespace {

TEST(PsnrGolden, EveryClipAndOption) {
    golden::expect_golden_scores({.metric = descriptor(),
                                  .least = 4000,
                                  .required = {"default", "subsample3", "psnr_apsnr_mse", "psnr_min_sse",
                                               "psnr_luma_only", "psnr_reduced_hbd_peak"},
                                  .tolerance = 1e-9});
}

} // namespace
} // namespace qc::psnr
