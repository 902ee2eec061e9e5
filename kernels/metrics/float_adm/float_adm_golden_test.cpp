// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point ADM against libvmaf's scores. The clips are not part of this repository; the test skips itself where
// they are missing (tests/golden_clip.hpp says where it looks).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "families/detail_loss/detail_loss_golden.hpp"
#include "metrics/float_adm/float_adm.hpp"
#include "metrics/float_adm/float_adm_plan.hpp"

namespace qc::float_adm {
namespace {

/// Scores with other powers than 3 stand on powf(), whose last digit libvmaf takes from the C library.
constexpr double kPowerBound = 1e-6;

bool is_settled(const golden::Clip&, const test::OptionList&) {
    return true;
}

double bound(const test::OptionList& options) {
    const auto is_power = [](const auto& option) { return option.first == "adm_p_norm"; };
    return std::any_of(options.begin(), options.end(), is_power) ? kPowerBound : 0.0;
}

TEST(FloatAdmGolden, EveryClipEqualsLibvmaf) {
    const auto folder = golden::folder();
    if (folder.empty()) GTEST_SKIP() << "SKIPPED: the golden clips are not here (set QC_SHARED)";
    const GoldenCounts counts = compare_golden_scores(folder, {descriptor(), "", kMinimumSize, is_settled, bound});
    const GoldenTally &exact = counts.exact, &bounded = counts.bounded;
    std::printf("%d clips: %d scores compared, %d unequal, largest difference %g\n", counts.clips, exact.compared,
                exact.unequal, exact.largest);
    std::printf("other powers: %d scores compared, %d unequal, largest difference %g\n", bounded.compared,
                bounded.unequal, bounded.largest);
    EXPECT_GT(exact.compared, 4000);
    EXPECT_GT(bounded.compared, 0);
}

} // namespace
} // namespace qc::float_adm
