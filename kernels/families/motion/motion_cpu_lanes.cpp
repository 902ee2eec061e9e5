// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/motion/motion_cpu_lanes.hpp"

#include "device/cpu_clones.hpp"

namespace qc::motion {
namespace {

#if QC_HAS_WORD_LANES
QC_BEGIN_LANES(QC_AVX2_LANES)
namespace avx2 {
using Lanes = device::Avx2Words;
#include "families/motion/motion_lane_passes.hpp"
} // namespace avx2
QC_END_LANES

QC_BEGIN_LANES(QC_AVX512_LANES)
namespace avx512 {
using Lanes = device::Avx512Words;
#include "families/motion/motion_lane_passes.hpp"
} // namespace avx512
QC_END_LANES
#endif

} // namespace

const LanePasses* lane_passes([[maybe_unused]] device::WordLanes lanes) {
#if QC_HAS_WORD_LANES
    if (lanes == device::WordLanes::kAvx512) return &avx512::kPasses;
    if (lanes == device::WordLanes::kAvx2) return &avx2::kPasses;
#endif
    return nullptr;
}

} // namespace qc::motion
