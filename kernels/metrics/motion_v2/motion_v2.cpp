// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/motion_v2/motion_v2.hpp"

#include "families/motion/motion_finaliser.hpp"
#include "families/motion/motion_scorer.hpp"

namespace qc::motion_v2 {
namespace {

constexpr size_t kShared = 0; ///< the family's options are all there are

constexpr OptionSpec kOptions[] = {
    motion::kBlendFactorOption,
    motion::kBlendOffsetOption,
    {"motion_five_frame_window", "mffw", OptionType::kBool, 0, 0, 1,
     "not supported, refused: the metric motion has it"},
    motion::kForceZeroOption,
    motion::kFpsWeightOption,
    motion::kMaxValueOption,
    motion::kMovingAverageOption,
};

enum Output : int { kSadScore, kMotion2, kMotion3 };

constexpr OutputSpec kOutputs[] = {
    {"VMAF_integer_feature_motion_v2_sad_score", "VMAF_integer_feature_motion_v2_sad_score"},
    {"VMAF_integer_feature_motion2_v2_score", "VMAF_integer_feature_motion2_v2_score"},
    {"VMAF_integer_feature_motion3_v2_score", "VMAF_integer_feature_motion3_v2_score"},
};

Status validate(const FrameGeometry&, const OptionValues& options) {
    if (!options.flag(kShared + motion::kFiveFrameWindow)) return {};
    return invalid("motion_v2: motion_five_frame_window=true is not supported, only false is; the metric motion has "
                   "the five-frame window");
}

std::unique_ptr<Scorer> create_scorer(const FrameGeometry& geometry, const OptionValues& options) {
    return std::make_unique<motion::MotionScorer>(geometry, motion::Settings(options, kShared));
}

std::unique_ptr<Finaliser> create_finaliser(const FrameGeometry& geometry, const OptionValues& options) {
    const motion::OutputIndices outputs{.sad_score = kSadScore, .motion2 = kMotion2, .motion3 = kMotion3};
    return std::make_unique<motion::MotionFinaliser>(geometry, motion::Settings(options, kShared), outputs);
}

std::string stage(const FrameGeometry&, const OptionValues& options) {
    return motion::stage_of(motion::Settings(options, kShared));
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "motion_v2",
        .summary = "motion under the names of a fork of libvmaf",
        .scope = Scope::kReference,
        .history = 2, // one would do; those that share motion's sums have to agree
        .every_frame = true,
        .accepts_weights = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .smallest = {motion::kSmallestSide, motion::kSmallestSide},
        .validate = validate,
        .create_scorer = create_scorer,
        .create_finaliser = create_finaliser,
        .stage = stage,
    };
    return kDescriptor;
}

} // namespace qc::motion_v2
