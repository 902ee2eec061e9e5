// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device.hpp"

#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include <dlfcn.h>

#include "log.hpp"

namespace compat {

/// Entry points of libcuda.so.1 as its ABI has them; 0 is success.
struct Driver {
    int (*cuInit)(unsigned flags) = nullptr;
    int (*cuDeviceGet)(int* device, int ordinal) = nullptr;
    int (*cuDevicePrimaryCtxRetain)(void** context, int device) = nullptr;
    int (*cuDevicePrimaryCtxRelease)(int device) = nullptr;
    int (*cuCtxPushCurrent)(void* context) = nullptr;
    int (*cuCtxPopCurrent)(void** context) = nullptr;
    int (*cuMemAlloc)(uintptr_t* memory, size_t bytes) = nullptr;
    int (*cuMemFree)(uintptr_t memory) = nullptr;
    int (*cuMemHostAlloc)(void** memory, size_t bytes, unsigned flags) = nullptr;
    int (*cuMemFreeHost)(void* memory) = nullptr;
    bool is_usable = false;
};

namespace {

template <typename Function>
bool find(void* library, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
}

Driver load() {
    Driver driver;
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return driver;
    const bool all = find(library, "cuInit", &driver.cuInit) && find(library, "cuDeviceGet", &driver.cuDeviceGet) &&
                     find(library, "cuDevicePrimaryCtxRetain", &driver.cuDevicePrimaryCtxRetain) &&
                     find(library, "cuDevicePrimaryCtxRelease_v2", &driver.cuDevicePrimaryCtxRelease) &&
                     find(library, "cuCtxPushCurrent_v2", &driver.cuCtxPushCurrent) &&
                     find(library, "cuCtxPopCurrent_v2", &driver.cuCtxPopCurrent) &&
                     find(library, "cuMemAlloc_v2", &driver.cuMemAlloc) &&
                     find(library, "cuMemFree_v2", &driver.cuMemFree) &&
                     find(library, "cuMemHostAlloc", &driver.cuMemHostAlloc) &&
                     find(library, "cuMemFreeHost", &driver.cuMemFreeHost);
    driver.is_usable = all && driver.cuInit(0) == 0;
    return driver;
}

/// Makes a context current for a while.
class Current {
public:
    Current(const Driver& driver, void* context) : driver_(driver), entered_(driver.cuCtxPushCurrent(context) == 0) {}
    ~Current() {
        void* left = nullptr;
        if (entered_) static_cast<void>(driver_.cuCtxPopCurrent(&left));
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    explicit operator bool() const { return entered_; }

private:
    const Driver& driver_;
    bool entered_;
};

} // namespace

std::shared_ptr<Device> Device::open(void* context) {
    static const Driver driver = load();
    if (!driver.is_usable) {
        say(VMAF_LOG_LEVEL_ERROR, "there is no NVIDIA driver (libcuda.so.1), or it has no device");
        return nullptr;
    }
    if (context != nullptr) return std::make_shared<Device>(driver, context, false, 0);
    int device = 0;
    if (driver.cuDeviceGet(&device, 0) != 0 || driver.cuDevicePrimaryCtxRetain(&context, device) != 0) {
        say(VMAF_LOG_LEVEL_ERROR, "the driver has no device, or no context on it");
        return nullptr;
    }
    try {
        return std::make_shared<Device>(driver, context, true, device);
    } catch (const std::bad_alloc&) {
        static_cast<void>(driver.cuDevicePrimaryCtxRelease(device));
        throw;
    }
}

Device::~Device() {
    if (is_own_) static_cast<void>(driver_.cuDevicePrimaryCtxRelease(device_));
}

void* Device::allocate(size_t bytes, bool on_device) const {
    const Current current(driver_, context_);
    if (!current) return nullptr;
    if (on_device) {
        uintptr_t memory = 0;
        if (driver_.cuMemAlloc(&memory, bytes) != 0) return nullptr;
        return reinterpret_cast<void*>(memory); // NOLINT(performance-no-int-to-ptr)
    }
    void* memory = nullptr;
    if (driver_.cuMemHostAlloc(&memory, bytes, 0) != 0) return nullptr;
    std::memset(memory, 0, bytes);
    return memory;
}

void Device::free(void* memory, bool on_device) const noexcept {
    const Current current(driver_, context_);
    if (!current) return;
    static_cast<void>(on_device ? driver_.cuMemFree(reinterpret_cast<uintptr_t>(memory))
                                : driver_.cuMemFreeHost(memory));
}

} // namespace compat
