// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/driver.hpp"

#include <dlfcn.h>

#include <mutex>

namespace qc::cuda {
namespace {

Status open_driver(Driver* driver) {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {QC_ERROR_NO_DEVICE, "no NVIDIA driver: libcuda.so.1 was not found"};
#define QC_STRINGIZE_(name) #name
#define QC_STRINGIZE(name) QC_STRINGIZE_(name)
#define QC_DRIVER_LOAD(name)                                                                                           \
    driver->name = reinterpret_cast<decltype(driver->name)>(dlsym(library, QC_STRINGIZE(name)));                       \
    if (driver->name == nullptr)                                                                                       \
        return {QC_ERROR_NO_DEVICE, "the NVIDIA driver is too old: it lacks " QC_STRINGIZE(name)};
    QC_DRIVER_FUNCTIONS(QC_DRIVER_LOAD)
#undef QC_DRIVER_LOAD
    const CUresult result = driver->cuInit(0);
    if (result != CUDA_SUCCESS)
        return {QC_ERROR_NO_DEVICE, "the NVIDIA driver does not start: " + error_text(*driver, result)};
    return {};
}

} // namespace

Status load_driver(const Driver** driver) {
    static std::once_flag once;
    static Driver table;
    static Status status;
    std::call_once(once, [] { status = open_driver(&table); });
    *driver = &table;
    return status;
}

std::string error_text(const Driver& driver, CUresult result) {
    const char* text = nullptr;
    if (driver.cuGetErrorString == nullptr || driver.cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr)
        text = "unknown error";
    return format("%s (CUDA error %d)", text, static_cast<int>(result));
}

Status check(const Driver& driver, CUresult result, const char* call) {
    if (result == CUDA_SUCCESS) return {};
    const std::string text = format("%s failed: %s", call, error_text(driver, result).c_str());
    if (result == CUDA_ERROR_OUT_OF_MEMORY) return {QC_ERROR_NO_MEMORY, text};
    return {QC_ERROR_DEVICE, text + "; the process has to be started again to use this GPU, or use backend=cpu"};
}

} // namespace qc::cuda
