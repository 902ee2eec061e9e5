// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cpu/host_picture.hpp"

#include <cstring>

namespace qc::cpu {
namespace {

constexpr size_t kRowAlignment = 64;

/// How to turn a container into a sample of the session: (container >> right) << left.
struct Lift {
    int step = 1; ///< distance of samples in the source
    int right = 0, left = 0;
};

template <typename Source, typename Target>
void lift_row(const Source* source, Target* target, int width, const Lift& lift) {
    for (int x = 0; x < width; ++x)
        target[x] = static_cast<Target>((static_cast<unsigned>(source[x * lift.step]) >> lift.right) << lift.left);
}

template <typename Source, typename Target>
void lift_plane(const void* source, ptrdiff_t pitch_bytes, const HostPlane& plane, Target* target, const Lift& lift) {
    const bool plain = lift.step == 1 && lift.right == 0 && lift.left == 0 && sizeof(Source) == sizeof(Target);
    const auto pitch = ElementPitch<Target>::from_bytes(plane.pitch);
    for (int y = 0; y < plane.height; ++y) {
        const auto* row = reinterpret_cast<const Source*>(static_cast<const char*>(source) + y * pitch_bytes);
        Target* out = target + y * pitch.elements;
        if (plain)
            std::memcpy(out, row, static_cast<size_t>(plane.width) * sizeof(Target));
        else
            lift_row(row, out, plane.width, lift);
    }
}

} // namespace

std::unique_ptr<PicturePool::Storage> PicturePool::storage() {
    {
        const std::lock_guard lock(mutex_);
        if (!free_.empty()) {
            std::unique_ptr<Storage> reused = std::move(free_.back());
            free_.pop_back();
            return reused;
        }
    }
    auto made = std::make_unique<Storage>();
    const int planes = chroma_ ? geometry_.plane_count() : 1;
    size_t bytes = 0;
    std::vector<size_t> offset;
    for (int p = 0; p < planes; ++p) {
        HostPlane& plane = made->picture.plane[p];
        plane.width = geometry_.plane_width(p);
        plane.height = geometry_.plane_height(p);
        const size_t row = static_cast<size_t>(plane.width) * geometry_.sample_bytes();
        plane.pitch.bytes = static_cast<ptrdiff_t>((row + kRowAlignment - 1) / kRowAlignment * kRowAlignment);
        offset.push_back(bytes);
        bytes += static_cast<size_t>(plane.pitch.bytes) * static_cast<size_t>(plane.height);
    }
    made->samples.resize(bytes);
    for (int p = 0; p < planes; ++p) made->picture.plane[p].data = made->samples.data() + offset[p];
    return made;
}

void PicturePool::give_back(std::unique_ptr<Storage> storage) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(storage));
}

std::shared_ptr<const HostPicture> PicturePool::take_in(const qc_picture& source, const qc_format& format) {
    std::unique_ptr<Storage> filled = storage();
    const int planes = chroma_ ? geometry_.plane_count() : 1;
    for (int p = 0; p < planes; ++p) {
        const HostPlane& plane = filled->picture.plane[p];
        const bool interleaved = p > 0 && format.semi_planar != 0;
        const int source_plane = interleaved ? 1 : p;
        const Lift lift{interleaved ? 2 : 1, format.shift, geometry_.depth - format.depth};
        const ptrdiff_t first = interleaved && p == 2 ? format.container_bits / 8 : 0;
        const char* data = static_cast<const char*>(source.plane[source_plane]) + first;
        const ptrdiff_t pitch = source.pitch_bytes[source_plane];
        auto* target = const_cast<void*>(plane.data);
        if (geometry_.sample == SampleType::kU8)
            lift_plane<uint8_t>(data, pitch, plane, static_cast<uint8_t*>(target), lift);
        else if (format.container_bits == 8)
            lift_plane<uint8_t>(data, pitch, plane, static_cast<uint16_t*>(target), lift);
        else
            lift_plane<uint16_t>(data, pitch, plane, static_cast<uint16_t*>(target), lift);
    }
    Storage* raw = filled.release();
    std::shared_ptr<PicturePool> pool = shared_from_this();
    return {&raw->picture, [pool, raw](const HostPicture*) { pool->give_back(std::unique_ptr<Storage>(raw)); }};
}

} // namespace qc::cpu
