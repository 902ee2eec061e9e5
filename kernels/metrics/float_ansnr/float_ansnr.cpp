// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_ansnr/float_ansnr.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "metrics/float_ansnr/float_ansnr_kernels.hpp"

namespace qc::float_ansnr {
namespace {

enum Output { kAnsnr, kAnpsnr };
constexpr OutputSpec kOutputs[] = {
    {"float_ansnr", "float_ansnr"},
    {"float_anpsnr", "float_anpsnr"},
};

/// Largest sample on the 8-bit scale, and the score of pictures without noise.
struct Scale {
    double peak, cap;
};

Scale scale_of(int depth) {
    return {256.0 - std::ldexp(1.0, 8 - depth), 6.0 * depth + 12.0};
}

class FloatAnsnrScorer final : public Scorer {
public:
    FloatAnsnrScorer(const FrameGeometry& geometry, const OptionValues&)
        : geometry_(geometry), task_{CentredLuma(geometry.depth), geometry.width, geometry.height} {}

    size_t accumulator_words() const override { return geometry_.has_weights ? kWeightedWords : kSums; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        const Energies sums = score_cpu(geometry_, pair);
        accumulators[0] = std::bit_cast<uint64_t>(static_cast<double>(sums.signal));
        accumulators[1] = std::bit_cast<uint64_t>(static_cast<double>(sums.noise));
        if (geometry_.has_weights) accumulators[kSumOfWeights] = sums.weights;
    }

    /// Sums of the rows.
    size_t scratch_bytes(int count) const override {
        return static_cast<size_t>(count) * task_.height * kSums * sizeof(float);
    }

    Status prepare(DeviceProgram& program) override {
        using namespace kernels;
        const bool bytes = geometry_.sample == SampleType::kU8, has_weights = geometry_.has_weights;
        QC_RETURN_IF_ERROR(program.find(bytes         ? has_weights ? float_ansnr_rows_u8_weighted : float_ansnr_rows_u8
                                        : has_weights ? float_ansnr_rows_u16_weighted
                                                      : float_ansnr_rows_u16,
                                        &rows_));
        return program.find(kernels::float_ansnr_total, &total_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        auto* const rows = static_cast<float*>(batch.scratch);
        const auto count = static_cast<unsigned>(batch.count);
        const Dim3 bands{blocks_for(task_.height, kTileRows), 1, count}, pairs{1, 1, count};
        QC_RETURN_IF_ERROR(queue.launch(rows_, bands, BandArguments{batch.pairs, rows, task_, batch.accumulators}));
        return queue.launch(
            total_, pairs,
            TotalArguments{batch.pairs, batch.accumulators, rows, task_.height, static_cast<int>(accumulator_words())});
    }

private:
    const FrameGeometry geometry_;
    const Task task_;
    LoadedKernel<BandArguments> rows_;
    LoadedKernel<TotalArguments> total_;
};

class FloatAnsnrFinaliser final : public Finaliser {
public:
    FloatAnsnrFinaliser(const FrameGeometry& geometry, const OptionValues&)
        : scale_(scale_of(geometry.depth)), peak_energy_(scale_.peak * scale_.peak * geometry.width * geometry.height),
          has_weights_(geometry.has_weights) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        if (has_weights_ && accumulators[kSumOfWeights] == 0) return sink.leave_out(frame);
        const double peak_energy =
            has_weights_ ? scale_.peak * scale_.peak * (static_cast<double>(accumulators[kSumOfWeights]) / kFullWeight)
                         : peak_energy_;
        const auto signal = static_cast<float>(std::bit_cast<double>(accumulators[0]));
        const auto noise = static_cast<float>(std::bit_cast<double>(accumulators[1]));
        // The ratio is rounded to single precision; only the score of the peak is capped.
        const double ratio = noise == 0.0f ? scale_.cap : 10.0 * std::log10(static_cast<double>(signal / noise));
        const double peak_ratio = peak_energy / std::max(static_cast<double>(noise), 1e-10);
        sink.put(frame, kAnsnr, ratio);
        sink.put(frame, kAnpsnr, std::min(10.0 * std::log10(peak_ratio), scale_.cap));
    }

private:
    const Scale scale_;
    const double peak_energy_; ///< of a picture whose samples are all off by the peak
    const bool has_weights_;
};

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_ansnr",
        .summary = "signal to noise ratio after smoothing the reference a little, the distorted picture a lot",
        .short_name = "ansnr",
        .accepts_weights = true,
        .options = {},
        .outputs = kOutputs,
        .smallest = {kMinimumSize, kMinimumSize},
        .create_scorer = make_scorer<FloatAnsnrScorer>,
        .create_finaliser = make_finaliser<FloatAnsnrFinaliser>,
    };
    return kDescriptor;
}

} // namespace qc::float_ansnr
