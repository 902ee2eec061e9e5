// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM: descriptor, final scores, CUDA launches.
#include "metrics/adm/adm.hpp"

#include <math.h>

#include <algorithm>
#include <array>
#include <string>

#include "families/detail_loss/detail_loss_options.hpp"
#include "families/detail_loss/detail_loss_scores.hpp"
#include "families/detail_loss/detail_loss_scratch.hpp"
#include "metrics/adm/adm_cpu.hpp"
#include "metrics/adm/adm_kernels.hpp"
#include "metrics/adm/adm_plan.hpp"

namespace qc::adm {
namespace {

// ---- options --------------------------------------------------------------------------------------------------------

enum OwnOption { kSkipAim = detail_loss::kOwnOptions, kSkipScale0, kMinimum };

constexpr auto kOptions = detail_loss::list_options(
    kCsfBlendMae, "contrast sensitivity: 0 Watson, 1 Barten (overflows unless scaled down), 2 and 3 blended tables",
    "rdh",
    {
        {"adm_skip_aim", "", OptionType::kBool, 0, 0, 1, "do not compute additive impairment: aim is 0"},
        detail_loss::kSkipScale0Spec,
        detail_loss::kMinimumSpec,
    });

Settings read_settings(const OptionValues& options) {
    Settings settings;
    detail_loss::read_first_options(options, &settings);
    settings.minimum = options.number(kMinimum);
    settings.impairment = !options.flag(kSkipAim);
    settings.skip_level0 = options.flag(kSkipScale0);
    return settings;
}

Status validate(const FrameGeometry& /*geometry*/, const OptionValues& options) {
    const Viewing viewing = read_settings(options).viewing;
    if (viewing.distance * viewing.height < 3.0 * 1080.0) {
        return invalid(
            format("adm: adm_norm_view_dist=%g times adm_ref_display_height=%d is %g, at least 3240 is needed",
                   viewing.distance, viewing.height, viewing.distance * viewing.height));
    }
    const bool needs_table = viewing.mode == kCsfBlend || viewing.mode == kCsfBlendMae;
    if (needs_table && find_blend_table(viewing) == nullptr) {
        return invalid(format("adm: adm_csf_mode=%d has no table for adm_ref_display_height=%d with "
                              "adm_norm_view_dist=%g; it has 1080 with 3 or 5, 2160 with 1.5, 3 or 5, 720 with 5",
                              viewing.mode, viewing.height, viewing.distance));
    }
    return {};
}

// ---- outputs --------------------------------------------------------------------------------------------------------

constexpr auto kOutputSpecs = detail_loss::list_outputs(
    detail_loss::Arithmetic::kInteger,
    {"VMAF_integer_feature_adm2_score", "VMAF_integer_feature_aim_score", "VMAF_integer_feature_adm3_score",
     "integer_adm_scale0", "integer_adm_scale1", "integer_adm_scale2", "integer_adm_scale3"});

// ---- from sums to scores: widths and order of operations are part of the definition ---------------------------------

constexpr float kThird = 1.0f / 3.0f;

/// What keeps a ratio near 1 where there is next to nothing to compare.
float noise_term(double area, double weight) {
    return powf(static_cast<float>(area * weight), kThird);
}

/// Numerator of a level: the cube roots of three sums. Fixed-point exponents differ from level to level.
float numerator(const LevelPlan& level, int index, const uint64_t* sums, float noise) {
    constexpr int kExponent[kLevels] = {52, 45, 39, 36};
    constexpr int kExponentDiagonal0 = 57;
    float total = 0.0f;
    for (int band = 0; band < kBands; band++) {
        const int64_t sum = static_cast<int64_t>(sums[band]);
        const int exponent = index == 0 && band == kBandD ? kExponentDiagonal0 : kExponent[index];
        const int scale = -(exponent - level.energy[band].shift - level.row_shift);
        const float energy = index == 0 ? static_cast<float>(ldexp(static_cast<double>(sum), scale))
                                        : ldexpf(static_cast<float>(sum), scale);
        total += powf(energy, kThird) + noise;
    }
    return total;
}

float denominator(const LevelPlan& level, int index, const CsfFactors& csf, const uint64_t* sums, float noise) {
    constexpr int kExponent[kLevels] = {18, 32, 27, 23};
    float total = 0.0f;
    for (int band = 0; band < kBands; band++) {
        const int scale = -(kExponent[index] - level.reference_row_shift - level.reference_energy.shift);
        const double factor = band == kBandD ? csf.diagonal : csf.straight;
        const double energy = ldexp(static_cast<double>(sums[band]), scale) * pow(factor, 3.0);
        total += powf(static_cast<float>(energy), kThird) + noise;
    }
    return total;
}

class AdmFinaliser final : public detail_loss::FrameFinaliser {
public:
    AdmFinaliser(const FrameGeometry& geometry, const OptionValues& options)
        : AdmFinaliser(geometry, options, read_settings(options)) {}

private:
    AdmFinaliser(const FrameGeometry& geometry, const OptionValues& options, const Settings& settings)
        : FrameFinaliser(geometry, options, settings), settings_(settings), plan_(make_plan(geometry, settings)) {}

    LevelScore score_level(int index, const uint64_t* sums, uint64_t weights) const override {
        const LevelPlan& level = plan_.level[index];
        const float noise = noise_term(area_of(level, index, weights), settings_.noise_weight);
        LevelScore score;
        score.detail = numerator(level, index, sums + kDetail * kBands, noise);
        score.reference = denominator(level, index, plan_.csf[index], sums + kReference * kBands, noise);
        if (plan_.impairment) score.impairment = numerator(level, index, sums + kImpairment * kBands, 0.0f);
        return score;
    }

    void add_impairment(FrameScore* score) const override {
        double impairment = 0;
        for (const LevelScore& level : score->level) impairment += level.impairment;
        score->aim = score->reference != 0 ? impairment / score->reference : 0.0;
        score->adm3 = std::max(settings_.minimum, detail_loss::weighted_mean(*score, settings_.detail_weight));
    }

    Settings settings_;
    Plan plan_;
};

// ---- CUDA: where things lie, how they are launched ------------------------------------------------------------------

/// The a bands of level 0 have 16 bits.
constexpr detail_loss::ScratchElements scratch_elements(bool has_weights) {
    return {
        .row_sum = sizeof(uint64_t),
        .low = {sizeof(LowBand<0>), sizeof(LowBand<1>), sizeof(LowBand<2>)},
        .pitch_alignment = 64,
        .row_words = has_weights ? kWeightedRowWords : kWordsPerLevel,
        .weights = has_weights,
    };
}

detail_loss::Scratch scratch_of(const Plan& plan, int count) {
    return {plan, count, scratch_elements(plan.has_weights)};
}

/// Tiles that a block handles: strips of about equal length.
int strip_length(const TileGrid& grid, int count) {
    const int tiles = grid.columns * grid.rows * count;
    const int longest = std::clamp(tiles / tuning::kTargetBlocks, 1, tuning::kLongestStrip);
    const int strips = static_cast<int>(blocks_for(grid.columns, longest));
    return static_cast<int>(blocks_for(grid.columns, strips));
}

bool is_ladder(const DeviceBatch& batch) {
    return batch.pairs_per_reference() > 1;
}

LevelArguments level_arguments(const Plan& plan, int index, const DeviceBatch& batch) {
    const detail_loss::Scratch scratch = scratch_of(plan, batch.count);
    const LevelPlan& level = plan.level[index];
    LevelArguments arguments{};
    arguments.pairs = batch.pairs;
    arguments.in = index > 0 ? scratch.low(batch.scratch, index - 1) : nullptr;
    arguments.low = scratch.low(batch.scratch, index);
    arguments.row_sums = static_cast<uint64_t*>(batch.scratch);
    arguments.plan = level;
    arguments.gain = plan.gain;
    arguments.grid = detail_loss::make_grid(level, index == kLevels - 1);
    arguments.strip = strip_length(arguments.grid, batch.count);
    arguments.depth = plan.depth;
    arguments.place = detail_loss::place_level(plan, index, scratch_elements(plan.has_weights));
    if (index == map_level(plan)) arguments.map = batch.map;
    arguments.map_shape = map_shape(plan);
    if (plan.has_weights) arguments.weights = scratch.weights(batch.scratch, index, level);
    return arguments;
}

FinishArguments finish_arguments(const Plan& plan, const DeviceBatch& batch) {
    FinishArguments arguments{batch.pairs,        static_cast<const uint64_t*>(batch.scratch),
                              batch.accumulators, detail_loss::sum_rows_of(plan),
                              is_ladder(batch),   {}};
    for (int i = 0; i < kLevels; i++) {
        arguments.shifts[i] = {plan.level[i].row_shift, plan.level[i].reference_row_shift};
    }
    return arguments;
}

// ---- scorer ---------------------------------------------------------------------------------------------------------

/// Of all levels, or of the first ones alone.
struct LevelKernels {
    KernelIdentifier<LevelArguments> level0_u8, level0_u16, deeper[kLevels - 1];
};

#define QC_ADM_LEVEL0(suffix) kernels::adm_level0_u8##suffix, kernels::adm_level0_u16##suffix
#define QC_ADM_LEVELS(suffix)                                                                                          \
    QC_ADM_LEVEL0(suffix), {                                                                                           \
        kernels::adm_level1##suffix, kernels::adm_level2##suffix, kernels::adm_level3##suffix                          \
    }

// Without and with impairment.
constexpr LevelKernels kPlainKernels[] = {{QC_ADM_LEVELS()}, {QC_ADM_LEVELS(_aim)}},
                       kWeightedKernels[] = {{QC_ADM_LEVELS(_weighted)}, {QC_ADM_LEVELS(_aim_weighted)}},
                       kLadderKernels[] = {{QC_ADM_LEVEL0(_ladder),
                                            {kernels::adm_level1_ladder, kernels::adm_level2_ladder}},
                                           {QC_ADM_LEVEL0(_aim_ladder),
                                            {kernels::adm_level1_aim_ladder, kernels::adm_level2_aim_ladder}}},
                       kMapKernels[] = {{QC_ADM_LEVEL0(_map), {kernels::adm_level1_map}},
                                        {QC_ADM_LEVEL0(_aim_map), {kernels::adm_level1_aim_map}}};

class AdmScorer final : public Scorer {
public:
    AdmScorer(const FrameGeometry& geometry, const OptionValues& options)
        : sample_(geometry.sample), settings_(read_settings(options)), plan_(make_plan(geometry, settings_)) {}

    size_t accumulator_words() const override { return words_of(plan_.has_weights); }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu_rows(plan_, sample_, pair, accumulators, workspaces_);
    }

    void draw(const HostPair& pair, HostPast /*past*/, Plane<float> values) const override {
        draw_cpu(plan_, sample_, pair, values);
    }

    size_t scratch_bytes(int count) const override { return scratch_of(plan_, count).bytes; }

    Status prepare(DeviceProgram& program) override {
        const LevelKernels* const plain = plan_.has_weights ? kWeightedKernels : kPlainKernels;
        for (int i = 0; i < kLevels; i++) {
            // With weights the same kernels draw.
            const bool draws = draws_maps() && !plan_.has_weights && i == map_level(plan_);
            QC_RETURN_IF_ERROR(program.find(level_kernel(draws ? kMapKernels : plain, i), &levels_[i]));
        }
        if (plan_.has_weights) {
            QC_RETURN_IF_ERROR(program.find(kernels::adm_weights, &weights_));
            return program.find(kernels::adm_finish_weighted, &finish_);
        }
        for (int i = 0; i < kLadderLevels; i++)
            QC_RETURN_IF_ERROR(program.find(level_kernel(kLadderKernels, i), &ladder_levels_[i]));
        return program.find(kernels::adm_finish, &finish_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const detail_loss::Scratch scratch = scratch_of(plan_, batch.count);
        const auto pairs = static_cast<unsigned>(batch.count);
        QC_RETURN_IF_ERROR(queue.zero(batch.scratch, scratch.row_bytes));
        if (plan_.has_weights) QC_RETURN_IF_ERROR(detail_loss::launch_weights(queue, weights_, plan_, scratch, batch));
        for (int i = 0; i < kLevels; i++) {
            const LevelArguments arguments = level_arguments(plan_, i, batch);
            const Dim3 grid = {blocks_for(arguments.grid.columns, arguments.strip),
                               static_cast<unsigned>(arguments.grid.rows), pairs};
            const bool together = is_ladder(batch) && !draws_maps() && !plan_.has_weights && i < kLadderLevels;
            QC_RETURN_IF_ERROR(queue.launch(together ? ladder_levels_[i] : levels_[i], grid, arguments));
        }
        return queue.launch(finish_, {kLevels, 1, pairs}, finish_arguments(plan_, batch));
    }

    std::vector<std::string> warnings() const override {
        if (settings_.viewing.mode != kCsfBarten) return {};
        return {"adm_csf_mode=1 overflows 32-bit sums, as in libvmaf, unless adm_csf_scale scales it down"};
    }

private:
    /// @param kernels without and with impairment
    const KernelIdentifier<LevelArguments>& level_kernel(const LevelKernels* kernels, int level) const {
        const LevelKernels& own = kernels[plan_.impairment ? 1 : 0];
        return level > 0 ? own.deeper[level - 1] : sample_ == SampleType::kU8 ? own.level0_u8 : own.level0_u16;
    }

    SampleType sample_;
    Settings settings_;
    Plan plan_;
    mutable RowWorkspaces workspaces_;
    LoadedKernel<LevelArguments> levels_[kLevels], ladder_levels_[kLadderLevels];
    LoadedKernel<FinishArguments> finish_;
    LoadedKernel<detail_loss::WeightArguments> weights_;
};

MapShape map_shape_of(const FrameGeometry& geometry, const OptionValues& options) {
    return map_shape(make_plan(geometry, read_settings(options)));
}

constexpr MapSpec kMap{.what = "weighted contrast that is lost or masked", .white = 0.5, .shape = map_shape_of};

/// Of the options, the sums depend on these alone; weights, noise and floor come in with the final scores.
std::string stage(const FrameGeometry& geometry, const OptionValues& options) {
    const Settings settings = read_settings(options);
    const Plan plan = make_plan(geometry, settings);
    std::string name = format("adm sums, gain %.17g", settings.gain_limit);
    for (const LevelPlan& level : plan.level) name += format(", %u/%u", level.factor[kBandH], level.factor[kBandD]);
    if (plan.skip_level0) name += ", without scale 0";
    if (!plan.impairment) name += ", without impairment";
    return name;
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "adm",
        .summary = "detail loss and additive impairment in wavelet bands",
        .accepts_weights = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputSpecs,
        .smallest = {kMinimumSize, kMinimumSize},
        .validate = validate,
        .create_scorer = make_scorer<AdmScorer>,
        .create_finaliser = make_finaliser<AdmFinaliser>,
        .stage = stage,
        .map = &kMap,
    };
    return kDescriptor;
}

} // namespace qc::adm
