// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host's side of the kernels that sum squared errors.
#pragma once

#include "contract/device.hpp"
#include "families/sse/sse_kernels.hpp"
#include "families/sse/sse_weighted_kernels.hpp"

namespace qc::sse {

/// Launches either kernel for a batch.
inline Status launch_sse(DeviceQueue& queue, const LoadedKernel<SseArguments>& kernel, const DeviceBatch& batch,
                         const SseTask& task) {
    const Dim3 grid{static_cast<unsigned>(task.luma.tiles + task.chroma.tiles), 1, static_cast<unsigned>(batch.count)};
    return queue.launch(kernel, grid, SseArguments{batch.pairs, batch.accumulators, task});
}

/// Launches either kernel for a batch.
inline Status launch_weighted(DeviceQueue& queue, const LoadedKernel<WeightedArguments>& kernel,
                              const DeviceBatch& batch, const FrameGeometry& geometry, int planes) {
    WeightedArguments arguments = weighted_arguments(geometry, planes);
    arguments.pairs = batch.pairs;
    arguments.accumulators = batch.accumulators;
    const Dim3 grid{blocks_for(geometry.width, kWeightedColumns),
                    blocks_for(geometry.height, kWeightedRows) * static_cast<unsigned>(planes),
                    static_cast<unsigned>(batch.count)};
    return queue.launch(kernel, grid, arguments);
}

} // namespace qc::sse
