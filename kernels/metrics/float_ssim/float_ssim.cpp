// SPDX-License-Identifier: BSD-2-Clause-Patent
// Single-scale structural similarity: descriptor, launches, and the way from sums to scores.
#include "metrics/float_ssim/float_ssim.hpp"

#include <array>
#include <bit>

#include "families/structural/structural_cpu.hpp"
#include "families/structural/structural_scorer.hpp"
#include "metrics/float_ssim/float_ssim_kernels.hpp"

namespace qc::float_ssim {
namespace {

enum OptionIndex { kScale = structural::kOwnOptions };

constexpr OptionSpec kOptions[] = {
    {"enable_lcs", "", OptionType::kBool, 0, 0, 1, "also write the means of luminance, contrast and structure"},
    {"enable_db", "", OptionType::kBool, 0, 0, 1, "write the score as -10 log10(1 - ssim)"},
    structural::kClipDbOption,
    {"scale", "", OptionType::kInt, 0, 0, 10, "decimation factor: 1 none, 0 what leaves about 256 lines"},
};

bool is_lcs(const OptionValues& options, const FrameGeometry& /*geometry*/) {
    return options.flag(structural::kEnableLcs);
}

/// Output i is the mean of sum i.
constexpr OutputSpec kOutputs[structural::kSumWords] = {
    {"float_ssim", "float_ssim"},
    {"float_ssim_l", "float_ssim_l", is_lcs},
    {"float_ssim_c", "float_ssim_c", is_lcs},
    {"float_ssim_s", "float_ssim_s", is_lcs},
};

Decimation decimation_for(const FrameGeometry& geometry, const OptionValues& options) {
    return decimation_of(geometry.width, geometry.height, options.integer(kScale));
}

MapShape map_shape(const FrameGeometry& geometry, const OptionValues& options) {
    const Decimation decimation = decimation_for(geometry, options);
    MapShape shape = structural::shape_of_positions(decimation.factor);
    shape.width = decimation.width - structural::kMargin;
    shape.height = decimation.height - structural::kMargin;
    return shape;
}

/// The decimated luma is the only level.
structural::LevelPlan plan_for(const FrameGeometry& geometry, const OptionValues& options) {
    const Decimation decimation = decimation_for(geometry, options);
    structural::LevelPlan plan(geometry);
    if (geometry.has_weights) plan.count_by_weights(decimation.factor, geometry);
    plan.add({decimation.width, decimation.height}, decimation.factor > 1, true, false);
    return plan;
}

class FloatSsimScorer final : public structural::LevelScorer {
public:
    FloatSsimScorer(const FrameGeometry& geometry, const OptionValues& options)
        : LevelScorer(geometry, plan_for(geometry, options)), decimation_(decimation_for(geometry, options)),
          shape_(map_shape(geometry, options)) {}

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu(geometry(), decimation_, pair, accumulators, {},
                  structural::weights_under(pair.weights, shape_, geometry()));
    }

    void draw(const HostPair& pair, HostPast /*past*/, Plane<float> values) const override {
        std::array<uint64_t, structural::kSumWords> sums{};
        score_cpu(geometry(), decimation_, pair, sums, values);
    }

private:
    Status prepare_levels(DeviceProgram& program) override {
        if (decimation_.factor == 1) return {};
        return program.find(bytes() ? kernels::float_ssim_decimate_u8 : kernels::float_ssim_decimate_u16, &decimate_);
    }

    Status enqueue_levels(const structural::Task& task, unsigned count, DeviceQueue& queue) const override {
        if (decimation_.factor == 1) return {};
        const Dim3 grid{blocks_for(decimation_.width, kTuning.threads_x),
                        blocks_for(decimation_.height, kTuning.threads_y), count};
        return queue.launch(decimate_, grid,
                            DecimationArguments{task, geometry().width, geometry().height, decimation_.factor,
                                                std::has_single_bit(static_cast<unsigned>(decimation_.factor))});
    }

    const Decimation decimation_;
    const MapShape shape_; ///< of the positions
    LoadedKernel<DecimationArguments> decimate_;
};

class FloatSsimFinaliser final : public structural::LevelFinaliser {
public:
    FloatSsimFinaliser(const FrameGeometry& geometry, const OptionValues& options)
        : LevelFinaliser(geometry, options, plan_for(geometry, options)) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        using namespace structural;
        if (plan().lacks_weight(accumulators)) return sink.leave_out(frame);
        sink.put(frame, kSumProduct, decibels_of(plan().mean(accumulators, 0, kSumProduct)));
        if (!with_terms()) return;
        for (const SumWord word : {kSumLuminance, kSumContrast, kSumStructure}) {
            sink.put(frame, word, plan().mean(accumulators, 0, word));
        }
    }
};

/// The smallest square that is as large as the window after decimation.
PictureSize smallest_picture(const FrameGeometry& /*geometry*/, const OptionValues& options) {
    int side = structural::kTaps;
    while (decimation_of(side, side, options.integer(kScale)).width < structural::kTaps) ++side;
    return {side, side};
}

/// Some sizes above the smallest are refused too: an odd side gets one more sample than the even one behind it.
Status validate(const FrameGeometry& geometry, const OptionValues& options) {
    const Decimation decimation = decimation_for(geometry, options);
    if (decimation.width >= structural::kTaps && decimation.height >= structural::kTaps) return {};
    return invalid(format("float_ssim: a picture of %dx%d, decimated by %d to %dx%d (scale=%d), is smaller than the "
                          "window of %dx%d",
                          geometry.width, geometry.height, decimation.factor, decimation.width, decimation.height,
                          options.integer(kScale), structural::kTaps, structural::kTaps));
}

/// The options but `scale` concern the host's part only.
std::string stage(const FrameGeometry& geometry, const OptionValues& options) {
    return format("float_ssim sums, decimated by %d", decimation_for(geometry, options).factor);
}

constexpr MapSpec kMap{.what = "1 - ssim", .white = 0.5, .shape = map_shape};

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_ssim",
        .summary = "structural similarity of luma at one scale",
        .short_name = "ssim",
        .accepts_weights = true,
        .options = kOptions,
        .outputs = kOutputs,
        .smallest_picture = smallest_picture,
        .validate = validate,
        .create_scorer = make_scorer<FloatSsimScorer>,
        .create_finaliser = make_finaliser<FloatSsimFinaliser>,
        .stage = stage,
        .map = &kMap,
    };
    return kDescriptor;
}

} // namespace qc::float_ssim
