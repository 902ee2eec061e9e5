// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/sse/sse_weighted.hpp"

namespace qc::sse {
namespace {

template <typename T, Square kSquare>
void add_samples(Plane<const T> reference, Plane<const T> distorted, const WeightReader& weights,
                 const WeightedPlane& plane, uint64_t* words) {
    for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x)
            add_weighted(squared_error_as<kSquare>(reference.at(x, y), distorted.at(x, y)), plane.weight(weights, x, y),
                         words);
}

} // namespace

template <Square kSquare>
void add_weighted_errors(const HostPlane& reference, const HostPlane& distorted, const HostPlane& weights,
                         const WeightedPlane& plane, SampleType sample, uint64_t* words) {
    const WeightReader reader(weights);
    if (sample == SampleType::kU8)
        add_samples<uint8_t, kSquare>(reference.as<uint8_t>(), distorted.as<uint8_t>(), reader, plane, words);
    else
        add_samples<uint16_t, kSquare>(reference.as<uint16_t>(), distorted.as<uint16_t>(), reader, plane, words);
}

template void add_weighted_errors<Square::kExact>(const HostPlane&, const HostPlane&, const HostPlane&,
                                                  const WeightedPlane&, SampleType, uint64_t*);
template void add_weighted_errors<Square::kRounded>(const HostPlane&, const HostPlane&, const HostPlane&,
                                                    const WeightedPlane&, SampleType, uint64_t*);

} // namespace qc::sse
