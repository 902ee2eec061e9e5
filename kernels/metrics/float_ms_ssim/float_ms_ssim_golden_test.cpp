// SPDX-License-Identifier: BSD-2-Clause-Patent
// libvmaf's scores of the golden clips. They are not part of this repository; without them the test skips itself.
#include "families/structural/structural_golden.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim.hpp"

namespace qc::float_ms_ssim {
namespace {

TEST(FloatMsSsimGolden, EveryScoreOfEveryRun) {
    structural::expect_golden_scores(descriptor(), 1000);
}

} // namespace
} // namespace qc::float_ms_ssim
