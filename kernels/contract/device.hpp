// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a metric's host code may do with the GPU: find its kernels, keep tables there, launch. Implemented by
// engine/cuda on the driver API; no CUDA header is needed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "contract/kernel.hpp"
#include "contract/status.hpp"

namespace qc {

/// A kernel of a loaded program.
struct Kernel {
    void* function = nullptr;
    size_t dynamic_shared_bytes = 0;
};

/// A kernel of a loaded program that takes Arguments.
template <class Arguments>
struct LoadedKernel {
    Kernel kernel{};
    int threads = 0;
};

/// The kernels of one metric, loaded into a context.
class DeviceProgram {
public:
    virtual ~DeviceProgram() = default;
    /// Finds an `extern "C"` kernel of the metric's .cu file and allows it the dynamic shared memory it is launched
    /// with.
    virtual Status find(const char* name, size_t dynamic_shared_bytes, Kernel* kernel) = 0;
    template <class Arguments>
    Status find(const KernelIdentifier<Arguments>& identifier, LoadedKernel<Arguments>* kernel) {
        return find(identifier, identifier.dynamic_shared_bytes, kernel);
    }
    /// For dynamic shared memory whose size is known at run time only.
    template <class Arguments>
    Status find(const KernelIdentifier<Arguments>& identifier, size_t dynamic_shared_bytes,
                LoadedKernel<Arguments>* kernel) {
        kernel->threads = identifier.threads;
        return find(identifier.name, dynamic_shared_bytes, &kernel->kernel);
    }
    /// Compute capability, times ten, that a found kernel's code was compiled for: the GPU's own or an older one, whose
    /// code newer ones run as well. 0: not known.
    virtual int capability(const Kernel& /*kernel*/) const { return 0; }
    /// Multiprocessors of the GPU, for grids of as many blocks as run at once.
    virtual int multiprocessors() const { return 1; }
    /// The most dynamic shared memory that a kernel may be found with; what all GPUs have, where it is not known.
    virtual size_t shared_limit() const { return 48u * 1024u; }
    /// Copies a table to device memory that lives as long as the session.
    virtual Status upload(const void* data, size_t bytes, const void** device_address) = 0;
};

/// Launches in the order of the calls.
class DeviceQueue {
public:
    virtual ~DeviceQueue() = default;

    /// Launches a grid of the kernel's blocks.
    template <class Arguments>
    Status launch(const LoadedKernel<Arguments>& kernel, Dim3 grid, const Arguments& arguments) {
        const void* pointers[] = {&arguments, nullptr};
        return launch_raw(kernel.kernel, grid, Dim3{static_cast<unsigned>(kernel.threads), 1, 1},
                          const_cast<void**>(pointers));
    }
    virtual Status launch_raw(const Kernel& kernel, Dim3 grid, Dim3 block, void** arguments) = 0;
    /// Fills device memory with zero bytes (bytes: a multiple of 4).
    virtual Status zero(void* device_address, size_t bytes) = 0;

    /// Adds so many pieces of work of which none needs what another does: what one leaves idle of the GPU is the
    /// others', if the queue can have it so. What is launched afterwards comes behind all of them.
    using AddPiece = std::function<Status(int piece, DeviceQueue& queue)>;
    virtual Status side_by_side(int pieces, const AddPiece& add) {
        for (int piece = 0; piece < pieces; ++piece) QC_RETURN_IF_ERROR(add(piece, *this));
        return {};
    }
    /// Into how many pieces, of at most so many, work that can be parted is worth parting: where other metrics fill
    /// what is idle anyway, kernels of a whole batch leave less of it.
    virtual int worthwhile_pieces(int most) const { return most; }
};

} // namespace qc
