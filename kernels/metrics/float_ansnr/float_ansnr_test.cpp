// SPDX-License-Identifier: BSD-2-Clause-Patent
// ANSNR: arithmetic, frozen and golden scores, and the CUDA kernels' phases run on the host.
#include "metrics/float_ansnr/float_ansnr.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "metrics/float_ansnr/float_ansnr_tile.hpp"
#include "tests/golden/golden_scores.hpp"
#include "tests/support/luma_geometry.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::float_ansnr {
namespace {

/// A picture twice: as the CPU reference sees it, and as a surface with a pitch and samples in the upper bits.
template <typename T>
struct Picture {
    std::vector<T> plain;
    std::vector<Words<16>> memory;
    HostPlane host;
    DevicePlane device{};

    Picture(int width, int height, int depth, int shift, bool aligned, unsigned seed) {
        std::mt19937 random(seed);
        const size_t pitch = aligned ? (width + 15) / 16 * 16 : width + 1;
        memory.resize(pitch * height * sizeof(T) / sizeof(Words<16>) + 1);
        T* const data = reinterpret_cast<T*>(memory.data());
        const int peak = (1 << depth) - 1;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const double wave = 0.5 + 0.3 * std::sin(x * 0.21 + seed % 3) + 0.15 * std::sin(y * 0.13);
                const int noise = static_cast<int>(random() % 64) * (peak + 1) / 1024;
                const auto sample = static_cast<T>(std::min(static_cast<int>(wave * peak) + noise, peak));
                plain.push_back(sample);
                data[y * pitch + x] = static_cast<T>(sample << shift);
            }
        host = {plain.data(), {static_cast<ptrdiff_t>(width * sizeof(T))}, width, height};
        device = {data, static_cast<uint32_t>(pitch * sizeof(T)), 1, static_cast<uint16_t>(shift)};
    }
};

/// The kernels, block after block.
template <typename T>
Energies run_kernels(const DevicePlane& reference, const DevicePlane& distorted, const Task& task) {
    Energies sums;
    auto shared = std::make_unique<SharedTile>();
    for (int band_y = 0; band_y < task.height; band_y += kTileRows) {
        float chain[kChains] = {};
        for (int tile_x = 0; tile_x < task.width; tile_x += kTileColumns) {
            for (auto& row : shared->term)
                for (float& term : row) term = std::numeric_limits<float>::quiet_NaN();
            for (int thread = 0; thread < kThreads; ++thread)
                filter_tile<T>(reference, distorted, task, tile_x, band_y, thread, *shared);
            const int columns = std::min(kTileColumns, task.width - tile_x);
            for (int i = 0; i < kChains; ++i) chain[i] = add_tile(*shared, i, columns, chain[i]);
        }
        for (int row = 0; row < kTileRows && band_y + row < task.height; ++row) {
            sums.signal += chain[kSums * row];
            sums.noise += chain[kSums * row + 1];
        }
    }
    return sums;
}

template <typename T>
void expect_kernel_sums(int width, int height, int depth, int shift, bool aligned) {
    const auto seed = static_cast<unsigned>(width * 1000 + height * 10 + depth);
    const Picture<T> reference(width, height, depth, shift, aligned, seed);
    const Picture<T> distorted(width, height, depth, shift, aligned, seed + 1);
    const FrameGeometry geometry = test::luma_geometry(width, height, depth);
    const Energies expected = sum_energies(reference.host, distorted.host, geometry);
    const Energies sums = run_kernels<T>(reference.device, distorted.device, Task{CentredLuma(depth), width, height});
    EXPECT_EQ(sums.signal, expected.signal) << width << "x" << height << " " << depth << " " << aligned;
    EXPECT_EQ(sums.noise, expected.noise) << width << "x" << height << " " << depth << " " << aligned;
    EXPECT_GT(sums.noise, 0.0f);
}

TEST(FloatAnsnr, KernelSumsAreThoseOfTheCpu) {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{
             {3, 3}, {4, 5}, {7, 16}, {12, 17}, {13, 33}, {255, 9}, {256, 31}, {257, 32}, {640, 40}, {775, 50}})
        for (const bool aligned : {false, true}) {
            expect_kernel_sums<uint8_t>(width, height, 8, 0, aligned);
            expect_kernel_sums<uint16_t>(width, height, 10, 6, aligned);
            expect_kernel_sums<uint16_t>(width, height, 12, 4, aligned);
            expect_kernel_sums<uint16_t>(width, height, 16, 0, aligned);
        }
}

TEST(FloatAnsnr, MirrorRepeatsTheLastSampleOnly) {
    EXPECT_EQ(mirror(-2, 3), 2);
    EXPECT_EQ(mirror(-1, 3), 1);
    EXPECT_EQ(mirror(3, 3), 2);
    EXPECT_EQ(mirror(4, 3), 1);
    EXPECT_EQ(mirror(12, 3), 0); // nobody uses it, but it is read
}

TEST(FloatAnsnr, FiltersKeepFlatPictures) {
    const float row[kWindow] = {37.0f, 37.0f, 37.0f, 37.0f, 37.0f};
    const float reference = reference_row(row);
    EXPECT_EQ(reference_window(reference, reference, reference), 37.0f);
    const RowSums sums = distorted_row(row);
    EXPECT_NEAR(distorted_window(sums.outer, sums.second, sums.middle, sums.second, sums.outer), 37.0f, 1e-5f);
}

TEST(FloatAnsnr, LumaIsOnTheScaleOfEightBits) {
    EXPECT_EQ(CentredLuma(8)(0), -128.0f);
    EXPECT_EQ(CentredLuma(8)(255), 127.0f);
    EXPECT_EQ(CentredLuma(10)(513), 0.25f);
    EXPECT_EQ(CentredLuma(12)(4095), 127.9375f);
    EXPECT_EQ(CentredLuma(16)(1), -127.99609375f);
}

std::vector<uint64_t> words_of(float signal, float noise) {
    return {std::bit_cast<uint64_t>(static_cast<double>(signal)), std::bit_cast<uint64_t>(static_cast<double>(noise))};
}

TEST(FloatAnsnr, ScoresOfSums) {
    const auto recorder = test::finalise_stream(descriptor(), test::luma_geometry(4, 4, 8), {},
                                                {words_of(200, 2), words_of(0, 2), words_of(0, 0), words_of(9, 1e-9f)});
    const std::vector<double> ansnr = recorder.values("float_ansnr"), anpsnr = recorder.values("float_anpsnr");
    EXPECT_EQ(ansnr[0], 20.0);
    EXPECT_EQ(ansnr[1], -std::numeric_limits<double>::infinity());
    EXPECT_EQ(ansnr[2], 60.0); // no noise: the cap
    EXPECT_GT(ansnr[3], 60.0); // a ratio is not capped
    EXPECT_EQ(anpsnr[0], 10 * std::log10(255.0 * 255.0 * 16 / 2));
    EXPECT_EQ(anpsnr[2], 60.0);
    EXPECT_EQ(anpsnr[3], 60.0);
    const auto deep = test::finalise_stream(descriptor(), test::luma_geometry(4, 4, 16), {}, {words_of(0, 0)});
    EXPECT_EQ(deep.values("float_anpsnr")[0], 108.0);
}

TEST(FloatAnsnr, ValidatesDepthAndSize) {
    const OptionValues options(descriptor().options);
    const auto code = [&](int width, int height, int depth) {
        return validate(descriptor(), test::luma_geometry(width, height, depth), options).code();
    };
    EXPECT_EQ(code(3, 3, 8), QC_OK);
    EXPECT_EQ(code(2, 3, 8), QC_ERROR_UNSUPPORTED);
    EXPECT_EQ(code(3, 2, 8), QC_ERROR_UNSUPPORTED);
    EXPECT_EQ(code(3, 3, 14), QC_ERROR_UNSUPPORTED);
}

/// libvmaf 3.2.0 on the clips of synthetic_clip.hpp.
struct FrozenScores {
    const char* clip;
    std::vector<double> ansnr, anpsnr;
};
const std::vector<FrozenScores> kFrozenScores = {
    {"g64x48_420_8",
     {16.528829627888076, 16.47003307520371, 16.40802998617811, 16.31133638273351},
     {34.149299357590735, 34.080070929543936, 33.93396228440969, 33.74454016261419}},
    {"g175x99_420_8",
     {17.188974001199423, 17.300744537121144, 17.24970565862288, 17.228080233255454},
     {33.812441688590205, 33.9379434982484, 33.876687193113526, 33.85006486078127}},
    {"g176x176_420_10",
     {17.138056891748793, 17.229834400982778, 17.151779363522557, 17.167957027257106},
     {33.768444211591934, 33.86180279732837, 33.772403451641665, 33.78619157708475}},
    {"g80x66_422_12",
     {16.693125241630582, 16.68166636296833, 16.654971387752965},
     {33.79108220834616, 33.856088481634764, 33.83518328484978}},
    {"g48x32_444_16",
     {17.07116295023711, 17.152119620190504, 16.973932454816133},
     {36.101238866038, 36.61320896756495, 36.76851806780124}},
};

TEST(FloatAnsnr, SyntheticClipsHaveTheFrozenScores) {
    for (const FrozenScores& frozen : kFrozenScores) {
        for (const test::SyntheticClip& clip : test::kSyntheticClips) {
            if (std::string(clip.name) != frozen.clip) continue;
            const test::SyntheticStream stream(clip);
            const test::Recorder recorder =
                test::score_stream(descriptor(), stream.geometry(), {}, stream.reference(), stream.distorted());
            EXPECT_EQ(recorder.values("float_ansnr"), frozen.ansnr) << frozen.clip;
            EXPECT_EQ(recorder.values("float_anpsnr"), frozen.anpsnr) << frozen.clip;
        }
    }
}

TEST(FloatAnsnrGolden, EveryClip) {
    golden::expect_golden_scores({.metric = descriptor(), .least = 490});
}

} // namespace
} // namespace qc::float_ansnr
