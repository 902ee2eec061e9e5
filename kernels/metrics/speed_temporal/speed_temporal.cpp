// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/speed_temporal/speed_temporal.hpp"

#include <bit>

#include "families/speed/speed_pipeline.hpp"

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

class SpeedTemporal final : public Metric {
public:
    SpeedTemporal(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), difference_to_reference_(options.flag(kUseReferenceDifference)),
          plan_(speed::make_plan({geometry.width, geometry.height}, geometry.depth, options, 0)) {}

    size_t accumulator_words() const override { return speed::kWordsPerPlane; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_pair(plan_, geometry_, difference_to_reference_, pair, accumulators);
    }

    size_t scratch_bytes(int count) const override { return pipeline_.scratch_bytes(count); }
    Status prepare(DeviceProgram& program) override { return pipeline_.prepare(program, geometry_.sample); }
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        return pipeline_.enqueue(batch, queue, difference_to_reference_);
    }

    void finalise(int64_t frame, std::span<const uint64_t> words, ScoreSink& sink) override {
        sink.put(frame, 0, std::bit_cast<double>(words[speed::kScoreBits]));
    }

private:
    const FrameGeometry geometry_;
    const bool difference_to_reference_;
    const speed::Plan plan_;
    speed::Pipeline pipeline_{plan_, kImages};
};

Status validate(const FrameGeometry& geometry, const OptionValues& options) {
    return speed::check_plan("speed_temporal", "pictures", {geometry.width, geometry.height}, geometry.depth, options);
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues& options) {
    return std::make_unique<SpeedTemporal>(geometry, options);
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "speed_temporal",
        .summary = "entropic differencing of luma's change in time (SpEED)",
        .short_name = "speed",
        .scope = Scope::kPair,
        .history = 1,
        .distorted_history = 1,
        .every_frame = true,
        .few_blocks = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .validate = validate,
        .create = create,
    };
    return kDescriptor;
}

} // namespace qc::speed_temporal
