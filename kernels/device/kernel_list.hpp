// SPDX-License-Identifier: BSD-2-Clause-Patent
// One list per metric names its kernels:
//
//     #define QC_VIF_KERNELS(KERNEL) KERNEL(vif_scale0_u8, ScoreTile<Scale0U8>) KERNEL(vif_scale1, ScoreTile<Scale1>)
//
// and three things are made of it, each in the metric's namespace:
//
//     QC_DECLARE_KERNELS(QC_VIF_KERNELS)     (NAME_kernels.hpp) kernels::vif_scale0_u8, what host code finds it by
//     QC_DEFINE_KERNELS(QC_VIF_KERNELS)      (NAME.cu)          the __global__ functions
//     QC_EMULATED_KERNELS(QC_VIF_KERNELS)    (tests)            the emulation's table: tests/device
//
// A kernel is a type:
//
//     struct ScoreTile : device::KernelOf<ScaleArguments, kTileThreads> {
//         static constexpr size_t kSharedBytes = ...; // optional: dynamic shared memory, if known at compile time
//         static constexpr bool kCollective = true;   // optional: uses each(), once() and both() only
//         template <class Block>
//         QC_HD static void run(Block& block, const ScaleArguments& arguments);
//     };
#pragma once

#include <cstddef>

#include "contract/kernel.hpp"
#include "device/block.hpp"

namespace qc::device {
/// What every kernel says of itself. @tparam Parameter the one that it has, passed by value
/// @tparam kBlockThreads of a block; a multiple of 32
/// @tparam kLeastBlocks of a multiprocessor, which bounds the registers of a thread; 0: no bound
template <class Parameter, int kBlockThreads, int kLeastBlocks = 0>
struct KernelOf {
    using Arguments = Parameter;
    static constexpr int kThreads = kBlockThreads, kMinBlocks = kLeastBlocks;
};

template <class K>
constexpr size_t shared_bytes_of() {
    if constexpr (requires { K::kSharedBytes; })
        return K::kSharedBytes;
    else
        return 0;
}

template <class K>
constexpr bool is_collective() {
    if constexpr (requires { K::kCollective; })
        return K::kCollective;
    else
        return false;
}

template <class K>
constexpr KernelIdentifier<typename K::Arguments> identifier_of(const char* name) {
    return {name, K::kThreads, shared_bytes_of<K>()};
}

} // namespace qc::device

// The kernel's type comes last: it may contain commas.
#define QC_DECLARE_KERNEL(name, ...) inline constexpr auto name = qc::device::identifier_of<__VA_ARGS__>(#name);
#define QC_DECLARE_KERNELS(list)                                                                                       \
    namespace kernels {                                                                                                \
    list(QC_DECLARE_KERNEL)                                                                                            \
    }

#if defined(__CUDACC__)
#define QC_DEFINE_KERNEL(name, ...)                                                                                    \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__::kThreads, __VA_ARGS__::kMinBlocks)                       \
        name(const __grid_constant__ typename __VA_ARGS__::Arguments arguments) {                                      \
        qc::device::CudaBlock<__VA_ARGS__::kThreads> block;                                                            \
        __VA_ARGS__::run(block, arguments);                                                                            \
    }
#define QC_DEFINE_KERNELS(list) list(QC_DEFINE_KERNEL)
#endif
