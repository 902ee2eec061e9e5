// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cpu/host_picture.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
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

/// A picture with memory for its planes.
class PicturePool::Storage final : public TakenPicture {
public:
    explicit Storage(const PicturePool& pool) : pool_(pool) {
        const FrameGeometry& geometry = pool.geometry_;
        size_t bytes = 0;
        std::array<size_t, 3> offset{};
        for (int p = 0; p < pool.planes(); ++p) {
            HostPlane& plane = own_.plane[p];
            plane.width = geometry.plane_width(p);
            plane.height = geometry.plane_height(p);
            const size_t row = static_cast<size_t>(geometry.stored_width(p)) * geometry.sample_bytes();
            plane.pitch.bytes = static_cast<ptrdiff_t>((row + kRowAlignment - 1) / kRowAlignment * kRowAlignment);
            offset[static_cast<size_t>(p)] = bytes;
            bytes += static_cast<size_t>(plane.pitch.bytes) * static_cast<size_t>(geometry.stored_height(p));
        }
        samples_ = std::make_unique_for_overwrite<std::byte[]>(bytes); // planes that are never made are never touched
        for (int p = 0; p < pool.planes(); ++p) own_.plane[p].data = samples_.get() + offset[static_cast<size_t>(p)];
    }

    /// To begin with, all planes are its own, and there is nothing to make.
    void begin(const qc_picture& source, const qc_format& format, const InputScaling* scaling, const Hold& hold,
               const BackendSetup::Recoded* recoded) {
        static_cast<HostPicture&>(*this) = own_;
        source_ = source;
        format_ = &format;
        scaling_ = scaling;
        recoded_ = recoded;
        hold_ = hold;
        unmade_.store(0, std::memory_order_relaxed);
        is_read_there_ = false;
        for (Plane& plane : planes_) plane.is_made.store(true, std::memory_order_relaxed);
    }
    void make_later(int p) {
        planes_[static_cast<size_t>(p)].is_made.store(false, std::memory_order_relaxed);
        unmade_.fetch_add(1, std::memory_order_relaxed);
    }
    void read_there(int p) {
        const PlaneSource from = plane_source(*format_, p);
        plane[p].data = static_cast<const char*>(source_.plane[from.plane]) + from.first_bytes;
        plane[p].pitch.bytes = source_.pitch_bytes[from.plane];
        is_read_there_ = true;
    }
    void end() { hold_.reset(); }

    /// All planes of a recoded picture are made with the first.
    void make(int planes, Helpers* helpers) const override {
        for (int p = 0; p < std::min(planes, pool_.planes()); ++p) {
            Plane& wanted = planes_[static_cast<size_t>(p)];
            if (wanted.is_made.load(std::memory_order_acquire)) continue;
            const std::lock_guard lock(wanted.mutex);
            if (wanted.is_made.load(std::memory_order_relaxed)) continue;
            if (recoded_ != nullptr)
                pool_.fill_recoded(source_, *recoded_, *format_, scaling_, helpers, *this);
            else
                pool_.fill(source_, *format_, p, scaling_, *this);
            wanted.is_made.store(true, std::memory_order_release);
            if (unmade_.fetch_sub(1, std::memory_order_acq_rel) == 1 && !is_read_there_) hold_.reset();
        }
    }

private:
    struct Plane {
        std::mutex mutex;
        std::atomic<bool> is_made = false;
    };
    const PicturePool& pool_;
    HostPicture own_; ///< its planes lie in `samples_`
    std::unique_ptr<std::byte[]> samples_;
    mutable std::array<Plane, 3> planes_;
    // What planes are made of, and the hold of that memory.
    qc_picture source_{};
    const qc_format* format_ = nullptr;
    const InputScaling* scaling_ = nullptr;
    const BackendSetup::Recoded* recoded_ = nullptr;
    mutable Hold hold_;
    mutable std::atomic<int> unmade_ = 0;
    bool is_read_there_ = false;
};

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
    return std::make_unique<Storage>(*this);
}

PicturePool::PicturePool(const FrameGeometry& geometry, bool chroma) : geometry_(geometry), chroma_(chroma) {}
PicturePool::~PicturePool() = default;

/// Called by the end of a shared_ptr, which nothing may leave.
void PicturePool::give_back(std::unique_ptr<Storage> storage) noexcept {
    storage->end();
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

/// The samples that are scaled, as they were given.
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

void PicturePool::fill(const qc_picture& source, const qc_format& format, int p, const InputScaling* scaling,
                       const HostPicture& picture) const {
    if (scaling != nullptr)
        scale(source, format, p, *scaling, picture);
    else
        lift(source, format, p, picture);
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
    UnscaledPicture(const qc_picture& source, const BackendSetup::Recoded& how, const qc_format& format,
                    Helpers* helpers) {
        std::array<Plane<T>, 3> planes{};
        for (int p = 0; p < how.recoding.target_planes; ++p) {
            const auto at = static_cast<size_t>(p);
            const PlaneExtent extent = stored_extent(format, p);
            samples_[at].resize(static_cast<size_t>(extent.columns) * static_cast<size_t>(extent.rows));
            planes[at] = {samples_[at].data(), {extent.columns}, extent.columns, extent.rows};
            view_.plane[p] = samples_[at].data();
            view_.pitch_bytes[p] = ptrdiff_t{extent.columns} * static_cast<ptrdiff_t>(sizeof(T));
        }
        recode_planes(source_planes(source, how), how.recoding, helpers, planes);
    }
    const qc_picture& view() const { return view_; }

private:
    std::array<std::vector<T>, 3> samples_;
    qc_picture view_{};
};

} // namespace

/// Fills the planes that are read of a picture whose samples are recoded.
void PicturePool::fill_recoded(const qc_picture& source, const BackendSetup::Recoded& how, const qc_format& format,
                               const InputScaling* scaling, Helpers* helpers, const HostPicture& picture) const {
    const auto fill = [&](auto sample) {
        using T = decltype(sample);
        if (scaling != nullptr) {
            const UnscaledPicture<T> unscaled(source, how, format, helpers);
            for (int p = 0; p < how.recoding.target_planes; ++p) scale(unscaled.view(), format, p, *scaling, picture);
            return;
        }
        std::array<Plane<T>, 3> planes{};
        for (int p = 0; p < how.recoding.target_planes; ++p) planes[static_cast<size_t>(p)] = target<T>(picture, p);
        recode_planes(source_planes(source, how), how.recoding, helpers, planes);
    };
    if (geometry_.sample == SampleType::kU8)
        fill(uint8_t{});
    else
        fill(uint16_t{});
}

PicturePool::Picture PicturePool::take_in(const qc_picture& source, const qc_format& format,
                                          const InputScaling* scaling, const Hold& hold,
                                          const BackendSetup::Recoded* recoded) {
    std::unique_ptr<Storage> taken = storage();
    taken->begin(source, format, scaling, hold, recoded);
    if (recoded != nullptr && hold == nullptr) fill_recoded(source, *recoded, format, scaling, nullptr, *taken);
    if (recoded != nullptr && hold != nullptr) taken->make_later(0);
    for (int p = 0; p < planes() && recoded == nullptr; ++p) {
        if (hold == nullptr) {
            fill(source, format, p, scaling, *taken);
        } else if (scaling == nullptr && is_ready(format, p)) {
            taken->read_there(p);
        } else {
            taken->make_later(p);
        }
    }
    Storage* raw = taken.release();
    std::shared_ptr<PicturePool> pool = shared_from_this();
    return {raw, [pool, raw](const TakenPicture*) { pool->give_back(std::unique_ptr<Storage>(raw)); }};
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
