// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host's side of SSIMULACRA 2 on the GPU: scratch memory, tables and launches for a Plan.
#pragma once

#include <optional>
#include <vector>

#include "contract/device.hpp"
#include "metrics/ssimulacra2/ssimulacra2_kernels.hpp"
#include "metrics/ssimulacra2/ssimulacra2_math.hpp"
#include "metrics/ssimulacra2/ssimulacra2_weighted_launch.hpp"

namespace qc::ssimulacra2 {

/// Fills the accumulators (kAccumulatorWords per pair, those that the plan needs) of a batch in three launches, four if
/// the two inputs differ in their colour conversion. Pairs of a batch that share the reference picture share its
/// planes. The sums of a pair depend on the plan and its pictures only, not on the batch. With weights WeightedSums
/// comes behind the pyramids.
class Launcher {
public:
    Launcher(const Plan& plan, SampleType sample, bool has_weights);

    /// Before everything else: the map is wanted too.
    void draw_map(const FieldWeights& weights);
    size_t scratch_bytes(int count) const;
    Status prepare(DeviceProgram& program);
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const;

private:
    /// Scratch memory: the planes of the batch, the sums of its strips, what is kept for maps, what weights need.
    size_t plane_bytes(int count) const;
    size_t sum_bytes(int count) const;
    size_t kept_bytes(int count) const;
    KeptErrors kept_for(float scale) const;
    Status enqueue_map(const DeviceBatch& batch, const KeptErrors& kept, DeviceQueue& queue) const;

    PyramidArguments pyramid_[2]; ///< by input; the first serves both where they have the same conversion
    FieldArguments fields_;
    FinishArguments finish_;
    std::vector<Strip> strips_;
    const void* strip_table_ = nullptr; ///< device address
    bool same_conversion_, usual_conversion_, wide_blur_ = false;
    KernelIdentifier<PyramidArguments> pyramid_identifier_;
    LoadedKernel<PyramidArguments> pyramid_kernel_;
    LoadedKernel<FieldArguments> field_kernel_;
    LoadedKernel<FinishArguments> finish_kernel_;
    bool draws_map_ = false;
    LoadedKernel<DrawArguments> draw_kernel_;
    std::optional<WeightedSums> weighted_;
};

} // namespace qc::ssimulacra2
