// SPDX-License-Identifier: BSD-2-Clause-Patent
// Products of matrices of halves on the host, which stand for the tensor cores in emulated kernels, and floats as two
// halves.
#include "device/half_matrix.hpp"
#include "device/kernel_list.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/device/emulated_block.hpp"

namespace qc::device {
namespace {

constexpr int kRows = 16, kDepth = 16, kColumns = 8;

/// Small numbers, whose products and sums are exact.
float left_at(int row, int depth) {
    return static_cast<float>((row * 7 + depth * 3) % 11 - 5);
}
float right_at(int depth, int column) {
    return static_cast<float>((depth * 5 + column * 2) % 13 - 6);
}

struct Arguments {
    float* sums; ///< by warp, by row
};

/// Two warps with a product each; what the second one adds to is not 0.
struct Multiply : device::KernelOf<device::Arguments, 64> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        const int row = block.lane() / 4, group = block.lane() % 4;
        HalfLeft left;
        HalfRight right;
        FloatSums sums;
        for (int i = 0; i < 4; ++i) {
            const int of_row = row + 8 * (i % 2), depth = 8 * (i / 2) + 2 * group;
            left.words[i] = half_pair_of(left_at(of_row, depth), left_at(of_row, depth + 1));
            sums.values[i] = static_cast<float>(100 * block.warp());
        }
        for (int i = 0; i < 2; ++i) {
            const int depth = 8 * i + 2 * group;
            right.words[i] = half_pair_of(right_at(depth, row), right_at(depth + 1, row));
        }
        add_product(block, left, right, sums);
        for (int i = 0; i < 4; ++i)
            arguments.sums[(block.warp() * kRows + row + 8 * (i / 2)) * kColumns + 2 * group + i % 2] = sums.values[i];
    }
};

TEST(HalfMatrix, ProductsAreThoseOfPlainLoops) {
    for (const bool descending : {false, true}) {
        std::vector<float> sums(2 * kRows * kColumns, NAN);
        const Arguments arguments{sums.data()};
        test::run_grid<Multiply>({"multiply", {}, {Multiply::kThreads, 1, 1}, 0, &arguments, descending});
        for (int warp = 0; warp < 2; ++warp)
            for (int row = 0; row < kRows; ++row)
                for (int column = 0; column < kColumns; ++column) {
                    auto expected = static_cast<float>(100 * warp);
                    for (int k = 0; k < kDepth; ++k) expected += left_at(row, k) * right_at(k, column);
                    EXPECT_EQ(sums[static_cast<size_t>((warp * kRows + row) * kColumns + column)], expected);
                }
    }
}

/// To 22 binary digits of the larger, and to the smallest of all halves.
TEST(HalfMatrix, TwoHalvesAreNearlyAFloat) {
    for (float value = 1e-6f; value < 6e4f; value *= 1.37f) {
        const SplitPair pair = split_pair(value, -value);
        const float largest_error = std::max(value * 0x1p-22f, 0x1p-24f);
        EXPECT_NEAR(low_of_pair(pair.high) + low_of_pair(pair.low), value, largest_error);
        EXPECT_EQ(high_of_pair(pair.high), -low_of_pair(pair.high));
        EXPECT_EQ(high_of_pair(pair.low), -low_of_pair(pair.low));
    }
}

} // namespace
} // namespace qc::device
