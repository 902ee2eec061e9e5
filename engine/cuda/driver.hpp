// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA driver API, loaded at run time. Nothing links against libcuda: the library loads and scores on the CPU on a
// machine without an NVIDIA driver.
#pragma once

#include <atomic>
#include <cstdint>

#include <cuda.h>

#include "contract/status.hpp"

namespace qc::cuda {

// Names go through a macro, so that cuda.h's versioned symbols (cuMemAlloc_v2 ...) are the ones looked up.
#define QC_DRIVER_FUNCTIONS(F)                                                                                         \
    F(cuInit)                                                                                                          \
    F(cuDriverGetVersion)                                                                                              \
    F(cuGetErrorString)                                                                                                \
    F(cuDeviceGet)                                                                                                     \
    F(cuDeviceGetCount)                                                                                                \
    F(cuDeviceGetName)                                                                                                 \
    F(cuDeviceGetAttribute)                                                                                            \
    F(cuDevicePrimaryCtxRetain)                                                                                        \
    F(cuDevicePrimaryCtxRelease)                                                                                       \
    F(cuCtxPushCurrent)                                                                                                \
    F(cuCtxPopCurrent)                                                                                                 \
    F(cuCtxGetDevice)                                                                                                  \
    F(cuMemGetInfo)                                                                                                    \
    F(cuMemAlloc)                                                                                                      \
    F(cuMemFree)                                                                                                       \
    F(cuMemHostAlloc)                                                                                                  \
    F(cuMemFreeHost)                                                                                                   \
    F(cuMemcpyHtoDAsync)                                                                                               \
    F(cuModuleLoadData)                                                                                                \
    F(cuModuleUnload)                                                                                                  \
    F(cuModuleGetFunction)                                                                                             \
    F(cuFuncGetAttribute)                                                                                              \
    F(cuFuncSetAttribute)                                                                                              \
    F(cuCtxGetStreamPriorityRange)                                                                                     \
    F(cuStreamCreate)                                                                                                  \
    F(cuStreamDestroy)                                                                                                 \
    F(cuStreamSynchronize)                                                                                             \
    F(cuStreamWaitEvent)                                                                                               \
    F(cuEventCreate)                                                                                                   \
    F(cuEventDestroy)                                                                                                  \
    F(cuEventRecord)                                                                                                   \
    F(cuEventQuery)                                                                                                    \
    F(cuEventSynchronize)                                                                                              \
    F(cuGraphCreate)                                                                                                   \
    F(cuGraphAddKernelNode)                                                                                            \
    F(cuGraphKernelNodeSetAttribute)                                                                                   \
    F(cuGraphAddMemsetNode)                                                                                            \
    F(cuGraphAddMemcpyNode)                                                                                            \
    F(cuGraphInstantiate)                                                                                              \
    F(cuGraphLaunch)                                                                                                   \
    F(cuGraphExecDestroy)                                                                                              \
    F(cuGraphDestroy)

/// Entry points of libcuda.so.1.
struct Driver {
#define QC_DRIVER_MEMBER(name) decltype(&::name) name = nullptr;
    QC_DRIVER_FUNCTIONS(QC_DRIVER_MEMBER)
#undef QC_DRIVER_MEMBER
};

/// Loads the driver once per process and initialises it.
/// @return QC_ERROR_NO_DEVICE when there is no libcuda.so.1, an entry point is missing (driver too old) or cuInit fails
Status load_driver(const Driver** driver);

/// "out of memory (CUDA_ERROR_OUT_OF_MEMORY)"-like text of a result.
std::string error_text(const Driver& driver, CUresult result);

/// Turns a driver result into a Status that names the call.
Status check(const Driver& driver, CUresult result, const char* call);

/// What a session asked of the driver.
struct Counters {
    int64_t pixel_bytes_to_device = 0;
    int64_t control_bytes_to_device = 0;
    int64_t result_bytes_to_host = 0;
    int64_t kernel_launches = 0;
    int64_t graph_launches = 0;
    int64_t device_allocations = 0;
    int64_t device_bytes = 0;
    int64_t pinned_bytes = 0;
};

} // namespace qc::cuda

/// Calls `driver.function(...)` and returns early with a Status that names it.
#define QC_CUDA(driver, function, ...)                                                                                 \
    QC_RETURN_IF_ERROR(::qc::cuda::check((driver), (driver).function(__VA_ARGS__), #function))
