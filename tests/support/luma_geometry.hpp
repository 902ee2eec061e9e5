// SPDX-License-Identifier: BSD-2-Clause-Patent
// Geometry of pictures of which a test has luma only.
#pragma once

#include "contract/types.hpp"

namespace qc::test {

inline FrameGeometry luma_geometry(int width, int height, int depth) {
    FrameGeometry geometry;
    geometry.width = width;
    geometry.height = height;
    geometry.depth = depth;
    geometry.sample = depth == 8 ? SampleType::kU8 : SampleType::kU16;
    return geometry;
}

} // namespace qc::test
