// SPDX-License-Identifier: BSD-2-Clause-Patent
// ANSNR: arithmetic, frozen and golden scores.
#include "metrics/float_ansnr/float_ansnr.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "metrics/float_ansnr/float_ansnr_math.hpp"
#include "tests/golden/golden_scores.hpp"
#include "tests/support/geometry.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::float_ansnr {
namespace {

TEST(FloatAnsnr, MirrorRepeatsTheLastSampleOnly) {
    EXPECT_EQ(mirror_with_last_edge_inside(-2, 3), 2);
    EXPECT_EQ(mirror_with_last_edge_inside(-1, 3), 1);
    EXPECT_EQ(mirror_with_last_edge_inside(3, 3), 2);
    EXPECT_EQ(mirror_with_last_edge_inside(4, 3), 1);
    EXPECT_EQ(mirror_with_last_edge_inside(12, 3), 0); // nobody uses it, but it is read
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

TEST(FloatAnsnr, ValidatesSize) {
    const OptionValues options(descriptor().options);
    const auto code = [&](int width, int height, int depth) {
        return validate(descriptor(), test::luma_geometry(width, height, depth), options).code();
    };
    for (const int depth : {8, 10, 12, 16}) EXPECT_EQ(code(3, 3, depth), QC_OK) << depth;
    EXPECT_EQ(code(2, 3, 8), QC_ERROR_INVALID);
    EXPECT_EQ(code(3, 2, 8), QC_ERROR_INVALID);
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
