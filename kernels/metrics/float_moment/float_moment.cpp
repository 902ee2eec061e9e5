// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_moment/float_moment.hpp"

#include <cmath>

#include "metrics/float_moment/float_moment_tile.hpp"

namespace qc::float_moment {
namespace {

constexpr int kWords = 4;

/// Word i of the accumulators makes output i.
constexpr OutputSpec kOutputs[kWords] = {
    {"float_moment_ref1st", "float_moment_ref1st"},
    {"float_moment_dis1st", "float_moment_dis1st"},
    {"float_moment_ref2nd", "float_moment_ref2nd"},
    {"float_moment_dis2nd", "float_moment_dis2nd"},
};

class FloatMomentMetric final : public Metric {
public:
    explicit FloatMomentMetric(const FrameGeometry& geometry) : geometry_(geometry) {}

    size_t accumulator_words() const override { return kWords; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        const Moments reference = sum_moments(pair.reference.plane[0], geometry_);
        const Moments distorted = sum_moments(pair.distorted.plane[0], geometry_);
        accumulators[0] = reference.first;
        accumulators[1] = distorted.first;
        accumulators[2] = reference.second;
        accumulators[3] = distorted.second;
    }

    Status prepare(DeviceProgram& program) override {
        const char* const name = geometry_.sample == SampleType::kU8 ? "float_moment_u8"
                                 : geometry_.depth <= 12             ? "float_moment_u16"
                                                                     : "float_moment_u16_full";
        return program.find(name, 0, &kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const int columns = kLoadBytes / static_cast<int>(geometry_.sample_bytes());
        const Dim3 grid{blocks_for(geometry_.width, columns * kLanes), blocks_for(geometry_.height, kTileHeight),
                        static_cast<unsigned>(batch.count)};
        const Dim3 block{static_cast<unsigned>(kTuning.warps * kLanes)};
        return queue.launch(kernel_, grid, block, batch.pairs, batch.accumulators, geometry_.width, geometry_.height);
    }

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        const double samples = static_cast<double>(geometry_.width) * geometry_.height;
        const int extra_bits = geometry_.depth - 8;
        for (int i = 0; i < kWords; ++i) {
            const int power = i < 2 ? 1 : 2;
            const double sum = std::ldexp(static_cast<double>(accumulators[i]), -power * extra_bits);
            sink.put(frame, i, sum / samples);
        }
    }

private:
    const FrameGeometry geometry_;
    Kernel kernel_;
};

Status validate(const FrameGeometry& geometry, const OptionValues&) {
    if (geometry.width < 1 || geometry.height < 1) {
        return invalid(format("float_moment: a picture of %dx%d has no samples", geometry.width, geometry.height));
    }
    const int depth = geometry.depth;
    if (depth != 8 && depth != 10 && depth != 12 && depth != 16) {
        return unsupported(format("float_moment: %d bits per sample, 8, 10, 12 and 16 are supported", depth));
    }
    return {};
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues&) {
    return std::make_unique<FloatMomentMetric>(geometry);
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_moment",
        .summary = "mean and mean square of luma",
        .short_name = "moment",
        .scope = Scope::kPair,
        .options = {},
        .outputs = kOutputs,
        .validate = validate,
        .create = create,
    };
    return kDescriptor;
}

} // namespace qc::float_moment
