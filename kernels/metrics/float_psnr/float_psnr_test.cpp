// SPDX-License-Identifier: BSD-2-Clause-Patent
// float_psnr: golden and frozen scores, rounded squares, and the CUDA kernel's code run on the host.
#include "metrics/float_psnr/float_psnr.hpp"

#include <gtest/gtest.h>

#include <random>

#include "families/sse/sse_kernels.hpp"
#include "metrics/float_psnr/float_psnr_math.hpp"
#include "tests/golden/golden_metric.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::float_psnr {
namespace {

using sse::Square;

TEST(FloatPsnr, LargeSquaresAreRoundedToSinglePrecision) {
    EXPECT_EQ(sse::rounded_squared_error(4096, 0), 4096u * 4096u);
    EXPECT_EQ(sse::rounded_squared_error(0, 4097), 16785408u); // 16785409: a tie, to the even neighbour
    EXPECT_EQ(sse::rounded_squared_error(65535, 0), 4294836224u);
    EXPECT_EQ(sse::squared_error_as<Square::kExact>(0, 4097), 16785409u);
}

TEST(FloatPsnr, PeaksAndCaps) {
    EXPECT_EQ(peak(8), 255.0);
    EXPECT_EQ(peak(10), 255.75);
    EXPECT_EQ(peak(12), 255.9375);
    EXPECT_EQ(peak(16), 255.99609375);
    for (const auto& [depth, expected] : std::vector<std::pair<int, double>>{{8, 60}, {10, 72}, {12, 84}, {16, 108}})
        EXPECT_EQ(score(0, 1, depth), expected);
    EXPECT_NEAR(score(400, 100, 8), 42.110203695399477, 1e-12); // 20 log10(255 / 2)
    EXPECT_EQ(score(400 * 16, 100, 10), 10 * std::log10(255.75 * 255.75 / 4));
}

/// Frozen scores, by frame; the formula in the spec's words on sums that a plain loop makes.
TEST(FloatPsnr, SyntheticClipsHaveTheFrozenScores) {
    const std::map<std::string, std::vector<double>> frozen = {
        {"g64x48_420_8", {31.846548419843792, 31.884129373465484, 31.703640848466087, 31.674738993275074}},
        {"g175x99_420_8", {31.692506960806011, 31.811355309605037, 31.737957233949775, 31.747452820114297}},
        {"g176x176_420_10", {31.683953795914555, 31.775688309054736, 31.671589285735422, 31.710759263797531}},
        {"g80x66_422_12", {31.671349857350005, 31.791699688856454, 31.699011333583513}},
        {"g48x32_444_16", {32.899543522211268, 33.354907339955943, 33.131302170050418}},
    };
    for (const test::SyntheticClip& clip : test::kSyntheticClips) {
        std::vector<test::SyntheticPicture> storage;
        storage.reserve(2 * static_cast<size_t>(clip.frames));
        std::vector<HostPicture> reference, distorted;
        for (int frame = 0; frame < clip.frames; ++frame) {
            reference.push_back(storage.emplace_back(clip, false, frame).view());
            distorted.push_back(storage.emplace_back(clip, true, frame).view());
        }
        const std::vector<double> actual =
            test::score_stream(descriptor(), test::synthetic_geometry(clip), {}, reference, distorted)
                .values("float_psnr");
        const std::vector<double>& expected = frozen.at(clip.name);
        ASSERT_EQ(actual.size(), expected.size());
        for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-9) << clip.name << " " << i;
    }
}

/// Runs the kernel's threads over planes whose rows end with their last sample.
template <typename T, typename Sum, Square kSquare>
void expect_kernel_sum(int width, int height, int depth, int shift, bool aligned) {
    std::mt19937 random(static_cast<unsigned>(width * 1000 + height * 10 + depth));
    const size_t pitch_samples = aligned ? (static_cast<size_t>(width) + 15) / 16 * 16 : static_cast<size_t>(width) + 1;
    const auto rows = static_cast<size_t>(height);
    std::vector<Words<16>> memory[2];
    std::vector<T> plain[2];
    for (int side = 0; side < 2; ++side) {
        memory[side].resize(pitch_samples * rows * sizeof(T) / 16 + 1);
        T* const data = reinterpret_cast<T*>(memory[side].data());
        for (size_t y = 0; y < rows; ++y)
            for (size_t x = 0; x < static_cast<size_t>(width); ++x) {
                const auto sample = static_cast<T>(random() & ((1u << depth) - 1));
                plain[side].push_back(sample);
                data[y * pitch_samples + x] = static_cast<T>(sample << shift);
            }
    }
    FrameGeometry geometry;
    geometry.width = width;
    geometry.height = height;
    geometry.depth = depth;
    geometry.sample = sizeof(T) == 1 ? SampleType::kU8 : SampleType::kU16;
    HostPair pair;
    DevicePlane planes[2];
    for (int side = 0; side < 2; ++side) {
        HostPicture& picture = side == 0 ? pair.reference : pair.distorted;
        picture.plane[0] = {plain[side].data(), {static_cast<ptrdiff_t>(width * sizeof(T))}, width, height};
        planes[side] = {memory[side].data(), static_cast<uint32_t>(pitch_samples * sizeof(T)), 1,
                        static_cast<uint16_t>(shift)};
    }
    const sse::SseTask task = sse::make_task(geometry, false);
    uint64_t sum = 0;
    for (int tile = 0; tile < task.luma.tiles; ++tile)
        for (int thread = 0; thread < sse::kTuning.warps * sse::kLanes; ++thread)
            sum += sse::sum_luma<T, Sum, kSquare>(planes[0], planes[1], task.luma,
                                                  sse::thread_position(task.luma, sse::kLumaColumns<T>, tile, thread));
    EXPECT_EQ(sum, score_cpu(pair, geometry)) << width << "x" << height << " " << depth;
    EXPECT_EQ(task.words, 1);
}

TEST(FloatPsnr, KernelSumsAreThoseOfTheCpu) {
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{1, 1}, {15, 3}, {16, 33}, {17, 64}, {513, 40}, {640, 70}})
        for (const bool aligned : {false, true}) {
            expect_kernel_sum<uint8_t, uint32_t, Square::kExact>(width, height, 8, 0, aligned);
            expect_kernel_sum<uint16_t, uint32_t, Square::kExact>(width, height, 10, 6, aligned);
            expect_kernel_sum<uint16_t, uint32_t, Square::kExact>(width, height, 12, 4, aligned);
            expect_kernel_sum<uint16_t, uint64_t, Square::kRounded>(width, height, 16, 0, aligned);
        }
}

TEST(FloatPsnr, TakesEverySize) {
    const OptionValues options(descriptor().options);
    FrameGeometry geometry;
    EXPECT_EQ(validate(descriptor(), geometry, options).code(), QC_ERROR_INVALID);
    geometry.width = geometry.height = 1;
    EXPECT_EQ(validate(descriptor(), geometry, options).code(), QC_OK);
}

TEST(FloatPsnrGolden, EveryClip) {
    const int compared =
        test::compare_with_golden_clips(descriptor(), {"float_psnr"}, 0.0, [](const FrameGeometry&) { return true; });
    if (!IsSkipped()) {
        EXPECT_GT(compared, 0);
    }
}

} // namespace
} // namespace qc::float_psnr
