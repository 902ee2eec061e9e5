// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/picture_layout.hpp"

#include "api/picture.hpp"
#include "cuda/carver.hpp"

namespace qc::cuda {
namespace {

constexpr size_t kRowAlignment = 64;

} // namespace

PictureLayout picture_layout(const qc_format& format, bool chroma) {
    PictureLayout layout;
    Carver carver;
    layout.planes = chroma ? stored_planes(format) : 1;
    for (int p = 0; p < layout.planes; ++p) {
        const StoredPlane plane = stored_plane(format, p);
        layout.row_bytes[p] = static_cast<int>(plane.row_bytes);
        layout.rows[p] = plane.rows;
        layout.pitch_bytes[p] =
            static_cast<uint32_t>(align_up(static_cast<size_t>(layout.row_bytes[p]), kRowAlignment));
        layout.offset[p] = carver.take(static_cast<size_t>(layout.pitch_bytes[p]) * layout.rows[p]);
    }
    layout.bytes = carver.used();
    return layout;
}

DevicePicture picture_view(const qc_format& format, int count, const std::array<const void*, 3>& planes,
                           const std::array<uint32_t, 3>& pitch_bytes) {
    DevicePicture view{};
    for (int p = 0; p < count; ++p) {
        const PlaneSource from = plane_source(format, p);
        view.plane[p] =
            DevicePlane{static_cast<const char*>(planes[from.plane]) + from.first_bytes, pitch_bytes[from.plane],
                        static_cast<uint16_t>(from.step), static_cast<uint16_t>(format.shift)};
    }
    return view;
}

} // namespace qc::cuda
