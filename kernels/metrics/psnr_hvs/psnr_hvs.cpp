// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/psnr_hvs/psnr_hvs.hpp"

#include <bit>
#include <cmath>

#include "metrics/psnr_hvs/psnr_hvs_tile.hpp"

namespace qc::psnr_hvs {
namespace {

constexpr int kLargestDepth = 12;

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

class PsnrHvsMetric final : public Metric {
public:
    explicit PsnrHvsMetric(const FrameGeometry& geometry) : geometry_(geometry), task_(make_task(geometry)) {}

    size_t accumulator_words() const override { return kPlanes; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        for (int p = 0; p < kPlanes; ++p) {
            const double sum = weighted_error(pair.reference.plane[p], pair.distorted.plane[p],
                                              geometry_.plane_width(p), geometry_.plane_height(p), p, geometry_.sample);
            accumulators[p] = std::bit_cast<uint64_t>(sum);
        }
    }

    size_t scratch_bytes(int count) const override { return scratch_bytes_of(task_, count); }

    Status prepare(DeviceProgram& program) override {
        const bool bytes = geometry_.sample == SampleType::kU8;
        QC_RETURN_IF_ERROR(program.find(bytes ? "psnr_hvs_terms_u8" : "psnr_hvs_terms_u16", 0, &terms_));
        QC_RETURN_IF_ERROR(program.find("psnr_hvs_guess", 0, &guess_));
        QC_RETURN_IF_ERROR(program.find("psnr_hvs_maps", 0, &maps_));
        return program.find("psnr_hvs_walk", 0, &walk_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const Scratch scratch = make_scratch(batch.scratch, task_, batch.count);
        const auto count = static_cast<unsigned>(batch.count);
        const Dim3 by_group{blocks_for(task_.groups, kTuning.warps), 1, count}, by_plane{kPlanes, 1, count};
        const Dim3 block{static_cast<unsigned>(kTuning.warps * kLanes)}, warp{kLanes};
        QC_RETURN_IF_ERROR(queue.launch(terms_, by_group, block, batch.pairs, task_, scratch));
        QC_RETURN_IF_ERROR(queue.launch(guess_, by_plane, warp, task_, scratch));
        QC_RETURN_IF_ERROR(queue.launch(maps_, by_group, block, task_, scratch));
        return queue.launch(walk_, by_plane, warp, batch.pairs, batch.accumulators, task_, scratch);
    }

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
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
        const int32_t peak = (1 << geometry_.depth) - 1;
        const float samples = static_cast<float>(kBlockSize * static_cast<int64_t>(task_.plane[plane].blocks));
        const float mean = static_cast<float>(sum) / samples;
        return mean / static_cast<float>(peak * peak);
    }

    const FrameGeometry geometry_;
    const Task task_;
    Kernel terms_, guess_, maps_, walk_;
};

Status validate(const FrameGeometry& geometry, const OptionValues&) {
    const int depth = geometry.depth;
    if (depth < 8 || depth > kLargestDepth) {
        return unsupported(format("psnr_hvs: %d bits per sample, 8 to %d are supported", depth, kLargestDepth));
    }
    if (geometry.chroma_width < 1 || geometry.chroma_height < 1) {
        return unsupported(format("psnr_hvs: a picture of %dx%d without chroma; chroma planes are needed",
                                  geometry.width, geometry.height));
    }
    const int factor_x = geometry.chroma_width == geometry.width ? 1 : 2;
    const int factor_y = geometry.chroma_height == geometry.height ? 1 : 2;
    if (geometry.chroma_width < kBlockSide || geometry.chroma_height < kBlockSide) {
        return unsupported(format("psnr_hvs: a picture of %dx%d is too small, %dx%d is the smallest with this chroma "
                                  "subsampling",
                                  geometry.width, geometry.height, factor_x * kBlockSide, factor_y * kBlockSide));
    }
    return {};
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues&) {
    return std::make_unique<PsnrHvsMetric>(geometry);
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "psnr_hvs",
        .summary = "PSNR of contrast-sensitivity weighted DCT errors with contrast masking",
        .scope = Scope::kPair,
        .needs_chroma = true,
        .options = {},
        .outputs = kOutputs,
        .validate = validate,
        .create = create,
    };
    return kDescriptor;
}

} // namespace qc::psnr_hvs
