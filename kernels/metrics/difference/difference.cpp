// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/difference/difference.hpp"

#include "metrics/difference/difference_kernels.hpp"

namespace qc::difference {
namespace {

class DifferenceScorer final : public Scorer {
public:
    DifferenceScorer(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), shape_(map_of_samples(geometry, options)) {}

    size_t accumulator_words() const override { return 0; }

    void score(const HostPair&, std::span<uint64_t>) const override {}

    void draw(const HostPair& pair, HostPast /*past*/, Plane<float> values) const override {
        draw_cpu(pair, geometry_, values);
    }

    Status prepare(DeviceProgram& program) override {
        const bool bytes = geometry_.sample == SampleType::kU8;
        return program.find(bytes ? kernels::difference_u8 : kernels::difference_u16, &kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const Dim3 grid{blocks_for(shape_.width, Draw<uint8_t>::kBlockColumns), blocks_for(shape_.height, kTuning.rows),
                        static_cast<unsigned>(batch.count)};
        return queue.launch(kernel_, grid,
                            DrawArguments{batch.pairs, batch.map, shape_, scale_of_depth(geometry_.depth)});
    }

private:
    const FrameGeometry geometry_;
    const MapShape shape_;
    LoadedKernel<DrawArguments> kernel_;
};

/// There are no scores.
class NoScores final : public Finaliser {
public:
    NoScores(const FrameGeometry&, const OptionValues&) {}
    void finalise(int64_t, std::span<const uint64_t>, ScoreSink&) override {}
};

/// Where the difference is that of an eighth of the range, nobody asks whether it shows.
constexpr MapSpec kMap{.what = "absolute difference of luma, in steps of 8 bits", .white = 32.0};

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "difference",
        .summary = "absolute difference of luma, as a map",
        .accepts_rgb = true,
        .create_scorer = make_scorer<DifferenceScorer>,
        .create_finaliser = make_finaliser<NoScores>,
        .map = &kMap,
    };
    return kDescriptor;
}

} // namespace qc::difference
