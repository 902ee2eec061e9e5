// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads a PNG file as the metrics see RGB pictures. Test code only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "contract/types.hpp"
#if defined(QC_WITH_PNG)
#include <png.h>
#endif

namespace qc::golden {

#if defined(QC_WITH_PNG)
constexpr bool kCanReadPng = true;
#else
constexpr bool kCanReadPng = false;
#endif

/// An 8-bit picture with the planes G, B, R.
struct RgbPicture {
    int width = 0, height = 0;
    std::vector<uint8_t> planes[3];

    /// Valid as long as this object.
    HostPicture view() const {
        HostPicture picture;
        for (int p = 0; p < 3; ++p) picture.plane[p] = {planes[p].data(), {width}, width, height};
        return picture;
    }
    FrameGeometry geometry() const {
        FrameGeometry geometry;
        geometry.width = geometry.chroma_width = geometry.stored_chroma_width = width;
        geometry.height = geometry.chroma_height = geometry.stored_chroma_height = height;
        geometry.rgb = true;
        return geometry;
    }
};

/// The codes of an 8-bit file, whatever its colour tags say; nothing if it cannot be read.
inline std::optional<RgbPicture> read_png(const std::filesystem::path& path) {
#if defined(QC_WITH_PNG)
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_file(&image, path.c_str()) == 0) return std::nullopt;
    image.format = PNG_FORMAT_RGB;
    std::vector<uint8_t> packed(PNG_IMAGE_SIZE(image));
    if (png_image_finish_read(&image, nullptr, packed.data(), 0, nullptr) == 0) return std::nullopt;
    RgbPicture picture;
    picture.width = static_cast<int>(image.width);
    picture.height = static_cast<int>(image.height);
    constexpr size_t kPlaneOfComponent[] = {2, 0, 1};
    for (size_t i = 0; i < packed.size(); ++i) picture.planes[kPlaneOfComponent[i % 3]].push_back(packed[i]);
    return picture;
#else
    (void)path;
    return std::nullopt;
#endif
}

} // namespace qc::golden
