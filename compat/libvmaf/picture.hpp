// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures, counted by their references, and pools of them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <quality_cuda.h>

#include <libvmaf/libvmaf.h>

#include "device.hpp"

namespace compat {

class PicturePool;

struct PictureShape {
    VmafPixelFormat pix_fmt = VMAF_PIX_FMT_UNKNOWN;
    unsigned bpc = 0, w = 0, h = 0;
    bool operator==(const PictureShape&) const = default;
};

enum class Place { kHost, kPinned, kDevice };

/// @return 0, or -EINVAL after saying why
int check_shape(const PictureShape& shape);

} // namespace compat

/// What all structs of one picture share.
struct VmafRef {
    std::atomic<int> count = 1;
    VmafPicture picture{}; ///< as it is handed out
    compat::Place place = compat::Place::kHost;
    size_t bytes = 0;
    std::shared_ptr<compat::Device> device;    ///< whose memory it is, of pinned and device memory
    std::shared_ptr<compat::PicturePool> pool; ///< where it goes when nobody holds it, while somebody does
    std::unique_ptr<VmafRef> next;             ///< in the pool's list

    ~VmafRef();
};

namespace compat {

/// @param device for what is no host memory @return null where the device has no memory; the host throws
std::unique_ptr<VmafRef> allocate_picture(const PictureShape& shape, Place place,
                                          const std::shared_ptr<Device>& device);

/// Hands a picture out.
void give(std::unique_ptr<VmafRef> memory, VmafPicture* picture);

PictureShape shape_of(const VmafPicture& picture);
qc_format format_of(const PictureShape& shape, Place place);
qc_picture view_of(const VmafPicture& picture, Place place);

/// Halved chroma of odd sizes has a column and a row beyond what clients fill: they get the samples beside them.
void extend_chroma(const VmafPicture& picture);

/// Takes and drops references of a struct that holds a picture.
void add_reference(const VmafPicture& picture);
void drop_reference(VmafPicture* picture) noexcept;

/// Pictures of one shape that are used again. Pictures that are held outlive the pool.
class PicturePool : public std::enable_shared_from_this<PicturePool> {
public:
    PicturePool(const PictureShape& shape, Place place, std::shared_ptr<Device> device, unsigned most)
        : shape_(shape), place_(place), device_(std::move(device)), most_(most) {}
    ~PicturePool();
    PicturePool(const PicturePool&) = delete;
    PicturePool& operator=(const PicturePool&) = delete;

    Place place() const { return place_; }
    /// @param grow beyond what it was made for @return 0, -EAGAIN if all are held, -ENOMEM
    int take(bool grow, VmafPicture* picture);
    /// Until one comes back, or a moment.
    void wait();
    void take_back(std::unique_ptr<VmafRef> memory) noexcept;

private:
    const PictureShape shape_;
    const Place place_;
    const std::shared_ptr<Device> device_;
    const unsigned most_;
    std::mutex mutex_;
    std::condition_variable returned_;
    std::unique_ptr<VmafRef> free_; ///< a list
    unsigned made_ = 0;
};

} // namespace compat
