// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/motion/motion.hpp"

#include "families/motion/motion_finaliser.hpp"
#include "families/motion/motion_scorer.hpp"

namespace qc::motion {
namespace {

enum Option : size_t { kDebug, kShared };

constexpr OptionSpec kOptions[] = {
    {"debug", "", OptionType::kBool, 0, 0, 1, "also write integer_motion"},
    kBlendFactorOption,
    kBlendOffsetOption,
    {"motion_five_frame_window", "mffw", OptionType::kBool, 0, 0, 1, "compare frames two apart instead of one"},
    kForceZeroOption,
    kFpsWeightOption,
    kMaxValueOption,
    kMovingAverageOption,
};

enum Output : int { kSadScore, kMotion, kMotion2, kMotion3 };

bool has_debug(const OptionValues& options, const FrameGeometry&) {
    return options.flag(kDebug);
}

constexpr OutputSpec kOutputs[] = {
    {"VMAF_integer_feature_motion_sad_score", "VMAF_integer_feature_motion_sad_score"},
    {"VMAF_integer_feature_motion_score", "integer_motion", has_debug},
    {"VMAF_integer_feature_motion2_score", "integer_motion2"},
    {"VMAF_integer_feature_motion3_score", "integer_motion3"},
};

std::unique_ptr<Scorer> create_scorer(const FrameGeometry& geometry, const OptionValues& options) {
    return std::make_unique<MotionScorer>(geometry, Settings(options, kShared));
}

std::unique_ptr<Finaliser> create_finaliser(const FrameGeometry& geometry, const OptionValues& options) {
    const OutputIndices outputs{.sad_score = kSadScore,
                                .motion2 = kMotion2,
                                .motion3 = kMotion3,
                                .motion = options.flag(kDebug) ? kMotion : -1};
    return std::make_unique<MotionFinaliser>(geometry, Settings(options, kShared), outputs);
}

std::string stage(const FrameGeometry&, const OptionValues& options) {
    return stage_of(Settings(options, kShared));
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "motion",
        .summary = "temporal change of the reference's luma, as in VMAF",
        .scope = Scope::kReference,
        .history = 2,
        .every_frame = true,
        .accepts_weights = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .smallest = {kSmallestSide, kSmallestSide},
        .create_scorer = create_scorer,
        .create_finaliser = create_finaliser,
        .stage = stage,
    };
    return kDescriptor;
}

} // namespace qc::motion
