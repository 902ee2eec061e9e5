// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host's side of SSIMULACRA 2 with weights on the GPU, from the XYB planes on.
#pragma once

#include "contract/device.hpp"
#include "metrics/ssimulacra2/ssimulacra2_kernels.hpp"

namespace qc::ssimulacra2 {

/// Fills the accumulators (kWeightedWords per pair) of a batch in three launches.
class WeightedSums {
public:
    WeightedSums(const Plan& plan, const PlaneLayout& layout);

    size_t scratch_bytes(int count) const;
    Status prepare(DeviceProgram& program);
    /// @param planes of the batch, which earlier launches make
    /// @param scratch scratch_bytes(), aligned to a float
    Status enqueue(const DeviceBatch& batch, const float* planes, void* scratch, DeviceQueue& queue) const;

private:
    WeightArguments weights_{};
    WeightedArguments fields_{};
    FinishArguments finish_{};
    bool wide_blur_;
    LoadedKernel<WeightArguments> weight_kernel_;
    LoadedKernel<WeightedArguments> field_kernel_;
    LoadedKernel<FinishArguments> finish_kernel_;
};

} // namespace qc::ssimulacra2
