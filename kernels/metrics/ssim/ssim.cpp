// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssim/ssim.hpp"

#include <cmath>

#include "device/weights.hpp"
#include "metrics/ssim/ssim_kernels.hpp"

namespace qc::ssim {
namespace {

constexpr OutputSpec kOutputs[] = {{"ssim", "ssim"}};

/// Sum of the weights of all windows along a side.
double total_weight(int side) {
    uint64_t sum = 0;
    for (int i = 0; i < side; ++i) sum += weight_at(i, side);
    return static_cast<double>(sum);
}

structural::FixedPoint fixed_point_of(const FrameGeometry& geometry) {
    const int64_t positions = static_cast<int64_t>(geometry.width) * geometry.height;
    return structural::FixedPoint::for_sum_of(geometry.has_weights ? positions * kFullWeight : positions);
}

class SsimScorer final : public Scorer {
public:
    SsimScorer(const FrameGeometry& geometry, const OptionValues& /*options*/)
        : geometry_(geometry), fixed_(fixed_point_of(geometry)) {}

    size_t accumulator_words() const override { return geometry_.has_weights ? kWeightedWords : 1; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        if (geometry_.has_weights) return score_cpu(geometry_, fixed_, pair, accumulators);
        score_cpu_rows(geometry_, fixed_, pair, accumulators);
    }

    Status prepare(DeviceProgram& program) override {
        if (takes_strips()) return program.find(kernels::ssim_u8, &strips_);
        const bool is_full = geometry_.depth > 12;
        const auto& plain = is_full ? kernels::ssim_u16_full : kernels::ssim_u16;
        const auto& has_weights = for_samples(geometry_, kernels::ssim_weighted_u8, kernels::ssim_weighted_u16,
                                              kernels::ssim_weighted_u16_full);
        return program.find(geometry_.has_weights ? has_weights : plain, &kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        if (takes_strips()) return enqueue_strips(batch, queue);
        const Dim3 grid{blocks_for(geometry_.width, kTileWidth), blocks_for(geometry_.height, kTileHeight),
                        static_cast<unsigned>(batch.count)};
        return queue.launch(kernel_, grid,
                            Task{batch.pairs, batch.accumulators, geometry_.width, geometry_.height,
                                 (1u << geometry_.depth) - 1u, fixed_});
    }

private:
    bool takes_strips() const { return geometry_.sample == SampleType::kU8 && !geometry_.has_weights; }

    Status enqueue_strips(const DeviceBatch& batch, DeviceQueue& queue) const {
        StripTask task{};
        task.pairs = batch.pairs;
        task.accumulators = batch.accumulators;
        task.width = geometry_.width;
        task.height = geometry_.height;
        task.fixed = fixed_;
        divide(&task, batch.count);
        return queue.launch(strips_, {ScoreBytes::blocks(task), 1, static_cast<unsigned>(batch.count)}, task);
    }

    const FrameGeometry geometry_;
    const structural::FixedPoint fixed_;
    LoadedKernel<Task> kernel_;
    LoadedKernel<StripTask> strips_; ///< of samples of 8 bits
};

class SsimFinaliser final : public Finaliser {
public:
    SsimFinaliser(const FrameGeometry& geometry, const OptionValues& /*options*/)
        : has_weights_(geometry.has_weights), weights_(total_weight(geometry.width) * total_weight(geometry.height)),
          fixed_(fixed_point_of(geometry)) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        const double weights = has_weights_ ? static_cast<double>(accumulators[kWeights]) : weights_;
        if (weights == 0.0) return sink.leave_out(frame);
        sink.put(frame, 0, std::ldexp(fixed_.to_double(accumulators[kIndices]), kWeightBits) / weights);
    }

private:
    const bool has_weights_;
    const double weights_; ///< of all windows
    const structural::FixedPoint fixed_;
};

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "ssim",
        .summary = "structural similarity of luma in integers, at full resolution (Daala's)",
        .short_name = "integer_ssim",
        .accepts_weights = true,
        .options = {},
        .outputs = kOutputs,
        .create_scorer = make_scorer<SsimScorer>,
        .create_finaliser = make_finaliser<SsimFinaliser>,
    };
    return kDescriptor;
}

} // namespace qc::ssim
