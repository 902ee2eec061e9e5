// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point ADM: descriptor, final scores, CUDA launches.
#include "metrics/float_adm/float_adm.hpp"

#include <math.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "families/detail_loss/detail_loss_options.hpp"
#include "families/detail_loss/detail_loss_scores.hpp"
#include "families/detail_loss/detail_loss_scratch.hpp"
#include "metrics/float_adm/float_adm_cpu.hpp"
#include "metrics/float_adm/float_adm_kernels.hpp"
#include "metrics/float_adm/float_adm_plan.hpp"

namespace qc::float_adm {
namespace {

// ---- options --------------------------------------------------------------------------------------------------------

enum OwnOption {
    kSkipScale0 = detail_loss::kOwnOptions,
    kMinimum,
    kBypassMasking,
    kHarmonicMean,
    kPower,
    kStraight0,
    kDiagonal0 = kStraight0 + kLevels,
    kSkipAimScale = kDiagonal0 + kLevels,
};

constexpr auto kOptions = detail_loss::list_options(
    9, "contrast sensitivity: 0 Watson, 1 Barten, 2 the detail loss measure's own; others as 0", "rdf",
    {
        detail_loss::kSkipScale0Spec,
        detail_loss::kMinimumSpec,
        {"adm_bypass_cm", "bcm", OptionType::kInt, 0, 0, 1, "1: no contrast masking"},
        {"adm_adm3_apply_hm", "aah", OptionType::kBool, 0, 0, 1, "adm3 is the harmonic mean of adm2 and aim"},
        {"adm_p_norm", "apn", OptionType::kDouble, 3.0, 1, 20, "exponent of the sums"},
        {"adm_f1s0", "f1s0", OptionType::kDouble, -1, -1, 10,
         "sensitivity of scale 0, h and v bands; -1: the computed one"},
        {"adm_f1s1", "f1s1", OptionType::kDouble, -1, -1, 10, "the same for scale 1"},
        {"adm_f1s2", "f1s2", OptionType::kDouble, -1, -1, 10, "the same for scale 2"},
        {"adm_f1s3", "f1s3", OptionType::kDouble, -1, -1, 10, "the same for scale 3"},
        {"adm_f2s0", "f2s0", OptionType::kDouble, -1, -1, 10, "sensitivity of scale 0, d band; -1: the computed one"},
        {"adm_f2s1", "f2s1", OptionType::kDouble, -1, -1, 10, "the same for scale 1"},
        {"adm_f2s2", "f2s2", OptionType::kDouble, -1, -1, 10, "the same for scale 2"},
        {"adm_f2s3", "f2s3", OptionType::kDouble, -1, -1, 10, "the same for scale 3"},
        {"adm_skip_aim_scale", "sasc", OptionType::kInt, -1, 0, 3, "leave this scale out of aim"},
    });
static_assert(std::size(kOptions) == kSkipAimScale + 1);

Settings read_settings(const OptionValues& options) {
    Settings settings;
    detail_loss::read_first_options(options, &settings);
    for (int i = 0; i < kLevels; i++) {
        settings.straight_override[i] = options.number(kStraight0 + i);
        settings.diagonal_override[i] = options.number(kDiagonal0 + i);
    }
    settings.minimum = options.number(kMinimum);
    settings.power = options.number(kPower);
    settings.masking = options.integer(kBypassMasking) == 0;
    settings.harmonic_mean = options.flag(kHarmonicMean);
    settings.skip_level0 = options.flag(kSkipScale0);
    settings.impairment_without = options.integer(kSkipAimScale);
    return settings;
}

// ---- outputs --------------------------------------------------------------------------------------------------------

constexpr auto kOutputSpecs = [] {
    auto outputs =
        detail_loss::list_outputs(detail_loss::Arithmetic::kFloatingPoint,
                                  {"VMAF_feature_adm2_score", "VMAF_feature_aim_score", "VMAF_feature_adm3_score",
                                   "VMAF_feature_adm_scale0_score", "VMAF_feature_adm_scale1_score",
                                   "VMAF_feature_adm_scale2_score", "VMAF_feature_adm_scale3_score"});
    outputs[detail_loss::kAdm].plain_name = true;
    return outputs;
}();

// ---- from sums to scores --------------------------------------------------------------------------------------------

class FloatAdmFinaliser final : public detail_loss::FrameFinaliser {
public:
    FloatAdmFinaliser(const FrameGeometry& geometry, const OptionValues& options)
        : FloatAdmFinaliser(geometry, options, read_settings(options)) {}

private:
    FloatAdmFinaliser(const FrameGeometry& geometry, const OptionValues& options, const Settings& settings)
        : FrameFinaliser(geometry, options, settings), settings_(settings), plan_(make_plan(geometry, settings)) {}

    LevelScore score_level(int index, const uint64_t* sums, uint64_t weights) const override {
        const double area = area_of(plan_.level[index], index, weights);
        // Noise keeps a ratio near 1 where there is next to nothing to compare.
        const float noise =
            powf(static_cast<float>(area * settings_.noise_weight), static_cast<float>(1.0 / settings_.power));
        LevelScore score;
        score.detail = norm(sums + kDetail * kBands, noise);
        score.reference = norm(sums + kReference * kBands, noise);
        score.impairment = norm(sums + kImpairment * kBands, 0.0f);
        return score;
    }

    void add_impairment(FrameScore* score) const override {
        double impairment = 0, reference = 0;
        for (int i = 0; i < kLevels; i++) {
            if (i == settings_.impairment_without) continue;
            impairment += score->level[i].impairment;
            reference += score->level[i].reference;
        }
        const bool defined = score->reference != 0 && reference != 0;
        score->aim = defined ? std::min(impairment / reference, 1.0) : 0.0;
        score->adm3 = std::max(settings_.minimum, blend_of(*score));
    }

    /// adm3 before its floor. The harmonic mean really takes aim, not what is left of it.
    double blend_of(const FrameScore& score) const {
        if (settings_.harmonic_mean) return 2 * score.adm2 * score.aim / (score.adm2 + score.aim);
        return detail_loss::weighted_mean(score, settings_.detail_weight);
    }

    /// The norm of the three bands of one measure; widths and order of operations are part of the definition.
    float norm(const uint64_t* sums, float noise) const {
        const float root = static_cast<float>(1.0 / settings_.power);
        float total = 0.0f;
        for (int band = 0; band < kBands; band++) {
            total += powf(static_cast<float>(std::bit_cast<double>(sums[band])), root) + noise;
        }
        return total;
    }

    Settings settings_;
    Plan plan_;
};

// ---- CUDA: where things lie -----------------------------------------------------------------------------------------

constexpr detail_loss::ScratchElements kScratchElements = {
    .row_sum = sizeof(float),
    .low = {sizeof(float), sizeof(float), sizeof(float)},
    .pitch_alignment = 32,
};

detail_loss::Scratch scratch_of(const Plan& plan, int count) {
    detail_loss::ScratchElements elements = kScratchElements;
    elements.weights = plan.has_weights;
    return {plan, count, elements};
}

LevelArguments level_arguments(const Plan& plan, int index, const DeviceBatch& batch) {
    const detail_loss::Scratch scratch = scratch_of(plan, batch.count);
    const LevelPlan& level = plan.level[index];
    LevelArguments arguments{};
    arguments.pairs = batch.pairs;
    arguments.in = index > 0 ? static_cast<const float*>(scratch.low(batch.scratch, index - 1)) : nullptr;
    arguments.low = static_cast<float*>(scratch.low(batch.scratch, index));
    arguments.row_sums = static_cast<float*>(batch.scratch);
    arguments.task.plan = level;
    arguments.task.rules = plan.rules;
    arguments.task.writes_low = index + 1 < kLevels ? 1 : 0;
    arguments.task.grid = detail_loss::make_grid(level, index + 1 == kLevels);
    arguments.task.place = detail_loss::place_level(plan, index, kScratchElements);
    if (plan.has_weights) arguments.weights = scratch.weights(batch.scratch, index, level);
    arguments.whole = static_cast<float>(detail_loss::full_weight(index));
    return arguments;
}

// ---- scorer ---------------------------------------------------------------------------------------------------------

class FloatAdmScorer final : public Scorer {
public:
    FloatAdmScorer(const FrameGeometry& geometry, const OptionValues& options)
        : sample_(geometry.sample), plan_(make_plan(geometry, read_settings(options))) {}

    size_t accumulator_words() const override { return words_of(plan_.has_weights); }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu(plan_, sample_, pair, accumulators);
    }

    size_t scratch_bytes(int count) const override { return scratch_of(plan_, count).bytes; }

    Status prepare(DeviceProgram& program) override {
        using namespace kernels;
        if (plan_.has_weights) return find_weighted_kernels(program);
        const auto level0_u8 = plan_.cube ? float_adm_level0_u8 : float_adm_level0_u8_power;
        const auto level0_u16 = plan_.cube ? float_adm_level0_u16 : float_adm_level0_u16_power;
        QC_RETURN_IF_ERROR(program.find(sample_ == SampleType::kU8 ? level0_u8 : level0_u16, &level0_));
        QC_RETURN_IF_ERROR(program.find(plan_.cube ? float_adm_deep : float_adm_deep_power, &deep_));
        return program.find(float_adm_finish, &finish_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const auto pairs = static_cast<unsigned>(batch.count);
        if (plan_.has_weights)
            QC_RETURN_IF_ERROR(
                detail_loss::launch_weights(queue, weights_, plan_, scratch_of(plan_, batch.count), batch));
        for (int i = 0; i < kLevels; i++) {
            const LevelArguments arguments = level_arguments(plan_, i, batch);
            const Dim3 grid = {static_cast<unsigned>(arguments.task.grid.rows), 1, pairs};
            QC_RETURN_IF_ERROR(queue.launch(i == 0 ? level0_ : deep_, grid, arguments));
        }
        return queue.launch(finish_, {kLevels, 1, pairs},
                            FinishArguments{batch.pairs, static_cast<const float*>(batch.scratch), batch.accumulators,
                                            detail_loss::sum_rows_of(plan_), words_of(plan_.has_weights)});
    }

private:
    Status find_weighted_kernels(DeviceProgram& program) {
        using namespace kernels;
        const auto level0_u8 = plan_.cube ? float_adm_level0_u8_weighted : float_adm_level0_u8_power_weighted;
        const auto level0_u16 = plan_.cube ? float_adm_level0_u16_weighted : float_adm_level0_u16_power_weighted;
        QC_RETURN_IF_ERROR(program.find(sample_ == SampleType::kU8 ? level0_u8 : level0_u16, &level0_));
        QC_RETURN_IF_ERROR(program.find(plan_.cube ? float_adm_deep_weighted : float_adm_deep_power_weighted, &deep_));
        QC_RETURN_IF_ERROR(program.find(float_adm_weights, &weights_));
        return program.find(float_adm_finish, &finish_);
    }

    SampleType sample_;
    Plan plan_;
    LoadedKernel<LevelArguments> level0_, deep_;
    LoadedKernel<FinishArguments> finish_;
    LoadedKernel<detail_loss::WeightArguments> weights_;
};

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_adm",
        .summary = "detail loss and additive impairment in wavelet bands (floating point)",
        .accepts_weights = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputSpecs,
        .smallest = {kMinimumSize, kMinimumSize},
        .create_scorer = make_scorer<FloatAdmScorer>,
        .create_finaliser = make_finaliser<FloatAdmFinaliser>,
    };
    return kDescriptor;
}

} // namespace qc::float_adm
