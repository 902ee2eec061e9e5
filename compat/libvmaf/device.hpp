// SPDX-License-Identifier: BSD-2-Clause-Patent
// The few calls of NVIDIA's driver that pictures need, loaded at run time.
#pragma once

#include <cstddef>
#include <memory>

namespace compat {

struct Driver;

/// A context of a GPU: the caller's, or the first device's own, which is held as long as this is.
class Device {
public:
    /// @param context NULL: the first device's own @return null after saying why
    static std::shared_ptr<Device> open(void* context);
    Device(const Driver& driver, void* context, bool is_own, int device)
        : driver_(driver), context_(context), is_own_(is_own), device_(device) {}
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    void* context() const { return context_; }
    /// @param on_device otherwise page-locked memory of the host, of zeros @return NULL where there is none
    void* allocate(size_t bytes, bool on_device) const;
    void free(void* memory, bool on_device) const noexcept;

private:
    const Driver& driver_;
    void* context_;
    bool is_own_;
    int device_;
};

} // namespace compat
