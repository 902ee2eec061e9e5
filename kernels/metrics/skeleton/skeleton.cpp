// SPDX-License-Identifier: BSD-2-Clause-Patent
// Descriptor, scorer and finaliser: all that the engine sees of the metric (contract/metric.hpp).
#include "metrics/skeleton/skeleton.hpp"

#include "metrics/skeleton/skeleton_kernels.hpp"

namespace qc::skeleton {
namespace {

enum OptionIndex { kScale };
enum OutputIndex { kMad };

// Name, form in score names, type, default, smallest, largest, help.
constexpr OptionSpec kOptions[] = {
    {"skeleton_scale", "sc", OptionType::kDouble, 1.0, 0.0, 1000.0, "factor on the score"},
};

// The name that models ask for, the name in logs.
constexpr OutputSpec kOutputs[] = {{"skeleton_mad", "skeleton_mad"}};

/// Fills the accumulators. One per session; threads share it, so nothing changes after prepare().
class SkeletonScorer final : public Scorer {
public:
    SkeletonScorer(const FrameGeometry& geometry, const OptionValues&) : geometry_(geometry) {}

    size_t accumulator_words() const override { return kWords; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        accumulators[0] = score_cpu(pair, geometry_);
    }

    Status prepare(DeviceProgram& program) override {
        const bool bytes = geometry_.sample == SampleType::kU8;
        return program.find(bytes ? kernels::skeleton_u8 : kernels::skeleton_u16, &kernel_);
    }

    /// Launches only: these calls become nodes of a graph.
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const Dim3 grid{1, blocks_for(geometry_.height, kTuning.rows_per_block), static_cast<unsigned>(batch.count)};
        return queue.launch(kernel_, grid,
                            BandArguments{batch.pairs, batch.accumulators, geometry_.width, geometry_.height});
    }

private:
    const FrameGeometry geometry_;
    LoadedKernel<BandArguments> kernel_;
};

/// From accumulators to scores, for both backends. One per stream, called frame after frame; may keep what it needs.
class SkeletonFinaliser final : public Finaliser {
public:
    SkeletonFinaliser(const FrameGeometry& geometry, const OptionValues& options)
        : samples_(static_cast<double>(geometry.width) * geometry.height), scale_(options.number(kScale)) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        sink.put(frame, kMad, static_cast<double>(accumulators[0]) / samples_ * scale_);
    }

private:
    const double samples_, scale_;
};

} // namespace

// What is not said here has a default: any size from 1 x 1 (`smallest`), up to 16 bits (`largest_depth`), pictures
// without chroma too (`needs_chroma`, `requires_chroma`), no earlier frames (`history`), the same bits on both backends
// (`backend_bound`), nothing else to refuse (`validate`).
const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "skeleton",
        .summary = "mean absolute luma difference",
        .is_example = true, // built and tested, but not shipped; a metric has no such line
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .create_scorer = make_scorer<SkeletonScorer>,
        .create_finaliser = make_finaliser<SkeletonFinaliser>,
    };
    return kDescriptor;
}

} // namespace qc::skeleton
