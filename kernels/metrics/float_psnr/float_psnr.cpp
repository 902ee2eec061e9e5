// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_psnr/float_psnr.hpp"

#include "families/sse/sse.hpp"
#include "families/sse/sse_tile.hpp"
#include "metrics/float_psnr/float_psnr_math.hpp"

namespace qc::float_psnr {
namespace {

constexpr OutputSpec kOutputs[] = {{"float_psnr", "float_psnr"}};

class FloatPsnrMetric final : public Metric {
public:
    explicit FloatPsnrMetric(const FrameGeometry& geometry) : geometry_(geometry) {}

    size_t accumulator_words() const override { return 1; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        accumulators[0] = score_pair(pair, geometry_);
    }

    Status prepare(DeviceProgram& program) override {
        const char* const name = geometry_.sample == SampleType::kU8  ? "float_psnr_u8"
                                 : squares_are_exact(geometry_.depth) ? "float_psnr_u16"
                                                                      : "float_psnr_u16_rounded";
        return program.find(name, 0, &kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const sse::SseTask task = sse::make_task(geometry_, false);
        const Dim3 grid{static_cast<unsigned>(task.luma.tiles), 1, static_cast<unsigned>(batch.count)};
        const Dim3 block{static_cast<unsigned>(sse::kTuning.warps * sse::kLanes)};
        return queue.launch(kernel_, grid, block, batch.pairs, batch.accumulators, task);
    }

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        sink.put(frame, 0, float_psnr::score(accumulators[0], geometry_.width * geometry_.height, geometry_.depth));
    }

private:
    const FrameGeometry geometry_;
    Kernel kernel_;
};

Status validate(const FrameGeometry& geometry, const OptionValues&) {
    if (geometry.width < 1 || geometry.height < 1) {
        return invalid(format("float_psnr: a picture of %dx%d has no samples", geometry.width, geometry.height));
    }
    const int depth = geometry.depth;
    if (depth != 8 && depth != 10 && depth != 12 && depth != 16) {
        return unsupported(format("float_psnr: %d bits per sample, 8, 10, 12 and 16 are supported", depth));
    }
    return {};
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues&) {
    return std::make_unique<FloatPsnrMetric>(geometry);
}

std::string stage(const FrameGeometry& geometry, const OptionValues&) {
    return squares_are_exact(geometry.depth) ? std::string(sse::kLumaStage) : std::string();
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_psnr",
        .summary = "peak signal-to-noise ratio of luma, as libvmaf's float extractors compute it",
        .scope = Scope::kPair,
        .options = {},
        .outputs = kOutputs,
        .validate = validate,
        .create = create,
        .stage = stage,
    };
    return kDescriptor;
}

} // namespace qc::float_psnr
