// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cpu/host_picture.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "api/picture.hpp"
#include "cpu/scaler.hpp"

namespace qc::cpu {
namespace {

constexpr size_t kRowAlignment = 64;

/// How to turn a container into a sample of the session: min(container >> right, largest) << left. Bits above the
/// sample ought to be 0, but pictures come from anywhere, and metrics count on their samples' range.
struct Lift {
    int step = 1; ///< distance of samples in the source
    int right = 0;
    unsigned largest = 0;
    int left = 0;

    template <typename Target, typename Source>
    Target apply(Source container) const {
        return static_cast<Target>(std::min(static_cast<unsigned>(container) >> right, largest) << left);
    }
};

template <typename Source, typename Target>
void lift_row(const Source* source, Target* target, int width, const Lift& lift) {
    if (lift.step == 1) // a loop of its own: it is vectorised
        for (int x = 0; x < width; ++x) target[x] = lift.apply<Target>(source[x]);
    else
        for (int x = 0; x < width; ++x) target[x] = lift.apply<Target>(source[x * lift.step]);
}

template <typename Source, typename Target>
void lift_plane(const void* source, ptrdiff_t pitch_bytes, const Plane<Target>& target, const Lift& lift) {
    const bool plain = lift.step == 1 && lift.right == 0 && lift.left == 0 && sizeof(Source) == sizeof(Target) &&
                       lift.largest == std::numeric_limits<Source>::max();
    for (int y = 0; y < target.height; ++y) {
        const auto* row = reinterpret_cast<const Source*>(static_cast<const char*>(source) + y * pitch_bytes);
        if (plain)
            std::memcpy(target.row(y), row, static_cast<size_t>(target.width) * sizeof(Target));
        else
            lift_row(row, target.row(y), target.width, lift);
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
        free_.reserve(++made_);
    }
    auto made = std::make_unique<Storage>();
    const int planes = chroma_ ? geometry_.plane_count() : 1;
    size_t bytes = 0;
    std::vector<size_t> offset;
    for (int p = 0; p < planes; ++p) {
        HostPlane& plane = made->own.plane[p];
        plane.width = geometry_.plane_width(p);
        plane.height = geometry_.plane_height(p);
        const size_t row = static_cast<size_t>(geometry_.stored_width(p)) * geometry_.sample_bytes();
        plane.pitch.bytes = static_cast<ptrdiff_t>((row + kRowAlignment - 1) / kRowAlignment * kRowAlignment);
        offset.push_back(bytes);
        bytes += static_cast<size_t>(plane.pitch.bytes) * static_cast<size_t>(geometry_.stored_height(p));
    }
    made->samples.resize(bytes);
    for (int p = 0; p < planes; ++p) made->own.plane[p].data = made->samples.data() + offset[p];
    return made;
}

/// Called by the end of a shared_ptr, which nothing may leave.
void PicturePool::give_back(std::unique_ptr<Storage> storage) noexcept {
    storage->hold.reset();
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(storage));
}

/// A plane of a picture that is being filled, with all its stored samples.
template <typename T>
Plane<T> PicturePool::target(const HostPicture& picture, int p) const {
    const HostPlane& plane = picture.plane[p];
    return {static_cast<T*>(const_cast<void*>(plane.data)), ElementPitch<T>::from_bytes(plane.pitch),
            geometry_.stored_width(p), geometry_.stored_height(p)};
}

/// Whether the samples of a plane are what the session scores, one beside the other.
bool PicturePool::is_ready(const qc_format& format, int p) const {
    const int bits = geometry_.sample == SampleType::kU8 ? 8 : 16;
    return plane_source(format, p).step == 1 && format.container_bits == bits && format.depth == bits &&
           geometry_.depth == bits;
}

void PicturePool::lift(const qc_picture& source, const qc_format& format, int p, const HostPicture& picture) const {
    const PlaneSource from = plane_source(format, p);
    const Lift lift{from.step, format.shift, (1u << format.depth) - 1, geometry_.depth - format.depth};
    const char* data = static_cast<const char*>(source.plane[from.plane]) + from.first_bytes;
    const ptrdiff_t pitch = source.pitch_bytes[from.plane];
    if (geometry_.sample == SampleType::kU8)
        lift_plane<uint8_t>(data, pitch, target<uint8_t>(picture, p), lift);
    else if (format.container_bits == 8)
        lift_plane<uint8_t>(data, pitch, target<uint16_t>(picture, p), lift);
    else
        lift_plane<uint16_t>(data, pitch, target<uint16_t>(picture, p), lift);
}

void PicturePool::scale(const qc_picture& source, const qc_format& format, int p, const InputScaling& scaling,
                        const HostPicture& picture) const {
    const PlaneSource from = plane_source(format, p);
    const SampleRows rows{static_cast<const char*>(source.plane[from.plane]) + from.first_bytes,
                          source.pitch_bytes[from.plane], from.step, stored_extent(format, p).columns,
                          format.container_bits};
    const InputScaling::PlaneTables& tables = scaling.plane[static_cast<size_t>(p)];
    if (geometry_.sample == SampleType::kU8)
        scale_plane(rows, tables, scaling.math, target<uint8_t>(picture, p));
    else
        scale_plane(rows, tables, scaling.math, target<uint16_t>(picture, p));
}

std::shared_ptr<const HostPicture> PicturePool::take_in(const qc_picture& source, const qc_format& format,
                                                        const InputScaling* scaling, const Hold& hold) {
    std::unique_ptr<Storage> filled = storage();
    filled->picture = filled->own;
    const int planes = chroma_ ? geometry_.plane_count() : 1;
    for (int p = 0; p < planes; ++p) {
        if (scaling != nullptr) {
            scale(source, format, p, *scaling, filled->picture);
        } else if (hold != nullptr && is_ready(format, p)) {
            const PlaneSource from = plane_source(format, p);
            HostPlane& plane = filled->picture.plane[p];
            plane.data = static_cast<const char*>(source.plane[from.plane]) + from.first_bytes;
            plane.pitch.bytes = source.pitch_bytes[from.plane];
            filled->hold = hold;
        } else {
            lift(source, format, p, filled->picture);
        }
    }
    Storage* raw = filled.release();
    std::shared_ptr<PicturePool> pool = shared_from_this();
    return {&raw->picture, [pool, raw](const HostPicture*) { pool->give_back(std::unique_ptr<Storage>(raw)); }};
}

PicturePool::Hold PicturePool::share(PictureHold hold) {
    {
        const std::lock_guard lock(mutex_);
        ended_.reserve(++shared_);
    }
    std::shared_ptr<PicturePool> pool = shared_from_this();
    const auto wait_for_end = [pool](PictureHold* ended) {
        const std::unique_ptr<PictureHold> owned(ended);
        const std::lock_guard lock(pool->mutex_);
        pool->ended_.push_back(std::move(*owned));
    };
    return {std::make_unique<PictureHold>(std::move(hold)).release(), wait_for_end};
}

void PicturePool::end_holds() {
    for (;;) {
        PictureHold oldest;
        {
            const std::lock_guard lock(mutex_);
            if (ended_.empty()) return;
            oldest = std::move(ended_.front());
            ended_.erase(ended_.begin());
            --shared_;
        }
        oldest.end(); // a function of the caller's
    }
}

} // namespace qc::cpu
