// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures that tests make sample by sample, as the CPU backend sees them, and as surfaces that kernels read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "contract/types.hpp"

namespace qc::test {

/// Planar samples of the geometry's type, as many as it says are stored. Memory ends with the last sample of a plane,
/// so that a sanitizer sees reads beyond it.
class SamplePicture {
public:
    /// @param padding samples of junk behind each row
    explicit SamplePicture(const FrameGeometry& geometry, int padding = 0) : geometry_(geometry) {
        for (int p = 0; p < geometry.plane_count(); ++p) {
            const auto width = static_cast<size_t>(geometry.stored_width(p));
            pitch_[index(p)] = (width + static_cast<size_t>(padding)) * geometry.sample_bytes();
            bytes_[index(p)].assign(offset(p, geometry.stored_width(p), geometry.stored_height(p) - 1), 0xad);
        }
    }
    /// @param sample_at (plane, x, y) or (x, y) -> code, asked once for each sample, plane after plane and row after
    /// row
    template <typename SampleAt>
    SamplePicture(const FrameGeometry& geometry, const SampleAt& sample_at, int padding = 0)
        : SamplePicture(geometry, padding) {
        for (int p = 0; p < geometry.plane_count(); ++p)
            for (int y = 0; y < geometry.stored_height(p); ++y)
                for (int x = 0; x < geometry.stored_width(p); ++x)
                    set(p, x, y, static_cast<uint32_t>(code_of(sample_at, p, x, y)));
    }

    const FrameGeometry& geometry() const { return geometry_; }
    uint32_t at(int plane, int x, int y) const {
        uint16_t sample = 0;
        std::memcpy(&sample, bytes_[index(plane)].data() + offset(plane, x, y), geometry_.sample_bytes());
        return sample;
    }
    void set(int plane, int x, int y, uint32_t code) {
        const auto sample = static_cast<uint16_t>(code);
        std::memcpy(bytes_[index(plane)].data() + offset(plane, x, y), &sample, geometry_.sample_bytes());
    }

    /// Valid as long as this object.
    HostPlane plane(int p) const {
        return {bytes_[index(p)].data(),
                {static_cast<ptrdiff_t>(pitch_[index(p)])},
                geometry_.plane_width(p),
                geometry_.plane_height(p)};
    }
    HostPicture view() const {
        HostPicture picture;
        for (int p = 0; p < geometry_.plane_count(); ++p) picture.plane[p] = plane(p);
        return picture;
    }

private:
    static size_t index(int plane) { return static_cast<size_t>(plane); }
    template <typename SampleAt>
    static auto code_of(const SampleAt& sample_at, int plane, int x, int y) {
        if constexpr (std::is_invocable_v<const SampleAt&, int, int>)
            return sample_at(x, y);
        else
            return sample_at(plane, x, y);
    }
    size_t offset(int plane, int x, int y) const {
        return static_cast<size_t>(y) * pitch_[index(plane)] + static_cast<size_t>(x) * geometry_.sample_bytes();
    }

    FrameGeometry geometry_;
    std::array<size_t, 3> pitch_{}; ///< bytes
    std::array<std::vector<uint8_t>, 3> bytes_;
};

/// How a picture lies in a surface.
struct SurfaceLayout {
    const char* name = "";
    bool semi_planar = false;
    int shift = 0;        ///< of the samples in their containers
    size_t offset = 0;    ///< samples that the planes start off a 16-byte boundary
    size_t padding = 0;   ///< samples behind each row
    size_t alignment = 1; ///< bytes that the pitch is a multiple of
    int luma_step = 1;    ///< samples from one luma sample to the next
    int pixel_step = 0;   ///< samples of a packed pixel, those of planes 2, 1 and 0 first; 0: planes are apart
};

/// A copy of a picture in memory as a kernel gets it: rubbish in the bits below the samples, junk between the rows, and
/// memory that ends with the last sample (pair or pixel, where planes are interleaved) of the last row.
class Surface {
public:
    Surface(const SamplePicture& picture, const SurfaceLayout& layout)
        : geometry_(picture.geometry()), layout_(layout) {
        for (int p = 0; p < geometry_.plane_count(); ++p) {
            if (storage_[place(p).storage].empty()) allocate(p);
            for (int y = 0; y < geometry_.stored_height(p); ++y)
                for (int x = 0; x < geometry_.stored_width(p); ++x) write(p, x, y, picture.at(p, x, y));
        }
    }

    /// Valid as long as this object, as host() is.
    DevicePlane plane(int p) const {
        return {first_sample(p), static_cast<uint32_t>(pitch_[place(p).storage]), static_cast<uint16_t>(place(p).step),
                static_cast<uint16_t>(layout_.shift)};
    }
    DevicePicture device() const {
        DevicePicture picture{};
        for (int p = 0; p < geometry_.plane_count(); ++p) picture.plane[p] = plane(p);
        return picture;
    }
    /// Precondition: no shift, and samples next to each other.
    HostPicture host() const {
        HostPicture picture;
        for (int p = 0; p < geometry_.plane_count(); ++p)
            picture.plane[p] = {first_sample(p),
                                {static_cast<ptrdiff_t>(pitch_[place(p).storage])},
                                geometry_.plane_width(p),
                                geometry_.plane_height(p)};
        return picture;
    }
    /// From the first byte of the surface that holds the plane to the last one that may be read.
    std::span<const uint8_t> memory(int plane) const { return storage_[place(plane).storage]; }

private:
    /// Where the samples of a plane are, in samples.
    struct Place {
        size_t storage = 0, first = 0, step = 1;
        bool interleaved = false;
    };
    Place place(int plane) const {
        const auto p = static_cast<size_t>(plane);
        if (layout_.pixel_step > 0) return {0, 2 - p, static_cast<size_t>(layout_.pixel_step), true};
        if (layout_.semi_planar && plane > 0) return {1, p - 1, 2, true};
        return {p, 0, plane == 0 ? static_cast<size_t>(layout_.luma_step) : 1, false};
    }
    const uint8_t* first_sample(int plane) const { return storage_[place(plane).storage].data() + offset(plane, 0, 0); }

    void allocate(int plane) {
        const Place at = place(plane);
        const size_t bytes = geometry_.sample_bytes(), width = static_cast<size_t>(geometry_.stored_width(plane));
        const size_t unit = layout_.alignment > bytes ? layout_.alignment : bytes;
        const size_t row_samples = width * at.step + layout_.padding;
        const size_t last_row = at.interleaved ? width * at.step : (width - 1) * at.step + 1;
        pitch_[at.storage] = (row_samples * bytes + unit - 1) / unit * unit;
        storage_[at.storage].resize((layout_.offset + last_row) * bytes +
                                        pitch_[at.storage] * static_cast<size_t>(geometry_.stored_height(plane) - 1),
                                    0x5a);
    }
    size_t offset(int plane, int x, int y) const {
        const Place at = place(plane);
        const size_t column = layout_.offset + static_cast<size_t>(x) * at.step + at.first;
        return static_cast<size_t>(y) * pitch_[at.storage] + column * geometry_.sample_bytes();
    }
    void write(int plane, int x, int y, uint32_t code) {
        const uint32_t hash = (code + 31 * static_cast<uint32_t>(x) + 17 * static_cast<uint32_t>(y) + 1) * 2654435761u;
        const uint32_t rubbish = hash >> 20 & ((1u << layout_.shift) - 1);
        const auto container = static_cast<uint16_t>(code << layout_.shift | rubbish);
        std::memcpy(storage_[place(plane).storage].data() + offset(plane, x, y), &container, geometry_.sample_bytes());
    }

    FrameGeometry geometry_;
    SurfaceLayout layout_;
    std::array<std::vector<uint8_t>, 3> storage_;
    std::array<size_t, 3> pitch_{}; ///< bytes
};

} // namespace qc::test
