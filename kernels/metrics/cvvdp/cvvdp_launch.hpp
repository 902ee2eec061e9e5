// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host's side of CVVDP on the GPU: scratch memory, tables and launches.
#pragma once

#include <vector>

#include "contract/metric.hpp"
#include "metrics/cvvdp/cvvdp_kernels.hpp"
#include "metrics/cvvdp/cvvdp_plan.hpp"

namespace qc::cvvdp {

/// Fills the sums of a batch's pairs, group after group: those of a rendition, kGroup at a time, go through the scratch
/// memory together. A pair's sums depend on its pictures and those before it, not on the batch.
class Launcher {
public:
    Launcher(const FrameGeometry& geometry, const Settings& settings, const Plan& plan);

    /// From now on maps, too. Comes before everything else.
    void draw_map() { draws_map_ = true; }
    size_t scratch_bytes(int count) const;
    Status prepare(DeviceProgram& program);
    Status enqueue(const DeviceBatch& batch, const DeviceTimeline& timeline, DeviceQueue& queue) const;

private:
    /// Where things lie in scratch memory.
    struct Space {
        Group* group;
        float* planes;
        double* sums;
        float* map; ///< null if nobody wants one
        Weights* weights;
        float* place_weights; ///< null without weights of samples
    };
    Space space_of(void* scratch) const;
    Status enqueue_group(const GroupArguments& group, const DeviceBatch& batch, DeviceQueue& queue) const;
    Status enqueue_levels(const GroupArguments& group, const Space& space, DeviceQueue& queue) const;
    Status enqueue_bands(const GroupArguments& group, const Space& space, uint64_t* accumulators,
                         DeviceQueue& queue) const;
    Status enqueue_map(const GroupArguments& group, const Space& space, const DeviceMap& drawn,
                       DeviceQueue& queue) const;
    size_t plane_bytes() const;
    size_t sum_bytes() const;
    size_t map_bytes() const;
    size_t weight_bytes() const;
    Status enqueue_weights(const GroupArguments& group, const Space& space, DeviceQueue& queue) const;
    int tiles() const { return bands_.tiles; }

    TargetList targets_;
    DeviceLevels levels_{};
    DeviceColour colour_{};
    BandArguments bands_{};
    std::vector<Weights> taps_;
    std::vector<SensitivityTable> sensitivity_;
    std::vector<LastColumn> last_columns_; ///< of each level that is reduced
    KernelIdentifier<FilterArguments> filter_identifier_;
    const Weights* device_taps_ = nullptr;
    const SensitivityTable* device_sensitivity_ = nullptr;
    LoadedKernel<GroupArguments> group_kernel_;
    LoadedKernel<FilterArguments> filter_kernel_;
    LoadedKernel<ReduceArguments> reduce_kernel_;
    LoadedKernel<BandArguments> band_kernel_;
    LoadedKernel<FinishArguments> finish_kernel_;
    LoadedKernel<AddArguments> add_kernel_, paint_kernel_;
    LoadedKernel<WeightArguments> weight_kernel_;
    bool has_weights_, draws_map_ = false;
};

} // namespace qc::cvvdp
