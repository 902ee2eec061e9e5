// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/vif/vif_cpu_lanes.hpp"

#include <cmath>

#include "device/cpu_clones.hpp"
#include "device/unroll.hpp"

namespace qc::vif {
namespace {

#define QC_LANE_PASSES "metrics/vif/vif_lane_passes.hpp"
#include "device/lane_versions.hpp"

#if QC_HAS_WORD_LANES
QC_BEGIN_LANES(QC_AVX512_LANES)
namespace avx512 {
#include "metrics/vif/vif_lane_logarithms.hpp"
} // namespace avx512
QC_END_LANES
#endif

} // namespace

template <int kScale, typename Sample>
const LanePasses<Sample>* lane_passes([[maybe_unused]] device::WordLanes lanes) {
#if QC_HAS_WORD_LANES
    static constexpr LanePasses<Sample> kAvx2 = avx2::passes<kScale, Sample>();
    static constexpr LanePasses<Sample> kAvx512 = avx512::passes<kScale, Sample>();
    if (lanes == device::WordLanes::kAvx512) return &kAvx512;
    if (lanes == device::WordLanes::kAvx2) return &kAvx2;
#endif
    return nullptr;
}

AddRow lane_add_row([[maybe_unused]] device::WordLanes lanes) {
#if QC_HAS_WORD_LANES
    if (lanes == device::WordLanes::kAvx512) return avx512::add_row;
#endif
    return nullptr;
}

template const LanePasses<uint8_t>* lane_passes<0, uint8_t>(device::WordLanes);
template const LanePasses<uint16_t>* lane_passes<0, uint16_t>(device::WordLanes);
template const LanePasses<uint16_t>* lane_passes<1, uint16_t>(device::WordLanes);
template const LanePasses<uint16_t>* lane_passes<2, uint16_t>(device::WordLanes);

} // namespace qc::vif
