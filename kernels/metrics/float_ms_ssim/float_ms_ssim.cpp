// SPDX-License-Identifier: BSD-2-Clause-Patent
// Multi-scale structural similarity: descriptor, launches, and the way from sums to scores.
#include "metrics/float_ms_ssim/float_ms_ssim.hpp"

#include <cmath>

#include "families/structural/structural_decibel.hpp"
#include "families/structural/structural_phases.hpp"
#include "families/structural/structural_plan.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim_phases.hpp"

namespace qc::float_ms_ssim {
namespace {

static_assert(kScales <= structural::kMaxLevels);

constexpr int kSmallestSide = structural::kTaps << (kScales - 1);

enum OptionIndex { kEnableLcs, kEnableDb, kClipDb };

constexpr OptionSpec kOptions[] = {
    {"enable_lcs", "", OptionType::kBool, 0, 0, 1, "also write luminance, contrast and structure of each scale"},
    {"enable_db", "", OptionType::kBool, 0, 0, 1, "write the score as -10 log10(1 - ms_ssim)"},
    {"clip_db", "", OptionType::kBool, 0, 0, 1, "with enable_db: limit it to what half an error of one makes"},
};

bool is_lcs(const OptionValues& options, const FrameGeometry& /*geometry*/) {
    return options.flag(kEnableLcs);
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

class FloatMsSsim final : public Metric {
public:
    FloatMsSsim(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), with_terms_(options.flag(kEnableLcs)),
          decibels_(geometry, options.flag(kEnableDb), options.flag(kClipDb)), plan_(geometry) {
        structural::LevelPlan::Size size{geometry.width, geometry.height};
        for (int scale = 0; scale < kScales; ++scale) {
            // The filter overshoots at edges: samples of all scales but the first may be below zero.
            plan_.add(size, scale > 0, with_terms_ || scale == kScales - 1, scale > 0);
            size = {halved(size.width), halved(size.height)};
        }
    }

    size_t accumulator_words() const override { return plan_.words(); }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        add_sums(pair, geometry_, with_terms_, accumulators);
    }

    size_t scratch_bytes(int count) const override { return plan_.scratch_bytes(count); }

    Status prepare(DeviceProgram& program) override {
        const bool bytes = geometry_.sample == SampleType::kU8;
        QC_RETURN_IF_ERROR(
            program.find(bytes ? "float_ms_ssim_low_pass_u8" : "float_ms_ssim_low_pass_u16", 0, &first_low_pass_));
        QC_RETURN_IF_ERROR(program.find("float_ms_ssim_low_pass", 0, &low_pass_));
        return program.find(bytes ? "structural_window_u8" : "structural_window_u16", 0, &window_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const structural::Task task = plan_.task_for(batch);
        const auto count = static_cast<unsigned>(batch.count);
        for (int from = 0; from + 1 < kScales; ++from) {
            const structural::Level& to = plan_.level(from + 1);
            const Dim3 grid{blocks_for(to.width, kTileWidth), blocks_for(to.height, kTileHeight), 2 * count};
            const Dim3 block{static_cast<unsigned>(kLowPassThreads)};
            QC_RETURN_IF_ERROR(queue.launch(from == 0 ? first_low_pass_ : low_pass_, grid, block, task, from));
        }
        const Dim3 grid{plan_.window_blocks(), 1, count}, block{static_cast<unsigned>(structural::kThreads)};
        return queue.launch(window_, grid, block, task);
    }

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        using namespace structural;
        double score = 1.0;
        for (int scale = 0; scale < kScales; ++scale) {
            const double l = plan_.mean(accumulators, scale, kSumLuminance);
            const double c = plan_.mean(accumulators, scale, kSumContrast);
            const double s = plan_.mean(accumulators, scale, kSumStructure);
            const auto exponent = static_cast<double>(kExponents[scale]);
            double product = std::pow(c, exponent);
            if (scale == kScales - 1) product = std::pow(l, exponent) * product;
            score = score * (product * std::pow(s, exponent));
            if (!with_terms_) continue;
            sink.put(frame, kLuminance + scale, l);
            sink.put(frame, kContrast + scale, c);
            sink.put(frame, kStructure + scale, s);
        }
        sink.put(frame, kScore, decibels_.of(score));
    }

private:
    const FrameGeometry geometry_;
    const bool with_terms_;
    const structural::Decibels decibels_;
    structural::LevelPlan plan_;
    Kernel first_low_pass_, low_pass_, window_;
};

Status validate(const FrameGeometry& geometry, const OptionValues&) {
    const int depth = geometry.depth;
    if (depth != 8 && depth != 10 && depth != 12 && depth != 16) {
        return unsupported(format("float_ms_ssim: %d bits per sample, 8, 10, 12 and 16 are supported", depth));
    }
    if (geometry.width < kSmallestSide || geometry.height < kSmallestSide) {
        return unsupported(format("float_ms_ssim: a picture of %dx%d has no five scales as large as the window; %dx%d "
                                  "is the smallest",
                                  geometry.width, geometry.height, kSmallestSide, kSmallestSide));
    }
    return {};
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues& options) {
    return std::make_unique<FloatMsSsim>(geometry, options);
}

/// Decibels concern the host's part only.
std::string stage(const FrameGeometry& /*geometry*/, const OptionValues& options) {
    return options.flag(kEnableLcs) ? "float_ms_ssim sums" : "float_ms_ssim sums without luminance";
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_ms_ssim",
        .summary = "structural similarity of luma at five scales",
        .short_name = "ms_ssim",
        .scope = Scope::kPair,
        .options = kOptions,
        .outputs = kOutputs,
        .validate = validate,
        .create = create,
        .stage = stage,
    };
    return kDescriptor;
}

} // namespace qc::float_ms_ssim
