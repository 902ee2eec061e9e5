// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/speed_temporal/speed_temporal.hpp"

#include <bit>

#include "families/speed/speed_scorer.hpp"
#include "metrics/speed_temporal/speed_temporal_kernels.hpp"

namespace qc::speed_temporal {
namespace {

enum Option : size_t { kUseReferenceDifference = speed::kCommonOptions };

constexpr OptionSpec kOptions[] = {
    speed::kKernelScaleOption,
    {"speed_max_val", "mxv", OptionType::kDouble, 1000.0, 0.0, 1000.0, "no effect here, as in libvmaf"},
    speed::kNoiseFloorOption,
    speed::kPrescaleOption,
    speed::kPrescaleMethodOption,
    speed::kSigmaNoiseOption,
    {"speed_use_ref_diff", "urd", OptionType::kBool, 0, 0, 1,
     "the distorted change leads from the distorted frame before to the reference's present"},
};

constexpr OutputSpec kOutputs[] = {{"Speed_temporal_feature_speed_temporal_score", "speed_temporal"}};

constexpr int kImages = 2; ///< the changes of both pictures

class SpeedTemporalScorer final : public speed::SpeedScorer {
public:
    SpeedTemporalScorer(const FrameGeometry& geometry, const OptionValues& options)
        : SpeedScorer(QC_SPEED_KERNEL_SET, geometry.sample,
                      speed::make_plan({geometry.width, geometry.height}, geometry.depth, options, 0), kImages,
                      options.flag(kUseReferenceDifference)) {}

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu(plan(), sample(), difference_to_reference(), pair, accumulators);
    }
};

class SpeedTemporalFinaliser final : public Finaliser {
public:
    SpeedTemporalFinaliser(const FrameGeometry&, const OptionValues&) {}

    void finalise(int64_t frame, std::span<const uint64_t> words, ScoreSink& sink) override {
        sink.put(frame, 0, std::bit_cast<double>(words[speed::kScoreBits]));
    }
};

PictureSize smallest_picture(const FrameGeometry&, const OptionValues& options) {
    const int side = speed::smallest_side(options);
    return {side, side};
}

Status validate(const FrameGeometry&, const OptionValues& options) {
    return speed::check_options("speed_temporal", options);
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "speed_temporal",
        .summary = "entropic differencing of luma's change in time (SpEED)",
        .short_name = "speed",
        .history = 1,
        .distorted_history = 1,
        .every_frame = true,
        .few_blocks = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .smallest_picture = smallest_picture,
        .validate = validate,
        .create_scorer = make_scorer<SpeedTemporalScorer>,
        .create_finaliser = make_finaliser<SpeedTemporalFinaliser>,
    };
    return kDescriptor;
}

} // namespace qc::speed_temporal
