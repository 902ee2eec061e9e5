// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_psnr/float_psnr.hpp"

#include "families/sse/sse.hpp"
#include "families/sse/sse_launch.hpp"
#include "metrics/float_psnr/float_psnr_kernels.hpp"
#include "metrics/float_psnr/float_psnr_math.hpp"

namespace qc::float_psnr {
namespace {

constexpr OutputSpec kOutputs[] = {{"float_psnr", "float_psnr"}};

class FloatPsnrScorer final : public Scorer {
public:
    FloatPsnrScorer(const FrameGeometry& geometry, const OptionValues&)
        : geometry_(geometry), task_(sse::make_task(geometry, false)) {}

    size_t accumulator_words() const override { return geometry_.has_weights ? sse::kWeightedWords : 1; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        if (geometry_.has_weights) return score_weighted_cpu(pair, geometry_, accumulators);
        accumulators[0] = score_cpu(pair, geometry_);
    }

    Status prepare(DeviceProgram& program) override {
        static_assert(squares_are_exact(12) && !squares_are_exact(16)); // what for_samples tells apart
        if (geometry_.has_weights)
            return program.find(for_samples(geometry_, kernels::sse_weighted_u8, kernels::sse_weighted_u16,
                                            kernels::float_psnr_weighted_rounded),
                                &weighted_kernel_);
        return program.find(
            for_samples(geometry_, kernels::float_psnr_u8, kernels::float_psnr_u16, kernels::float_psnr_u16_rounded),
            &kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        if (geometry_.has_weights) return sse::launch_weighted(queue, weighted_kernel_, batch, geometry_, 1);
        return sse::launch_sse(queue, kernel_, batch, task_);
    }

private:
    const FrameGeometry geometry_;
    const sse::SseTask task_;
    LoadedKernel<sse::SseArguments> kernel_;
    LoadedKernel<sse::WeightedArguments> weighted_kernel_;
};

class FloatPsnrFinaliser final : public Finaliser {
public:
    FloatPsnrFinaliser(const FrameGeometry& geometry, const OptionValues&) : geometry_(geometry) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        sse::WeightedErrors errors{static_cast<double>(accumulators[0]),
                                   static_cast<double>(geometry_.width) * geometry_.height};
        if (geometry_.has_weights) errors = sse::weighted_errors(accumulators, sse::weighted_plane(geometry_, 0));
        if (errors.samples == 0.0) return sink.leave_out(frame);
        sink.put(frame, 0, score(errors.squared, errors.samples, geometry_.depth));
    }

private:
    const FrameGeometry geometry_;
};

std::string stage(const FrameGeometry& geometry, const OptionValues&) {
    return squares_are_exact(geometry.depth) ? std::string(sse::kLumaStage) : std::string();
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_psnr",
        .summary = "peak signal-to-noise ratio of luma, as libvmaf's float extractors compute it",
        .accepts_weights = true,
        .options = {},
        .outputs = kOutputs,
        .create_scorer = make_scorer<FloatPsnrScorer>,
        .create_finaliser = make_finaliser<FloatPsnrFinaliser>,
        .stage = stage,
    };
    return kDescriptor;
}

} // namespace qc::float_psnr
