// SPDX-License-Identifier: BSD-2-Clause-Patent
// Held against libvmaf's golden scores; skipped where they are missing.
#include <gtest/gtest.h>

#include "metrics/cambi/cambi.hpp"
#include "tests/golden/golden_scores.hpp"

namespace qc::cambi {
namespace {

TEST(CambiGolden, EveryClipAndOptionSetEqualsLibvmaf) {
    golden::expect_golden_scores(
        {.metric = descriptor(),
         .least = 4500,
         .required = {"default", "options_cambi", "cambi_full_ref", "cambi_full_ref_enc", "cambi_full_ref_src"},
         .refusals = golden::Refusals::kSame,
         .least_refused = 300});
}

} // namespace
} // namespace qc::cambi
