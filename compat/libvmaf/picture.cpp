// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "picture.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "log.hpp"

namespace compat {
namespace {

constexpr size_t kAlignment = 64;
constexpr unsigned kLargest = 1u << 17; ///< of a side; beyond what the engine takes, and no size overflows

bool halves_width(VmafPixelFormat format) {
    return format == VMAF_PIX_FMT_YUV420P || format == VMAF_PIX_FMT_YUV422P;
}

bool halves_height(VmafPixelFormat format) {
    return format == VMAF_PIX_FMT_YUV420P;
}

/// Sizes of the planes, and where they begin. There is room for chroma of odd sizes rounded up. @return bytes in all
size_t lay_out(const PictureShape& shape, VmafPicture* picture, size_t offsets[3]) {
    *picture = {};
    picture->pix_fmt = shape.pix_fmt;
    picture->bpc = shape.bpc;
    const size_t sample = shape.bpc > 8 ? 2 : 1;
    size_t bytes = 0;
    for (int plane = 0; plane < (shape.pix_fmt == VMAF_PIX_FMT_YUV400P ? 1 : 3); ++plane) {
        const unsigned right = plane > 0 && halves_width(shape.pix_fmt) ? 1 : 0;
        const unsigned down = plane > 0 && halves_height(shape.pix_fmt) ? 1 : 0;
        const size_t stride = ((static_cast<size_t>(shape.w) + right) >> right) + 31;
        picture->w[plane] = shape.w >> right;
        picture->h[plane] = shape.h >> down;
        picture->stride[plane] = static_cast<ptrdiff_t>(stride / 32 * 32 * sample);
        offsets[plane] = bytes;
        bytes += static_cast<size_t>(picture->stride[plane]) * ((static_cast<size_t>(shape.h) + down) >> down);
        bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
    return bytes;
}

void* allocate(size_t bytes, Place place, Device* device) {
    if (place != Place::kHost) return device->allocate(bytes, place == Place::kDevice);
    return std::memset(::operator new(bytes, std::align_val_t(kAlignment)), 0, bytes);
}

} // namespace

int check_shape(const PictureShape& shape) {
    if (shape.pix_fmt <= VMAF_PIX_FMT_UNKNOWN || shape.pix_fmt > VMAF_PIX_FMT_YUV400P)
        return refused("a picture of the pixel format " + std::to_string(shape.pix_fmt) + ": 1 to 4 are known");
    if (shape.bpc < 8 || shape.bpc > 16)
        return refused("a picture of " + std::to_string(shape.bpc) + " bits: 8 to 16 are known");
    if (shape.w == 0 || shape.h == 0 || shape.w > kLargest || shape.h > kLargest)
        return refused("a picture of " + std::to_string(shape.w) + "x" + std::to_string(shape.h) + " samples");
    return 0;
}

std::unique_ptr<VmafRef> allocate_picture(const PictureShape& shape, Place place,
                                          const std::shared_ptr<Device>& device) {
    auto memory = std::make_unique<VmafRef>();
    size_t offsets[3] = {};
    const size_t bytes = lay_out(shape, &memory->picture, offsets);
    auto* const block = static_cast<uint8_t*>(allocate(bytes, place, device.get()));
    if (block == nullptr) return nullptr;
    memory->place = place;
    memory->device = device;
    memory->bytes = bytes;
    memory->picture.ref = memory.get();
    for (int plane = 0; plane < 3; ++plane)
        if (memory->picture.stride[plane] != 0) memory->picture.data[plane] = block + offsets[plane];
    return memory;
}

void give(std::unique_ptr<VmafRef> memory, VmafPicture* picture) {
    memory->count = 1;
    *picture = memory->picture;
    static_cast<void>(memory.release()); // its references own it from here on
}

PictureShape shape_of(const VmafPicture& picture) {
    return {picture.pix_fmt, picture.bpc, picture.w[0], picture.h[0]};
}

qc_format format_of(const PictureShape& shape, Place place) {
    constexpr qc_chroma kChroma[] = {QC_CHROMA_400, QC_CHROMA_420, QC_CHROMA_422, QC_CHROMA_444, QC_CHROMA_400};
    qc_format format{};
    format.width = static_cast<int>(shape.w);
    format.height = static_cast<int>(shape.h);
    format.chroma = place == Place::kDevice ? QC_CHROMA_400 : kChroma[shape.pix_fmt];
    format.depth = static_cast<int>(shape.bpc);
    format.container_bits = shape.bpc > 8 ? 16 : 8;
    return format;
}

qc_picture view_of(const VmafPicture& picture, Place place) {
    qc_picture view{};
    view.memory = place == Place::kDevice ? QC_MEMORY_CUDA : QC_MEMORY_HOST;
    for (int plane = 0; plane < (place == Place::kDevice ? 1 : 3); ++plane) {
        view.plane[plane] = picture.data[plane];
        view.pitch_bytes[plane] = picture.stride[plane];
    }
    return view;
}

void extend_chroma(const VmafPicture& picture) {
    const bool right = halves_width(picture.pix_fmt) && picture.w[0] % 2 != 0;
    const bool down = halves_height(picture.pix_fmt) && picture.h[0] % 2 != 0;
    if (!right && !down) return;
    const size_t sample = picture.bpc > 8 ? 2 : 1;
    for (int plane = 1; plane < 3; ++plane) {
        auto* const data = static_cast<uint8_t*>(picture.data[plane]);
        const auto stride = static_cast<size_t>(picture.stride[plane]);
        const size_t width = picture.w[plane], height = picture.h[plane];
        if (width == 0 || height == 0) continue;
        for (size_t y = 0; right && y < height; ++y) {
            uint8_t* const end = data + y * stride + width * sample;
            std::copy_n(end - sample, sample, end);
        }
        if (down) std::copy_n(data + (height - 1) * stride, stride, data + height * stride);
    }
}

void add_reference(const VmafPicture& picture) {
    ++picture.ref->count;
}

void drop_reference(VmafPicture* picture) noexcept {
    VmafRef* const shared = picture->ref;
    *picture = {};
    if (--shared->count > 0) return;
    std::unique_ptr<VmafRef> memory(shared);
    const std::shared_ptr<PicturePool> pool = std::move(memory->pool);
    if (pool != nullptr) pool->take_back(std::move(memory));
}

PicturePool::~PicturePool() {
    while (free_ != nullptr) free_ = std::move(free_->next); // not by recursion
}

int PicturePool::take(bool grow, VmafPicture* picture) {
    std::unique_ptr<VmafRef> memory;
    {
        const std::lock_guard lock(mutex_);
        if (free_ == nullptr && made_ >= most_ && !grow) return -EAGAIN;
        memory = std::move(free_);
        if (memory != nullptr) free_ = std::move(memory->next);
    }
    if (memory == nullptr) {
        memory = allocate_picture(shape_, place_, device_);
        if (memory == nullptr) return -ENOMEM;
        const std::lock_guard lock(mutex_);
        ++made_;
    }
    memory->pool = shared_from_this();
    give(std::move(memory), picture);
    return 0;
}

void PicturePool::wait() {
    std::unique_lock lock(mutex_);
    if (free_ == nullptr) returned_.wait_for(lock, std::chrono::milliseconds(20));
}

void PicturePool::take_back(std::unique_ptr<VmafRef> memory) noexcept {
    const std::lock_guard lock(mutex_);
    memory->next = std::move(free_);
    free_ = std::move(memory);
    returned_.notify_one();
}

} // namespace compat

VmafRef::~VmafRef() {
    void* const block = picture.data[0];
    if (block == nullptr) return;
    if (place == compat::Place::kHost)
        ::operator delete(block, std::align_val_t(compat::kAlignment));
    else
        device->free(block, place == compat::Place::kDevice);
}
