// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CPU reference against an obvious loop over samples, and the grid itself.
#include "metrics/signature/signature.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>

#include "tests/support/geometry.hpp"
#include "tests/support/sample_picture.hpp"

namespace qc::signature {
namespace {

uint32_t code_at(int x, int y, int depth, bool distorted) {
    return static_cast<uint32_t>((x * 7 + y * 13 + (distorted ? 5 : 0)) * 11) % (1u << depth);
}

TEST(Signature, SumsOfEachBlock) {
    for (const int depth : {8, 10, 16})
        for (const auto& [width, height] : {std::pair{8, 8}, {13, 21}, {200, 64}, {37, 390}}) {
            const FrameGeometry geometry = test::luma_geometry(width, height, depth);
            const test::SamplePicture reference(
                geometry, [&](int x, int y) { return code_at(x, y, depth, false); }, 3);
            const test::SamplePicture distorted(
                geometry, [&](int x, int y) { return code_at(x, y, depth, true); }, 1);
            std::array<uint64_t, kSignatureWords> sums{}, expected{};
            score_cpu(HostPair{reference.view(), distorted.view()}, geometry, sums);
            const int step = height < 128 ? 1 : height / 128;
            for (int row = 0; row < 8; ++row)
                for (int y = height * row / 8; y < height * (row + 1) / 8; y += step)
                    for (int x = 0; x < width; ++x) {
                        int column = 0;
                        while (x >= width * (column + 1) / 8) ++column;
                        for (const int side : {0, 1})
                            expected[static_cast<size_t>(64 * side + 8 * row + column)] +=
                                code_at(x, y, depth, side == 1);
                    }
            EXPECT_EQ(sums, expected) << width << "x" << height << ", " << depth << " bits";
        }
}

TEST(Signature, CountsOfTheGrid) {
    for (int height = 8; height < 700; ++height) {
        const SignatureGrid grid{19, height};
        int64_t samples = 0;
        int rows = 0;
        for (int row = 0; row < kSignatureRows; ++row) {
            ASSERT_GT(grid.top(row + 1), grid.top(row));
            for (int y = grid.top(row); y < grid.top(row + 1); y += grid.row_step()) ++rows;
            for (int column = 0; column < kSignatureColumns; ++column) samples += grid.samples(column, row);
        }
        ASSERT_EQ(samples, int64_t{19} * rows) << height;
        ASSERT_LE(rows, 264) << height;
        ASSERT_GE(rows, std::min(height, 128)) << height;
    }
}

TEST(Signature, IsNoMetricThatOneCouldAskFor) {
    EXPECT_TRUE(descriptor().outputs.empty());
    EXPECT_TRUE(descriptor().every_frame);
    EXPECT_FALSE(validate(descriptor(), test::luma_geometry(7, 8, 8), OptionValues({})).ok());
}

} // namespace
} // namespace qc::signature
