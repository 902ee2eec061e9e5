// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/psnr/psnr.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "families/sse/sse.hpp"
#include "families/sse/sse_launch.hpp"
#include "metrics/psnr/psnr_kernels.hpp"

namespace qc::psnr {
namespace {

constexpr int kPlanes = 3;

enum Option : size_t { kEnableApsnr, kEnableChroma, kEnableMse, kMinSse, kReducedPeak };

// None of them shows in a score's name.
constexpr OptionSpec kOptions[] = {
    {"enable_apsnr", "", OptionType::kBool, 0, 0, 1, "also write apsnr_*: the PSNR of all frames taken as one picture"},
    {"enable_chroma", "", OptionType::kBool, 1, 0, 1, "measure chroma too, where there is any"},
    {"enable_mse", "", OptionType::kBool, 0, 0, 1, "also write mse_*, the mean squared error"},
    {"min_sse", "", OptionType::kDouble, 0.0, 0.0, std::numeric_limits<double>::max(),
     "unless 0, scores are capped where the sum of squared errors is this small"},
    {"reduced_hbd_peak", "", OptionType::kBool, 0, 0, 1, "take 255 << (depth - 8) for the peak instead of 2^depth - 1"},
};

/// Planes that an instance measures: 1 or 3.
int measured_planes(const OptionValues& options, const FrameGeometry& geometry) {
    return options.flag(kEnableChroma) ? geometry.plane_count() : 1;
}

bool has_mse(const OptionValues& options, const FrameGeometry&) {
    return options.flag(kEnableMse);
}
bool has_chroma(const OptionValues& options, const FrameGeometry& geometry) {
    return measured_planes(options, geometry) == kPlanes;
}
bool has_chroma_mse(const OptionValues& options, const FrameGeometry& geometry) {
    return has_chroma(options, geometry) && has_mse(options, geometry);
}

/// Plane p writes output 2 * p, and with enable_mse 2 * p + 1.
constexpr OutputSpec kOutputs[] = {
    {"psnr_y", "psnr_y"},
    {"mse_y", "mse_y", has_mse},
    {"psnr_cb", "psnr_cb", has_chroma},
    {"mse_cb", "mse_cb", has_chroma_mse},
    {"psnr_cr", "psnr_cr", has_chroma},
    {"mse_cr", "mse_cr", has_chroma_mse},
};
constexpr std::string_view kAggregateNames[kPlanes] = {"apsnr_y", "apsnr_cb", "apsnr_cr"};

uint32_t squared_peak(const OptionValues& options, int depth) {
    const uint32_t peak = options.flag(kReducedPeak) ? 255u << (depth - 8) : (1u << depth) - 1;
    return peak * peak;
}

class PsnrScorer final : public Scorer {
public:
    PsnrScorer(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), planes_(measured_planes(options, geometry)),
          task_(sse::make_task(geometry, planes_ == kPlanes)) {}

    size_t accumulator_words() const override {
        return static_cast<size_t>(planes_) * (geometry_.has_weights ? sse::kWeightedWords : 1);
    }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        if (geometry_.has_weights) return score_weighted_cpu(pair, geometry_, planes_, accumulators);
        score_cpu(pair, geometry_, accumulators.first(accumulator_words()));
    }

    Status prepare(DeviceProgram& program) override {
        if (geometry_.has_weights)
            return program.find(
                for_samples(geometry_, kernels::sse_weighted_u8, kernels::sse_weighted_u16, kernels::sse_weighted_u16),
                &weighted_kernel_);
        return program.find(
            for_samples(geometry_, kernels::psnr_sse_u8, kernels::psnr_sse_u16, kernels::psnr_sse_u16_full), &kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        if (geometry_.has_weights) return sse::launch_weighted(queue, weighted_kernel_, batch, geometry_, planes_);
        return sse::launch_sse(queue, kernel_, batch, task_);
    }

private:
    const FrameGeometry geometry_;
    const int planes_;
    const sse::SseTask task_;
    LoadedKernel<sse::SseArguments> kernel_;
    LoadedKernel<sse::WeightedArguments> weighted_kernel_;
};

class PsnrFinaliser final : public Finaliser {
public:
    PsnrFinaliser(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), options_(options), planes_(measured_planes(options, geometry)),
          squared_peak_(squared_peak(options, geometry.depth)) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        if (geometry_.has_weights) return finalise_weighted(frame, accumulators, sink);
        for (int plane = 0; plane < planes_; ++plane) {
            const uint64_t squared_errors = accumulators[plane];
            put(frame, plane, {static_cast<double>(squared_errors), pixels(plane)}, sink);
            total_squared_errors_[plane] += squared_errors;
        }
        ++frames_;
    }

    void aggregates(AggregateSink& sink) const override {
        if (!options_.flag(kEnableApsnr) || frames_ == 0) return;
        constexpr double kNotMeasured = -std::numeric_limits<double>::infinity(); // as libvmaf's log has it
        for (int plane = 0; plane < kPlanes; ++plane)
            sink.put(kAggregateNames[plane], plane < planes_ ? psnr_of_stream(plane) : kNotMeasured);
    }

private:
    /// Of a plane without weight nothing can be said.
    void finalise_weighted(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) {
        std::array<sse::WeightedErrors, kPlanes> errors{};
        for (int plane = 0; plane < planes_; ++plane) {
            errors[plane] = sse::weighted_errors(accumulators.subspan(plane * sse::kWeightedWords, sse::kWeightedWords),
                                                 sse::weighted_plane(geometry_, plane));
            if (errors[plane].samples == 0.0) return sink.leave_out(frame);
        }
        for (int plane = 0; plane < planes_; ++plane) {
            put(frame, plane, errors[plane], sink);
            total_weighted_[plane].squared += errors[plane].squared;
            total_weighted_[plane].samples += errors[plane].samples;
        }
        ++frames_;
    }

    void put(int64_t frame, int plane, const sse::WeightedErrors& errors, ScoreSink& sink) const {
        const double mse = errors.squared / errors.samples;
        sink.put(frame, 2 * plane, psnr_of(mse, errors.samples));
        if (options_.flag(kEnableMse)) sink.put(frame, 2 * plane + 1, mse);
    }

    double pixels(int plane) const {
        return static_cast<double>(geometry_.plane_width(plane)) * geometry_.plane_height(plane);
    }

    double psnr_of(double mse, double pixels) const {
        constexpr double kSmallestMse = 1e-16; // keeps identical planes finite
        return std::min(10.0 * std::log10(squared_peak_ / std::max(mse, kSmallestMse)), cap(pixels));
    }

    /// Highest score of a frame.
    double cap(double pixels) const {
        const double min_sse = options_.number(kMinSse);
        if (min_sse == 0.0) return 6 * geometry_.depth + 12;
        return std::ceil(10.0 * std::log10(squared_peak_ / (min_sse / pixels)));
    }

    sse::WeightedErrors total(int plane) const {
        if (geometry_.has_weights) return total_weighted_[plane];
        return {static_cast<double>(total_squared_errors_[plane]), pixels(plane) * static_cast<double>(frames_)};
    }

    /// The frames' cap does not apply; this one is the PSNR of half a unit of squared error in all.
    double psnr_of_stream(int plane) const {
        const sse::WeightedErrors errors = total(plane);
        const double log_peak = std::log10(static_cast<double>(squared_peak_));
        const double log_pixels = std::log10(errors.samples);
        const double log_errors = std::log10(errors.squared);
        const double psnr = 10.0 * (log_peak + log_pixels - log_errors);
        const auto whole = static_cast<uint64_t>(std::ceil(errors.samples));
        const double cap = std::ceil(10.0 * std::log10(static_cast<double>(squared_peak_ * whole * 2)));
        return std::min(psnr, cap);
    }

    const FrameGeometry geometry_;
    const OptionValues options_;
    const int planes_;
    const uint32_t squared_peak_;

    // Of the stream so far.
    int64_t frames_ = 0;
    std::array<uint64_t, kPlanes> total_squared_errors_{};
    std::array<sse::WeightedErrors, kPlanes> total_weighted_{}; ///< with weights
};

/// Every option but enable_chroma only changes what is made of the sums.
std::string stage(const FrameGeometry& geometry, const OptionValues& options) {
    return std::string(measured_planes(options, geometry) == kPlanes ? sse::kChromaStage : sse::kLumaStage);
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "psnr",
        .summary = "peak signal-to-noise ratio of luma and chroma",
        .every_frame = true,
        .needs_chroma = true,
        .accepts_weights = true,
        .options = kOptions,
        .outputs = kOutputs,
        .create_scorer = make_scorer<PsnrScorer>,
        .create_finaliser = make_finaliser<PsnrFinaliser>,
        .stage = stage,
    };
    return kDescriptor;
}

} // namespace qc::psnr
