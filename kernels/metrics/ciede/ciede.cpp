// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ciede/ciede.hpp"

#include <bit>
#include <cmath>

#include "metrics/ciede/ciede_kernels.hpp"

namespace qc::ciede {
namespace {

/// Of CUDA, in decibels. A colour difference is up to 9e-7 of its value off (ciede_emulation_test.cpp): 8e-6 dB on a
/// picture of one pair of colours, some 1e-8 where it averages out. One pair in some millions rounds another way at an
/// earlier step: a picture of nothing but that one, a code of 16 bits apart, would be 1e-3 dB off.
constexpr double kBackendBound = 1e-5;

constexpr OutputSpec kOutputs[] = {{"ciede2000", "ciede2000"}};

class CiedeScorer final : public Scorer {
public:
    CiedeScorer(const FrameGeometry& geometry, const OptionValues&) : geometry_(geometry), task_(make_task(geometry)) {}

    size_t accumulator_words() const override { return geometry_.has_weights ? kWeightedWords : 1; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        if (geometry_.has_weights) return score_weighted_cpu(geometry_, pair, accumulators);
        accumulators[kDifferences] = std::bit_cast<uint64_t>(score_cpu_rows(geometry_, pair));
    }

    /// A partial sum for every tile.
    size_t scratch_bytes(int count) const override {
        return sizeof(double) * static_cast<size_t>(task_.tiles) * static_cast<size_t>(count);
    }

    Status prepare(DeviceProgram& program) override {
        const bool bytes = geometry_.sample == SampleType::kU8;
        const auto& plain = bytes ? kernels::ciede_tiles_u8 : kernels::ciede_tiles_u16;
        const auto& has_weights = bytes ? kernels::ciede_tiles_weighted_u8 : kernels::ciede_tiles_weighted_u16;
        QC_RETURN_IF_ERROR(program.find(geometry_.has_weights ? has_weights : plain, &tiles_));
        QC_RETURN_IF_ERROR(program.find(kernels::ciede_total, &total_));
        const auto tables = std::make_unique<Tables>();
        fill_tables(tables.get());
        const void* address = nullptr;
        QC_RETURN_IF_ERROR(program.upload(tables.get(), sizeof(Tables), &address));
        tables_ = static_cast<const Tables*>(address);
        return {};
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const auto count = static_cast<unsigned>(batch.count);
        auto* const partial_sums = static_cast<double*>(batch.scratch);
        QC_RETURN_IF_ERROR(queue.launch(tiles_, Dim3{static_cast<unsigned>(task_.tiles), 1, count},
                                        TileArguments{batch.pairs, batch.accumulators, partial_sums, tables_, task_}));
        return queue.launch(total_, Dim3{1, 1, count},
                            TotalArguments{batch.pairs, batch.accumulators, partial_sums, task_.tiles,
                                           static_cast<int>(accumulator_words())});
    }

private:
    const FrameGeometry geometry_;
    const Task task_;
    LoadedKernel<TileArguments> tiles_;
    LoadedKernel<TotalArguments> total_;
    const Tables* tables_ = nullptr; ///< on the device
};

class CiedeFinaliser final : public Finaliser {
public:
    CiedeFinaliser(const FrameGeometry& geometry, const OptionValues&)
        : has_weights_(geometry.has_weights), pixels_(static_cast<double>(geometry.width) * geometry.height) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        const double weight = has_weights_ ? static_cast<double>(accumulators[kWeights]) : pixels_;
        if (weight == 0.0) return sink.leave_out(frame);
        const double mean = std::bit_cast<double>(accumulators[kDifferences]) / weight;
        sink.put(frame, 0, 45.0 - 20.0 * std::log10(mean));
    }

private:
    const bool has_weights_;
    const double pixels_;
};

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "ciede",
        .summary = "mean CIEDE2000 colour difference, in decibels",
        .needs_chroma = true,
        .accepts_weights = true,
        .backend_bound = {.absolute = kBackendBound},
        .options = {},
        .outputs = kOutputs,
        .requires_chroma = true,
        .create_scorer = make_scorer<CiedeScorer>,
        .create_finaliser = make_finaliser<CiedeFinaliser>,
    };
    return kDescriptor;
}

} // namespace qc::ciede
