// SPDX-License-Identifier: BSD-2-Clause-Patent
// Held against libvmaf's golden scores; skipped where they are missing.
#include <gtest/gtest.h>

#include "metrics/adm/adm.hpp"
#include "metrics/adm/adm_plan.hpp"
#include "tests/golden/golden_scores.hpp"

namespace qc::adm {
namespace {

/// Where csf mode 1 overflows, libvmaf's code paths differ, and big clips have the values of its SIMD code only.
bool is_settled(const golden::Clip& clip, const OptionValues& options) {
    const bool overflowing = static_cast<int>(golden::option_number(options, "adm_csf_mode")) == kCsfBarten;
    return !overflowing || int64_t{clip.width} * clip.height * clip.frames <= 2000000;
}

TEST(AdmGolden, EveryClipEqualsLibvmaf) {
    golden::expect_golden_scores({.metric = descriptor(),
                                  .options_from = golden::OptionsFrom::kNames,
                                  .least = 30000,
                                  .required = {"", "_csf_1"},
                                  .settled = is_settled,
                                  .unstable = false});
}

} // namespace
} // namespace qc::adm
