// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernel of term_weights.hpp, for metrics that leave their terms in memory (row_sums.hpp): it comes between those
// that make them and those that add them. A metric takes WeighTerms<DevicePair or DeviceReference> into its list under
// a name of its own.
#pragma once

#include "contract/device.hpp"
#include "device/block.hpp"
#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/term_weights.hpp"

namespace qc::device {
template <typename Evaluation>
struct TermWeightArguments {
    const Evaluation* evaluations;
    uint64_t* accumulators;
    float* terms;        ///< planes of evaluation 0, of evaluation 1, ...
    uint64_t term_plane; ///< from plane to plane
    int planes;          ///< of an evaluation, under the same weights
    int pitch, width, height;
    WeightFootprint footprint;
    int words, word; ///< accumulators of an evaluation, and which of them gets the sum of the weights
};

constexpr int kTermWeightWarps = 8, kTermWeightRows = 8; ///< rows of a thread, which goes down a column

/// grid: (columns of blocks, rows of blocks, evaluations)
template <typename Evaluation>
struct WeighTerms : device::KernelOf<TermWeightArguments<Evaluation>, kTermWeightWarps * kWarpSize> {
    template <class Block>
    QC_HD static void run(Block& block, const TermWeightArguments<Evaluation>& arguments) {
        const Evaluation& evaluation = arguments.evaluations[block.z()];
        const WeightReader weights(evaluation.weights);
        const int x = block.x() * kWarpSize + block.lane();
        const int top = (block.y() * kTermWeightWarps + block.warp()) * kTermWeightRows;
        uint32_t sums[1] = {0};
        for (int y = top; x < arguments.width && y < arguments.height && y < top + kTermWeightRows; ++y) {
            const uint32_t weight = arguments.footprint.weight(weights, x, y);
            const float share = arguments.footprint.share(weight);
            sums[0] += weight;
            float* term = arguments.terms + block.z() * arguments.planes * arguments.term_plane +
                          static_cast<size_t>(y) * arguments.pitch + x;
            for (int p = 0; p < arguments.planes; ++p, term += arguments.term_plane) *term = *term * share;
        }
        const size_t row = static_cast<size_t>(evaluation.output) * arguments.words;
        add_block_sums(block, sums, arguments.accumulators + row + arguments.word);
    }
};

template <typename Evaluation>
Status weigh_terms(DeviceQueue& queue, const LoadedKernel<TermWeightArguments<Evaluation>>& kernel,
                   const TermWeightArguments<Evaluation>& arguments, int count) {
    return queue.launch(kernel,
                        {blocks_for(arguments.width, kWarpSize),
                         blocks_for(arguments.height, kTermWeightWarps * kTermWeightRows),
                         static_cast<unsigned>(count)},
                        arguments);
}

} // namespace qc::device
