// SPDX-License-Identifier: BSD-2-Clause-Patent
// How pictures lie in device memory. Pure arithmetic: knows formats (api/picture.hpp) and plane views, no driver.
#pragma once

#include <array>
#include <cstdint>

#include "contract/types.hpp"
#include "quality_cuda.h"

namespace qc::cuda {

/// A picture whose planes follow one another, rows padded. Of as many planes as the format stores.
struct PictureLayout {
    std::array<size_t, 3> offset{}; ///< bytes
    std::array<uint32_t, 3> pitch_bytes{};
    std::array<int, 3> row_bytes{}, rows{};
    int planes = 0;
    size_t bytes = 0;
};

/// @param chroma whether anybody wants the planes beyond the first
PictureLayout picture_layout(const qc_format& format, bool chroma);

/// The picture as kernels read it, in place.
/// @param planes, pitch_bytes by stored plane: device addresses and distances of rows
/// @param count planes that kernels may look at, 1 or 3
DevicePicture picture_view(const qc_format& format, int count, const std::array<const void*, 3>& planes,
                           const std::array<uint32_t, 3>& pitch_bytes);

} // namespace qc::cuda
