// SPDX-License-Identifier: BSD-2-Clause-Patent
// Moments: golden scores, rounding of large squares.
#include "metrics/float_moment/float_moment.hpp"

#include <gtest/gtest.h>

#include "metrics/float_moment/float_moment_kernels.hpp"
#include "tests/golden/golden_scores.hpp"
#include "tests/support/any_size.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::float_moment {
namespace {

TEST(FloatMoment, LargeSquaresAreRoundedToSinglePrecision) {
    EXPECT_EQ(rounded_square<true>(4096), 4096u * 4096u);
    EXPECT_EQ(rounded_square<true>(4097), 16785408u); // 16785409: a tie, to the even neighbour
    EXPECT_EQ(rounded_square<true>(65535), 4294836224u);
    EXPECT_EQ(rounded_square<false>(4095), 4095u * 4095u);
}

TEST(FloatMoment, TakesEverySize) {
    test::expect_takes_any_size(descriptor());
}

TEST(FloatMomentGolden, EveryClip) {
    golden::expect_golden_scores({.metric = descriptor(), .least = 980});
}

} // namespace
} // namespace qc::float_moment
