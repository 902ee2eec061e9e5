// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/motion_v2/motion_v2.hpp"

#include "families/motion/motion_metric.hpp"

namespace qc::motion_v2 {
namespace {

enum Option : size_t {
    kBlendFactor,
    kBlendOffset,
    kFiveFrameWindow,
    kForceZero,
    kFpsWeight,
    kMaxValue,
    kMovingAverage
};

constexpr OptionSpec kOptions[] = {
    {"motion_blend_factor", "mbf", OptionType::kDouble, 1.0, 0.0, 1.0,
     "motion3: share of the excess over motion_blend_offset that counts"},
    {"motion_blend_offset", "mbo", OptionType::kDouble, 40.0, 0.0, 1000.0,
     "motion3: score from which motion_blend_factor applies"},
    {"motion_five_frame_window", "mffw", OptionType::kBool, 0, 0, 1,
     "not supported, refused: the metric motion has it"},
    {"motion_force_zero", "force_0", OptionType::kBool, 0, 0, 1, "make every score 0"},
    {"motion_fps_weight", "mfw", OptionType::kDouble, 1.0, 0.0, 5.0, "factor of every score, to adjust for frame rate"},
    {"motion_max_val", "mmxv", OptionType::kDouble, 10000.0, 0.0, 10000.0, "upper limit of every score"},
    {"motion_moving_average", "mma", OptionType::kBool, 0, 0, 1, "motion3: average with the frame before"},
};

enum Output : int { kSadScore, kMotion2, kMotion3 };

constexpr OutputSpec kOutputs[] = {
    {"VMAF_integer_feature_motion_v2_sad_score", "VMAF_integer_feature_motion_v2_sad_score"},
    {"VMAF_integer_feature_motion2_v2_score", "VMAF_integer_feature_motion2_v2_score"},
    {"VMAF_integer_feature_motion3_v2_score", "VMAF_integer_feature_motion3_v2_score"},
};

motion::Settings settings_of(const OptionValues& options) {
    motion::Settings settings;
    settings.force_zero = options.flag(kForceZero);
    settings.moving_average = options.flag(kMovingAverage);
    settings.blend_factor = options.number(kBlendFactor);
    settings.blend_offset = options.number(kBlendOffset);
    settings.fps_weight = options.number(kFpsWeight);
    settings.max_value = options.number(kMaxValue);
    return settings;
}

Status validate(const FrameGeometry& geometry, const OptionValues& options) {
    if (options.flag(kFiveFrameWindow))
        return invalid("motion_v2: motion_five_frame_window=true is not supported, only false is; the metric motion "
                       "has the five-frame window");
    return motion::validate_picture("motion_v2", geometry);
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues& options) {
    const motion::OutputIndices outputs{.sad_score = kSadScore, .motion2 = kMotion2, .motion3 = kMotion3};
    return std::make_unique<motion::MotionMetric>(geometry, settings_of(options), outputs);
}

std::string stage(const FrameGeometry&, const OptionValues& options) {
    return motion::stage_of(settings_of(options));
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "motion_v2",
        .summary = "motion under the names of a fork of libvmaf",
        .scope = Scope::kReference,
        .history = 2, // one would do; those that share motion's sums have to agree
        .every_frame = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .validate = validate,
        .create = create,
        .stage = stage,
    };
    return kDescriptor;
}

} // namespace qc::motion_v2
