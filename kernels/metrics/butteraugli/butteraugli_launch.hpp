// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host's side of Butteraugli on the GPU: scratch memory and launches for a Plan.
#pragma once

#include "contract/device.hpp"
#include "metrics/butteraugli/butteraugli_kernels.hpp"

namespace qc::butteraugli {

/// What is launched for a scale, in this order.
struct ScaleWork {
    ResponseArguments response;
    BlurArguments<16> without_low;
    BlurArguments<7> above;
    DifferenceArguments differences;
    LinesArguments lines;
    BlurArguments<6> masking;
    MapArguments map;
};

/// Fills the accumulators of a batch. The second scale comes between the first one's response, which makes its light,
/// and the rest of the first, whose memory it uses. The sums of a pair depend on the plan and its pictures only, not on
/// the batch.
class Launcher {
public:
    Launcher(const Plan& plan, SampleType sample, bool has_weights);

    /// Before prepare(): the map is wanted too.
    void draw_map() { draws_map_ = true; }
    size_t scratch_bytes(int count) const;
    Status prepare(DeviceProgram& program);
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const;

private:
    /// Pairs of a batch that go through the kernels together.
    struct Part {
        const DevicePair* pairs;
        unsigned count;
        float* scratch;
        double* sums;
    };
    Part part_of(const DeviceBatch& batch, int part, int parts) const;
    Status enqueue_part(const Part& part, const DeviceBatch& batch, DeviceQueue& queue) const;
    Status enqueue_response(const ScaleWork& work, const LoadedKernel<ResponseArguments>& kernel, const Part& part,
                            DeviceQueue& queue) const;
    Status enqueue_rest(const ScaleWork& work, const LoadedKernel<MapArguments>& map, const Part& part,
                        const DeviceBatch& batch, DeviceQueue& queue) const;
    /// Scratch memory: the planes of the batch, then the sums of its blocks.
    size_t plane_bytes(int count) const;

    ScaleWork work_[kScales]{};
    int scales_;
    bool has_weights_, scales_samples_;
    bool draws_map_ = false;
    uint64_t pair_floats_ = 0;
    KernelIdentifier<ResponseArguments> response_identifier_;
    LoadedKernel<ResponseArguments> response_, half_response_;
    LoadedKernel<BlurArguments<16>> without_low_;
    LoadedKernel<BlurArguments<7>> above_;
    LoadedKernel<BlurArguments<6>> masking_;
    LoadedKernel<DifferenceArguments> differences_;
    LoadedKernel<LinesArguments> lines_;
    LoadedKernel<MapArguments> map_, half_map_;
    LoadedKernel<FinishArguments> finish_;
};

} // namespace qc::butteraugli
