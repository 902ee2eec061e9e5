// SPDX-License-Identifier: BSD-2-Clause-Patent
// Single-scale structural similarity: descriptor, launches, and the way from sums to scores.
#include "metrics/float_ssim/float_ssim.hpp"

#include <bit>

#include "families/structural/structural_decibel.hpp"
#include "families/structural/structural_phases.hpp"
#include "families/structural/structural_plan.hpp"
#include "metrics/float_ssim/float_ssim_phases.hpp"

namespace qc::float_ssim {
namespace {

enum OptionIndex { kEnableLcs, kEnableDb, kClipDb, kScale };

constexpr OptionSpec kOptions[] = {
    {"enable_lcs", "", OptionType::kBool, 0, 0, 1, "also write the means of luminance, contrast and structure"},
    {"enable_db", "", OptionType::kBool, 0, 0, 1, "write the score as -10 log10(1 - ssim)"},
    {"clip_db", "", OptionType::kBool, 0, 0, 1, "with enable_db: limit it to what half an error of one makes"},
    {"scale", "", OptionType::kInt, 0, 0, 10, "decimation factor: 1 none, 0 what leaves about 256 lines"},
};

bool is_lcs(const OptionValues& options, const FrameGeometry& /*geometry*/) {
    return options.flag(kEnableLcs);
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

class FloatSsim final : public Metric {
public:
    FloatSsim(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), with_terms_(options.flag(kEnableLcs)), decimation_(decimation_for(geometry, options)),
          decibels_(geometry, options.flag(kEnableDb), options.flag(kClipDb)), plan_(geometry) {
        plan_.add({decimation_.width, decimation_.height}, decimation_.factor > 1, true, false);
    }

    size_t accumulator_words() const override { return plan_.words(); }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        add_sums(pair, geometry_, decimation_, accumulators);
    }

    size_t scratch_bytes(int count) const override { return plan_.scratch_bytes(count); }

    Status prepare(DeviceProgram& program) override {
        const bool bytes = geometry_.sample == SampleType::kU8;
        if (decimation_.factor > 1) {
            QC_RETURN_IF_ERROR(
                program.find(bytes ? "float_ssim_decimate_u8" : "float_ssim_decimate_u16", 0, &decimate_));
        }
        return program.find(bytes ? "structural_window_u8" : "structural_window_u16", 0, &window_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const structural::Task task = plan_.task_for(batch);
        const auto count = static_cast<unsigned>(batch.count);
        if (decimation_.factor > 1) {
            const DecimationTask decimation{geometry_.width, geometry_.height, decimation_.factor,
                                            std::has_single_bit(static_cast<unsigned>(decimation_.factor))};
            const Dim3 block{static_cast<unsigned>(kTuning.threads_x), static_cast<unsigned>(kTuning.threads_y)};
            const Dim3 grid{blocks_for(decimation_.width, kTuning.threads_x),
                            blocks_for(decimation_.height, kTuning.threads_y), count};
            QC_RETURN_IF_ERROR(queue.launch(decimate_, grid, block, task, decimation));
        }
        const Dim3 grid{plan_.window_blocks(), 1, count}, block{static_cast<unsigned>(structural::kThreads)};
        return queue.launch(window_, grid, block, task);
    }

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        using namespace structural;
        sink.put(frame, kSumProduct, decibels_.of(plan_.mean(accumulators, 0, kSumProduct)));
        if (!with_terms_) return;
        for (const SumWord word : {kSumLuminance, kSumContrast, kSumStructure}) {
            sink.put(frame, word, plan_.mean(accumulators, 0, word));
        }
    }

private:
    const FrameGeometry geometry_;
    const bool with_terms_;
    const Decimation decimation_;
    const structural::Decibels decibels_;
    structural::LevelPlan plan_;
    Kernel decimate_, window_;
};

Status validate(const FrameGeometry& geometry, const OptionValues& options) {
    const int depth = geometry.depth;
    if (depth != 8 && depth != 10 && depth != 12 && depth != 16) {
        return unsupported(format("float_ssim: %d bits per sample, 8, 10, 12 and 16 are supported", depth));
    }
    const Decimation decimation = decimation_for(geometry, options);
    if (decimation.width < structural::kTaps || decimation.height < structural::kTaps) {
        return unsupported(
            format("float_ssim: a picture of %dx%d, decimated by %d to %dx%d (scale=%d), is smaller than "
                   "the window of %dx%d",
                   geometry.width, geometry.height, decimation.factor, decimation.width, decimation.height,
                   options.integer(kScale), structural::kTaps, structural::kTaps));
    }
    return {};
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues& options) {
    return std::make_unique<FloatSsim>(geometry, options);
}

/// The options but `scale` concern the host's part only.
std::string stage(const FrameGeometry& geometry, const OptionValues& options) {
    return format("float_ssim sums, decimated by %d", decimation_for(geometry, options).factor);
}

constexpr std::string_view kSimilarity[] = {"float_ssim"};
constexpr StatsLineSpec kStatsLines[] = {{QC_STATS_FORMAT_SSIM, "ssim", "", "enable_db", kSimilarity}};

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_ssim",
        .summary = "structural similarity of luma at one scale",
        .short_name = "ssim",
        .scope = Scope::kPair,
        .options = kOptions,
        .outputs = kOutputs,
        .stats_lines = kStatsLines,
        .validate = validate,
        .create = create,
        .stage = stage,
    };
    return kDescriptor;
}

} // namespace qc::float_ssim
