// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssim/ssim.hpp"

#include <cmath>

#include "metrics/ssim/ssim_phases.hpp"

namespace qc::ssim {
namespace {

constexpr OutputSpec kOutputs[] = {{"ssim", "ssim"}};

/// Sum of the weights of all windows along a side.
double total_weight(int side) {
    uint64_t sum = 0;
    for (int i = 0; i < side; ++i) sum += weight_at(i, side);
    return static_cast<double>(sum);
}

class SsimMetric final : public Metric {
public:
    explicit SsimMetric(const FrameGeometry& geometry)
        : geometry_(geometry),
          fixed_(structural::FixedPoint::for_sum_of(static_cast<int64_t>(geometry.width) * geometry.height)) {}

    size_t accumulator_words() const override { return 1; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        accumulators[0] = sum_terms(pair, geometry_, fixed_);
    }

    Status prepare(DeviceProgram& program) override {
        const char* const name = geometry_.sample == SampleType::kU8 ? "ssim_u8"
                                 : geometry_.depth <= 12             ? "ssim_u16"
                                                                     : "ssim_u16_full";
        return program.find(name, 0, &kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const Task task{batch.pairs,      batch.accumulators,           geometry_.width,
                        geometry_.height, (1u << geometry_.depth) - 1u, fixed_};
        const Dim3 grid{blocks_for(geometry_.width, kTileWidth), blocks_for(geometry_.height, kTileHeight),
                        static_cast<unsigned>(batch.count)};
        return queue.launch(kernel_, grid, Dim3{static_cast<unsigned>(kThreads)}, task);
    }

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        const double total = std::ldexp(fixed_.to_double(accumulators[0]), kWeightBits);
        sink.put(frame, 0, total / (total_weight(geometry_.width) * total_weight(geometry_.height)));
    }

private:
    const FrameGeometry geometry_;
    const structural::FixedPoint fixed_;
    Kernel kernel_;
};

Status validate(const FrameGeometry& geometry, const OptionValues&) {
    if (geometry.width < 1 || geometry.height < 1) {
        return invalid(format("ssim: a picture of %dx%d has no samples", geometry.width, geometry.height));
    }
    return {};
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues&) {
    return std::make_unique<SsimMetric>(geometry);
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "ssim",
        .summary = "structural similarity of luma in integers, at full resolution (Daala's)",
        .short_name = "integer_ssim",
        .scope = Scope::kPair,
        .options = {},
        .outputs = kOutputs,
        .validate = validate,
        .create = create,
    };
    return kDescriptor;
}

} // namespace qc::ssim
