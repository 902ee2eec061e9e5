// SPDX-License-Identifier: BSD-2-Clause-Patent
// Kernels: embedded fat binaries, loaded into a context.
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

} // namespace qc::cuda
