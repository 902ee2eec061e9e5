// SPDX-License-Identifier: BSD-2-Clause-Patent
// Held against libvmaf's golden scores; skipped where they are missing.
#include <gtest/gtest.h>

#include "metrics/float_adm/float_adm.hpp"
#include "tests/golden/golden_scores.hpp"

namespace qc::float_adm {
namespace {

/// Scores with other powers than 3 stand on powf(), whose last digit libvmaf takes from the C library.
double tolerance(const OptionValues& options) {
    return golden::option_number(options, "adm_p_norm") == 3.0 ? 0.0 : 1e-6;
}

TEST(FloatAdmGolden, EveryClipEqualsLibvmaf) {
    golden::expect_golden_scores({.metric = descriptor(),
                                  .options_from = golden::OptionsFrom::kNames,
                                  .least = 20000,
                                  .required = {"", "_apn_2"},
                                  .tolerance_of = tolerance,
                                  .unstable = false});
}

} // namespace
} // namespace qc::float_adm
