// SPDX-License-Identifier: BSD-2-Clause-Patent
// Kernels by their names, to be run block by block on the host.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "tests/device/emulated_block.hpp"

namespace qc::test {

/// What stands in for a kernel.
struct EmulatedKernel {
    std::string_view name;
    std::optional<size_t> shared_bytes{}; ///< dynamic shared memory that it has to be found with, where that is checked
    void (*run_grid)(const GridLaunch& launch) = nullptr;
    unsigned threads = 0;      ///< of a block
    size_t argument_bytes = 0; ///< of its one argument
};

/// The entry of kernel K.
template <class K>
EmulatedKernel emulated_kernel(std::string_view name) {
    EmulatedKernel kernel{name};
    if constexpr (requires { K::kSharedBytes; }) kernel.shared_bytes = K::kSharedBytes;
    kernel.run_grid = run_grid<K>;
    kernel.threads = K::kThreads;
    kernel.argument_bytes = sizeof(typename K::Arguments);
    return kernel;
}

} // namespace qc::test

/// The entries of a metric's list of kernels (device/kernel_list.hpp), to be used in the metric's namespace.
#define QC_EMULATED_KERNEL(name, ...) qc::test::emulated_kernel<__VA_ARGS__>(#name),
#define QC_EMULATED_KERNELS(list)                                                                                      \
    { list(QC_EMULATED_KERNEL) }
