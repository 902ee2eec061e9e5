// SPDX-License-Identifier: BSD-2-Clause-Patent
// What host code and .cu files both know of a kernel: the name it is found by, the blocks of its grid, what a batch
// hands it. A .cu file includes no more of the contract: what the host does with kernels (contract/device.hpp) takes
// nvcc longer to read than most kernels take to compile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "contract/map.hpp"
#include "contract/types.hpp"

namespace qc {

struct Dim3 {
    unsigned x = 1, y = 1, z = 1;
};

/// What a kernel is found by; a metric's list of kernels makes one for each (device/kernel_list.hpp). Kernels with the
/// same parameter share a type, so that one of them may be chosen at run time.
template <class Arguments>
struct KernelIdentifier {
    const char* name;
    int threads;                 ///< of a block
    size_t dynamic_shared_bytes; ///< unless find() is told another number
};

/// Of three kernels the one for a session's samples: of 8 bits, of up to 12, of 16.
template <class Arguments>
constexpr const KernelIdentifier<Arguments>&
for_samples(const FrameGeometry& geometry, const KernelIdentifier<Arguments>& bytes,
            const KernelIdentifier<Arguments>& words, const KernelIdentifier<Arguments>& full_words) {
    return geometry.sample == SampleType::kU8 ? bytes : geometry.depth <= 12 ? words : full_words;
}

/// Smallest number of blocks of `per_block` that cover `total`.
constexpr unsigned blocks_for(int total, int per_block) {
    return static_cast<unsigned>((total + per_block - 1) / per_block);
}

/// One batch, as a kernel sees it: arrays in device memory whose content changes from batch to batch while the
/// addresses (and so a graph) stay. Pair i writes accumulators + pairs[i].output * accumulator_words.
struct DeviceBatch {
    const DevicePair* pairs = nullptr;           ///< device address; Scope::kPair
    const DeviceReference* references = nullptr; ///< device address; Scope::kReference
    /// Device address; Scope::kPair. Pairs of one reference follow each other: pairs first_pair[g] to
    /// first_pair[g + 1] - 1 are group g, which may be empty.
    const uint32_t* first_pair = nullptr;
    int groups = 0;                   ///< as many as references
    int count = 0;                    ///< pairs or references, by the metric's scope; use as gridDim.z
    uint64_t* accumulators = nullptr; ///< device address, zeroed
    void* scratch = nullptr;          ///< device address
    DeviceMap map{};                  ///< of scorers that were told to draw maps

    /// On average, rounded down; 1 where nothing is known of groups.
    int pairs_per_reference() const { return first_pair != nullptr && groups > 0 ? count / groups : 1; }
};

} // namespace qc
