// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_moment/float_moment.hpp"

#include <cmath>

#include "metrics/float_moment/float_moment_kernels.hpp"

namespace qc::float_moment {
namespace {

/// Word i of the accumulators makes output i.
constexpr OutputSpec kOutputs[kWords] = {
    {"float_moment_ref1st", "float_moment_ref1st"},
    {"float_moment_dis1st", "float_moment_dis1st"},
    {"float_moment_ref2nd", "float_moment_ref2nd"},
    {"float_moment_dis2nd", "float_moment_dis2nd"},
};

class FloatMomentScorer final : public Scorer {
public:
    FloatMomentScorer(const FrameGeometry& geometry, const OptionValues&) : geometry_(geometry) {}

    size_t accumulator_words() const override {
        return geometry_.has_weights ? size_t{kWeightedWords} : size_t{kWords};
    }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        if (geometry_.has_weights) return score_weighted_cpu(pair, geometry_, accumulators);
        const Moments reference = score_cpu(pair.reference.plane[0], geometry_);
        const Moments distorted = score_cpu(pair.distorted.plane[0], geometry_);
        accumulators[0] = reference.first;
        accumulators[1] = distorted.first;
        accumulators[2] = reference.second;
        accumulators[3] = distorted.second;
    }

    Status prepare(DeviceProgram& program) override {
        if (geometry_.has_weights)
            return program.find(for_samples(geometry_, kernels::float_moment_weighted_u8,
                                            kernels::float_moment_weighted_u16,
                                            kernels::float_moment_weighted_u16_full),
                                &kernel_);
        return program.find(
            for_samples(geometry_, kernels::float_moment_u8, kernels::float_moment_u16, kernels::float_moment_u16_full),
            &kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const int columns = geometry_.has_weights ? 1 : kLoadBytes / static_cast<int>(geometry_.sample_bytes());
        const Dim3 grid{blocks_for(geometry_.width, columns * kLanes), blocks_for(geometry_.height, kTileHeight),
                        static_cast<unsigned>(batch.count)};
        return queue.launch(kernel_, grid,
                            TileArguments{batch.pairs, batch.accumulators, geometry_.width, geometry_.height});
    }

private:
    const FrameGeometry geometry_;
    LoadedKernel<TileArguments> kernel_;
};

class FloatMomentFinaliser final : public Finaliser {
public:
    FloatMomentFinaliser(const FrameGeometry& geometry, const OptionValues&) : geometry_(geometry) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        if (geometry_.has_weights && accumulators[kSumOfWeights] == 0) return sink.leave_out(frame);
        const double samples = geometry_.has_weights ? static_cast<double>(accumulators[kSumOfWeights]) / kFullWeight
                                                     : static_cast<double>(geometry_.width) * geometry_.height;
        const int extra_bits = geometry_.depth - 8;
        for (int i = 0; i < kWords; ++i) {
            const int power = i < 2 ? 1 : 2;
            sink.put(frame, i, std::ldexp(sum_of(accumulators, i), -power * extra_bits) / samples);
        }
    }

private:
    /// Of the words without weights; with them, in units of samples that count whole.
    double sum_of(std::span<const uint64_t> accumulators, int word) const {
        if (!geometry_.has_weights) return static_cast<double>(accumulators[word]);
        const double low = static_cast<double>(accumulators[word]);
        if (word < kLowSquares) return low / kFullWeight;
        return (static_cast<double>(accumulators[word + kHighSquares - kLowSquares]) * 65536.0 + low) / kFullWeight;
    }

    const FrameGeometry geometry_;
};

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_moment",
        .summary = "mean and mean square of luma",
        .short_name = "moment",
        .accepts_weights = true,
        .options = {},
        .outputs = kOutputs,
        .create_scorer = make_scorer<FloatMomentScorer>,
        .create_finaliser = make_finaliser<FloatMomentFinaliser>,
    };
    return kDescriptor;
}

} // namespace qc::float_moment
