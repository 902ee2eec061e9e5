// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/program.hpp"

#include <algorithm>

namespace qc::cuda {
namespace {

/// Whether a program did not load because of what it is: compiled for other GPUs, or for newer drivers.
bool is_about_the_image(CUresult result) {
    switch (result) {
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_INVALID_SOURCE:
        return true;
    default:
        return false;
    }
}

} // namespace

Program::~Program() {
    if (module_ == nullptr) return;
    ContextGuard guard(context_);
    context_.driver().cuModuleUnload(module_);
}

Status Program::load(std::string_view name) {
    name_ = name;
    const void* fatbin = find_fatbin(name);
    if (fatbin == nullptr) return {QC_ERROR_INTERNAL, "no kernels are embedded for " + name_};
    ContextGuard guard(context_);
    const CUresult result = context_.driver().cuModuleLoadData(&module_, fatbin);
    if (result == CUDA_SUCCESS) return {};
    module_ = nullptr;
    if (!is_about_the_image(result)) return check(context_.driver(), result, "cuModuleLoadData");
    const int major = context_.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    const int minor = context_.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return {QC_ERROR_NO_DEVICE,
            format("the kernels of %s do not load on %s (compute capability %d.%d): %s", name_.c_str(),
                   context_.device_name().c_str(), major, minor, error_text(context_.driver(), result).c_str())};
}

Status Program::find(const char* name, size_t dynamic_shared_bytes, Kernel* kernel) {
    ContextGuard guard(context_);
    const Driver& driver = context_.driver();
    CUfunction function = nullptr;
    const CUresult found = driver.cuModuleGetFunction(&function, module_, name);
    if (found == CUDA_ERROR_NOT_FOUND) return {QC_ERROR_INTERNAL, format("%s has no kernel %s", name_.c_str(), name)};
    QC_RETURN_IF_ERROR(check(driver, found, "cuModuleGetFunction"));
    // 48 KiB are allowed without asking.
    if (dynamic_shared_bytes > 48u * 1024u)
        QC_CUDA(driver, cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                static_cast<int>(dynamic_shared_bytes));
    *kernel = Kernel{function, dynamic_shared_bytes};
    return {};
}

int Program::capability(const Kernel& kernel) const {
    ContextGuard guard(context_);
    int value = 0;
    const auto function = static_cast<CUfunction>(kernel.function);
    const CUresult result = context_.driver().cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, function);
    return result == CUDA_SUCCESS ? value : 0;
}

int Program::multiprocessors() const {
    return std::max(1, context_.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
}

size_t Program::shared_limit() const {
    const int bytes = context_.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    return std::max(DeviceProgram::shared_limit(), static_cast<size_t>(std::max(0, bytes)));
}

Status Program::upload(const void* data, size_t bytes, const void** device_address) {
    DeviceBuffer table;
    QC_RETURN_IF_ERROR(table.allocate(context_, bytes, (name_ + " tables").c_str()));
    ContextGuard guard(context_);
    const Driver& driver = context_.driver();
    QC_CUDA(driver, cuMemcpyHtoDAsync, table.address(), data, bytes, nullptr);
    QC_CUDA(driver, cuStreamSynchronize, nullptr);
    context_.counters.control_bytes_to_device += static_cast<int64_t>(bytes);
    *device_address = table.as<const void>();
    tables_.push_back(std::move(table));
    return {};
}

} // namespace qc::cuda
