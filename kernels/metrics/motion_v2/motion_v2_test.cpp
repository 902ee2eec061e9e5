// SPDX-License-Identifier: BSD-2-Clause-Patent
// motion_v2: frozen scores, agreement with motion under every option that both have, refusals.
#include "metrics/motion_v2/motion_v2.hpp"

#include <gtest/gtest.h>

#include "plan/metric_registry.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::motion_v2 {
namespace {

using test::OptionList;
using test::Recorder;

constexpr const char* kSad = "VMAF_integer_feature_motion_v2_sad_score";
constexpr const char* kMotion2Name = "VMAF_integer_feature_motion2_v2_score";
constexpr const char* kMotion3Name = "VMAF_integer_feature_motion3_v2_score";

/// The metric to agree with.
const MetricDescriptor& motion_metric() {
    return *find_metric("motion");
}

Recorder score(const MetricDescriptor& metric, const test::SyntheticStream& stream, const OptionList& options) {
    return test::score_stream(metric, stream.geometry(), options, stream.reference(), {});
}

/// The first clip's scores: libvmaf 3.2.0's of its motion, whose arithmetic this is.
TEST(MotionV2, HasTheFrozenScores) {
    const test::SyntheticClip& clip = test::kSyntheticClips[0];
    const Recorder recorder = score(descriptor(), test::SyntheticStream(clip), {});
    EXPECT_EQ(recorder.values(kSad), (std::vector{0.0, 3.2199668884277344, 3.1192118326822915, 2.903477986653646}));
    EXPECT_EQ(recorder.values(kMotion2Name),
              (std::vector{0.0, 3.1192118326822915, 2.903477986653646, 2.903477986653646}));
    EXPECT_EQ(recorder.values(kMotion3Name),
              (std::vector{3.2199668884277344, 3.1192118326822915, 2.903477986653646, 2.903477986653646}));
}

TEST(MotionV2, EqualsMotionWithEveryOption) {
    const OptionList option_sets[] = {{},
                                      {{"motion_force_zero", 1}},
                                      {{"motion_moving_average", 1}},
                                      {{"motion_fps_weight", 0.5}},
                                      {{"motion_max_val", 3}},
                                      {{"motion_blend_factor", 0.5}, {"motion_blend_offset", 2}}};
    for (const test::SyntheticClip& clip : test::kSyntheticClips) {
        const test::SyntheticStream stream(clip);
        std::vector<std::vector<double>> seen;
        for (const OptionList& options : option_sets) {
            const Recorder ours = score(descriptor(), stream, options);
            const Recorder theirs = score(motion_metric(), stream, options);
            EXPECT_EQ(ours.values(kSad), theirs.values("VMAF_integer_feature_motion_sad_score")) << clip.name;
            EXPECT_EQ(ours.values(kMotion2Name), theirs.values("integer_motion2")) << clip.name;
            EXPECT_EQ(ours.values(kMotion3Name), theirs.values("integer_motion3")) << clip.name;
            // Each option does something.
            EXPECT_EQ(std::count(seen.begin(), seen.end(), ours.values(kMotion3Name)), 0) << clip.name;
            seen.push_back(ours.values(kMotion3Name));
        }
    }
}

TEST(MotionV2, SharesItsSumsWithMotion) {
    const FrameGeometry geometry = test::synthetic_geometry(test::kSyntheticClips[0]);
    const auto stage = [&](const MetricDescriptor& metric, const OptionList& options) {
        return metric.stage(geometry, test::options_of(metric, options));
    };
    const std::string own = stage(descriptor(), {});
    EXPECT_EQ(own, stage(motion_metric(), {}));
    EXPECT_EQ(own, stage(motion_metric(), {{"motion_moving_average", 1}}));
    EXPECT_NE(own, stage(motion_metric(), {{"motion_five_frame_window", 1}}));
    EXPECT_NE(own, stage(descriptor(), {{"motion_force_zero", 1}}));
    const MetricDescriptor &v2 = descriptor(), &v1 = motion_metric();
    EXPECT_TRUE(v2.scope == v1.scope && v2.history == v1.history && v2.every_frame == v1.every_frame &&
                v2.needs_chroma == v1.needs_chroma && v2.distorted_history == v1.distorted_history);
}

TEST(MotionV2, RefusesWhatTheForkRefuses) {
    FrameGeometry geometry;
    geometry.width = geometry.height = 3;
    const OptionValues none = test::options_of(descriptor(), {});
    EXPECT_TRUE(validate(descriptor(), geometry, none).ok());
    const OptionValues five = test::options_of(descriptor(), {{"motion_five_frame_window", 1}});
    EXPECT_NE(validate(descriptor(), geometry, five).text().find("motion_five_frame_window=true"), std::string::npos);
    geometry.width = 2;
    EXPECT_EQ(validate(descriptor(), geometry, none).text(), "motion_v2 needs pictures of at least 3x3, these are 2x3");
}

} // namespace
} // namespace qc::motion_v2
