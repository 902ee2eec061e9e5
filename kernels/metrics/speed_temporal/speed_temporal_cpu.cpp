// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/speed/speed_cpu.hpp"
#include "metrics/speed_temporal/speed_temporal.hpp"

namespace qc::speed_temporal {
namespace {

template <typename T>
speed::PlaneStatistics statistics_of_change(const speed::Plan& plan, const HostPlane& before, const HostPlane& after) {
    const Plane<const T> previous = before.as<T>(), current = after.as<T>();
    return speed::analysed(plan, [&](int x, int y) {
        const int difference = static_cast<int>(previous.at(x, y)) - static_cast<int>(current.at(x, y));
        return static_cast<float>(difference) * plan.sample_scale;
    });
}

} // namespace

void score_cpu(const speed::Plan& plan, SampleType sample, bool difference_to_reference, const HostPair& pair,
               std::span<uint64_t> accumulators) {
    const HostPlane &earlier_reference = pair.reference_history[0], &earlier_distorted = pair.distorted_history[0];
    if (earlier_reference.data == nullptr || earlier_distorted.data == nullptr) return;
    const HostPlane& reference = pair.reference.plane[0];
    const HostPlane& distorted = (difference_to_reference ? pair.reference : pair.distorted).plane[0];
    const auto statistics = sample == SampleType::kU8 ? statistics_of_change<uint8_t> : statistics_of_change<uint16_t>;
    speed::compare(plan, statistics(plan, earlier_reference, reference), statistics(plan, earlier_distorted, distorted),
                   accumulators.data());
}

} // namespace qc::speed_temporal
