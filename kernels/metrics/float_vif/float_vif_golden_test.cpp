// SPDX-License-Identifier: BSD-2-Clause-Patent
// Held against libvmaf's golden scores; skipped where they are missing.
#include <gtest/gtest.h>

#include "metrics/float_vif/float_vif.hpp"
#include "tests/golden/golden_scores.hpp"

namespace qc::float_vif {
namespace {

TEST(FloatVifGolden, EveryClipAndOptionEqualsLibvmaf) {
    golden::expect_golden_scores(
        {.metric = descriptor(),
         .options_from = golden::OptionsFrom::kNames,
         .least = 12000,
         .required = {"default", "models_float", "debug", "options_vif", "", "_egl_1", "_ks_1.5", "_ps_0.5",
                      "_ps_0.5_pm_bilinear", "_ps_0.5_pm_bicubic", "_ps_0.5_pm_lanczos4",
                      "_s1miv_0.9_s2miv_0.9_s3miv_0.9", "_snsq_1.2", "_ssclz"}});
}

} // namespace
} // namespace qc::float_vif
