// SPDX-License-Identifier: BSD-2-Clause-Patent
// grid: (1, bands of kRowsPerBlock rows, pairs)
#include "device/block_sum.cuh"
#include "device/plane_reader.hpp"
#include "metrics/skeleton/skeleton_math.hpp"
#include "metrics/skeleton/skeleton_tuning.hpp"

namespace qc::skeleton {
namespace {

template <typename Sample>
__device__ __forceinline__ void sum_band(const DevicePair* pairs, uint64_t* accumulators, int width, int height) {
    const DevicePair& pair = pairs[blockIdx.z];
    const DevicePlane reference = pair.reference.plane[0], distorted = pair.distorted.plane[0];
    const int first = static_cast<int>(blockIdx.y) * kRowsPerBlock;
    const int last = min(first + kRowsPerBlock, height);
    uint64_t sum[1] = {0};
    for (int y = first; y < last; ++y)
        for (int x = static_cast<int>(threadIdx.x); x < width; x += kBlockThreads)
            sum[0] += absolute_difference(read_sample<Sample>(reference, x, y), read_sample<Sample>(distorted, x, y));
    add_block_sums<kBlockThreads / kWarpSize>(sum, accumulators + pair.output);
}

} // namespace

extern "C" __global__ void __launch_bounds__(kBlockThreads)
    skeleton_u8(const DevicePair* pairs, uint64_t* accumulators, int width, int height) {
    sum_band<uint8_t>(pairs, accumulators, width, height);
}

extern "C" __global__ void __launch_bounds__(kBlockThreads)
    skeleton_u16(const DevicePair* pairs, uint64_t* accumulators, int width, int height) {
    sum_band<uint16_t>(pairs, accumulators, width, height);
}

} // namespace qc::skeleton
