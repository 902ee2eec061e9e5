// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/signature/signature.hpp"

#include "metrics/signature/signature_kernels.hpp"

namespace qc::signature {
namespace {

class SignatureScorer final : public Scorer {
public:
    SignatureScorer(const FrameGeometry& geometry, const OptionValues&) : geometry_(geometry) {}

    size_t accumulator_words() const override { return kSignatureWords; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu(pair, geometry_, accumulators.first<kSignatureWords>());
    }

    Status prepare(DeviceProgram& program) override {
        const bool bytes = geometry_.sample == SampleType::kU8;
        return program.find(bytes ? kernels::signature_u8 : kernels::signature_u16, &kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const Dim3 grid{kSignatureBlocks, 2, static_cast<unsigned>(batch.count)};
        return queue.launch(kernel_, grid,
                            BlockArguments{batch.pairs, batch.accumulators, {geometry_.width, geometry_.height}});
    }

private:
    const FrameGeometry geometry_;
    LoadedKernel<BlockArguments> kernel_;
};

/// The sums are read where they lie (engine/api): there are no scores to make of them.
class NoScores final : public Finaliser {
public:
    NoScores(const FrameGeometry&, const OptionValues&) {}
    void finalise(int64_t, std::span<const uint64_t>, ScoreSink&) override {}
};

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "signature",
        .summary = "what pictures look like from afar",
        .every_frame = true, // an offset of one frame shows in no other way
        .accepts_rgb = true,
        .smallest = {kSignatureColumns, kSignatureRows},
        .create_scorer = make_scorer<SignatureScorer>,
        .create_finaliser = make_finaliser<NoScores>,
    };
    return kDescriptor;
}

} // namespace qc::signature
