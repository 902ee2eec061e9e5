// SPDX-License-Identifier: BSD-2-Clause-Patent
// A golden clip in memory, as a metric sees it. Test code only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contract/types.hpp"
#include "tests/golden/golden_clip.hpp"

namespace qc::golden {

inline FrameGeometry geometry_of(const Clip& clip) {
    FrameGeometry geometry;
    geometry.width = clip.width;
    geometry.height = clip.height;
    if (clip.chroma_width() > 0) {
        geometry.chroma_width = clip.chroma_width() == clip.width ? clip.width : clip.width / 2;
        geometry.chroma_height = clip.chroma_height() == clip.height ? clip.height : clip.height / 2;
    }
    geometry.stored_chroma_width = clip.chroma_width();
    geometry.stored_chroma_height = clip.chroma_height();
    geometry.depth = clip.depth;
    geometry.sample = clip.depth == 8 ? SampleType::kU8 : SampleType::kU16;
    return geometry;
}

/// Views of all pictures of one unpacked file; empty if its size is not that of the clip.
inline std::vector<HostPicture> pictures_of(const Clip& clip, const std::vector<uint8_t>& bytes) {
    std::vector<HostPicture> pictures;
    if (bytes.size() != clip.frame_bytes() * static_cast<size_t>(clip.frames)) return pictures;
    const FrameGeometry geometry = geometry_of(clip);
    const uint8_t* data = bytes.data();
    for (int frame = 0; frame < clip.frames; ++frame) {
        HostPicture picture;
        for (int p = 0; p < (clip.chroma_width() > 0 ? 3 : 1); ++p) {
            const int file_width = p == 0 ? clip.width : clip.chroma_width();
            const int file_height = p == 0 ? clip.height : clip.chroma_height();
            const ptrdiff_t pitch = static_cast<ptrdiff_t>(file_width * clip.sample_bytes());
            picture.plane[p] = {data, {pitch}, geometry.plane_width(p), geometry.plane_height(p)};
            data += pitch * file_height;
        }
        pictures.push_back(picture);
    }
    return pictures;
}

} // namespace qc::golden
