// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_ansnr/float_ansnr.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "metrics/float_ansnr/float_ansnr_tile.hpp"

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

class FloatAnsnrMetric final : public Metric {
public:
    explicit FloatAnsnrMetric(const FrameGeometry& geometry)
        : geometry_(geometry), task_{CentredLuma(geometry.depth), geometry.width, geometry.height} {}

    size_t accumulator_words() const override { return kSums; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        const Energies sums = sum_energies(pair.reference.plane[0], pair.distorted.plane[0], geometry_);
        accumulators[0] = std::bit_cast<uint64_t>(static_cast<double>(sums.signal));
        accumulators[1] = std::bit_cast<uint64_t>(static_cast<double>(sums.noise));
    }

    size_t scratch_bytes(int count) const override {
        return static_cast<size_t>(count) * task_.height * kSums * sizeof(float);
    }

    Status prepare(DeviceProgram& program) override {
        const bool bytes = geometry_.sample == SampleType::kU8;
        QC_RETURN_IF_ERROR(program.find(bytes ? "float_ansnr_u8" : "float_ansnr_u16", 0, &rows_));
        return program.find("float_ansnr_finish", 0, &finish_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        float* const rows = static_cast<float*>(batch.scratch);
        const auto count = static_cast<unsigned>(batch.count);
        QC_RETURN_IF_ERROR(
            queue.launch(rows_, {blocks_for(task_.height, kTileRows), 1, count}, {kThreads}, batch.pairs, task_, rows));
        return queue.launch(finish_, {1, 1, count}, {kSums * kLanes}, batch.pairs, static_cast<const float*>(rows),
                            task_.height, batch.accumulators);
    }

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        const auto signal = static_cast<float>(std::bit_cast<double>(accumulators[0]));
        const auto noise = static_cast<float>(std::bit_cast<double>(accumulators[1]));
        const Scale scale = scale_of(geometry_.depth);
        // The ratio is rounded to single precision; only the score of the peak is capped.
        const double ratio = noise == 0.0f ? scale.cap : 10.0 * std::log10(static_cast<double>(signal / noise));
        const double peak_energy = scale.peak * scale.peak * geometry_.width * geometry_.height;
        const double peak_ratio = peak_energy / std::max(static_cast<double>(noise), 1e-10);
        sink.put(frame, kAnsnr, ratio);
        sink.put(frame, kAnpsnr, std::min(10.0 * std::log10(peak_ratio), scale.cap));
    }

private:
    const FrameGeometry geometry_;
    const Task task_;
    Kernel rows_, finish_;
};

Status validate(const FrameGeometry& geometry, const OptionValues&) {
    if (!has_float_luma(geometry.depth)) {
        return unsupported(format("float_ansnr: %d bits per sample, 8, 10, 12 and 16 are supported", geometry.depth));
    }
    if (geometry.width < kMinimumSize || geometry.height < kMinimumSize) {
        return unsupported(format("float_ansnr needs pictures of at least %dx%d, these are %dx%d", kMinimumSize,
                                  kMinimumSize, geometry.width, geometry.height));
    }
    return {};
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues&) {
    return std::make_unique<FloatAnsnrMetric>(geometry);
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_ansnr",
        .summary = "signal to noise ratio after smoothing the reference a little, the distorted picture a lot",
        .short_name = "ansnr",
        .scope = Scope::kPair,
        .options = {},
        .outputs = kOutputs,
        .validate = validate,
        .create = create,
    };
    return kDescriptor;
}

} // namespace qc::float_ansnr
