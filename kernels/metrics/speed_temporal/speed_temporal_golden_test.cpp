// SPDX-License-Identifier: BSD-2-Clause-Patent
// libvmaf's scores of the golden clips. They are not part of this repository; without them the test skips itself.
#include "families/speed/speed_golden.hpp"
#include "metrics/speed_temporal/speed_temporal.hpp"

namespace qc::speed_temporal {
namespace {

TEST(SpeedTemporalGolden, EveryScoreOfEveryClip) {
    speed::expect_golden_scores(descriptor(), 600);
}

} // namespace
} // namespace qc::speed_temporal
