// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ciede/ciede.hpp"

#include <bit>
#include <cmath>

#include "ciede/ciede_cpu.hpp"

namespace qc::ciede {
namespace {

constexpr OutputSpec kOutputs[] = {{"ciede2000", "ciede2000"}};

class CiedeMetric final : public Metric {
public:
    explicit CiedeMetric(const FrameGeometry& geometry) : geometry_(geometry) {}

    size_t accumulator_words() const override { return 1; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        accumulators[0] = std::bit_cast<uint64_t>(reference_sum(pair, geometry_));
    }

    Status prepare(DeviceProgram&) override { return {}; }
    Status enqueue(const DeviceBatch&, DeviceQueue&) const override { return {}; }

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        const double pixels = static_cast<double>(geometry_.width) * geometry_.height;
        const double mean = std::bit_cast<double>(accumulators[0]) / pixels;
        sink.put(frame, 0, 45.0 - 20.0 * std::log10(mean));
    }

private:
    const FrameGeometry geometry_;
};

Status validate(const FrameGeometry& geometry, const OptionValues&) {
    const int depth = geometry.depth;
    if (depth != 8 && depth != 10 && depth != 12 && depth != 16) {
        return unsupported(format("ciede: %d bits per sample, 8, 10, 12 and 16 are supported", depth));
    }
    if (geometry.chroma_width < 1 || geometry.chroma_height < 1) {
        return unsupported(format("ciede: a picture of %dx%d without chroma; chroma planes are needed, 2x2 is the "
                                  "smallest picture where they are halved",
                                  geometry.width, geometry.height));
    }
    return {};
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues&) {
    return std::make_unique<CiedeMetric>(geometry);
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "ciede",
        .summary = "mean CIEDE2000 colour difference, in decibels",
        .scope = Scope::kPair,
        .needs_chroma = true,
        .options = {},
        .outputs = kOutputs,
        .validate = validate,
        .create = create,
    };
    return kDescriptor;
}

} // namespace qc::ciede
