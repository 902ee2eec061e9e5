// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM: descriptor, final scores, CUDA launches.
#include "metrics/adm/adm.hpp"

#include <math.h>

#include <algorithm>
#include <array>
#include <string>

#include "families/detail_loss/detail_loss_options.hpp"
#include "families/detail_loss/detail_loss_scores.hpp"
#include "metrics/adm/adm_cpu.hpp"
#include "metrics/adm/adm_plan.hpp"
#include "metrics/adm/adm_tile.hpp"
#include "metrics/adm/adm_tuning.hpp"

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

Status validate(const FrameGeometry& geometry, const OptionValues& options) {
    QC_RETURN_IF_ERROR(detail_loss::require_size("adm", geometry, kMinimumSize));
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

// ---- from sums to scores: widths and order of operations are part of the definition
// ----------------------------------

constexpr float kThird = 1.0f / 3.0f;

/// What keeps a ratio near 1 where there is next to nothing to compare.
float noise_term(const LevelPlan& level, double weight) {
    const int area = (level.bottom - level.top) * (level.right - level.left);
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

// ---- CUDA: where things lie, how they are launched
// -------------------------------------------------------------------

constexpr size_t kAlignment = 256;
constexpr size_t align_up(size_t size, size_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
}

/// Pitch of an a band in elements: a multiple of what the kernels read at once.
constexpr int low_pitch(int width) {
    return static_cast<int>(align_up(static_cast<size_t>(width), 64));
}

/// Row sums kept for one pair, of all levels.
int row_sums(const Plan& plan) {
    int rows = 0;
    for (const LevelPlan& level : plan.level) rows += level.bottom - level.top;
    return rows;
}

/// Scratch memory of a batch: row sums of all pairs, then the a bands of levels 0 to 2, two pictures for each pair.
struct Scratch {
    size_t row_bytes, low_offset[kLevels - 1], bytes;

    Scratch(const Plan& plan, int count) {
        row_bytes = static_cast<size_t>(count) * row_sums(plan) * kWordsPerLevel * sizeof(uint64_t);
        size_t offset = align_up(row_bytes, kAlignment);
        for (int i = 0; i < kLevels - 1; i++) {
            const size_t element = i == 0 ? sizeof(LowBand<0>) : sizeof(LowBand<1>);
            low_offset[i] = offset;
            offset += align_up(static_cast<size_t>(count) * 2 * low_pitch(plan.level[i].width) * plan.level[i].height *
                                   element,
                               kAlignment);
        }
        bytes = offset;
    }
};

/// Tiles of a level, aligned to the scored region so that as few as possible straddle its border. The last level has
/// no a band to write: only the region is covered.
TileGrid make_grid(const LevelPlan& level, int index, int count) {
    using namespace tuning;
    const bool last = index == kLevels - 1;
    const int left = level.left & ~1, tiles_before = (left + kUsefulColumns - 1) / kUsefulColumns;
    const int tiles_above = (level.top + kUsefulRows - 1) / kUsefulRows;
    TileGrid grid;
    grid.origin_x = last ? left : left - tiles_before * kUsefulColumns;
    grid.origin_y = last ? level.top : level.top - tiles_above * kUsefulRows;
    grid.columns = static_cast<int>(blocks_for((last ? level.right : level.width) - grid.origin_x, kUsefulColumns));
    grid.rows = static_cast<int>(blocks_for((last ? level.bottom : level.height) - grid.origin_y, kUsefulRows));

    const int tiles = grid.columns * grid.rows * count;
    const int longest = std::clamp(tiles / kTargetBlocks, 1, kLongestStrip);
    const int strips = static_cast<int>(blocks_for(grid.columns, longest));
    grid.strip = static_cast<int>(blocks_for(grid.columns, strips)); // strips of equal length
    return grid;
}

LevelLaunch make_launch(const Plan& plan, int index, int count) {
    LevelLaunch launch;
    launch.plan = plan.level[index];
    launch.gain = plan.gain;
    launch.depth = plan.depth;
    launch.grid = make_grid(plan.level[index], index, count);
    launch.in_pitch = low_pitch(plan.level[index].in_width);
    launch.out_pitch = low_pitch(plan.level[index].width);
    for (int i = 0; i < index; i++) launch.first_row += plan.level[i].bottom - plan.level[i].top;
    launch.first_row -= plan.level[index].top;
    launch.rows = row_sums(plan);
    return launch;
}

FinishLaunch make_finish(const Plan& plan) {
    FinishLaunch launch;
    for (int i = 0; i < kLevels; i++) {
        const LevelPlan& level = plan.level[i];
        launch.level[i] = {launch.rows, level.bottom - level.top, level.row_shift, level.reference_row_shift};
        launch.rows += launch.level[i].rows;
    }
    return launch;
}

// ---- the metric -----------------------------------------------------------------------------------------------------

class Adm final : public Metric {
public:
    Adm(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), settings_(read_settings(options)), debug_(options.flag(detail_loss::kDebug)),
          plan_(make_plan(geometry, settings_)) {}

    size_t accumulator_words() const override { return kWords; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu(plan_, geometry_.sample, pair, accumulators);
    }

    size_t scratch_bytes(int count) const override { return Scratch(plan_, count).bytes; }

    Status prepare(DeviceProgram& program) override {
        const std::string suffix = plan_.impairment ? "_aim" : "";
        const char* const level0 = geometry_.sample == SampleType::kU8 ? "adm_level0_u8" : "adm_level0_u16";
        QC_RETURN_IF_ERROR(program.find((level0 + suffix).c_str(), 0, &level_kernels_[0]));
        for (int i = 1; i < kLevels; i++) {
            QC_RETURN_IF_ERROR(program.find(("adm_level" + std::to_string(i) + suffix).c_str(), 0, &level_kernels_[i]));
        }
        return program.find("adm_finish", 0, &finish_kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const Scratch scratch(plan_, batch.count);
        uint8_t* const memory = static_cast<uint8_t*>(batch.scratch);
        uint64_t* const rows = static_cast<uint64_t*>(batch.scratch);
        QC_RETURN_IF_ERROR(queue.zero(rows, scratch.row_bytes));

        int16_t* const low0 = reinterpret_cast<int16_t*>(memory + scratch.low_offset[0]);
        int32_t* const low1 = reinterpret_cast<int32_t*>(memory + scratch.low_offset[1]);
        int32_t* const low2 = reinterpret_cast<int32_t*>(memory + scratch.low_offset[2]);
        QC_RETURN_IF_ERROR(enqueue_level(0, batch, queue, batch.pairs, low0, rows));
        QC_RETURN_IF_ERROR(enqueue_level(1, batch, queue, static_cast<const int16_t*>(low0), low1, rows));
        QC_RETURN_IF_ERROR(enqueue_level(2, batch, queue, static_cast<const int32_t*>(low1), low2, rows));
        int32_t* const none = nullptr;
        QC_RETURN_IF_ERROR(enqueue_level(3, batch, queue, static_cast<const int32_t*>(low2), none, rows));

        const Dim3 grid = {kLevels, 1, static_cast<unsigned>(batch.count)};
        return queue.launch(finish_kernel_, grid, {tuning::kFinishThreads, 1, 1}, batch.pairs, make_finish(plan_),
                            static_cast<const uint64_t*>(rows), batch.accumulators);
    }

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        std::array<LevelScore, kLevels> levels;
        for (int i = 0; i < kLevels; i++) levels[i] = score_level(i, accumulators.data() + i * kWordsPerLevel);

        FrameScore score = detail_loss::sum_levels(levels, geometry_);
        double impairment = 0;
        for (const LevelScore& level : levels) impairment += level.impairment;
        score.aim = score.reference != 0 ? impairment / score.reference : 0.0;
        score.adm3 = std::max(settings_.minimum, detail_loss::weighted_mean(score, settings_.detail_weight));
        detail_loss::put_scores(frame, score, debug_, sink);
    }

    std::vector<std::string> warnings() const override {
        if (settings_.viewing.mode != kCsfBarten) return {};
        return {"adm_csf_mode=1 overflows 32-bit sums, as in libvmaf, unless adm_csf_scale scales it down"};
    }

private:
    template <typename In, typename Low>
    Status enqueue_level(int index, const DeviceBatch& batch, DeviceQueue& queue, const In* in, Low* low,
                         uint64_t* rows) const {
        const LevelLaunch launch = make_launch(plan_, index, batch.count);
        const Dim3 grid = {blocks_for(launch.grid.columns, launch.grid.strip), static_cast<unsigned>(launch.grid.rows),
                           static_cast<unsigned>(batch.count)};
        return queue.launch(level_kernels_[index], grid, {tuning::kThreads, 1, 1}, in, launch, low, rows);
    }

    LevelScore score_level(int index, const uint64_t* sums) const {
        if (index == 0 && plan_.skip_level0) return {0.0f, 1e-10f, 0.0f};
        const LevelPlan& level = plan_.level[index];
        const float noise = noise_term(level, settings_.noise_weight);
        LevelScore score;
        score.detail = numerator(level, index, sums + kDetail * kBands, noise);
        score.reference = denominator(level, index, plan_.csf[index], sums + kReference * kBands, noise);
        if (plan_.impairment) score.impairment = numerator(level, index, sums + kImpairment * kBands, 0.0f);
        return score;
    }

    FrameGeometry geometry_;
    Settings settings_;
    bool debug_;
    Plan plan_;
    Kernel level_kernels_[kLevels], finish_kernel_;
};

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues& options) {
    return std::make_unique<Adm>(geometry, options);
}

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
    static const MetricDescriptor kDescriptor = [] {
        MetricDescriptor adm;
        adm.name = "adm";
        adm.summary = "detail loss and additive impairment in wavelet bands";
        adm.templated_names = true;
        adm.options = kOptions;
        adm.outputs = kOutputSpecs;
        adm.validate = validate;
        adm.create = create;
        adm.stage = stage;
        return adm;
    }();
    return kDescriptor;
}

} // namespace qc::adm
