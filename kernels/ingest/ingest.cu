// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ingest/ingest.hpp"

namespace qc {
namespace {

__device__ __forceinline__ const uint8_t* row_of(const void* plane, uint32_t pitch_bytes, int y) {
    return static_cast<const uint8_t*>(plane) + static_cast<size_t>(y) * pitch_bytes;
}

/// Copies one row; 16 bytes at a time where both ends are aligned.
__device__ __forceinline__ void copy_row(uint8_t* target, const uint8_t* source, int bytes, int first, int stride) {
    const bool wide = ((reinterpret_cast<uintptr_t>(target) | reinterpret_cast<uintptr_t>(source)) & 15) == 0;
    const int vectors = wide ? bytes / 16 : 0;
    for (int i = first; i < vectors; i += stride)
        reinterpret_cast<uint4*>(target)[i] = reinterpret_cast<const uint4*>(source)[i];
    for (int i = vectors * 16 + first; i < bytes; i += stride) target[i] = source[i];
}

} // namespace

/// grid: (x blocks, rows, jobs)
extern "C" __global__ void __launch_bounds__(kIngestBlock) qc_convert(const ConvertJob* jobs) {
    const ConvertJob job = jobs[blockIdx.z];
    const int y = blockIdx.y;
    if (y >= job.height) return;
    const uint8_t* source = row_of(job.source, job.source_pitch_bytes, y);
    uint16_t* target = reinterpret_cast<uint16_t*>(reinterpret_cast<uint8_t*>(job.target) +
                                                   static_cast<size_t>(y) * job.target_pitch_bytes);
    for (int x = blockIdx.x * kIngestBlock + threadIdx.x; x < job.width; x += gridDim.x * kIngestBlock) {
        const unsigned raw =
            job.source_bytes == 1 ? source[x * job.step] : reinterpret_cast<const uint16_t*>(source)[x * job.step];
        target[x] = static_cast<uint16_t>((raw >> job.shift_right) << job.shift_left);
    }
}

/// Moves the rings on by `frames` frames: grid (rows, rings). planes: [frame][ring], data null where the picture was
/// absent (its place in the ring then holds nothing of meaning). A block owns its row in every plane of its ring, and
/// the order of its copies, older plane first, is kept by the barrier.
extern "C" __global__ void __launch_bounds__(kIngestBlock)
    qc_keep_history(const DevicePlane* planes, int frames, const __grid_constant__ HistoryRings rings) {
    const int y = blockIdx.x, r = blockIdx.y;
    const HistoryRing& ring = rings.ring[r];
    if (y >= ring.height) return;
    for (int k = ring.depth - 1; k >= 0; --k) {
        const int frame = frames - 1 - k; // of this batch; negative: still in the ring
        const uint8_t* source = nullptr;
        if (frame >= 0) {
            const DevicePlane& plane = planes[frame * rings.count + r];
            if (plane.data != nullptr) source = row_of(plane.data, plane.pitch_bytes, y);
        } else {
            source = row_of(ring.plane[k - frames], ring.pitch_bytes, y);
        }
        uint8_t* target = static_cast<uint8_t*>(ring.plane[k]) + static_cast<size_t>(y) * ring.pitch_bytes;
        if (source != nullptr) copy_row(target, source, ring.row_bytes, threadIdx.x, kIngestBlock);
        __syncthreads();
    }
}

} // namespace qc
