// SPDX-License-Identifier: BSD-2-Clause-Patent
// Multi-scale structural similarity: descriptor, launches, and the way from sums to scores.
#include "metrics/float_ms_ssim/float_ms_ssim.hpp"

#include <cmath>

#include "families/structural/structural_scorer.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim_kernels.hpp"

namespace qc::float_ms_ssim {
namespace {

static_assert(kScales <= structural::kMaxLevels);

constexpr int kSmallestSide = structural::kTaps << (kScales - 1); ///< the last scale is as large as the window

constexpr OptionSpec kOptions[] = {
    {"enable_lcs", "", OptionType::kBool, 0, 0, 1, "also write luminance, contrast and structure of each scale"},
    {"enable_db", "", OptionType::kBool, 0, 0, 1, "write the score as -10 log10(1 - ms_ssim)"},
    structural::kClipDbOption,
};

bool is_lcs(const OptionValues& options, const FrameGeometry& /*geometry*/) {
    return options.flag(structural::kEnableLcs);
}

enum OutputIndex { kScore, kLuminance, kContrast = kLuminance + kScales, kStructure = kContrast + kScales };

constexpr OutputSpec kOutputs[] = {
    {"float_ms_ssim", "float_ms_ssim"},
    {"float_ms_ssim_l_scale0", "float_ms_ssim_l_scale0", is_lcs},
    {"float_ms_ssim_l_scale1", "float_ms_ssim_l_scale1", is_lcs},
    {"float_ms_ssim_l_scale2", "float_ms_ssim_l_scale2", is_lcs},
    {"float_ms_ssim_l_scale3", "float_ms_ssim_l_scale3", is_lcs},
    {"float_ms_ssim_l_scale4", "float_ms_ssim_l_scale4", is_lcs},
    {"float_ms_ssim_c_scale0", "float_ms_ssim_c_scale0", is_lcs},
    {"float_ms_ssim_c_scale1", "float_ms_ssim_c_scale1", is_lcs},
    {"float_ms_ssim_c_scale2", "float_ms_ssim_c_scale2", is_lcs},
    {"float_ms_ssim_c_scale3", "float_ms_ssim_c_scale3", is_lcs},
    {"float_ms_ssim_c_scale4", "float_ms_ssim_c_scale4", is_lcs},
    {"float_ms_ssim_s_scale0", "float_ms_ssim_s_scale0", is_lcs},
    {"float_ms_ssim_s_scale1", "float_ms_ssim_s_scale1", is_lcs},
    {"float_ms_ssim_s_scale2", "float_ms_ssim_s_scale2", is_lcs},
    {"float_ms_ssim_s_scale3", "float_ms_ssim_s_scale3", is_lcs},
    {"float_ms_ssim_s_scale4", "float_ms_ssim_s_scale4", is_lcs},
};

/// Weights of contrast and of structure, by scale. Luminance counts at the last scale only, with that scale's weight.
constexpr float kExponents[kScales] = {0.0448f, 0.2856f, 0.3001f, 0.2363f, 0.1333f};

/// @param with_terms whether luminance is wanted at all scales; otherwise at the last one only
structural::LevelPlan plan_for(const FrameGeometry& geometry, bool with_terms) {
    structural::LevelPlan plan(geometry);
    if (geometry.has_weights) plan.count_by_weights(1, geometry);
    structural::LevelPlan::Size size{geometry.width, geometry.height};
    for (int scale = 0; scale < kScales; ++scale) {
        // The filter overshoots at edges: samples of all scales but the first may be below zero.
        plan.add(size, scale > 0, with_terms || scale == kScales - 1, scale > 0);
        size = {halved(size.width), halved(size.height)};
    }
    return plan;
}

class FloatMsSsimScorer final : public structural::LevelScorer {
public:
    FloatMsSsimScorer(const FrameGeometry& geometry, const OptionValues& options)
        : LevelScorer(geometry, plan_for(geometry, options.flag(structural::kEnableLcs))) {}

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu(geometry(), plan(), pair, accumulators);
    }

private:
    Status prepare_levels(DeviceProgram& program) override {
        QC_RETURN_IF_ERROR(program.find(
            bytes() ? kernels::float_ms_ssim_low_pass_u8 : kernels::float_ms_ssim_low_pass_u16, &first_low_pass_));
        return program.find(kernels::float_ms_ssim_low_pass, &low_pass_);
    }

    Status enqueue_levels(const structural::Task& task, unsigned count, DeviceQueue& queue) const override {
        for (int from = 0; from + 1 < kScales; ++from) {
            const structural::Level& to = plan().level(from + 1);
            const Dim3 grid{blocks_for(to.width, kTileWidth), blocks_for(to.height, kTileHeight), 2 * count};
            QC_RETURN_IF_ERROR(
                queue.launch(from == 0 ? first_low_pass_ : low_pass_, grid, LowPassArguments{task, from}));
        }
        return {};
    }

    LoadedKernel<LowPassArguments> first_low_pass_, low_pass_;
};

class FloatMsSsimFinaliser final : public structural::LevelFinaliser {
public:
    FloatMsSsimFinaliser(const FrameGeometry& geometry, const OptionValues& options)
        : LevelFinaliser(geometry, options, plan_for(geometry, options.flag(structural::kEnableLcs))) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        using namespace structural;
        if (plan().lacks_weight(accumulators)) return sink.leave_out(frame);
        double score = 1.0;
        for (int scale = 0; scale < kScales; ++scale) {
            const double l = plan().mean(accumulators, scale, kSumLuminance);
            const double c = plan().mean(accumulators, scale, kSumContrast);
            const double s = plan().mean(accumulators, scale, kSumStructure);
            const auto exponent = static_cast<double>(kExponents[scale]);
            double product = std::pow(c, exponent);
            if (scale == kScales - 1) product = std::pow(l, exponent) * product;
            score = score * (product * std::pow(s, exponent));
            if (!with_terms()) continue;
            sink.put(frame, kLuminance + scale, l);
            sink.put(frame, kContrast + scale, c);
            sink.put(frame, kStructure + scale, s);
        }
        sink.put(frame, kScore, decibels_of(score));
    }
};

/// Decibels concern the host's part only.
std::string stage(const FrameGeometry& /*geometry*/, const OptionValues& options) {
    return options.flag(structural::kEnableLcs) ? "float_ms_ssim sums" : "float_ms_ssim sums without luminance";
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_ms_ssim",
        .summary = "structural similarity of luma at five scales",
        .short_name = "ms_ssim",
        .accepts_weights = true,
        .options = kOptions,
        .outputs = kOutputs,
        .smallest = {kSmallestSide, kSmallestSide},
        .create_scorer = make_scorer<FloatMsSsimScorer>,
        .create_finaliser = make_finaliser<FloatMsSsimFinaliser>,
        .stage = stage,
    };
    return kDescriptor;
}

} // namespace qc::float_ms_ssim
