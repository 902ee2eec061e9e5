// SPDX-License-Identifier: BSD-2-Clause-Patent
// The readable reference: plain loops, the clearest code of the folder. Oracle of all tests, and the backend of
// machines without a GPU. Where it has to be fast, a second version goes to skeleton_cpu_rows.cpp and is held against
// this one.
#include "metrics/skeleton/skeleton.hpp"
#include "metrics/skeleton/skeleton_math.hpp"

namespace qc::skeleton {
namespace {

template <typename Sample>
uint64_t sum_of_absolute_differences(const Plane<const Sample>& reference, const Plane<const Sample>& distorted) {
    uint64_t sum = 0;
    for (int y = 0; y < reference.height; ++y) {
        const Sample* const r = reference.row(y);
        const Sample* const d = distorted.row(y);
        for (int x = 0; x < reference.width; ++x) sum += absolute_difference(r[x], d[x]);
    }
    return sum;
}

} // namespace

uint64_t score_cpu(const HostPair& pair, const FrameGeometry& geometry) {
    const HostPlane &reference = pair.reference.plane[0], &distorted = pair.distorted.plane[0];
    return geometry.sample == SampleType::kU8
               ? sum_of_absolute_differences(reference.as<uint8_t>(), distorted.as<uint8_t>())
               : sum_of_absolute_differences(reference.as<uint16_t>(), distorted.as<uint16_t>());
}

} // namespace qc::skeleton
