// SPDX-License-Identifier: BSD-2-Clause-Patent
// float_motion against libvmaf's scores of real and made-up clips. They are not part of this repository: the test skips
// itself where they are missing (tests/golden_clip.hpp says where it looks).
#include "metrics/float_motion/float_motion.hpp"
#include "tests/golden/golden_runs.hpp"

namespace qc::float_motion {
namespace {

const std::vector<test::GoldenRun> kRuns = {
    {"default", {}, ""},
    {"models_float", {}, ""},
    {"float_motion_no_debug", {{"debug", 0}}, ""},
    {"subsample3", {}, ""}, // float_motion scores every frame
    {"options_motion", {{"motion_add_scale1", 1}}, "_mdc"},
    {"options_motion", {{"motion_add_uv", 1}}, "_mau"},
    {"options_motion", {{"motion_blend_factor", 0.5}, {"motion_blend_offset", 2}}, "_mbf_0.5_mbo_2"},
    {"options_motion", {{"motion_filter_size", 1}}, "_mfs_1"},
    {"options_motion", {{"motion_filter_size", 3}}, "_mfs_3"},
    {"options_motion", {{"motion_force_zero", 1}}, "_force_0"},
    {"options_motion", {{"motion_fps_weight", 0.5}}, "_mfw_0.5"},
    {"options_motion", {{"motion_max_val", 3}}, "_mmxv_3"},
};

TEST(FloatMotionGolden, EveryClipAndOptionEqualsLibvmaf) {
    test::compare_golden_runs(descriptor(), kRuns);
}

} // namespace
} // namespace qc::float_motion
