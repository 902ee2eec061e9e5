// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host's side of SSIMULACRA 2 on the GPU: scratch memory, tables and launches for a Plan.
#pragma once

#include <vector>

#include "common/device.hpp"
#include "ssimulacra2/ssimulacra2_map_phases.hpp"
#include "ssimulacra2/ssimulacra2_math.hpp"
#include "ssimulacra2/ssimulacra2_pyramid_phases.hpp"

namespace qc::ssimulacra2 {

/// Fills the accumulators (kAccumulatorWords per pair, those that the plan needs) of a batch in three launches, four if
/// the two inputs differ in their colour conversion. Pairs of a batch that share the reference picture share its planes.
class DeviceScorer {
public:
    DeviceScorer(const Plan& plan, SampleType sample);

    size_t scratch_bytes(int count) const;
    Status prepare(DeviceProgram& program);
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const;

private:
    PyramidArguments pyramid_[2]; ///< by input; the first serves both where they have the same conversion
    MapArguments maps_;
    FinishArguments finish_;
    std::vector<Strip> strips_;
    SampleType sample_;
    bool same_conversion_;
    bool general_conversion_;
    Kernel pyramid_kernel_, map_kernel_, finish_kernel_;
};

} // namespace qc::ssimulacra2
