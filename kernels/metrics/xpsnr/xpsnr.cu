// SPDX-License-Identifier: BSD-2-Clause-Patent
// XPSNR on the GPU: block (x, z) sums up block x of pair z of the batch, and is the only one to write its words.
#include "device/block_sum.cuh"
#include "metrics/xpsnr/xpsnr_tile.hpp"

namespace qc::xpsnr {
namespace {

template <int kWords, typename Sum>
__device__ __forceinline__ void write_sums(const Sum (&all)[5], uint64_t* target) {
    Sum sums[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) sums[i] = all[i];
    add_block_sums<kTuning.warps>(sums, target);
}

template <typename T, int kMargin, bool kSecondOrder>
__device__ __forceinline__ void sum_block_of_pair(const DevicePair* pairs, uint64_t* accumulators,
                                                  const BlockPlan& plan) {
    const DevicePair& pair = pairs[blockIdx.z];
    const int index = static_cast<int>(blockIdx.x);
    const BlockSums<T> sums = sum_block<T, kMargin, kSecondOrder>(pair, plan, index, static_cast<int>(threadIdx.x));
    const size_t row = static_cast<size_t>(pair.output) * plan.blocks() + index;
    uint64_t* const target = accumulators + row * plan.words_per_block();
    if (plan.planes == 1) {
        write_sums<kSquaredError + 1>(sums.word, target);
    } else {
        write_sums<kSquaredError + 3>(sums.word, target);
    }
}

} // namespace
} // namespace qc::xpsnr

#define QC_XPSNR_KERNEL(name, type, margin, second_order)                                                              \
    extern "C" __global__ void __launch_bounds__(qc::xpsnr::kThreads)                                                  \
        name(const qc::DevicePair* pairs, uint64_t* accumulators, qc::xpsnr::BlockPlan plan) {                         \
        qc::xpsnr::sum_block_of_pair<type, margin, second_order>(pairs, accumulators, plan);                           \
    }

QC_XPSNR_KERNEL(xpsnr_samples_first_u8, uint8_t, 1, false)
QC_XPSNR_KERNEL(xpsnr_samples_second_u8, uint8_t, 1, true)
QC_XPSNR_KERNEL(xpsnr_cells_first_u8, uint8_t, 2, false)
QC_XPSNR_KERNEL(xpsnr_cells_second_u8, uint8_t, 2, true)
QC_XPSNR_KERNEL(xpsnr_samples_first_u16, uint16_t, 1, false)
QC_XPSNR_KERNEL(xpsnr_samples_second_u16, uint16_t, 1, true)
QC_XPSNR_KERNEL(xpsnr_cells_first_u16, uint16_t, 2, false)
QC_XPSNR_KERNEL(xpsnr_cells_second_u16, uint16_t, 2, true)
