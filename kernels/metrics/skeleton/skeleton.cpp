// SPDX-License-Identifier: BSD-2-Clause-Patent
// Descriptor, launches and host finalisation.
#include "metrics/skeleton/skeleton.hpp"

#include <array>

#include "metrics/skeleton/skeleton_metric.hpp"
#include "metrics/skeleton/skeleton_tuning.hpp"

namespace qc::skeleton {
namespace {

enum OptionIndex { kScale };
enum OutputIndex { kMad };

constexpr std::array kOptions{
    OptionSpec{"skeleton_scale", "sc", OptionType::kDouble, 1.0, 0.0, 1000.0, "factor on the score"},
};

constexpr std::array kOutputs{
    OutputSpec{"skeleton_mad", "skeleton_mad"},
};

Status validate(const FrameGeometry&, const OptionValues&) {
    return {};
} // any size is defined

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues& options) {
    return std::make_unique<SkeletonMetric>(geometry, options);
}

} // namespace

const MetricDescriptor& descriptor() {
    static const MetricDescriptor kDescriptor = [] {
        MetricDescriptor d;
        d.name = "skeleton";
        d.summary = "mean absolute luma difference (example of a metric)";
        d.is_example = true; // not so for a real metric
        d.templated_names = true;
        d.options = kOptions;
        d.outputs = kOutputs;
        d.validate = validate;
        d.create = create;
        return d;
    }();
    return kDescriptor;
}

SkeletonMetric::SkeletonMetric(const FrameGeometry& geometry, const OptionValues& options)
    : geometry_(geometry), scale_(options.number(kScale)) {}

Status SkeletonMetric::prepare(DeviceProgram& program) {
    const char* name = geometry_.sample == SampleType::kU8 ? "skeleton_u8" : "skeleton_u16";
    return program.find(name, 0, &kernel_);
}

Status SkeletonMetric::enqueue(const DeviceBatch& batch, DeviceQueue& queue) const {
    const Dim3 grid{1, blocks_for(geometry_.height, kRowsPerBlock), static_cast<unsigned>(batch.count)};
    return queue.launch(kernel_, grid, Dim3{kBlockThreads}, batch.pairs, batch.accumulators, geometry_.width,
                        geometry_.height);
}

void SkeletonMetric::finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) {
    const double samples = static_cast<double>(geometry_.width) * geometry_.height;
    sink.put(frame, kMad, static_cast<double>(accumulators[0]) / samples * scale_);
}

} // namespace qc::skeleton
