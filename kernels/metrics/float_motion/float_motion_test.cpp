// SPDX-License-Identifier: BSD-2-Clause-Patent
// float_motion on the CPU: frozen scores, a second implementation that does nothing clever, the rules over time, limits
// and refusals.
#include "metrics/float_motion/float_motion.hpp"

#include <bit>
#include <cmath>

#include "tests/support/metric_runner.hpp"
#include "tests/support/sample_picture.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::float_motion {
namespace {

using test::OptionList;
using Picture = test::SamplePicture;
using test::Recorder;

// ---- frozen scores --------------------------------------------------------------------------------------------------

struct FrozenScores {
    const char* clip;
    std::vector<double> motion, motion2, motion3;
};

/// libvmaf 3.2.0 on the clips of synthetic_clip.hpp.
const std::vector<FrozenScores> kFrozenScores = {
    {"g64x48_420_8",
     {0.0, 3.2199299335479736, 3.1191396713256836, 2.903477430343628},
     {0.0, 3.1191396713256836, 2.903477430343628, 2.903477430343628},
     {3.2199299335479736, 3.1191396713256836, 2.903477430343628, 2.903477430343628}},
    {"g175x99_420_8",
     {0.0, 3.0517892837524414, 3.014373540878296, 2.995901346206665},
     {0.0, 3.014373540878296, 2.995901346206665, 2.995901346206665},
     {3.0517892837524414, 3.014373540878296, 2.995901346206665, 2.995901346206665}},
    {"g176x176_420_10",
     {0.0, 3.01141357421875, 3.0408763885498047, 3.008526086807251},
     {0.0, 3.01141357421875, 3.008526086807251, 3.008526086807251},
     {3.01141357421875, 3.01141357421875, 3.008526086807251, 3.008526086807251}},
    {"g80x66_422_12",
     {0.0, 3.0048294067382812, 3.1261463165283203},
     {0.0, 3.0048294067382812, 3.1261463165283203},
     {3.0048294067382812, 3.0048294067382812, 3.1261463165283203}},
    {"g48x32_444_16",
     {0.0, 3.4141666889190674, 2.9820916652679443},
     {0.0, 2.9820916652679443, 2.9820916652679443},
     {3.4141666889190674, 2.9820916652679443, 2.9820916652679443}},
};

Recorder score_clip(const test::SyntheticClip& clip, const OptionList& options) {
    const test::SyntheticStream stream(clip);
    return test::score_stream(descriptor(), stream.geometry(), options, stream.reference(), {});
}

TEST(FloatMotion, SyntheticClipsHaveTheFrozenScores) {
    for (const FrozenScores& frozen : kFrozenScores)
        for (const test::SyntheticClip& clip : test::kSyntheticClips) {
            if (std::string_view(clip.name) != frozen.clip) continue;
            const Recorder recorder = score_clip(clip, {});
            EXPECT_EQ(recorder.values("motion"), frozen.motion) << clip.name;
            EXPECT_EQ(recorder.values("motion2"), frozen.motion2) << clip.name;
            EXPECT_EQ(recorder.values("motion3"), frozen.motion3) << clip.name;
        }
}

// ---- a second implementation ----------------------------------------------------------------------------------------

using Rows = std::vector<std::vector<float>>;

int reflected(int i, int n) {
    while (i < 0 || i >= n) i = i < 0 ? -i : 2 * n - 2 - i;
    return i;
}

Rows obvious_blur(const Rows& rows, const std::vector<float>& taps) {
    const int height = static_cast<int>(rows.size()), width = static_cast<int>(rows[0].size());
    const int reach = static_cast<int>(taps.size()) / 2;
    Rows vertical = rows, both = rows;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            float sum = 0.0f;
            for (int k = -reach; k <= reach; ++k) sum += taps[k + reach] * rows[reflected(y + k, height)][x];
            vertical[y][x] = sum;
        }
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            float sum = 0.0f;
            for (int k = -reach; k <= reach; ++k) sum += taps[k + reach] * vertical[y][reflected(x + k, width)];
            both[y][x] = sum;
        }
    return both;
}

/// 8-bit noise, or one value.
Picture noise(int width, int height, uint32_t seed) {
    return Picture(test::luma_geometry(width, height, 8),
                   [&](int, int x, int y) { return test::synthetic_hash(x, y, seed, 0, 3) & 255; });
}
Picture flat(int value) {
    return Picture(test::luma_geometry(16, 16, 8), [&](int, int, int) { return value; });
}

/// Samples as the twin sees them.
Rows rows_of(const Picture& picture) {
    Rows rows(static_cast<size_t>(picture.geometry().height),
              std::vector<float>(static_cast<size_t>(picture.geometry().width)));
    for (int y = 0; y < picture.geometry().height; ++y)
        for (int x = 0; x < picture.geometry().width; ++x)
            rows[y][x] = static_cast<float>(picture.at(0, x, y)) - 128.0f;
    return rows;
}

std::vector<double> scores_of(const std::vector<Picture>& planes, const OptionList& options, const char* name) {
    std::vector<HostPicture> pictures;
    pictures.reserve(planes.size());
    for (const Picture& plane : planes) pictures.push_back(plane.view());
    return test::score_stream(descriptor(), planes[0].geometry(), options, pictures, {}).values(name);
}

TEST(FloatMotion, EverySmallSizeEqualsTheSlowTwin) {
    const std::vector<float> taps[] = {{1.0f},
                                       {0.166378498f, 0.667243004f, 0.166378498f},
                                       {0.054488685f, 0.244201342f, 0.402619947f, 0.244201342f, 0.054488685f}};
    for (int height = 3; height <= 20; ++height)
        for (int width = 3; width <= 20; ++width)
            for (const int size : {1, 3, 5}) {
                const std::vector<Picture> planes = {noise(width, height, 1), noise(width, height, 2)};
                const Rows before = obvious_blur(rows_of(planes[0]), taps[size / 2]);
                const Rows after = obvious_blur(rows_of(planes[1]), taps[size / 2]);
                float sum = 0.0f;
                for (int y = 0; y < height; ++y) {
                    float row_sum = 0.0f;
                    for (int x = 0; x < width; ++x) row_sum += std::abs(before[y][x] - after[y][x]);
                    sum += row_sum;
                }
                const std::vector<double> scores =
                    scores_of(planes, {{"motion_filter_size", static_cast<double>(size)}}, "motion");
                ASSERT_EQ(scores[1], static_cast<double>(sum / static_cast<float>(width * height)))
                    << width << "x" << height << ", " << size << " taps";
            }
}

// ---- options --------------------------------------------------------------------------------------------------------

/// Flat pictures: the score of a frame is the step to it.
std::vector<Picture> flat_planes(const std::vector<int>& values) {
    std::vector<Picture> planes;
    planes.reserve(values.size());
    for (const int value : values) planes.push_back(flat(value));
    return planes;
}

/// Blurred samples of up to 128 are known to 1.5e-5, and several planes add up.
void expect_near(const std::vector<double>& actual, const std::vector<double>& expected, const char* what) {
    ASSERT_EQ(actual.size(), expected.size()) << what;
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-4) << what << " frame " << i;
}

TEST(FloatMotion, RulesOverTime) {
    const std::vector<Picture> planes = flat_planes({100, 110, 115, 75, 77});
    expect_near(scores_of(planes, {}, "motion"), {0, 10, 5, 40, 2}, "motion");
    expect_near(scores_of(planes, {}, "motion2"), {0, 5, 5, 2, 2}, "motion2");
    expect_near(scores_of(planes, {}, "motion3"), {10, 5, 5, 2, 2}, "motion3");
    expect_near(scores_of(flat_planes({9}), {}, "motion3"), {0}, "one frame");
    expect_near(scores_of(flat_planes({9, 12}), {}, "motion2"), {0, 3}, "two frames");
}

TEST(FloatMotion, OptionsActOnTheScores) {
    const std::vector<Picture> planes = flat_planes({100, 110, 115, 75, 77});
    expect_near(scores_of(planes, {{"motion_fps_weight", 0.5}}, "motion2"), {0, 2.5, 2.5, 1, 1}, "weight");
    expect_near(scores_of(planes, {{"motion_max_val", 4}}, "motion"), {0, 4, 4, 4, 2}, "limit");
    const OptionList blend = {{"motion_blend_factor", 0.5}, {"motion_blend_offset", 4}};
    expect_near(scores_of(planes, blend, "motion3"), {7, 4.5, 4.5, 2, 2}, "blend");
    expect_near(scores_of(planes, blend, "motion2"), {0, 5, 5, 2, 2}, "blend leaves motion2 alone");
    expect_near(scores_of(planes, {{"motion_add_scale1", 1}}, "motion"), {0, 20, 10, 80, 4}, "half size");
    expect_near(scores_of(planes, {{"motion_force_zero", 1}}, "motion3"), {0, 0, 0, 0, 0}, "zero");
    EXPECT_TRUE(scores_of(planes, {{"debug", 0}}, "motion").empty());
    EXPECT_EQ(scores_of(planes, {{"motion_filter_size", 7}}, "motion"), scores_of(planes, {}, "motion"));
}

/// Chroma counts as much as luma, at half size too.
TEST(FloatMotion, ChromaIsAdded) {
    const std::vector<Picture> luma = flat_planes({100, 110}), cb = flat_planes({50, 53}), cr = flat_planes({9, 8});
    std::vector<HostPicture> pictures(2);
    for (size_t i = 0; i < 2; ++i) {
        pictures[i] = luma[i].view();
        pictures[i].plane[1] = cb[i].view().plane[0];
        pictures[i].plane[2] = cr[i].view().plane[0];
    }
    FrameGeometry geometry = test::luma_geometry(16, 16, 8);
    geometry.chroma_width = geometry.chroma_height = 16;
    const auto motion = [&](const OptionList& options) {
        return test::score_stream(descriptor(), geometry, options, pictures, {}).values("motion");
    };
    expect_near(motion({{"motion_add_uv", 1}}), {0, 14}, "chroma");
    expect_near(motion({{"motion_add_uv", 1}, {"motion_add_scale1", 1}}), {0, 28}, "chroma at both sizes");
}

// ---- refusals -------------------------------------------------------------------------------------------------------

TEST(FloatMotion, RefusesWhatItDoesNotDefine) {
    const auto validated = [](FrameGeometry geometry, const OptionList& options) {
        return validate(descriptor(), geometry, test::options_of(descriptor(), options));
    };
    EXPECT_TRUE(validated(test::luma_geometry(3, 3, 8), {}).ok());
    EXPECT_EQ(validated(test::luma_geometry(2, 9, 8), {}).text(),
              "float_motion needs pictures of at least 3x3, these are 2x9");
    EXPECT_NE(validated(test::luma_geometry(64, 64, 8), {{"motion_add_uv", 1}}).text().find("motion_add_uv=true"),
              std::string::npos);
    FrameGeometry geometry = test::luma_geometry(6, 4, 8);
    geometry.chroma_width = 3;
    geometry.chroma_height = 2;
    EXPECT_TRUE(validated(geometry, {}).ok());
    EXPECT_EQ(validated(geometry, {{"motion_add_uv", 1}}).text(),
              "float_motion needs pictures of at least 6x6, these are 6x4");
    geometry.height = 6;
    geometry.chroma_height = 3;
    EXPECT_TRUE(validated(geometry, {{"motion_add_uv", 1}}).ok());
    EXPECT_TRUE(validated(test::luma_geometry(15360, 64, 8), {{"motion_add_scale1", 1}}).ok());
    EXPECT_FALSE(validated(test::luma_geometry(15361, 64, 8), {{"motion_add_scale1", 1}}).ok());
}

} // namespace
} // namespace qc::float_motion
