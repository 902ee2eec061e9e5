// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer VIF on the GPU: entry points and the reduction over a block. What a thread does is in vif_phases.hpp.
#include "device/block_sum.cuh"
#include "metrics/vif/vif_phases.hpp"

namespace qc::vif {
namespace {

/// Adds a block's sums to the accumulators of a scale. Integers: the order of the blocks does not matter.
template <int kThreads>
__device__ void add_tile_sums(const ThreadSums& sums, uint64_t* accumulators) {
    constexpr int kWarps = kThreads / kWarpSize;
    __shared__ uint64_t partial[kWordsPerScale][kWarps];
    const uint64_t numerator_log = warp_sum(sums.numerator_log), denominator_log = warp_sum(sums.denominator_log);
    const uint64_t flat_variance = warp_sum(sums.flat_variance), flat_count = warp_sum(sums.flat_count);
    if (threadIdx.x % kWarpSize == 0) {
        const unsigned warp = threadIdx.x / kWarpSize;
        partial[kNumeratorLog][warp] = numerator_log;
        partial[kDenominatorLog][warp] = denominator_log;
        partial[kFlatVariance][warp] = flat_variance;
        partial[kFlatCount][warp] = flat_count;
    }
    __syncthreads();
    if (threadIdx.x < kWordsPerScale) {
        uint64_t sum = 0;
        for (int warp = 0; warp < kWarps; ++warp) sum += partial[threadIdx.x][warp];
        atomicAdd(reinterpret_cast<unsigned long long*>(accumulators) + threadIdx.x, sum);
    }
}

template <class Plan>
__device__ void score_tile(const ScaleArguments& arguments) {
    extern __shared__ __align__(16) uint32_t shared[];
    const auto thread = static_cast<int>(threadIdx.x);
    const auto pair = static_cast<int>(blockIdx.z);
    const TileOrigin origin = tile_origin<Plan>(static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y));
    const typename Plan::Source source(arguments, pair);

    copy_thresholds<Plan>(shared, thread, arguments);
    vertical_phase<Plan>(shared, thread, source, origin, vertical_shifts(Plan::kScale, arguments.depth));
    __syncthreads();
    const ThreadSums sums = horizontal_phase<Plan>(shared, thread, arguments, pair, origin);
    if constexpr (Plan::kStatistics)
        add_tile_sums<Plan::kThreads>(sums, arguments.accumulators +
                                                arguments.pairs[pair].output * uint64_t{kAccumulatorWords} +
                                                Plan::kScale * kWordsPerScale);
}

} // namespace
} // namespace qc::vif

#define QC_VIF_KERNEL(name, Plan)                                                                                      \
    extern "C" __global__ void __launch_bounds__(qc::vif::Plan::kThreads, qc::vif::Plan::kMinBlocks)                   \
        name(const __grid_constant__ qc::vif::ScaleArguments arguments) {                                              \
        qc::vif::score_tile<qc::vif::Plan>(arguments);                                                                 \
    }

QC_VIF_KERNEL(vif_scale0_u8, Scale0U8)
QC_VIF_KERNEL(vif_scale0_u16, Scale0U16)
QC_VIF_KERNEL(vif_scale1, Scale1)
QC_VIF_KERNEL(vif_scale2, Scale2)
QC_VIF_KERNEL(vif_scale3, Scale3)
QC_VIF_KERNEL(vif_decimate0_u8, Decimate0U8)
QC_VIF_KERNEL(vif_decimate0_u16, Decimate0U16)
