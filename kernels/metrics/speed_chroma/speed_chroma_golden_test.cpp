// SPDX-License-Identifier: BSD-2-Clause-Patent
// libvmaf's scores of the golden clips. They are not part of this repository; without them the test skips itself.
#include "families/speed/speed_golden.hpp"
#include "metrics/speed_chroma/speed_chroma.hpp"

namespace qc::speed_chroma {
namespace {

TEST(SpeedChromaGolden, EveryScoreOfEveryClip) {
    speed::expect_golden_scores(descriptor(), 6000);
}

} // namespace
} // namespace qc::speed_chroma
