// SPDX-License-Identifier: BSD-2-Clause-Patent
// A rectangle that is scored in the place of whole pictures: found in the configuration, and cut out of formats and
// pictures. What comes behind knows the rectangle only.
#pragma once

#include <string>

#include "contract/status.hpp"
#include "contract/types.hpp"
#include "quality_cuda.h"

namespace qc {

/// Of the picture that is scored, in luma samples; the first chroma sample belongs to the first luma sample.
struct Region {
    int x = 0, y = 0, width = 0, height = 0;

    bool is_everything() const { return width == 0; }
};

/// @param picture that the region has to lie in
/// @return QC_ERROR_INVALID with a line that says what is accepted
Status find_region(const qc_config& config, const FrameGeometry& picture, Region* region);

/// "640x360 at 100,200"
std::string region_text(const Region& region);

/// What a picture looks like of which only the region is there. Precondition: not everything.
qc_format cut_out(const Region& region, qc_format format);
qc_picture cut_out(const Region& region, const qc_format& format, qc_picture picture);
/// @param picture geometry of whole pictures
FrameGeometry cut_out(const Region& region, FrameGeometry picture);

/// Where the region's first sample lies in a plane. @param picture geometry of whole pictures
struct Corner {
    int column, row;
};
Corner corner_of(const Region& region, const FrameGeometry& picture, int plane);

} // namespace qc
