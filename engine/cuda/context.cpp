// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/context.hpp"

namespace qc::cuda {

Status Context::create(const Driver& driver, void* borrowed, int index, std::unique_ptr<Context>* context) {
    std::unique_ptr<Context> made(new Context(driver));
    if (borrowed != nullptr) {
        made->handle_ = static_cast<CUcontext>(borrowed);
        ContextGuard guard(*made);
        QC_CUDA(driver, cuCtxGetDevice, &made->device_);
    } else {
        int count = 0;
        QC_CUDA(driver, cuDeviceGetCount, &count);
        if (count == 0) return {QC_ERROR_NO_DEVICE, "the NVIDIA driver sees no GPU"};
        if (index < 0 || index >= count)
            return {QC_ERROR_NO_DEVICE, format("device=%d does not exist: 0..%d are there", index, count - 1)};
        QC_CUDA(driver, cuDeviceGet, &made->device_, index);
        QC_CUDA(driver, cuDevicePrimaryCtxRetain, &made->handle_, made->device_);
        made->retained_ = true;
    }
    *context = std::move(made);
    return {};
}

Context::~Context() {
    if (retained_) driver_.cuDevicePrimaryCtxRelease(device_);
}

std::string Context::device_name() const {
    char name[128] = "unknown device";
    driver_.cuDeviceGetName(name, sizeof(name), device_);
    return name;
}

std::string Context::driver_version() const {
    int version = 0;
    driver_.cuDriverGetVersion(&version);
    return format("%d.%d", version / 1000, version % 1000 / 10);
}

int Context::attribute(CUdevice_attribute attribute) const {
    int value = 0;
    driver_.cuDeviceGetAttribute(&value, attribute, device_);
    return value;
}

namespace {

constexpr double kMiB = 1024.0 * 1024.0;

/// Of memory that was asked for: too little of it is told with what there is; all else is told as of any other call.
Status check_memory(Context& context, CUresult result, const char* call, const char* kind, size_t bytes,
                    const char* purpose) {
    if (result != CUDA_ERROR_OUT_OF_MEMORY) return check(context.driver(), result, call);
    size_t available = 0, total = 0;
    context.driver().cuMemGetInfo(&available, &total);
    return {QC_ERROR_NO_MEMORY,
            format("%s: %.1f MiB for %s could not be taken (%.1f MiB of %.1f MiB are free): %s failed: %s", kind,
                   bytes / kMiB, purpose, available / kMiB, total / kMiB, call,
                   error_text(context.driver(), result).c_str())};
}

} // namespace

Status DeviceBuffer::allocate(Context& context, size_t bytes, const char* purpose) {
    reset();
    if (bytes == 0) return {};
    ContextGuard guard(context);
    const CUresult result = context.driver().cuMemAlloc(&address_, bytes);
    if (result != CUDA_SUCCESS) {
        address_ = 0;
        return check_memory(context, result, "cuMemAlloc", "device memory", bytes, purpose);
    }
    context_ = &context;
    bytes_ = bytes;
    ++context.counters.device_allocations;
    context.counters.device_bytes += static_cast<int64_t>(bytes);
    return {};
}

void DeviceBuffer::reset() {
    if (context_ == nullptr) return;
    ContextGuard guard(*context_);
    context_->driver().cuMemFree(address_);
    ++context_->counters.device_allocations;
    context_->counters.device_bytes -= static_cast<int64_t>(bytes_);
    context_ = nullptr;
    address_ = 0;
    bytes_ = 0;
}

Status PinnedBuffer::allocate(Context& context, size_t bytes, const char* purpose) {
    reset();
    if (bytes == 0) return {};
    ContextGuard guard(context);
    const CUresult result = context.driver().cuMemHostAlloc(&data_, bytes, 0);
    if (result != CUDA_SUCCESS) {
        data_ = nullptr;
        return check_memory(context, result, "cuMemHostAlloc", "page-locked memory", bytes, purpose);
    }
    context_ = &context;
    bytes_ = bytes;
    ++context.counters.device_allocations;
    context.counters.pinned_bytes += static_cast<int64_t>(bytes);
    return {};
}

void PinnedBuffer::reset() {
    if (context_ == nullptr) return;
    ContextGuard guard(*context_);
    context_->driver().cuMemFreeHost(data_);
    ++context_->counters.device_allocations;
    context_->counters.pinned_bytes -= static_cast<int64_t>(bytes_);
    context_ = nullptr;
    data_ = nullptr;
    bytes_ = 0;
}

Status Stream::create(Context& context) {
    ContextGuard guard(context);
    QC_CUDA(context.driver(), cuStreamCreate, &handle_, CU_STREAM_NON_BLOCKING);
    context_ = &context;
    return {};
}

Stream::~Stream() {
    if (handle_ == nullptr) return;
    ContextGuard guard(*context_);
    context_->driver().cuStreamDestroy(handle_);
}

Status Event::create(Context& context) {
    ContextGuard guard(context);
    QC_CUDA(context.driver(), cuEventCreate, &handle_, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
    context_ = &context;
    return {};
}

Event::~Event() {
    if (handle_ == nullptr) return;
    ContextGuard guard(*context_);
    context_->driver().cuEventDestroy(handle_);
}

} // namespace qc::cuda
