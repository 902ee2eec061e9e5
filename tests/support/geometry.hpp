// SPDX-License-Identifier: BSD-2-Clause-Patent
// Geometry of pictures in tests: the one place that fills in what follows from size, depth and layout.
#pragma once

#include "contract/types.hpp"
#include "quality_cuda.h"

namespace qc::test {

/// Chroma sizes are what metrics see (rounded down); what is stored is rounded up.
inline FrameGeometry geometry_of(int width, int height, int depth, qc_chroma chroma) {
    FrameGeometry geometry;
    geometry.width = width;
    geometry.height = height;
    geometry.depth = depth;
    geometry.sample = depth == 8 ? SampleType::kU8 : SampleType::kU16;
    if (chroma == QC_CHROMA_400) return geometry;
    const int halved_x = chroma != QC_CHROMA_444 ? 1 : 0, halved_y = chroma == QC_CHROMA_420 ? 1 : 0;
    geometry.chroma_width = width >> halved_x;
    geometry.chroma_height = height >> halved_y;
    geometry.stored_chroma_width = (width + halved_x) >> halved_x;
    geometry.stored_chroma_height = (height + halved_y) >> halved_y;
    return geometry;
}

/// Chroma planes of any size, all of it stored; none if a side is 0.
inline FrameGeometry geometry_of(int width, int height, int depth, int chroma_width, int chroma_height) {
    FrameGeometry geometry = geometry_of(width, height, depth, QC_CHROMA_400);
    geometry.chroma_width = geometry.stored_chroma_width = chroma_width;
    geometry.chroma_height = geometry.stored_chroma_height = chroma_height;
    return geometry;
}

inline FrameGeometry luma_geometry(int width, int height, int depth) {
    return geometry_of(width, height, depth, QC_CHROMA_400);
}

} // namespace qc::test
