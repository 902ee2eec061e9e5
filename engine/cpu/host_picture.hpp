// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures of the CPU backend: copied once into planar samples at the session's depth and size.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "api/scaling.hpp"
#include "contract/types.hpp"
#include "quality_cuda.h"

namespace qc::cpu {

/// Makes pictures and takes their memory back when the last reference goes. Thread-safe; outlives its pictures.
class PicturePool : public std::enable_shared_from_this<PicturePool> {
public:
    PicturePool(const FrameGeometry& geometry, bool chroma) : geometry_(geometry), chroma_(chroma) {}

    /// Copies a picture, lifting its samples to the session's depth, or scaling it as well.
    /// @param scaling null: it has the session's size
    std::shared_ptr<const HostPicture> take_in(const qc_picture& source, const qc_format& format,
                                               const InputScaling* scaling = nullptr);

private:
    struct Storage {
        HostPicture picture;
        std::vector<std::byte> samples;
    };
    std::unique_ptr<Storage> storage();
    template <typename T>
    Plane<T> target(const HostPicture& picture, int plane) const;
    void lift(const qc_picture& source, const qc_format& format, int plane, const HostPicture& target) const;
    void scale(const qc_picture& source, const qc_format& format, int plane, const InputScaling& scaling,
               const HostPicture& target) const;
    void give_back(std::unique_ptr<Storage> storage) noexcept;

    const FrameGeometry geometry_;
    const bool chroma_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Storage>> free_; ///< has room for all that were made
    size_t made_ = 0;
};

} // namespace qc::cpu
