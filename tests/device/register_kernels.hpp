// SPDX-License-Identifier: BSD-2-Clause-Patent
// Included before a program's NAME.cu, it makes the definition of its kernels one for the stand-in driver. QC_PROGRAM
// is the program's name.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tests/device/emulated_kernels.hpp"

namespace qc::test {

/// Kernels by program. Two programs may have kernels of one name.
class KernelRegistry {
public:
    using Kernels = std::vector<EmulatedKernel>;

    static KernelRegistry& instance();
    bool add(const std::string& program, Kernels kernels);
    /// The kernels of the program that was compiled into this image; null for another image.
    const Kernels* find(const void* image) const;

private:
    std::map<std::string, Kernels> programs_;
};

} // namespace qc::test

#define QC_DEFINE_KERNELS(list)                                                                                        \
    namespace {                                                                                                        \
    [[maybe_unused]] const bool are_registered =                                                                       \
        qc::test::KernelRegistry::instance().add(QC_PROGRAM, QC_EMULATED_KERNELS(list));                               \
    }
