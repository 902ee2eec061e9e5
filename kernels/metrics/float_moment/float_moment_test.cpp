// SPDX-License-Identifier: BSD-2-Clause-Patent
// Moments: golden scores, rounding of large squares, and the CUDA kernel's code run on the host.
#include "metrics/float_moment/float_moment.hpp"

#include <gtest/gtest.h>

#include <random>

#include "metrics/float_moment/float_moment_kernels.hpp"
#include "tests/golden/golden_metric.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::float_moment {
namespace {

TEST(FloatMoment, LargeSquaresAreRoundedToSinglePrecision) {
    EXPECT_EQ(rounded_square<true>(4096), 4096u * 4096u);
    EXPECT_EQ(rounded_square<true>(4097), 16785408u); // 16785409: a tie, to the even neighbour
    EXPECT_EQ(rounded_square<true>(65535), 4294836224u);
    EXPECT_EQ(rounded_square<false>(4095), 4095u * 4095u);
}

/// Runs the kernel's threads over a plane whose rows end with its last sample.
template <typename T, typename Sum>
void expect_kernel_sums(int width, int height, int depth, int shift, bool aligned) {
    std::mt19937 random(static_cast<unsigned>(width * 1000 + height * 10 + depth));
    const size_t pitch_samples = aligned ? (width + 15) / 16 * 16 : width + 1;
    std::vector<Words<kLoadBytes>> memory(pitch_samples * height * sizeof(T) / kLoadBytes + 1);
    T* const data = reinterpret_cast<T*>(memory.data());
    std::vector<T> plain;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const auto sample = static_cast<T>(random() & ((1u << depth) - 1));
            plain.push_back(sample);
            data[y * pitch_samples + x] = static_cast<T>(sample << shift);
        }
    FrameGeometry geometry;
    geometry.width = width;
    geometry.height = height;
    geometry.depth = depth;
    geometry.sample = sizeof(T) == 1 ? SampleType::kU8 : SampleType::kU16;
    const Moments expected =
        score_cpu({plain.data(), {static_cast<ptrdiff_t>(width * sizeof(T))}, width, height}, geometry);

    const DevicePlane plane{data, static_cast<uint32_t>(pitch_samples * sizeof(T)), 1, static_cast<uint16_t>(shift)};
    Moments sums;
    for (int tile_y = 0; tile_y * kTileHeight < height; ++tile_y)
        for (int tile_x = 0; tile_x * kColumns<T> * kLanes < width; ++tile_x)
            for (int thread = 0; thread < kTuning.warps * kLanes; ++thread) {
                const auto own =
                    sum_thread<T, Sum>(plane, width, height, thread_position(kColumns<T>, tile_x, tile_y, thread));
                sums.first += own.first;
                sums.second += own.second;
            }
    EXPECT_EQ(sums.first, expected.first) << width << "x" << height << " " << depth;
    EXPECT_EQ(sums.second, expected.second) << width << "x" << height << " " << depth;
}

TEST(FloatMoment, KernelSumsAreThoseOfTheCpu) {
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{1, 1}, {15, 3}, {16, 33}, {17, 64}, {513, 40}, {640, 70}})
        for (const bool aligned : {false, true}) {
            expect_kernel_sums<uint8_t, uint32_t>(width, height, 8, 0, aligned);
            expect_kernel_sums<uint16_t, uint32_t>(width, height, 10, 6, aligned);
            expect_kernel_sums<uint16_t, uint32_t>(width, height, 12, 4, aligned);
            expect_kernel_sums<uint16_t, uint64_t>(width, height, 16, 0, aligned);
        }
}

TEST(FloatMoment, TakesEverySize) {
    const OptionValues options(descriptor().options);
    FrameGeometry geometry;
    EXPECT_EQ(validate(descriptor(), geometry, options).code(), QC_ERROR_INVALID);
    geometry.width = geometry.height = 1;
    EXPECT_EQ(validate(descriptor(), geometry, options).code(), QC_OK);
}

TEST(FloatMomentGolden, EveryClip) {
    const int compared = test::compare_with_golden_clips(
        descriptor(), {"float_moment_ref1st", "float_moment_dis1st", "float_moment_ref2nd", "float_moment_dis2nd"}, 0.0,
        [](const FrameGeometry&) { return true; });
    if (!IsSkipped()) {
        EXPECT_GT(compared, 0);
    }
}

} // namespace
} // namespace qc::float_moment
