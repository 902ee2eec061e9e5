// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "plan/feature_name.hpp"

#include <gtest/gtest.h>

#include "fake_metrics.hpp"
#include "plan/option_parser.hpp"

namespace qc::test {
namespace {

/// Options of a metric from "name=value" pairs.
OptionValues with(const MetricDescriptor& metric, std::initializer_list<std::pair<const char*, const char*>> pairs) {
    OptionValues options(metric.options);
    for (const auto& [name, value] : pairs) {
        const Status status = set_option(metric, name, value, UnknownOption::kError, &options);
        EXPECT_TRUE(status.ok()) << status.text();
    }
    return options;
}

std::string stored(const MetricDescriptor& metric, size_t output, const OptionValues& options) {
    return stored_name(metric, metric.outputs[output], options);
}
std::string logged(const MetricDescriptor& metric, size_t output, const OptionValues& options) {
    return log_name(metric, metric.outputs[output], options);
}

TEST(FeatureName, DefaultsShowNoSuffix) {
    const OptionValues adm(kAdm.options);
    EXPECT_EQ(stored(kAdm, 0, adm), "VMAF_integer_feature_adm2_score");
    EXPECT_EQ(logged(kAdm, 0, adm), "integer_adm2");
    EXPECT_EQ(stored(kAdm, 3, adm), "integer_adm_scale0");
    EXPECT_EQ(logged(kAdm, 3, adm), "integer_adm_scale0");
    EXPECT_EQ(logged(kMotion, 0, OptionValues(kMotion.options)), "VMAF_integer_feature_motion_sad_score");
    // A value given explicitly but equal to the default is as if absent.
    EXPECT_EQ(logged(kAdm, 0, with(kAdm, {{"adm_enhn_gain_limit", "100.0"}})), "integer_adm2");
}

TEST(FeatureName, NegModels) {
    const OptionValues adm = with(kAdm, {{"adm_enhn_gain_limit", "1"}});
    EXPECT_EQ(stored(kAdm, 0, adm), "integer_adm2_egl_1");
    EXPECT_EQ(logged(kAdm, 0, adm), "integer_adm2_egl_1");
    EXPECT_EQ(logged(kVif, 3, with(kVif, {{"vif_enhn_gain_limit", "1.0"}})), "integer_vif_scale3_egl_1");
    EXPECT_EQ(logged(kVif, 0, with(kVif, {{"vif_enhn_gain_limit", "1.2"}})), "integer_vif_scale0_egl_1.2");
}

TEST(FeatureName, Version1Models) {
    const OptionValues adm = with(kAdm, {{"adm_dlm_weight", "0.7"},
                                         {"adm_enhn_gain_limit", "1.0"},
                                         {"adm_noise_weight", "0.02"},
                                         {"adm_min_val", "0.5"},
                                         {"adm_csf_mode", "2"},
                                         {"adm_norm_view_dist", "1.5"},
                                         {"adm_ref_display_height", "2160"}});
    EXPECT_EQ(logged(kAdm, 2, adm), "integer_adm3_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02_nvd_1.5_rdh_2160");
    EXPECT_EQ(logged(kMotion, 3, with(kMotion, {{"motion_max_val", "18"}})), "integer_motion3_mmxv_18");
    EXPECT_EQ(logged(kMotion, 3,
                     with(kMotion, {{"motion_moving_average", "true"},
                                    {"motion_max_val", "18.0"},
                                    {"motion_five_frame_window", "true"}})),
              "integer_motion3_mffw_mmxv_18_mma");
}

TEST(FeatureName, OrderIsThatOfFullNames) {
    EXPECT_EQ(option_suffix(with(kAdm, {{"adm_csf_scale", "2"}, {"adm_csf_diag_scale", "3"}, {"adm_csf_mode", "1"}})),
              "_scfd_3_csf_1_scf_2");
    EXPECT_EQ(logged(kAdm, 0, with(kAdm, {{"adm_skip_scale0", "true"}, {"adm_norm_view_dist", "4"}})),
              "integer_adm2_nvd_4_ssz");
    EXPECT_EQ(logged(kMotion, 2,
                     with(kMotion, {{"motion_moving_average", "true"},
                                    {"motion_fps_weight", "1.5"},
                                    {"motion_blend_factor", "0.5"},
                                    {"motion_blend_offset", "0.7"},
                                    {"motion_max_val", "1.1"},
                                    {"motion_five_frame_window", "true"}})),
              "integer_motion2_mbf_0.5_mbo_0.7_mffw_mfw_1.5_mmxv_1.1_mma");
}

TEST(FeatureName, SomeOptionsNeverShow) {
    EXPECT_EQ(logged(kAdm, 0, with(kAdm, {{"debug", "true"}, {"adm_skip_aim", "true"}})), "integer_adm2");
    EXPECT_EQ(logged(kPsnr, 0, with(kPsnr, {{"min_sse", "0.5"}, {"enable_mse", "true"}})), "psnr_y");
}

TEST(FeatureName, KeysAreLowerCase) {
    EXPECT_EQ(metadata_key("VMAF_integer_feature_motion_sad_score"), "vmaf_integer_feature_motion_sad_score");
}

} // namespace
} // namespace qc::test
