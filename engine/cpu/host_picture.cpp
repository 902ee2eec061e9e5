// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cpu/host_picture.hpp"

#include <array>
#include <optional>
#include <vector>

#include "api/picture.hpp"
#include "cpu/recoder.hpp"
#include "cpu/scaler.hpp"
#include "cpu/unpack.hpp"

namespace qc::cpu {
namespace {

constexpr size_t kRowAlignment = 64;

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
    return is_read_in_place(format) && plane_source(format, p).step == 1 && format.container_bits == bits &&
           format.depth == bits && geometry_.depth == bits;
}

void PicturePool::lift(const qc_picture& source, const qc_format& format, int p, const HostPicture& picture) const {
    const ComponentRows rows = component_rows(source, format, p);
    const int shift_left = geometry_.depth - format.depth;
    if (geometry_.sample == SampleType::kU8)
        unpack_plane(rows, shift_left, target<uint8_t>(picture, p));
    else
        unpack_plane(rows, shift_left, target<uint16_t>(picture, p));
}

/// The samples that are scaled, as they came.
class UnpackedPlane {
public:
    UnpackedPlane(const qc_picture& source, const qc_format& format, int p) {
        const qc_format unpacked = unpacked_format(format);
        const auto [columns, rows] = stored_extent(unpacked, p);
        const ptrdiff_t pitch = ptrdiff_t{columns} * (unpacked.container_bits / 8);
        memory_.resize(static_cast<size_t>(pitch * rows));
        if (unpacked.container_bits == 8)
            unpack_plane(component_rows(source, format, p), 0,
                         Plane<uint8_t>{reinterpret_cast<uint8_t*>(memory_.data()), {columns}, columns, rows});
        else
            unpack_plane(component_rows(source, format, p), 0,
                         Plane<uint16_t>{reinterpret_cast<uint16_t*>(memory_.data()), {columns}, columns, rows});
        rows_ = {memory_.data(), pitch, 1, columns, unpacked.container_bits};
    }
    const SampleRows& rows() const { return rows_; }

private:
    std::vector<char> memory_;
    SampleRows rows_;
};

void PicturePool::scale(const qc_picture& source, const qc_format& format, int p, const InputScaling& scaling,
                        const HostPicture& picture) const {
    std::optional<UnpackedPlane> unpacked;
    SampleRows rows;
    if (is_read_in_place(format)) {
        const PlaneSource from = plane_source(format, p);
        rows = {static_cast<const char*>(source.plane[from.plane]) + from.first_bytes, source.pitch_bytes[from.plane],
                from.step, stored_extent(format, p).columns, format.container_bits};
    } else {
        rows = unpacked.emplace(source, format, p).rows();
    }
    const InputScaling::PlaneTables& tables = scaling.plane[static_cast<size_t>(p)];
    if (geometry_.sample == SampleType::kU8)
        scale_plane(rows, tables, scaling.math, target<uint8_t>(picture, p));
    else
        scale_plane(rows, tables, scaling.math, target<uint16_t>(picture, p));
}

namespace {

SourcePlanes source_planes(const qc_picture& source, const BackendSetup::Recoded& how) {
    SourcePlanes planes;
    for (int q = 0; q < how.recoding.source_planes; ++q) {
        const auto at = static_cast<size_t>(q);
        planes.component[at] = component_rows(source, how.source, q);
        planes.extent[at] = stored_extent(unpacked_format(how.source), q);
    }
    return planes;
}

/// A recoded picture that is still to be scaled: its size is that of what came.
template <typename T>
class UnscaledPicture {
public:
    UnscaledPicture(const qc_picture& source, const BackendSetup::Recoded& how, const qc_format& format) {
        std::array<Plane<T>, 3> planes{};
        for (int p = 0; p < how.recoding.target_planes; ++p) {
            const auto at = static_cast<size_t>(p);
            const PlaneExtent extent = stored_extent(format, p);
            samples_[at].resize(static_cast<size_t>(extent.columns) * static_cast<size_t>(extent.rows));
            planes[at] = {samples_[at].data(), {extent.columns}, extent.columns, extent.rows};
            view_.plane[p] = samples_[at].data();
            view_.pitch_bytes[p] = ptrdiff_t{extent.columns} * static_cast<ptrdiff_t>(sizeof(T));
        }
        recode_planes(source_planes(source, how), how.recoding, planes);
    }
    const qc_picture& view() const { return view_; }

private:
    std::array<std::vector<T>, 3> samples_;
    qc_picture view_{};
};

} // namespace

/// Fills the planes that are read of a picture whose samples are recoded.
void PicturePool::fill_recoded(const qc_picture& source, const BackendSetup::Recoded& how, const qc_format& format,
                               const InputScaling* scaling, const HostPicture& picture) const {
    const auto fill = [&](auto sample) {
        using T = decltype(sample);
        if (scaling != nullptr) {
            const UnscaledPicture<T> unscaled(source, how, format);
            for (int p = 0; p < how.recoding.target_planes; ++p) scale(unscaled.view(), format, p, *scaling, picture);
            return;
        }
        std::array<Plane<T>, 3> planes{};
        for (int p = 0; p < how.recoding.target_planes; ++p) planes[static_cast<size_t>(p)] = target<T>(picture, p);
        recode_planes(source_planes(source, how), how.recoding, planes);
    };
    if (geometry_.sample == SampleType::kU8)
        fill(uint8_t{});
    else
        fill(uint16_t{});
}

std::shared_ptr<const HostPicture> PicturePool::take_in(const qc_picture& source, const qc_format& format,
                                                        const InputScaling* scaling, const Hold& hold,
                                                        const BackendSetup::Recoded* recoded) {
    std::unique_ptr<Storage> filled = storage();
    filled->picture = filled->own;
    const int planes = chroma_ ? geometry_.plane_count() : 1;
    if (recoded != nullptr) fill_recoded(source, *recoded, format, scaling, filled->picture);
    for (int p = 0; p < planes && recoded == nullptr; ++p) {
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
