// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM against libvmaf's scores. The clips are not part of this repository; the test skips itself where they are
// missing (tests/golden_clip.hpp says where it looks).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "families/detail_loss/detail_loss_golden.hpp"
#include "metrics/adm/adm.hpp"
#include "metrics/adm/adm_plan.hpp"

namespace qc::adm {
namespace {

/// Where csf mode 1 overflows, libvmaf's code paths differ, and big clips have the values of its SIMD code only.
bool is_settled(const golden::Clip& clip, const test::OptionList& options) {
    const bool overflowing = std::any_of(options.begin(), options.end(), [](const auto& option) {
        return option.first == "adm_csf_mode" && static_cast<int>(option.second) == kCsfBarten;
    });
    return !overflowing || int64_t{clip.width} * clip.height * clip.frames <= 2000000;
}

double exact(const test::OptionList&) {
    return 0.0;
}

TEST(AdmGolden, EveryClipEqualsLibvmaf) {
    const auto folder = golden::folder();
    if (folder.empty()) GTEST_SKIP() << "SKIPPED: the golden clips are not here (set QC_SHARED)";
    const GoldenCounts counts =
        compare_golden_scores(folder, {descriptor(), "integer_", kMinimumSize, is_settled, exact});
    std::printf("%d scores of %d clips compared, all must be equal in every bit\n", counts.exact.compared,
                counts.clips);
    EXPECT_GT(counts.exact.compared, 10000);
}

} // namespace
} // namespace qc::adm
