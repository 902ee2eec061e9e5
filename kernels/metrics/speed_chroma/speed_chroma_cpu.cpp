// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/speed/speed_cpu.hpp"
#include "metrics/speed_chroma/speed_chroma.hpp"

namespace qc::speed_chroma {
namespace {

template <typename T>
void score_planes(const speed::Plan& plan, const HostPair& pair, std::span<uint64_t> accumulators) {
    for (int p = 0; p < 2; ++p) {
        const auto statistics = [&](const HostPicture& picture) {
            const Plane<const T> samples = picture.plane[1 + p].as<T>();
            return speed::analysed(
                plan, [&](int x, int y) { return static_cast<float>(samples.at(x, y)) * plan.sample_scale - 128.0f; });
        };
        speed::compare(plan, statistics(pair.reference), statistics(pair.distorted),
                       accumulators.data() + speed::kWordsPerPlane * p);
    }
}

} // namespace

void score_cpu(const speed::Plan& plan, SampleType sample, const HostPair& pair, std::span<uint64_t> accumulators) {
    if (sample == SampleType::kU8)
        score_planes<uint8_t>(plan, pair, accumulators);
    else
        score_planes<uint16_t>(plan, pair, accumulators);
}

} // namespace qc::speed_chroma
