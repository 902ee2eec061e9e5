// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures of the CPU backend: planar samples at the session's depth and size, made once where they are not so already,
// or where the caller does not hold them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "api/backend.hpp"
#include "api/scaling.hpp"
#include "contract/helpers.hpp"
#include "contract/types.hpp"
#include "quality_cuda.h"

namespace qc::cpu {

/// A picture whose planes have their places. Those of a picture that its caller holds are made by the thread that wants
/// them first, so that the one which hands pictures over does not do all the work.
class TakenPicture : public HostPicture {
public:
    virtual ~TakenPicture() = default;
    /// Returns when the first so many planes hold their samples. Thread-safe. @param helpers may make parts of them
    virtual void make(int planes, Helpers* helpers) const = 0;
};

/// Makes pictures and takes their memory back when the last reference goes. Thread-safe; outlives its pictures.
class PicturePool : public std::enable_shared_from_this<PicturePool> {
public:
    using Hold = std::shared_ptr<PictureHold>;
    using Picture = std::shared_ptr<const TakenPicture>;

    PicturePool(const FrameGeometry& geometry, bool chroma);
    ~PicturePool();
    PicturePool(const PicturePool&) = delete;
    PicturePool& operator=(const PicturePool&) = delete;

    /// Takes in a picture, lifting its samples to the session's depth, or scaling it as well.
    /// @param format once it is recoded
    /// @param scaling null: it has the session's size
    /// @param recoded null: its samples stand for what is scored
    /// @param hold of the caller's memory, kept as long as the picture where it is read there. Planes that are not are
    ///        made when they are wanted; format, scaling and recoded outlive the picture then. Null: all is made at
    ///        once
    Picture take_in(const qc_picture& source, const qc_format& format, const InputScaling* scaling = nullptr,
                    const Hold& hold = nullptr, const BackendSetup::Recoded* recoded = nullptr);

    /// To be shared by the pictures of a frame. When the last one goes, in whatever thread, it waits for end_holds().
    Hold share(PictureHold hold);
    /// Ends the holds that wait for it.
    void end_holds();

private:
    class Storage;
    std::unique_ptr<Storage> storage();
    int planes() const { return chroma_ ? geometry_.plane_count() : 1; }
    bool is_ready(const qc_format& format, int plane) const;
    template <typename T>
    Plane<T> target(const HostPicture& picture, int plane) const;
    void fill(const qc_picture& source, const qc_format& format, int plane, const InputScaling* scaling,
              const HostPicture& target) const;
    void lift(const qc_picture& source, const qc_format& format, int plane, const HostPicture& target) const;
    void scale(const qc_picture& source, const qc_format& format, int plane, const InputScaling& scaling,
               const HostPicture& target) const;
    void fill_recoded(const qc_picture& source, const BackendSetup::Recoded& how, const qc_format& format,
                      const InputScaling* scaling, Helpers* helpers, const HostPicture& target) const;
    void give_back(std::unique_ptr<Storage> storage) noexcept;

    const FrameGeometry geometry_;
    const bool chroma_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Storage>> free_; ///< has room for all that were made
    size_t made_ = 0;
    std::vector<PictureHold> ended_; ///< has room for all that are shared
    size_t shared_ = 0;
};

} // namespace qc::cpu
