// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures of any layout in memory that ends where the format says that they end: one byte too far is seen.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "quality_cuda.h"
#include "tests/fuzz/input.hpp"

namespace qc::fuzz {

/// One plane as qc_format describes it.
struct PlaneSize {
    size_t row_bytes = 0;
    size_t rows = 0;
};

inline int plane_count(const qc_format& format) {
    if (format.chroma == QC_CHROMA_400 || format.pixel_step != 0) return 1;
    return format.semi_planar != 0 ? 2 : 3;
}

inline PlaneSize plane_size(const qc_format& format, int plane) {
    constexpr int kAcross[] = {1, 2, 2, 1, 4, 4, 1}, kDown[] = {1, 2, 1, 1, 4, 1, 2}; // luma samples of a chroma sample
    const auto side = [](int length, int shared) { return static_cast<size_t>((length + shared - 1) / shared); };
    const bool in_pairs = format.pixel_step != 0 && format.chroma == QC_CHROMA_422;
    size_t samples = side(format.width, plane > 0 ? kAcross[format.chroma] : in_pairs ? 2 : 1);
    if (plane > 0 && format.semi_planar != 0) samples *= 2;
    if (format.pixel_step != 0) samples *= static_cast<size_t>(format.pixel_step);
    return {samples * static_cast<size_t>(format.container_bits) / 8,
            side(format.height, plane > 0 ? kDown[format.chroma] : 1)};
}

/// How samples are made up.
enum class Fill { kNoise, kExtremes, kFlat, kGradient, kCount };

class ExactPicture {
public:
    /// Of the input are read: the fill, its seed, whether words may come that no sample has, and per plane the padding
    /// and the direction of the rows.
    ExactPicture(const qc_format& format, Input& input) {
        fill_ = static_cast<Fill>(input.choose(static_cast<int>(Fill::kCount)));
        state_ = input.byte() + 1u;
        if (format.container_bits == 16 && !input.rarely(3)) mask_ = ((1u << format.depth) - 1) << format.shift;
        const auto sample_bytes = static_cast<size_t>(format.container_bits) / 8;
        for (int p = 0; p < plane_count(format); ++p) make_plane(p, plane_size(format, p), sample_bytes, input);
    }

    const qc_picture& view() const { return view_; }

private:
    void make_plane(int plane, PlaneSize size, size_t sample_bytes, Input& input) {
        const size_t pitch = size.row_bytes + static_cast<size_t>(input.choose(4)) * sample_bytes;
        const bool upwards = input.rarely(4);
        const size_t bytes = (size.rows - 1) * pitch + size.row_bytes; // nothing behind the last row
        auto& memory = memory_[static_cast<size_t>(plane)];
        memory.reset(new uint8_t[bytes]); // not a vector: what it keeps in reserve would hide a read too far
        for (size_t i = 0; i < bytes; ++i) memory[i] = sample(i) & static_cast<uint8_t>(mask_ >> i % 2 * 8);
        view_.plane[plane] = memory.get() + (upwards ? (size.rows - 1) * pitch : 0);
        view_.pitch_bytes[plane] = upwards ? -static_cast<ptrdiff_t>(pitch) : static_cast<ptrdiff_t>(pitch);
    }

    uint8_t sample(size_t at) {
        state_ = state_ * 1664525u + 1013904223u;
        const auto noise = static_cast<uint8_t>(state_ >> 24);
        switch (fill_) {
        case Fill::kExtremes:
            return noise < 128 ? 0 : 255;
        case Fill::kFlat:
            return 85;
        case Fill::kGradient:
            return static_cast<uint8_t>(at / 2);
        default:
            return noise;
        }
    }

    Fill fill_ = Fill::kNoise;
    uint32_t state_ = 0, mask_ = 0xffff; ///< of a little-endian word
    std::array<std::unique_ptr<uint8_t[]>, 3> memory_;
    qc_picture view_{};
};

} // namespace qc::fuzz
