// SPDX-License-Identifier: BSD-2-Clause-Patent
// Held against libvmaf's golden scores; skipped where they are missing.
#include <gtest/gtest.h>

#include "metrics/vif/vif.hpp"
#include "tests/golden/golden_scores.hpp"

namespace qc::vif {
namespace {

TEST(VifGolden, EveryClipEqualsLibvmaf) {
    golden::expect_golden_scores({.metric = descriptor(),
                                  .options_from = golden::OptionsFrom::kNames,
                                  .least = 9980,
                                  .required = {"", "_egl_1", "_ssclz"}});
}

} // namespace
} // namespace qc::vif
