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
#include "metrics/float_adm/float_adm_cpu.hpp"
#include "metrics/float_adm/float_adm_plan.hpp"
#include "metrics/float_adm/float_adm_tile.hpp"
#include "metrics/float_adm/float_adm_tuning.hpp"

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

Status validate(const FrameGeometry& geometry, const OptionValues&) {
    if (!has_float_luma(geometry.depth)) {
        return unsupported(format("float_adm: %d bits per sample, 8, 10, 12 and 16 are supported", geometry.depth));
    }
    return detail_loss::require_size("float_adm", geometry, kMinimumSize);
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

// ---- CUDA: where things lie -----------------------------------------------------------------------------------------

constexpr size_t kAlignment = 256;
constexpr size_t align_up(size_t size, size_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
}

/// Pitch of an a band in elements: a multiple of what the kernels read at once.
constexpr int low_pitch(int width) {
    return static_cast<int>(align_up(static_cast<size_t>(width), 32));
}

FinishLaunch make_finish(const Plan& plan) {
    FinishLaunch launch;
    for (int i = 0; i < kLevels; i++) {
        launch.level[i] = {launch.rows, plan.level[i].bottom - plan.level[i].top};
        launch.rows += launch.level[i].rows;
    }
    return launch;
}

/// Scratch memory of a batch: row sums of all pairs, then the a bands of levels 0 to 2, two pictures for each pair.
struct Scratch {
    size_t low_offset[kLevels - 1], bytes;

    Scratch(const Plan& plan, int count) {
        const size_t rows = static_cast<size_t>(count) * make_finish(plan).rows;
        size_t offset = align_up(rows * kWordsPerLevel * sizeof(float), kAlignment);
        for (int i = 0; i < kLevels - 1; i++) {
            low_offset[i] = offset;
            const size_t samples = static_cast<size_t>(low_pitch(plan.level[i].width)) * plan.level[i].height;
            offset += align_up(static_cast<size_t>(count) * 2 * samples * sizeof(float), kAlignment);
        }
        bytes = offset;
    }
};

/// Tiles of a level, aligned to the scored region so that as few as possible straddle its border. The last level has
/// no a band to write: only the region is covered.
TileGrid make_grid(const LevelPlan& level, bool last) {
    using namespace tuning;
    const int left = level.left & ~1, tiles_before = (left + kUsefulColumns - 1) / kUsefulColumns;
    const int tiles_above = (level.top + kUsefulRows - 1) / kUsefulRows;
    TileGrid grid;
    grid.origin_x = last ? left : left - tiles_before * kUsefulColumns;
    grid.origin_y = last ? level.top : level.top - tiles_above * kUsefulRows;
    grid.columns = static_cast<int>(blocks_for((last ? level.right : level.width) - grid.origin_x, kUsefulColumns));
    grid.rows = static_cast<int>(blocks_for((last ? level.bottom : level.height) - grid.origin_y, kUsefulRows));
    return grid;
}

LevelLaunch make_launch(const Plan& plan, int index) {
    const FinishLaunch finish = make_finish(plan);
    LevelLaunch launch;
    launch.plan = plan.level[index];
    launch.rules = plan.rules;
    launch.writes_low = index + 1 < kLevels ? 1 : 0;
    launch.grid = make_grid(plan.level[index], launch.writes_low == 0);
    launch.in_pitch = low_pitch(plan.level[index].in_width);
    launch.out_pitch = low_pitch(plan.level[index].width);
    launch.first_row = finish.level[index].first_row - plan.level[index].top;
    launch.rows = finish.rows;
    return launch;
}

// ---- the metric -----------------------------------------------------------------------------------------------------

class FloatAdm final : public Metric {
public:
    FloatAdm(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), settings_(read_settings(options)), debug_(options.flag(detail_loss::kDebug)),
          plan_(make_plan(geometry, settings_)) {}

    size_t accumulator_words() const override { return kWords; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu(plan_, geometry_.sample, pair, accumulators);
    }

    size_t scratch_bytes(int count) const override { return Scratch(plan_, count).bytes; }

    Status prepare(DeviceProgram& program) override {
        const std::string suffix = plan_.cube ? "" : "_power";
        const std::string level0 = geometry_.sample == SampleType::kU8 ? "float_adm_level0_u8" : "float_adm_level0_u16";
        QC_RETURN_IF_ERROR(program.find((level0 + suffix).c_str(), sizeof(SharedTile), &level0_kernel_));
        QC_RETURN_IF_ERROR(program.find(("float_adm_deep" + suffix).c_str(), sizeof(SharedTile), &deep_kernel_));
        return program.find("float_adm_finish", 0, &finish_kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const Scratch scratch(plan_, batch.count);
        uint8_t* const memory = static_cast<uint8_t*>(batch.scratch);
        float* const rows = static_cast<float*>(batch.scratch);
        float* low[kLevels] = {}; // the last level has none
        for (int i = 0; i < kLevels - 1; i++) low[i] = reinterpret_cast<float*>(memory + scratch.low_offset[i]);

        QC_RETURN_IF_ERROR(enqueue_level(level0_kernel_, 0, batch, queue, batch.pairs, low[0], rows));
        for (int i = 1; i < kLevels; i++) {
            const float* const in = low[i - 1];
            QC_RETURN_IF_ERROR(enqueue_level(deep_kernel_, i, batch, queue, in, low[i], rows));
        }
        const Dim3 grid = {kLevels, 1, static_cast<unsigned>(batch.count)};
        return queue.launch(finish_kernel_, grid, {32 * kWordsPerLevel, 1, 1}, batch.pairs, make_finish(plan_),
                            static_cast<const float*>(rows), batch.accumulators);
    }

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        std::array<LevelScore, kLevels> levels;
        for (int i = 0; i < kLevels; i++) levels[i] = score_level(i, accumulators.data() + i * kWordsPerLevel);

        FrameScore score = detail_loss::sum_levels(levels, geometry_);
        double impairment = 0, impairment_reference = 0;
        for (int i = 0; i < kLevels; i++) {
            if (i == settings_.impairment_without) continue;
            impairment += levels[i].impairment;
            impairment_reference += levels[i].reference;
        }
        const bool defined = score.reference != 0 && impairment_reference != 0;
        score.aim = defined ? std::min(impairment / impairment_reference, 1.0) : 0.0;
        score.adm3 = std::max(settings_.minimum, blend_of(score));
        detail_loss::put_scores(frame, score, debug_, sink);
    }

private:
    template <typename In>
    Status enqueue_level(const Kernel& kernel, int index, const DeviceBatch& batch, DeviceQueue& queue, const In* in,
                         float* low, float* rows) const {
        const LevelLaunch launch = make_launch(plan_, index);
        const Dim3 grid = {static_cast<unsigned>(launch.grid.rows), 1, static_cast<unsigned>(batch.count)};
        return queue.launch(kernel, grid, {tuning::kThreads, 1, 1}, in, launch, low, rows);
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

    LevelScore score_level(int index, const uint64_t* sums) const {
        if (index == 0 && plan_.skip_level0) return {0.0f, 1e-10f, 0.0f};
        const LevelPlan& level = plan_.level[index];
        const int area = (level.bottom - level.top) * (level.right - level.left);
        // Noise keeps a ratio near 1 where there is next to nothing to compare.
        const float noise =
            powf(static_cast<float>(area * settings_.noise_weight), static_cast<float>(1.0 / settings_.power));
        LevelScore score;
        score.detail = norm(sums + kDetail * kBands, noise);
        score.reference = norm(sums + kReference * kBands, noise);
        score.impairment = norm(sums + kImpairment * kBands, 0.0f);
        return score;
    }

    FrameGeometry geometry_;
    Settings settings_;
    bool debug_;
    Plan plan_;
    Kernel level0_kernel_, deep_kernel_, finish_kernel_;
};

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues& options) {
    return std::make_unique<FloatAdm>(geometry, options);
}

} // namespace

const MetricDescriptor& descriptor() {
    static const MetricDescriptor kDescriptor = [] {
        MetricDescriptor adm;
        adm.name = "float_adm";
        adm.summary = "detail loss and additive impairment in wavelet bands (floating point)";
        adm.templated_names = true;
        adm.options = kOptions;
        adm.outputs = kOutputSpecs;
        adm.validate = validate;
        adm.create = create;
        return adm;
    }();
    return kDescriptor;
}

} // namespace qc::float_adm
