// SPDX-License-Identifier: BSD-2-Clause-Patent
// The readable reference: plain loops, the clearest code of the folder.
#include "metrics/skeleton/skeleton_math.hpp"
#include "metrics/skeleton/skeleton_metric.hpp"

namespace qc::skeleton {
namespace {

template <typename Sample>
uint64_t sum_of_absolute_differences(const Plane<const Sample>& reference, const Plane<const Sample>& distorted) {
    uint64_t sum = 0;
    for (int y = 0; y < reference.height; ++y) {
        const Sample* r = reference.row(y);
        const Sample* d = distorted.row(y);
        for (int x = 0; x < reference.width; ++x) sum += absolute_difference(r[x], d[x]);
    }
    return sum;
}

} // namespace

void SkeletonMetric::score(const HostPair& pair, std::span<uint64_t> accumulators) const {
    const HostPlane& reference = pair.reference.plane[0];
    const HostPlane& distorted = pair.distorted.plane[0];
    accumulators[0] = geometry_.sample == SampleType::kU8
                          ? sum_of_absolute_differences(reference.as<uint8_t>(), distorted.as<uint8_t>())
                          : sum_of_absolute_differences(reference.as<uint16_t>(), distorted.as<uint16_t>());
}

} // namespace qc::skeleton
