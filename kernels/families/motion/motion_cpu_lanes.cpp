// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/motion/motion_cpu_lanes.hpp"

#include "device/cpu_clones.hpp"

namespace qc::motion {
namespace {

#define QC_LANE_PASSES "families/motion/motion_lane_passes.hpp"
#include "device/lane_versions.hpp"

} // namespace

const LanePasses* lane_passes([[maybe_unused]] device::WordLanes lanes) {
#if QC_HAS_WORD_LANES
    if (lanes == device::WordLanes::kAvx512) return &avx512::kPasses;
    if (lanes == device::WordLanes::kAvx2) return &avx2::kPasses;
#endif
    return nullptr;
}

} // namespace qc::motion
