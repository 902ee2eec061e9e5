// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/difference/difference.hpp"
#include "metrics/difference/difference_math.hpp"

namespace qc::difference {
namespace {

template <typename Sample>
void draw(const HostPair& pair, float scale, const Plane<float>& values) {
    const auto reference = pair.reference.plane[0].as<Sample>(), distorted = pair.distorted.plane[0].as<Sample>();
    for (int y = 0; y < values.height; ++y)
        for (int x = 0; x < values.width; ++x)
            values.at(x, y) = difference_of(reference.at(x, y), distorted.at(x, y), scale);
}

} // namespace

void draw_cpu(const HostPair& pair, const FrameGeometry& geometry, Plane<float> values) {
    const float scale = scale_of_depth(geometry.depth);
    if (geometry.sample == SampleType::kU8)
        draw<uint8_t>(pair, scale, values);
    else
        draw<uint16_t>(pair, scale, values);
}

} // namespace qc::difference
