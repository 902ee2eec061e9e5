// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernel on the host against the CPU reference, in both orders of the threads; what the reference draws is held
// against a plain computation in tests/unit/maps_test.cpp.
#include <gtest/gtest.h>

#include "metrics/difference/difference.hpp"
#include "metrics/difference/difference_kernels.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::difference {
namespace {

TEST(DifferenceEmulation, MapsEqualTheCpu) {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1, 1}, {255, 3}, {256, 2}, {613, 20}})
        for (const auto& [depth, shift] : std::vector<std::pair<int, int>>{{8, 0}, {10, 6}, {12, 0}, {16, 0}})
            for (const bool descending : {false, true}) {
                SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << depth << " bits << " << shift);
                const FrameGeometry geometry = test::luma_geometry(width, height, depth);
                const OptionValues options(descriptor().options);
                const auto metric = create_scorer(descriptor(), geometry, options);
                metric->draw_maps();
                test::EmulatedProgram program(QC_EMULATED_KERNELS(QC_DIFFERENCE_KERNELS));
                ASSERT_TRUE(metric->prepare(program).ok());
                test::expect_emulated_maps_equal_cpu(*metric, descriptor().map->shape(geometry, options),
                                                     test::EmulatedPairs(test::emulated_lumas(geometry, shift, 0, 3)),
                                                     descending);
            }
}

TEST(DifferenceEmulation, HasNoScores) {
    EXPECT_TRUE(descriptor().outputs.empty());
    EXPECT_EQ(create_scorer(descriptor(), test::luma_geometry(8, 8, 8), OptionValues({}))->accumulator_words(), 0U);
}

} // namespace
} // namespace qc::difference
