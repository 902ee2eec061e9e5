// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/psnr_hvs/psnr_hvs.hpp"

#include <bit>
#include <cmath>

#include "metrics/psnr_hvs/psnr_hvs_kernels.hpp"

namespace qc::psnr_hvs {
namespace {

/// Plane p writes output p.
enum Output { kLuma, kCb, kCr, kCombined };
constexpr OutputSpec kOutputs[] = {
    {"psnr_hvs_y", "psnr_hvs_y"},
    {"psnr_hvs_cb", "psnr_hvs_cb"},
    {"psnr_hvs_cr", "psnr_hvs_cr"},
    {"psnr_hvs", "psnr_hvs"},
};

double decibels(double error) {
    return 10.0 * -std::log10(error);
}

class PsnrHvsScorer final : public Scorer {
public:
    PsnrHvsScorer(const FrameGeometry& geometry, const OptionValues&)
        : geometry_(geometry), task_(make_task(geometry)) {}

    size_t accumulator_words() const override { return geometry_.has_weights ? kWeightedWords : kPlanes; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu(geometry_, pair, accumulators);
    }

    size_t scratch_bytes(int count) const override {
        return scratch_bytes_of(task_, count) + (geometry_.has_weights ? weight_bytes_of(task_, count) : 0);
    }

    Status prepare(DeviceProgram& program) override {
        const bool bytes = geometry_.sample == SampleType::kU8;
        QC_RETURN_IF_ERROR(program.find(bytes ? kernels::psnr_hvs_terms_u8 : kernels::psnr_hvs_terms_u16, &terms_));
        QC_RETURN_IF_ERROR(program.find(kernels::psnr_hvs_guess, &guess_));
        QC_RETURN_IF_ERROR(program.find(kernels::psnr_hvs_transitions, &transitions_));
        if (!geometry_.has_weights) return program.find(kernels::psnr_hvs_walk, &walk_);
        QC_RETURN_IF_ERROR(program.find(kernels::psnr_hvs_weigh_blocks, &weigh_blocks_));
        QC_RETURN_IF_ERROR(program.find(kernels::psnr_hvs_weigh_terms, &weigh_terms_));
        return program.find(kernels::psnr_hvs_walk_weighted, &walk_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const BatchArguments arguments{batch.pairs, batch.accumulators, make_scratch(batch.scratch, task_, batch.count),
                                       task_};
        const auto count = static_cast<unsigned>(batch.count);
        const Dim3 by_group{blocks_for(task_.groups, kTuning.warps), 1, count}, by_plane{kPlanes, 1, count};
        QC_RETURN_IF_ERROR(queue.launch(terms_, by_group, arguments));
        if (geometry_.has_weights) QC_RETURN_IF_ERROR(weigh(arguments, batch, by_group, queue));
        QC_RETURN_IF_ERROR(queue.launch(guess_, by_plane, arguments));
        QC_RETURN_IF_ERROR(queue.launch(transitions_, by_group, arguments));
        return queue.launch(walk_, by_plane, arguments);
    }

private:
    Status weigh(const BatchArguments& arguments, const DeviceBatch& batch, const Dim3& by_group,
                 DeviceQueue& queue) const {
        WeightedArguments has_weights{arguments, nullptr, {}};
        has_weights.weights =
            reinterpret_cast<uint32_t*>(static_cast<char*>(batch.scratch) + scratch_bytes_of(task_, batch.count));
        for (int p = 0; p < kPlanes; ++p) has_weights.plane[p] = sse::weighted_plane(geometry_, p);
        QC_RETURN_IF_ERROR(queue.launch(weigh_blocks_, by_group, has_weights));
        return queue.launch(weigh_terms_, by_group, has_weights);
    }

    const FrameGeometry geometry_;
    const Task task_;
    LoadedKernel<BatchArguments> terms_, guess_, transitions_, walk_;
    LoadedKernel<WeightedArguments> weigh_blocks_, weigh_terms_;
};

class PsnrHvsFinaliser final : public Finaliser {
public:
    PsnrHvsFinaliser(const FrameGeometry& geometry, const OptionValues&)
        : has_weights_(geometry.has_weights), task_(make_task(geometry)), peak_((1 << geometry.depth) - 1) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        for (int p = 0; has_weights_ && p < kPlanes; ++p)
            if (accumulators[kSumsOfWeights + p] == 0) return sink.leave_out(frame);
        double error[kPlanes];
        for (int p = 0; p < kPlanes; ++p) {
            error[p] = mean_error(p, std::bit_cast<double>(accumulators[p]));
            sink.put(frame, p, decibels(error[p]));
        }
        const double combined = 0.8 * error[kLuma] + 0.1 * (error[kCb] + error[kCr]);
        sink.put(frame, kCombined, decibels(combined));
    }

private:
    /// Relative to the squared peak. Two divisions in single precision, as in libvmaf.
    float mean_error(int plane, double sum) const {
        const float samples = static_cast<float>(kBlockSize * static_cast<int64_t>(task_.plane[plane].blocks));
        const float mean = static_cast<float>(sum) / samples;
        return mean / static_cast<float>(peak_ * peak_);
    }

    const bool has_weights_;
    const Task task_;
    const int32_t peak_; ///< largest sample
};

/// A block in every plane.
PictureSize smallest_picture(const FrameGeometry& geometry, const OptionValues&) {
    const int factor_x = geometry.chroma_width == geometry.width ? 1 : 2;
    const int factor_y = geometry.chroma_height == geometry.height ? 1 : 2;
    return {factor_x * kBlockSide, factor_y * kBlockSide};
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "psnr_hvs",
        .summary = "PSNR of contrast-sensitivity weighted DCT errors with contrast masking",
        .needs_chroma = true,
        .accepts_weights = true,
        .options = {},
        .outputs = kOutputs,
        .requires_chroma = true,
        .largest_depth = 12, // what the integer transform has room for
        .smallest_picture = smallest_picture,
        .create_scorer = make_scorer<PsnrHvsScorer>,
        .create_finaliser = make_finaliser<PsnrHvsFinaliser>,
    };
    return kDescriptor;
}

} // namespace qc::psnr_hvs
