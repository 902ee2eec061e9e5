// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/ssimulacra2_weighted_launch.hpp"

namespace qc::ssimulacra2 {

WeightedSums::WeightedSums(const Plan& plan, const PlaneLayout& layout)
    : wide_blur_(plan.blur.radius > 4 || plan.blur.renormalise != 0) {
    weights_.layout = fields_.layout = layout;
    for (int level = 1; level < layout.levels; ++level) {
        weights_.planes.offset[level] = static_cast<uint32_t>(weights_.planes.pair);
        weights_.planes.pair +=
            static_cast<uint64_t>(layout.width[level]) * static_cast<uint64_t>(layout.height[level]);
    }
    fields_.renormalise = plan.blur.renormalise;
    for (int i = 0; i <= plan.blur.radius; ++i) fields_.tap[i] = static_cast<float>(plan.blur.tap[i]);
    finish_.levels = plan.levels;
    for (int plane = 0; plane < kPlanes; ++plane) {
        const int level = plane / kChannels, channel = plane % kChannels;
        fields_.first_tile[plane] = fields_.tiles;
        if (level < plan.levels) {
            const int word_plane = channel * plan.levels + level;
            const int tiles = static_cast<int>(blocks_for(layout.width[level], kWeightedTile) *
                                               blocks_for(layout.height[level], kWeightedTile));
            finish_.needed[word_plane] = plan.needed[level][channel];
            finish_.first[word_plane] = fields_.tiles;
            finish_.number[word_plane] = plan.needed[level][channel] != 0 ? tiles : 0;
            fields_.tiles += finish_.number[word_plane];
        }
    }
    fields_.first_tile[kPlanes] = finish_.strip_count = fields_.tiles;
}

size_t WeightedSums::scratch_bytes(int count) const {
    return static_cast<size_t>(count) *
           (weights_.planes.pair * sizeof(uint32_t) + static_cast<size_t>(fields_.tiles) * kTerms * sizeof(float));
}

Status WeightedSums::prepare(DeviceProgram& program) {
    QC_RETURN_IF_ERROR(program.find(kernels::ssimulacra2_weights, &weight_kernel_));
    QC_RETURN_IF_ERROR(program.find(
        wide_blur_ ? kernels::ssimulacra2_fields_wide_weighted : kernels::ssimulacra2_fields_weighted, &field_kernel_));
    return program.find(kernels::ssimulacra2_finish_weighted, &finish_kernel_);
}

Status WeightedSums::enqueue(const DeviceBatch& batch, const float* planes, void* scratch, DeviceQueue& queue) const {
    const auto pairs = static_cast<unsigned>(batch.count);
    WeightArguments weights = weights_;
    weights.pairs = batch.pairs;
    weights.accumulators = batch.accumulators;
    weights.planes.weights = static_cast<uint32_t*>(scratch);
    const PlaneLayout& layout = weights.layout;
    QC_RETURN_IF_ERROR(queue.launch(
        weight_kernel_, {blocks_for(layout.width[0], kWeightTile), blocks_for(layout.height[0], kWeightTile), pairs},
        weights));

    WeightedArguments fields = fields_;
    fields.pairs = batch.pairs;
    fields.planes = planes;
    fields.weights = weights.planes;
    fields.sums = reinterpret_cast<float*>(weights.planes.weights + pairs * weights.planes.pair);
    QC_RETURN_IF_ERROR(queue.launch(field_kernel_, {static_cast<unsigned>(fields.tiles), 1, pairs}, fields));

    FinishArguments finish = finish_;
    finish.pairs = batch.pairs;
    finish.sums = fields.sums;
    finish.accumulators = batch.accumulators;
    return queue.launch(finish_kernel_, {static_cast<unsigned>(kChannels * finish.levels), 1, pairs}, finish);
}

} // namespace qc::ssimulacra2
