// SPDX-License-Identifier: BSD-2-Clause-Patent
// Descriptors with the names, options and outputs of real metrics and no pixels behind them.
#pragma once

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "contract/metric.hpp"

namespace qc::test {

inline constexpr double kMany = 1e9;

inline constexpr OptionSpec flag_option(std::string_view name, std::string_view alias, bool value = false) {
    return {name, alias, OptionType::kBool, value ? 1.0 : 0.0, 0.0, 1.0, ""};
}
inline constexpr OptionSpec int_option(std::string_view name, std::string_view alias, int value, int low, int high) {
    return {name, alias, OptionType::kInt, double(value), double(low), double(high), ""};
}
inline constexpr OptionSpec number_option(std::string_view name, std::string_view alias, double value, double low,
                                          double high) {
    return {name, alias, OptionType::kDouble, value, low, high, ""};
}

inline Status refuse_tiny(const FrameGeometry& geometry, const OptionValues&) {
    return geometry.width < 33 || geometry.height < 33 ? invalid("adm needs pictures of at least 33x33") : Status();
}

inline constexpr OptionSpec kAdmOptions[] = {
    flag_option("debug", ""),
    int_option("adm_csf_mode", "csf", 0, 0, 3),
    number_option("adm_csf_scale", "scf", 1.0, 0.0, 50.0),
    number_option("adm_csf_diag_scale", "scfd", 1.0, 0.0, 50.0),
    number_option("adm_dlm_weight", "dlmw", 0.5, 0.0, 1.0),
    number_option("adm_enhn_gain_limit", "egl", 100.0, 1.0, 100.0),
    number_option("adm_norm_view_dist", "nvd", 3.0, 0.75, 24.0),
    int_option("adm_ref_display_height", "rdh", 1080, 1, 4320),
    number_option("adm_noise_weight", "nw", 0.03125, 0.0, 1500.0),
    flag_option("adm_skip_aim", ""),
    flag_option("adm_skip_scale0", "ssz"),
    number_option("adm_min_val", "min", 0.0, 0.0, 1.0),
};
inline bool adm_debug(const OptionValues& options, const FrameGeometry&) {
    return options.flag(0);
}
inline constexpr OutputSpec kAdmOutputs[] = {
    {"VMAF_integer_feature_adm2_score", "integer_adm2"}, {"VMAF_integer_feature_aim_score", "integer_aim"},
    {"VMAF_integer_feature_adm3_score", "integer_adm3"}, {"integer_adm_scale0", "integer_adm_scale0"},
    {"integer_adm_scale1", "integer_adm_scale1"},        {"integer_adm_scale2", "integer_adm_scale2"},
    {"integer_adm_scale3", "integer_adm_scale3"},        {"integer_adm", "integer_adm", adm_debug},
};
inline constexpr MetricDescriptor kAdm = {.name = "adm",
                                          .summary = "detail loss",
                                          .templated_names = true,
                                          .options = kAdmOptions,
                                          .outputs = kAdmOutputs,
                                          .validate = refuse_tiny};

inline constexpr OptionSpec kVifOptions[] = {
    flag_option("debug", ""),
    number_option("vif_enhn_gain_limit", "egl", 100.0, 1.0, 100.0),
    flag_option("vif_skip_scale0", "ssclz"),
};
inline constexpr OutputSpec kVifOutputs[] = {
    {"VMAF_integer_feature_vif_scale0_score", "integer_vif_scale0"},
    {"VMAF_integer_feature_vif_scale1_score", "integer_vif_scale1"},
    {"VMAF_integer_feature_vif_scale2_score", "integer_vif_scale2"},
    {"VMAF_integer_feature_vif_scale3_score", "integer_vif_scale3"},
};
inline constexpr MetricDescriptor kVif = {.name = "vif",
                                          .summary = "visual information fidelity",
                                          .templated_names = true,
                                          .options = kVifOptions,
                                          .outputs = kVifOutputs};

inline constexpr OptionSpec kMotionOptions[] = {
    flag_option("motion_force_zero", "force_0"),
    number_option("motion_blend_factor", "mbf", 1.0, 0.0, 1.0),
    number_option("motion_blend_offset", "mbo", 40.0, 0.0, 1000.0),
    number_option("motion_fps_weight", "mfw", 1.0, 0.0, 5.0),
    number_option("motion_max_val", "mmxv", 10000.0, 0.0, 10000.0),
    flag_option("motion_five_frame_window", "mffw"),
    flag_option("motion_moving_average", "mma"),
    flag_option("debug", ""),
};
inline bool motion_debug(const OptionValues& options, const FrameGeometry&) {
    return options.flag(7);
}
inline constexpr OutputSpec kMotionOutputs[] = {
    {"VMAF_integer_feature_motion_sad_score", "VMAF_integer_feature_motion_sad_score"},
    {"VMAF_integer_feature_motion_score", "integer_motion", motion_debug},
    {"VMAF_integer_feature_motion2_score", "integer_motion2"},
    {"VMAF_integer_feature_motion3_score", "integer_motion3"},
};
inline constexpr MetricDescriptor kMotion = {.name = "motion",
                                             .summary = "motion of the reference",
                                             .scope = Scope::kReference,
                                             .history = 2,
                                             .every_frame = true,
                                             .templated_names = true,
                                             .options = kMotionOptions,
                                             .outputs = kMotionOutputs};

inline constexpr OptionSpec kPsnrOptions[] = {
    flag_option("enable_chroma", "", true),
    flag_option("enable_mse", ""),
    flag_option("enable_apsnr", ""),
    number_option("min_sse", "", 0.0, 0.0, kMany),
};
inline bool psnr_chroma(const OptionValues& options, const FrameGeometry& geometry) {
    return options.flag(0) && geometry.plane_count() == 3;
}
inline bool psnr_mse(const OptionValues& options, const FrameGeometry&) {
    return options.flag(1);
}
inline constexpr OutputSpec kPsnrOutputs[] = {
    {"psnr_y", "psnr_y"},
    {"mse_y", "mse_y", psnr_mse},
    {"psnr_cb", "psnr_cb", psnr_chroma},
    {"psnr_cr", "psnr_cr", psnr_chroma},
};
inline constexpr MetricDescriptor kPsnr = {.name = "psnr",
                                           .summary = "peak signal-to-noise ratio",
                                           .every_frame = true,
                                           .needs_chroma = true,
                                           .options = kPsnrOptions,
                                           .outputs = kPsnrOutputs};

// The float family: enough of it for the models that use it.
inline constexpr OptionSpec kFloatAdmOptions[] = {number_option("adm_enhn_gain_limit", "egl", 100.0, 1.0, 100.0)};
inline constexpr OutputSpec kFloatAdmOutputs[] = {{"VMAF_feature_adm2_score", "adm2"}};
inline constexpr MetricDescriptor kFloatAdm = {.name = "float_adm",
                                               .summary = "",
                                               .templated_names = true,
                                               .options = kFloatAdmOptions,
                                               .outputs = kFloatAdmOutputs};
inline constexpr OptionSpec kFloatVifOptions[] = {number_option("vif_enhn_gain_limit", "egl", 100.0, 1.0, 100.0)};
inline constexpr OutputSpec kFloatVifOutputs[] = {
    {"VMAF_feature_vif_scale0_score", "vif_scale0"},
    {"VMAF_feature_vif_scale1_score", "vif_scale1"},
    {"VMAF_feature_vif_scale2_score", "vif_scale2"},
    {"VMAF_feature_vif_scale3_score", "vif_scale3"},
};
inline constexpr MetricDescriptor kFloatVif = {.name = "float_vif",
                                               .summary = "",
                                               .templated_names = true,
                                               .options = kFloatVifOptions,
                                               .outputs = kFloatVifOutputs};
inline constexpr OutputSpec kFloatMotionOutputs[] = {{"VMAF_feature_motion2_score", "motion2"}};
inline constexpr MetricDescriptor kFloatMotion = {.name = "float_motion",
                                                  .summary = "",
                                                  .scope = Scope::kReference,
                                                  .every_frame = true,
                                                  .templated_names = true,
                                                  .options = {},
                                                  .outputs = kFloatMotionOutputs};

inline std::span<const MetricDescriptor* const> fake_registry() {
    static constexpr const MetricDescriptor* kMetrics[] = {&kFloatAdm, &kFloatVif, &kFloatMotion, &kPsnr,
                                                           &kAdm,      &kMotion,   &kVif};
    return kMetrics;
}

// What VMAF v1 needs beside adm and motion.
inline constexpr OptionSpec kCambiOptions[] = {
    number_option("cambi_max_val", "cmxv", 1000.0, 0.0, 1000.0),
    int_option("enc_width", "encw", 0, 180, 7680),
    number_option("cambi_vis_lum_threshold", "vlt", 0.0, 0.0, 300.0),
    int_option("cambi_high_res_speedup", "hrs", 0, 0, 2160),
};
inline constexpr OutputSpec kCambiOutputs[] = {{"Cambi_feature_cambi_score", "cambi"}};
inline constexpr MetricDescriptor kCambi = {
    .name = "cambi", .summary = "banding", .templated_names = true, .options = kCambiOptions, .outputs = kCambiOutputs};

inline constexpr std::string_view kResizeWords[] = {"nearest", "bilinear"};
inline constexpr OptionSpec kSpeedChromaOptions[] = {
    number_option("speed_kernelscale", "ks", 1.0, 0.1, 4.0),
    number_option("speed_prescale", "ps", 1.0, 0.1, 4.0),
    {"speed_prescale_method", "psm", OptionType::kChoice, 0, 0, 1, "", kResizeWords},
    number_option("speed_sigma_nn", "snn", 0.29, 0.1, 2.0),
    number_option("speed_nn_floor", "nnf", 0.0, 0.0, 1.0),
    number_option("speed_max_val", "mxv", 1000.0, 0.0, 1000.0),
    int_option("speed_weight_var_mode", "wvm", 0, 0, 6),
};
inline constexpr OutputSpec kSpeedChromaOutputs[] = {
    {"Speed_chroma_feature_speed_chroma_u_score", "speed_chroma_u"},
    {"Speed_chroma_feature_speed_chroma_v_score", "speed_chroma_v"},
    {"Speed_chroma_feature_speed_chroma_uv_score", "speed_chroma_uv"},
};
inline constexpr MetricDescriptor kSpeedChroma = {.name = "speed_chroma",
                                                  .summary = "chroma",
                                                  .needs_chroma = true,
                                                  .templated_names = true,
                                                  .options = kSpeedChromaOptions,
                                                  .outputs = kSpeedChromaOutputs};

/// What VMAF v1 needs.
inline std::span<const MetricDescriptor* const> fake_registry_v1() {
    static constexpr const MetricDescriptor* kMetrics[] = {&kCambi, &kSpeedChroma, &kAdm, &kMotion, &kVif};
    return kMetrics;
}

inline constexpr FrameGeometry kGeometry = {
    .width = 320, .height = 180, .chroma_width = 160, .chroma_height = 90, .depth = 8, .sample = SampleType::kU8};

/// A folder for a test's files, removed at the end.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "quality_cuda-test-XXXXXX").string();
        if (const char* made = mkdtemp(pattern.data())) path_ = made;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::string file(const char* name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

/// Sets an environment variable for a scope.
class Environment {
public:
    Environment(const char* name, const std::string& value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        setenv(name, value.c_str(), 1);
    }
    ~Environment() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    const char* name_;
    std::optional<std::string> old_;
};

} // namespace qc::test
