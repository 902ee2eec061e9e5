// SPDX-License-Identifier: BSD-2-Clause-Patent
// float_vif against libvmaf's scores of real and made-up clips. They are not part of this repository: the test skips
// itself where they are missing (tests/golden_clip.hpp says where it looks).
#include "metrics/float_vif/float_vif.hpp"
#include "tests/golden/golden_runs.hpp"

namespace qc::float_vif {
namespace {

constexpr double kBilinear = 1, kBicubic = 2, kLanczos4 = 3;

const std::vector<test::GoldenRun> kRuns = {
    {"default", {}, ""},
    {"models_float", {{"vif_enhn_gain_limit", 1}}, "_egl_1"},
    {"debug", {{"debug", 1}}, ""},
    {"options_vif", {{"vif_enhn_gain_limit", 1}}, "_egl_1"},
    {"options_vif", {{"vif_kernelscale", 1.5}}, "_ks_1.5"},
    {"options_vif", {{"vif_prescale", 0.5}}, "_ps_0.5"},
    {"options_vif", {{"vif_prescale", 0.5}, {"vif_prescale_method", kBilinear}}, "_ps_0.5_pm_bilinear"},
    {"options_vif", {{"vif_prescale", 0.5}, {"vif_prescale_method", kBicubic}}, "_ps_0.5_pm_bicubic"},
    {"options_vif", {{"vif_prescale", 0.5}, {"vif_prescale_method", kLanczos4}}, "_ps_0.5_pm_lanczos4"},
    {"options_vif",
     {{"vif_scale1_min_val", 0.9}, {"vif_scale2_min_val", 0.9}, {"vif_scale3_min_val", 0.9}},
     "_s1miv_0.9_s2miv_0.9_s3miv_0.9"},
    {"options_vif", {{"vif_sigma_nsq", 1.2}}, "_snsq_1.2"},
    {"options_vif", {{"vif_skip_scale0", 1}}, "_ssclz"},
};

TEST(FloatVifGolden, EveryClipAndOptionEqualsLibvmaf) {
    test::compare_golden_runs(descriptor(), kRuns);
}

} // namespace
} // namespace qc::float_vif
