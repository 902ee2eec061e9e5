// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/adm_cpu_lanes.hpp"

#include "device/cpu_clones.hpp"

namespace qc::adm {
namespace {

#define QC_LANE_PASSES "metrics/adm/adm_lane_passes.hpp"
#include "device/lane_versions.hpp"

} // namespace

template <typename Sample>
const LanePasses<Sample>* lane_passes([[maybe_unused]] device::WordLanes lanes) {
#if QC_HAS_WORD_LANES
    static constexpr LanePasses<Sample> kAvx2 = avx2::passes<Sample>(), kAvx512 = avx512::passes<Sample>();
    if (lanes == device::WordLanes::kAvx512) return &kAvx512;
    if (lanes == device::WordLanes::kAvx2) return &kAvx2;
#endif
    return nullptr;
}

const DeepLanePasses* deep_lane_passes([[maybe_unused]] device::WordLanes lanes) {
#if QC_HAS_WORD_LANES
    if (lanes == device::WordLanes::kAvx512) return &avx512::kDeepPasses;
    if (lanes == device::WordLanes::kAvx2) return &avx2::kDeepPasses;
#endif
    return nullptr;
}

template const LanePasses<uint8_t>* lane_passes<uint8_t>(device::WordLanes);
template const LanePasses<uint16_t>* lane_passes<uint16_t>(device::WordLanes);

} // namespace qc::adm
