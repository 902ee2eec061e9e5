// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/speed_chroma/speed_chroma.hpp"

#include <algorithm>
#include <bit>

#include "families/speed/speed_scorer.hpp"
#include "metrics/speed_chroma/speed_chroma_kernels.hpp"

namespace qc::speed_chroma {
namespace {

enum Option : size_t { kWeightMode = speed::kCommonOptions };

constexpr OptionSpec kOptions[] = {
    speed::kKernelScaleOption,
    {"speed_max_val", "mxv", OptionType::kDouble, 1000.0, 0.0, 1000.0, "upper limit of every score"},
    speed::kNoiseFloorOption,
    speed::kPrescaleOption,
    speed::kPrescaleMethodOption,
    speed::kSigmaNoiseOption,
    {"speed_weight_var_mode", "wvm", OptionType::kInt, 0, 0, 6,
     "which energies weight the entropies: 0 each its own, 1 the reference's, 2 the distorted, 3 their mean, 4 to 6 "
     "the "
     "reference's against their mean, 3:1 and 1:3"},
};

enum Output : int { kU, kV, kBoth };

constexpr OutputSpec kOutputs[] = {
    {"Speed_chroma_feature_speed_chroma_u_score", "speed_chroma_u"},
    {"Speed_chroma_feature_speed_chroma_v_score", "speed_chroma_v"},
    {"Speed_chroma_feature_speed_chroma_uv_score", "speed_chroma_uv"},
};

constexpr int kImages = 4; ///< U and V of both pictures

class SpeedChromaScorer final : public speed::SpeedScorer {
public:
    SpeedChromaScorer(const FrameGeometry& geometry, const OptionValues& options)
        : SpeedScorer(QC_SPEED_KERNEL_SET, geometry.sample,
                      speed::make_plan({geometry.chroma_width, geometry.chroma_height}, geometry.depth, options,
                                       options.integer(kWeightMode)),
                      kImages) {}

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu(plan(), sample(), pair, accumulators);
    }
};

class SpeedChromaFinaliser final : public Finaliser {
public:
    SpeedChromaFinaliser(const FrameGeometry& /*geometry*/, const OptionValues& options)
        : max_value_(options.number(speed::kMaxValue)) {}

    void finalise(int64_t frame, std::span<const uint64_t> words, ScoreSink& sink) override {
        const uint64_t* const of_u = words.data();
        const uint64_t* const of_v = of_u + speed::kWordsPerPlane;
        const auto u = std::bit_cast<double>(of_u[speed::kScoreBits]),
                   v = std::bit_cast<double>(of_v[speed::kScoreBits]);
        const bool u_singular = of_u[speed::kSingular] != 0, v_singular = of_v[speed::kSingular] != 0;
        // A plane without entropies does not count. The mean is formed in single precision.
        const float mean = (static_cast<float>(u) + static_cast<float>(v)) / 2.0f;
        const double both = u_singular == v_singular ? static_cast<double>(mean) : u_singular ? v : u;
        sink.put(frame, kU, std::min(u, max_value_));
        sink.put(frame, kV, std::min(v, max_value_));
        sink.put(frame, kBoth, std::min(both, max_value_));
    }

private:
    const double max_value_;
};

PictureSize smallest_picture(const FrameGeometry& geometry, const OptionValues& options) {
    const int side = speed::smallest_side(options); // of chroma, whose sizes are rounded down
    return {geometry.chroma_width < geometry.width ? 2 * side : side,
            geometry.chroma_height < geometry.height ? 2 * side : side};
}

Status validate(const FrameGeometry&, const OptionValues& options) {
    return speed::check_options("speed_chroma", options);
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "speed_chroma",
        .summary = "entropic differencing of the chroma planes (SpEED)",
        .short_name = "speed",
        .needs_chroma = true,
        .few_blocks = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .requires_chroma = true,
        .smallest_picture = smallest_picture,
        .validate = validate,
        .create_scorer = make_scorer<SpeedChromaScorer>,
        .create_finaliser = make_finaliser<SpeedChromaFinaliser>,
    };
    return kDescriptor;
}

} // namespace qc::speed_chroma
