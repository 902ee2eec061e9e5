// SPDX-License-Identifier: BSD-2-Clause-Patent
// Contexts and what lives in them: guards, memory, streams, events. Every object must be destroyed with its context
// alive; each pushes the context itself, so that destructors may run in any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "cuda/driver.hpp"

namespace qc::cuda {

/// A context to work in: borrowed from the caller (FFmpeg's), or the device's primary one.
class Context {
public:
    /// @param borrowed a CUcontext, or null to retain the primary context of device `index`
    static Status create(const Driver& driver, void* borrowed, int index, std::unique_ptr<Context>* context);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const Driver& driver() const { return driver_; }
    CUcontext handle() const { return handle_; }
    CUdevice device() const { return device_; }
    std::string device_name() const;
    std::string driver_version() const; ///< of CUDA that it knows, "13.0"
    int attribute(CUdevice_attribute attribute) const;

    Counters counters; ///< what the owner of this context object asked of the driver

private:
    explicit Context(const Driver& driver) : driver_(driver) {}
    const Driver& driver_;
    CUcontext handle_ = nullptr;
    CUdevice device_ = 0;
    bool retained_ = false;
};

/// Makes a context current for a scope. Never leaves one behind.
class ContextGuard {
public:
    explicit ContextGuard(const Context& context)
        : driver_(context.driver()), pushed_(driver_.cuCtxPushCurrent(context.handle()) == CUDA_SUCCESS) {}
    ~ContextGuard() {
        CUcontext popped = nullptr;
        if (pushed_) driver_.cuCtxPopCurrent(&popped);
    }
    ContextGuard(const ContextGuard&) = delete;
    ContextGuard& operator=(const ContextGuard&) = delete;

private:
    const Driver& driver_;
    bool pushed_;
};

/// Device memory.
class DeviceBuffer {
public:
    DeviceBuffer() = default;
    ~DeviceBuffer() { reset(); }
    DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        swap(other);
        return *this;
    }

    /// @param purpose names the memory in the error text, e.g. "upload buffers"
    Status allocate(Context& context, size_t bytes, const char* purpose);
    void reset();

    CUdeviceptr address() const { return address_; }
    template <typename T>
    T* as(size_t byte_offset = 0) const {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver hands out addresses as integers
        return reinterpret_cast<T*>(address_ + byte_offset);
    }
    size_t bytes() const { return bytes_; }

private:
    void swap(DeviceBuffer& other) {
        std::swap(context_, other.context_);
        std::swap(address_, other.address_);
        std::swap(bytes_, other.bytes_);
    }
    Context* context_ = nullptr;
    CUdeviceptr address_ = 0;
    size_t bytes_ = 0;
};

/// Page-locked host memory.
class PinnedBuffer {
public:
    PinnedBuffer() = default;
    ~PinnedBuffer() { reset(); }
    PinnedBuffer(PinnedBuffer&& other) noexcept { swap(other); }
    PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
        swap(other);
        return *this;
    }

    Status allocate(Context& context, size_t bytes, const char* purpose);
    void reset();

    template <typename T>
    T* as(size_t byte_offset = 0) const {
        return reinterpret_cast<T*>(static_cast<char*>(data_) + byte_offset);
    }
    size_t bytes() const { return bytes_; }

private:
    void swap(PinnedBuffer& other) {
        std::swap(context_, other.context_);
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
    }
    Context* context_ = nullptr;
    void* data_ = nullptr;
    size_t bytes_ = 0;
};

/// A stream that does not synchronise with the context's legacy default stream.
class Stream {
public:
    Stream() = default;
    ~Stream();
    Stream(Stream&& other) noexcept : context_(other.context_), handle_(std::exchange(other.handle_, nullptr)) {}
    Stream& operator=(Stream&&) = delete;

    /// Of the default priority, the lowest, as FFmpeg's streams.
    Status create(Context& context);
    CUstream handle() const { return handle_; }

private:
    Context* context_ = nullptr;
    CUstream handle_ = nullptr;
};

/// An event without timing.
class Event {
public:
    Event() = default;
    ~Event();
    Event(Event&& other) noexcept : context_(other.context_), handle_(std::exchange(other.handle_, nullptr)) {}
    Event& operator=(Event&&) = delete;

    Status create(Context& context);
    CUevent handle() const { return handle_; }

private:
    Context* context_ = nullptr;
    CUevent handle_ = nullptr;
};

} // namespace qc::cuda
