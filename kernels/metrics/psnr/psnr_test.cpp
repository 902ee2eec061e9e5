// SPDX-License-Identifier: BSD-2-Clause-Patent
// PSNR: frozen scores, caps and aggregates, every small size against a second implementation that does nothing clever,
// and the CUDA kernel's code run on the host for all mixtures of layouts.
#include "metrics/psnr/psnr.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "families/sse/sse.hpp"
#include "metrics/psnr/psnr_kernels.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/geometry.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/sample_picture.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::psnr {
namespace {

using test::geometry_of;

using test::OptionList;
using Layout = test::SurfaceLayout;
using Picture = test::SamplePicture;
using test::Recorder;
using test::Surface;

constexpr double kTolerance = 1e-9; // of the C library's logarithm, elsewhere than with glibc

void expect_scores(const std::vector<double>& actual, const std::vector<double>& expected, const std::string& what) {
    ASSERT_EQ(actual.size(), expected.size()) << what;
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], kTolerance) << what << " " << i;
}

// ---- frozen scores --------------------------------------------------------------------------------------------------

struct FrozenScores {
    const char* clip;
    std::vector<std::vector<double>> psnr; ///< by plane
    std::array<double, 3> apsnr;
};

/// libvmaf 3.2.0 on the clips of synthetic_clip.hpp.
const std::vector<FrozenScores> kFrozenScores = {
    {"g64x48_420_8",
     {{31.846548419843792, 31.884129373465484, 31.703640848466087, 31.674738993275074},
      {33.91823576459578, 33.74653390998672, 33.60882493270687, 33.470318289739836},
      {32.911016729039126, 33.1736261765659, 32.77759863195571, 32.707932097124896}},
     {31.77633922129477, 33.68281558350265, 32.88893071384906}},
    {"g175x99_420_8",
     {{31.69250696080601, 31.811355309605037, 31.737957233949775, 31.747452820114297},
      {31.292384929420336, 31.133062863208302, 31.209757196162332, 31.222257094894044},
      {30.891640869763815, 31.205991481355206, 31.004934474056753, 31.221073971544584}},
     {31.747111275637607, 31.213997531931447, 31.078692007866664}},
    {"g176x176_420_10",
     {{31.683953795914555, 31.775688309054736, 31.671589285735422, 31.71075926379753},
      {31.830565675701536, 31.739397371653467, 31.78167609989974, 31.71560241282546},
      {31.461948423542406, 31.666882453057184, 31.48048926709992, 31.586228072327547}},
     {31.710311932119517, 31.766590173278388, 31.548095613501932}},
    {"g80x66_422_12",
     {{31.671349857350005, 31.791699688856454, 31.699011333583513},
      {31.879028977961138, 31.78566037275043, 31.817437186822378},
      {31.545921728584428, 31.929061773023264, 31.644844241825755}},
     {31.72038266696701, 31.827202740797507, 31.7035929153056}},
    {"g48x32_444_16",
     {{32.89954351964424, 33.35490733995594, 33.13130217005042},
      {33.226003218693705, 32.97470009585251, 32.83942343969416},
      {31.768707350151168, 31.982040868352858, 31.584627810819494}},
     {33.124604790772324, 33.01043505482216, 31.775426600746002}},
};

TEST(Psnr, SyntheticClipsHaveTheFrozenScores) {
    for (const FrozenScores& frozen : kFrozenScores) {
        for (const test::SyntheticClip& clip : test::kSyntheticClips) {
            if (std::string(clip.name) != frozen.clip) continue;
            const test::SyntheticStream stream(clip);
            const Recorder recorder = test::score_stream(descriptor(), stream.geometry(), {{"enable_apsnr", 1}},
                                                         stream.reference(), stream.distorted());
            const char* const names[3] = {"y", "cb", "cr"};
            for (int plane = 0; plane < 3; ++plane) {
                const std::string name = names[plane];
                expect_scores(recorder.values("psnr_" + name), frozen.psnr[plane], frozen.clip);
                EXPECT_NEAR(recorder.aggregates.at("apsnr_" + name), frozen.apsnr[plane], kTolerance) << frozen.clip;
            }
        }
    }
}

// ---- from sums to scores --------------------------------------------------------------------------------------------

Recorder finalise(const FrameGeometry& geometry, const OptionList& options,
                  const std::vector<std::vector<uint64_t>>& sums) {
    return test::finalise_stream(descriptor(), geometry, options, sums);
}

TEST(PsnrScores, OneSquaredErrorPerSample) {
    const FrameGeometry geometry = geometry_of(100, 50, 8, 50, 25);
    const Recorder recorder = finalise(geometry, {{"enable_mse", 1}}, {{5000, 1250 * 4, 1250 * 9}});
    EXPECT_EQ(recorder.values("mse_y"), std::vector<double>{1});
    EXPECT_EQ(recorder.values("mse_cb"), std::vector<double>{4});
    EXPECT_EQ(recorder.values("mse_cr"), std::vector<double>{9});
    EXPECT_NEAR(recorder.values("psnr_y")[0], 48.130803608679074, kTolerance); // 20 log10(255)
    EXPECT_NEAR(recorder.values("psnr_cb")[0], 48.130803608679074 - 6.020599913279624, kTolerance);
}

TEST(PsnrScores, IdenticalPicturesReachTheCapOfTheirDepth) {
    for (const auto& [depth, cap] : std::vector<std::pair<int, double>>{{8, 60}, {10, 72}, {12, 84}, {16, 108}}) {
        const Recorder recorder = finalise(geometry_of(8, 8, depth, 4, 4), {}, {{0, 0, 1}});
        EXPECT_EQ(recorder.values("psnr_y")[0], cap);
        EXPECT_EQ(recorder.values("psnr_cb")[0], cap);
        EXPECT_LE(recorder.values("psnr_cr")[0], cap);
    }
}

/// The caps of the documentation's example: 480x270, 10 bits, min_sse 0.5.
TEST(PsnrScores, MinSseSetsOneCapPerPlaneSize) {
    const Recorder recorder = finalise(geometry_of(480, 270, 10, 240, 135), {{"min_sse", 0.5}}, {{0, 0, 0}});
    EXPECT_EQ(recorder.values("psnr_y")[0], 115);
    EXPECT_EQ(recorder.values("psnr_cb")[0], 109);
    EXPECT_EQ(recorder.values("psnr_cr")[0], 109);
}

TEST(PsnrScores, ReducedPeakIsThatOfEightBitsShifted) {
    const FrameGeometry geometry = geometry_of(10, 10, 10, 0, 0);
    const Recorder recorder = finalise(geometry, {{"reduced_hbd_peak", 1}}, {{1600, 0, 0}}); // 4^2 a sample
    EXPECT_NEAR(recorder.values("psnr_y")[0], 48.130803608679074, kTolerance);
}

TEST(PsnrScores, AggregateTakesAllFramesAsOnePicture) {
    const FrameGeometry geometry = geometry_of(10, 10, 8, 5, 5);
    const OptionList options{{"enable_apsnr", 1}};
    const Recorder recorder = finalise(geometry, options, {{0, 0, 0}, {200, 0, 50}});
    EXPECT_NEAR(recorder.aggregates.at("apsnr_y"), 48.130803608679074, kTolerance);
    EXPECT_NEAR(recorder.aggregates.at("apsnr_cr"), 48.130803608679074, kTolerance);
    // No error at all: half a unit of squared error in 2 frames of 25 samples, rounded up.
    EXPECT_EQ(recorder.aggregates.at("apsnr_cb"), std::ceil(10 * std::log10(65025.0 * 50 * 2)));
}

TEST(PsnrScores, AggregatesCoverMeasuredPlanesOnly) {
    const FrameGeometry with_chroma = geometry_of(10, 10, 8, 5, 5), grey = geometry_of(10, 10, 8, 0, 0);
    EXPECT_EQ(finalise(with_chroma, {}, {{1, 1, 1}}).aggregates.size(), 0u);
    EXPECT_EQ(finalise(with_chroma, {{"enable_apsnr", 1}}, {{1, 1, 1}}).aggregates.size(), 3u);
    EXPECT_EQ(finalise(grey, {{"enable_apsnr", 1}}, {{1, 0, 0}}).aggregates.at("apsnr_cb"),
              -std::numeric_limits<double>::infinity());
    EXPECT_EQ(finalise(with_chroma, {{"enable_apsnr", 1}, {"enable_chroma", 0}}, {{1, 0, 0}}).aggregates.at("apsnr_cr"),
              -std::numeric_limits<double>::infinity());
    EXPECT_EQ(finalise(with_chroma, {{"enable_apsnr", 1}}, {}).aggregates.size(), 0u);
}

TEST(Psnr, TakesEverySize) {
    const OptionValues options = test::options_of(descriptor(), {});
    const auto code = [&](int width, int height, int depth) {
        return validate(descriptor(), geometry_of(width, height, depth, 0, 0), options).code();
    };
    for (const int depth : {8, 10, 12, 16}) EXPECT_EQ(code(1, 1, depth), QC_OK);
    EXPECT_EQ(code(0, 4, 8), QC_ERROR_INVALID);
}

// ---- pictures and the slow twin -------------------------------------------------------------------------------------

enum class Content { kNoise, kExtremes, kBlack, kWhite };

Picture make_picture(const FrameGeometry& geometry, Content content, unsigned seed) {
    std::mt19937 random(seed);
    const unsigned top = (1u << geometry.depth) - 1;
    return Picture(geometry, [&](int, int, int) -> uint32_t {
        switch (content) {
        case Content::kNoise:
            return random() & top;
        case Content::kExtremes:
            return random() % 2 * top;
        case Content::kWhite:
            return top;
        case Content::kBlack:
            break;
        }
        return 0;
    });
}

using Sums = std::vector<uint64_t>;

Sums obvious_sums(const Picture& reference, const Picture& distorted) {
    Sums sums(3);
    const FrameGeometry& geometry = reference.geometry();
    for (int p = 0; p < geometry.plane_count(); ++p)
        for (int y = 0; y < geometry.plane_height(p); ++y)
            for (int x = 0; x < geometry.plane_width(p); ++x) {
                const int64_t error = int64_t{reference.at(p, x, y)} - distorted.at(p, x, y);
                sums[p] += static_cast<uint64_t>(error * error);
            }
    return sums;
}

constexpr Layout kTight{.name = "tight planar"};

Sums reference_sums(const Picture& reference, const Picture& distorted) {
    const Surface a(reference, kTight), b(distorted, {.name = "padded planar", .alignment = 16});
    const OptionValues options = test::options_of(descriptor(), {});
    Sums sums(3);
    create_scorer(descriptor(), reference.geometry(), options)->score(HostPair{a.host(), b.host()}, sums);
    return sums;
}

FrameGeometry small_geometry(int width, int height, int depth) {
    const int halved_x = width % 3 == 0 ? width : width / 2; // 4:4:4, 4:2:2, 4:2:0 and an odd one in turn
    const int halved_y = height % 3 == 0 ? height : height / 2;
    return geometry_of(width, height, depth, halved_x, halved_y);
}

TEST(Psnr, EverySmallSizeEqualsTheSlowTwin) {
    for (const int depth : {8, 10, 12, 16}) {
        for (int height = 1; height <= 40; ++height) {
            for (int width = 1; width <= 40; ++width) {
                const FrameGeometry geometry = small_geometry(width, height, depth);
                const auto seed = static_cast<unsigned>(width * 100 + height);
                const Picture reference = make_picture(geometry, Content::kNoise, seed);
                const Picture distorted = make_picture(geometry, Content::kExtremes, seed + 1);
                ASSERT_EQ(reference_sums(reference, distorted), obvious_sums(reference, distorted))
                    << width << "x" << height << " at " << depth << " bits";
            }
        }
    }
}

TEST(Psnr, FullSwingDoesNotOverflow) {
    for (const int depth : {8, 16}) {
        const FrameGeometry geometry = geometry_of(70001, 2, depth, 35000, 1);
        const Picture black = make_picture(geometry, Content::kBlack, 0),
                      white = make_picture(geometry, Content::kWhite, 0);
        const uint64_t peak = (1u << depth) - 1;
        const Sums expected{peak * peak * 140002, peak * peak * 35000, peak * peak * 35000};
        EXPECT_EQ(reference_sums(black, white), expected);
        EXPECT_EQ(reference_sums(white, black), expected);
        EXPECT_EQ(reference_sums(white, white), Sums(3));
    }
}

TEST(Psnr, EveryInstructionSetAddsTheSameSquares) {
    constexpr int kHeight = 3;
    for (const int width : {1, 31, 32, 63, 64, 65, 127, 129, 200, 1920, 600'001}) {
        const size_t size = static_cast<size_t>(width) * kHeight;
        std::vector<uint8_t> a(size), b(size);
        uint64_t expected = 0;
        for (size_t i = 0; i < size; ++i) {
            // Many full swings: where a sum of 32 bits could overflow, it does.
            const uint32_t hash = test::synthetic_hash(static_cast<int>(i), 0, 7, 0, 0);
            a[i] = hash % 64 == 0 ? static_cast<uint8_t>(hash >> 8) : 255;
            b[i] = hash % 64 == 1 ? static_cast<uint8_t>(hash >> 16) : 0;
            expected += sse::squared_error(a[i], b[i]);
        }
        const HostPlane plane_a{a.data(), {width}, width, kHeight}, plane_b{b.data(), {width}, width, kHeight};
        for (const device::WordLanes lanes : device::all_word_lanes()) {
            EXPECT_EQ(sse::sum_of_squared_errors(plane_a, plane_b, width, kHeight, SampleType::kU8, lanes), expected)
                << width << " lanes " << static_cast<int>(lanes);
            EXPECT_EQ(sse::sum_of_squared_errors(plane_b, plane_a, width, kHeight, SampleType::kU8, lanes), expected);
        }
    }
}

TEST(Psnr, LumaAloneLeavesChromaUnread) {
    const FrameGeometry geometry = geometry_of(16, 16, 8, 8, 8);
    const Picture a = make_picture(geometry, Content::kNoise, 1), b = make_picture(geometry, Content::kNoise, 2);
    const Surface surface_a(a, kTight), surface_b(b, kTight);
    HostPair pair{surface_a.host(), surface_b.host()};
    for (int p : {1, 2}) pair.reference.plane[p].data = pair.distorted.plane[p].data = nullptr;
    const OptionValues options = test::options_of(descriptor(), {{"enable_chroma", 0}});
    Sums sums(3);
    create_scorer(descriptor(), geometry, options)->score(pair, sums);
    EXPECT_EQ(sums, (Sums{obvious_sums(a, b)[0], 0, 0}));
}

// ---- the kernel's code on the host ----------------------------------------------------------------------------------

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_PSNR_KERNELS);

Sums emulate(const Surface& reference, const Surface& distorted, const FrameGeometry& geometry) {
    const auto scorer = create_scorer(descriptor(), geometry, OptionValues(descriptor().options));
    test::EmulatedProgram program(kKernels, 0);
    EXPECT_TRUE(scorer->prepare(program).ok());
    std::vector<DevicePair> pairs(1);
    pairs[0].reference = reference.device();
    pairs[0].distorted = distorted.device();
    test::EmulatedQueue queue(geometry.width % 2 != 0);
    Sums sums = test::emulate_batch(*scorer, pairs, queue);
    sums.resize(3); // those of chroma are zero where there is none
    return sums;
}

/// All that the engine can hand over: aligned for wide loads, aligned for narrower ones, not aligned at all.
const std::vector<Layout> kLayouts = {
    {.name = "planar", .alignment = 256},
    {.name = "planar, pitch of 8", .alignment = 8},
    {.name = "planar, off by one sample", .offset = 1, .alignment = 16},
    kTight,
    {.name = "semi-planar", .semi_planar = true, .alignment = 256},
    {.name = "semi-planar, pitch of 8", .semi_planar = true, .alignment = 8},
    {.name = "semi-planar, off by one pair", .semi_planar = true, .offset = 2, .alignment = 16},
    {.name = "high bits, planar", .shift = 6, .alignment = 16},
    {.name = "high bits, semi-planar", .semi_planar = true, .shift = 6, .alignment = 16},
    {.name = "high bits, semi-planar, tight", .semi_planar = true, .shift = 6},
};

TEST(PsnrKernel, EveryMixtureOfLayoutsEqualsTheReference) {
    for (const int depth : {8, 10, 12, 16}) {
        const FrameGeometry geometry = geometry_of(531, 69, depth, 265, 34);
        const Picture reference = make_picture(geometry, Content::kNoise, 1);
        const Picture distorted = make_picture(geometry, Content::kExtremes, 2);
        const Sums expected = obvious_sums(reference, distorted);
        for (const Layout& a : kLayouts) {
            for (const Layout& b : kLayouts) {
                if (depth + std::max(a.shift, b.shift) > 16 || (depth == 8 && a.shift + b.shift > 0)) continue;
                const Surface surface_a(reference, a), surface_b(distorted, b);
                EXPECT_EQ(emulate(surface_a, surface_b, geometry), expected)
                    << depth << " bits, " << a.name << " against " << b.name;
            }
        }
    }
}

TEST(PsnrKernel, EverySmallSizeEqualsTheReference) {
    for (const int depth : {8, 10, 16}) {
        for (int height = 1; height <= 40; ++height) {
            for (int width = 1; width <= 40; ++width) {
                const FrameGeometry geometry = small_geometry(width, height, depth);
                const auto seed = static_cast<unsigned>(width * 100 + height);
                const Picture reference = make_picture(geometry, Content::kNoise, seed);
                const Picture distorted = make_picture(geometry, Content::kExtremes, seed + 1);
                const Surface a(reference, kLayouts[width % 2 == 0 ? 0 : 4]),
                    b(distorted, kLayouts[height % 2 == 0 ? 0 : 4]);
                ASSERT_EQ(emulate(a, b, geometry), reference_sums(reference, distorted))
                    << width << "x" << height << " at " << depth << " bits";
            }
        }
    }
}

TEST(PsnrKernel, FullSwingFitsAThreadsSum) {
    for (const int depth : {8, 12, 16}) {
        const FrameGeometry geometry = geometry_of(512, 32, depth, 512, 32);
        const Picture black = make_picture(geometry, Content::kBlack, 0),
                      white = make_picture(geometry, Content::kWhite, 0);
        const Surface a(black, kLayouts[0]), b(white, kLayouts[4]);
        const uint64_t peak = (1u << depth) - 1;
        EXPECT_EQ(emulate(a, b, geometry), Sums(3, peak * peak * 512 * 32));
    }
}

} // namespace
} // namespace qc::psnr
