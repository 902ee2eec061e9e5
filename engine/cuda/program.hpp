// SPDX-License-Identifier: BSD-2-Clause-Patent
// Kernels: embedded fat binaries, loaded into a context, launched on streams.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "contract/device.hpp"
#include "cuda/context.hpp"

namespace qc::cuda {

/// The fat binary of a metric folder ("vif") or of the engine's own kernels ("ingest"); null if there is none.
const void* find_fatbin(std::string_view name);

/// The kernels of one fat binary, loaded into a context.
class Program final : public DeviceProgram {
public:
    explicit Program(Context& context) : context_(context) {}
    ~Program() override;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    Status load(std::string_view name);
    Status find(const char* name, size_t dynamic_shared_bytes, Kernel* kernel) override;
    int capability(const Kernel& kernel) const override;
    int multiprocessors() const override;
    size_t shared_limit() const override;
    Status upload(const void* data, size_t bytes, const void** device_address) override;

private:
    Context& context_;
    std::string name_;
    CUmodule module_ = nullptr;
    std::vector<DeviceBuffer> tables_;
};

/// Launches on one stream; counts what it launched. Does not own the stream.
class Queue final : public DeviceQueue {
public:
    Queue(Context& context, CUstream stream) : context_(context), stream_(stream) {}

    Status launch_raw(const Kernel& kernel, Dim3 grid, Dim3 block, void** arguments) override;
    Status zero(void* device_address, size_t bytes) override;
    int64_t launches() const { return launches_; }

private:
    Context& context_;
    CUstream stream_;
    int64_t launches_ = 0;
};

} // namespace qc::cuda
