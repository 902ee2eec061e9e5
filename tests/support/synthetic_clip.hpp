// SPDX-License-Identifier: BSD-2-Clause-Patent
// Clips that exist as a formula: frozen scores can be tested without shipping a video. Every arithmetic step below is
// part of the definition; the CRC-32 of each clip's two raw files (planar, frame after frame, 16-bit little-endian
// above 8 bits, chroma sizes rounded up) tells whether a generator is right.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "contract/types.hpp"
#include "quality_cuda.h"
#include "tests/support/geometry.hpp"
#include "tests/support/sample_picture.hpp"

namespace qc::test {

struct SyntheticClip {
    const char* name;
    int width, height;
    qc_chroma chroma;
    int depth;
    int frames;
    uint32_t reference_crc, distorted_crc;

    size_t sample_bytes() const { return depth == 8 ? 1 : 2; }
    int plane_count() const { return chroma == QC_CHROMA_400 ? 1 : 3; }
    int plane_width(int plane) const {
        return plane > 0 && (chroma == QC_CHROMA_420 || chroma == QC_CHROMA_422) ? (width + 1) / 2 : width;
    }
    int plane_height(int plane) const { return plane > 0 && chroma == QC_CHROMA_420 ? (height + 1) / 2 : height; }
};

inline constexpr SyntheticClip kSyntheticClips[] = {
    {"g64x48_420_8", 64, 48, QC_CHROMA_420, 8, 4, 0x44acf0e5, 0x64a0ceab},
    {"g175x99_420_8", 175, 99, QC_CHROMA_420, 8, 4, 0xd6391582, 0xafb67e2e},
    {"g176x176_420_10", 176, 176, QC_CHROMA_420, 10, 4, 0x7091ecfd, 0xcd7bbafc},
    {"g80x66_422_12", 80, 66, QC_CHROMA_422, 12, 3, 0x6527941f, 0x0d8acd07},
    {"g48x32_444_16", 48, 32, QC_CHROMA_444, 16, 3, 0x25e90688, 0xbf775746},
};

inline uint32_t synthetic_hash(uint32_t x, uint32_t y, uint32_t frame, uint32_t plane, uint32_t salt) {
    uint32_t h = (x * 73856093u) ^ (y * 19349663u) ^ (frame * 83492791u + plane * 2654435761u + salt);
    h ^= h >> 13;
    h *= 0x5bd1e995u;
    h ^= h >> 15;
    return h;
}

/// Moving triangle waves, blocks and a little noise.
inline uint32_t synthetic_reference(int x, int y, int frame, int plane, int depth) {
    const int extra_bits = depth - 8;
    const uint32_t hash = synthetic_hash(x, y, frame, plane, 1);
    const uint32_t phase = static_cast<uint32_t>(x + 2 * y + 3 * frame + 17 * plane) % 256;
    const uint32_t triangle = phase < 128 ? phase : 255 - phase;
    const uint32_t block = 24u * (((static_cast<uint32_t>(x) >> 3) ^ (static_cast<uint32_t>(y) >> 3)) & 1u);
    return ((40 + triangle + block + (hash & 15)) << extra_bits) + ((hash >> 8) & ((1u << extra_bits) - 1));
}

/// Lower contrast, more noise.
inline uint32_t synthetic_distorted(int x, int y, int frame, int plane, int depth) {
    const int scale = 1 << (depth - 8);
    const auto reference = static_cast<int>(synthetic_reference(x, y, frame, plane, depth));
    const auto noise = static_cast<int>(synthetic_hash(x, y, frame, plane, 2) & 15) - 8;
    return static_cast<uint32_t>(std::clamp((7 * reference + 128 * scale) / 8 + noise * scale, 0, (1 << depth) - 1));
}

inline uint32_t synthetic_sample(int x, int y, int frame, int plane, int depth, bool distorted) {
    return distorted ? synthetic_distorted(x, y, frame, plane, depth) : synthetic_reference(x, y, frame, plane, depth);
}

// ---- other patterns, for pictures that are no clip's ----------------------------------------------------------------

/// Independent noise over the full range.
inline uint32_t synthetic_noise(int x, int y, int frame, int plane, int depth, bool distorted) {
    return synthetic_hash(x, y, frame, plane, distorted) & ((1u << depth) - 1);
}

enum class FlatBlocks { kAnyCode, kExtremes };

/// Blocks that are flat, of noise, or a clip's: sharp edges between them, and everything that takes another branch.
inline uint32_t synthetic_blocks(int x, int y, int frame, int plane, int depth, bool distorted,
                                 FlatBlocks flat = FlatBlocks::kAnyCode) {
    const uint32_t hash = synthetic_hash(x / 24, y / 16, frame, plane, 9), peak = (1u << depth) - 1;
    if (hash % 5 == 0) return flat == FlatBlocks::kAnyCode ? hash >> 8 & peak : (hash >> 8 & 1) * peak;
    if (hash % 5 == 1) return synthetic_noise(x, y, frame, plane, depth, distorted);
    return synthetic_sample(x, y, frame, plane, depth, distorted);
}

// ---- files and pictures ---------------------------------------------------------------------------------------------

/// Appends the samples of a plane as they lie in a file.
inline void append_synthetic_plane(const SyntheticClip& clip, bool distorted, int frame, int plane,
                                   std::vector<uint8_t>* bytes) {
    for (int y = 0; y < clip.plane_height(plane); ++y)
        for (int x = 0; x < clip.plane_width(plane); ++x) {
            const uint32_t sample = synthetic_sample(x, y, frame, plane, clip.depth, distorted);
            bytes->push_back(static_cast<uint8_t>(sample));
            if (clip.depth > 8) bytes->push_back(static_cast<uint8_t>(sample >> 8));
        }
}

inline FrameGeometry synthetic_geometry(const SyntheticClip& clip) {
    return geometry_of(clip.width, clip.height, clip.depth, clip.chroma);
}

/// One picture of a synthetic clip.
class SyntheticPicture : public SamplePicture {
public:
    SyntheticPicture(const SyntheticClip& clip, bool distorted, int frame)
        : SamplePicture(synthetic_geometry(clip), [&](int plane, int x, int y) {
              return synthetic_sample(x, y, frame, plane, clip.depth, distorted);
          }) {}
};

/// All pictures of a synthetic clip.
class SyntheticStream {
public:
    explicit SyntheticStream(const SyntheticClip& clip) : geometry_(synthetic_geometry(clip)) {
        pictures_.reserve(2 * static_cast<size_t>(clip.frames));
        for (int frame = 0; frame < clip.frames; ++frame) {
            reference_.push_back(pictures_.emplace_back(clip, false, frame).view());
            distorted_.push_back(pictures_.emplace_back(clip, true, frame).view());
        }
    }
    const FrameGeometry& geometry() const { return geometry_; }
    const std::vector<HostPicture>& reference() const { return reference_; }
    const std::vector<HostPicture>& distorted() const { return distorted_; }

private:
    FrameGeometry geometry_;
    std::vector<SyntheticPicture> pictures_;
    std::vector<HostPicture> reference_, distorted_;
};

/// CRC-32 as zlib computes it (polynomial 0xedb88320, reflected).
inline uint32_t crc32(std::span<const uint8_t> bytes, uint32_t crc = 0) {
    crc = ~crc;
    for (const uint8_t byte : bytes) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0u);
    }
    return ~crc;
}

/// CRC-32 of the raw file of one side of a clip.
inline uint32_t synthetic_crc32(const SyntheticClip& clip, bool distorted) {
    std::vector<uint8_t> file;
    for (int frame = 0; frame < clip.frames; ++frame)
        for (int p = 0; p < clip.plane_count(); ++p) append_synthetic_plane(clip, distorted, frame, p, &file);
    return crc32(file);
}

} // namespace qc::test
