// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a block of the engine's own kernels does.
#pragma once

#include "device/block.hpp"
#include "device/bytes.hpp"
#include "device/kernel_list.hpp"
#include "ingest/ingest.hpp"
#include "ingest/map_paint.hpp"
#include "ingest/recode_kernels.hpp"
#include "ingest/scale_strip.hpp"
#include "ingest/scale_tile.hpp"

namespace qc {
QC_HD const uint8_t* row_of(const void* plane, uint32_t pitch_bytes, int y) {
    return static_cast<const uint8_t*>(plane) + static_cast<size_t>(y) * pitch_bytes;
}

/// Sixteen bytes that are copied at once.
struct alignas(16) CopiedBytes {
    uint32_t word[4];
};

/// What is kept of them where two planes share a row.
struct alignas(8) KeptBytes {
    uint32_t word[2];
};

/// Copies one row; 16 bytes at a time where both ends are aligned.
QC_HD void copy_row(uint8_t* target, const uint8_t* source, int bytes, int first, int stride) {
    const bool wide = ((reinterpret_cast<uintptr_t>(target) | reinterpret_cast<uintptr_t>(source)) & 15) == 0;
    const int vectors = wide ? bytes / 16 : 0;
    for (int i = first; i < vectors; i += stride)
        reinterpret_cast<CopiedBytes*>(target)[i] = reinterpret_cast<const CopiedBytes*>(source)[i];
    for (int i = vectors * 16 + first; i < bytes; i += stride) target[i] = source[i];
}

struct CopyAndZeroArguments {
    const CopiedBytes* source;
    CopiedBytes* target;
    uint64_t count;
    CopiedBytes* zeroed; ///< null if zeroed_count is 0
    uint64_t zeroed_count;
};

/// The way of a batch's few kilobytes between page-locked memory, which kernels reach as well, and the device. A node
/// of a graph that copies takes longer than a kernel that does it. grid: (blocks)
struct CopyAndZero : device::KernelOf<CopyAndZeroArguments, kIngestBlock> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        const auto i = static_cast<uint64_t>(block.x()) * kThreads + static_cast<uint64_t>(block.thread());
        if (i < arguments.count) arguments.target[i] = arguments.source[i];
        if (i < arguments.zeroed_count) arguments.zeroed[i] = CopiedBytes{};
    }
};

struct ConvertArguments {
    const ConvertJob* jobs;
};

/// grid: (x blocks, rows, jobs)
struct Convert : device::KernelOf<ConvertArguments, kIngestBlock> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        const ConvertJob job = arguments.jobs[block.z()];
        const int y = block.y();
        if (y >= job.height) return;
        const uint8_t* source = row_of(job.source, job.source_pitch_bytes, y >> job.repeat_down);
        uint8_t* target = static_cast<uint8_t*>(job.target) + static_cast<size_t>(y) * job.target_pitch_bytes;
        // Unsigned steps may wrap, which keeps the compiler from unrolling a loop that is rarely entered twice.
        const unsigned step = static_cast<unsigned>(block.grid_x()) * kThreads;
        for (int x = block.x() * kThreads + block.thread(); x < job.width; x = static_cast<int>(x + step)) {
            const unsigned sample = read_sample(job.samples, source, x >> job.repeat_across) << job.shift_left;
            if (job.target_bytes == 1)
                target[x] = static_cast<uint8_t>(sample);
            else
                reinterpret_cast<uint16_t*>(target)[x] = static_cast<uint16_t>(sample);
        }
    }
};

struct KeepHistoryArguments {
    const DevicePlane* planes; ///< [frame][ring], data null where the picture was absent (its place in the ring
                               ///< then holds nothing of meaning)
    int frames;
    HistoryRings rings;
};

/// Moves the rings on by `frames` frames: grid (rows, rings). A block owns its row in every plane of its ring, and the
/// order of its copies, older plane first, is kept by the barrier.
struct KeepHistory : device::KernelOf<KeepHistoryArguments, kIngestBlock> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        const HistoryRings& rings = arguments.rings;
        const int y = block.x(), r = block.y(), frames = arguments.frames;
        const HistoryRing& ring = rings.ring[r];
        if (y >= ring.height) return;
        for (int k = ring.depth - 1; k >= 0; --k) {
            const int frame = frames - 1 - k; // of this batch; negative: still in the ring
            const uint8_t* source = nullptr;
            if (frame >= 0) {
                const DevicePlane& plane = arguments.planes[frame * rings.count + r];
                if (plane.data != nullptr) source = row_of(plane.data, plane.pitch_bytes, y);
            } else {
                source = row_of(ring.plane[k - frames], ring.pitch_bytes, y);
            }
            uint8_t* target = static_cast<uint8_t*>(ring.plane[k]) + static_cast<size_t>(y) * ring.pitch_bytes;
            if (source != nullptr) copy_row(target, source, ring.row_bytes, block.thread(), kThreads);
            block.sync();
        }
    }
};

/// Every second sample of a row, by a warp: of two planes that share their rows, one. Eight bytes at a time where the
/// row they share and the target are aligned.
QC_HD void copy_every_second(uint8_t* target, const uint8_t* source, int width, int sample_bytes, int lane) {
    const auto offset = static_cast<int>(reinterpret_cast<uintptr_t>(source) & 15);
    const bool is_second = offset == sample_bytes;
    const bool wide = (offset == 0 || is_second) && (reinterpret_cast<uintptr_t>(target) & 7) == 0;
    const uint32_t selector = sample_bytes == 1 ? (is_second ? 0x7531u : 0x6420u) : (is_second ? 0x7632u : 0x5410u);
    const auto* const shared = reinterpret_cast<const CopiedBytes*>(is_second ? source - offset : source);
    // Nothing is read behind the row's last sample.
    const int vectors = wide ? (2 * width - (is_second ? 0 : 1)) * sample_bytes / 16 : 0;
    for (int i = lane; i < vectors; i += device::kWarpSize) {
        const CopiedBytes both = shared[i];
        reinterpret_cast<KeptBytes*>(target)[i] = {{device::select_bytes(both.word[0], both.word[1], selector),
                                                    device::select_bytes(both.word[2], both.word[3], selector)}};
    }
    for (int x = vectors * 8 / sample_bytes + lane; x < width; x += device::kWarpSize) {
        if (sample_bytes == 1)
            target[x] = source[2 * x];
        else
            reinterpret_cast<uint16_t*>(target)[x] = reinterpret_cast<const uint16_t*>(source)[2 * x];
    }
}

struct KeepPicturesArguments {
    const KeepJob* jobs;
};

/// Copies planes, samples side by side, a warp a row: blocks of so few bytes take longer to start than to copy. grid:
/// (groups of rows, jobs).
struct KeepPictures : device::KernelOf<KeepPicturesArguments, kIngestBlock> {
    static constexpr int kRows = kThreads / device::kWarpSize; ///< of a block

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        const KeepJob job = arguments.jobs[block.y()];
        const int y = block.x() * kRows + block.warp(), lane = block.lane();
        if (job.source.data == nullptr || y >= job.height) return;
        const uint8_t* const source = row_of(job.source.data, job.source.pitch_bytes, y);
        uint8_t* const target = static_cast<uint8_t*>(job.target) + static_cast<size_t>(y) * job.target_pitch_bytes;
        if (job.source.step == 1) {
            copy_row(target, source, job.width * job.sample_bytes, lane, device::kWarpSize);
        } else if (job.source.step == 2) {
            copy_every_second(target, source, job.width, job.sample_bytes, lane);
        } else if (job.sample_bytes == 1) {
            for (int x = lane; x < job.width; x += device::kWarpSize) target[x] = source[x * job.source.step];
        } else {
            for (int x = lane; x < job.width; x += device::kWarpSize)
                reinterpret_cast<uint16_t*>(target)[x] = reinterpret_cast<const uint16_t*>(source)[x * job.source.step];
        }
    }
};

struct PaintMapsArguments {
    const MapJob* jobs; ///< one for each frame
    DeviceMap map;
    MapPaint paint;
};

/// Paints the maps of a batch, a block the samples of a tile: grid (tiles across, tiles down, frames).
struct PaintMaps : device::KernelOf<PaintMapsArguments, kIngestBlock> {
    static_assert(kPaintColumns * device::kWarpSize == kMapTileColumns);
    static_assert(2 * kThreads / device::kWarpSize == kMapTileRows);

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        const MapJob& job = arguments.jobs[block.z()];
        const MapPaint& paint = arguments.paint;
        const int x = block.x() * kMapTileColumns + block.lane() * kPaintColumns;
        const int y = block.y() * kMapTileRows + 2 * block.warp();
        if (job.plane[0] == nullptr || x >= paint.width || y >= paint.height) return;
        const auto frame = static_cast<uint32_t>(block.z());
        const DeviceMap& map = arguments.map;
        const bool is_blank =
            job.is_drawn == 0 || (map.blank != nullptr && *map.mark(frame, paint.shape, block.x(), block.y()) != 0);
        const MapPlane drawn = map.of_frame(frame, paint.shape);
        paint_run(paint, job, {drawn.data, {static_cast<int>(drawn.pitch_bytes)}, drawn.width, drawn.height}, x, y,
                  is_blank);
    }
};

/// Paints the pictures black for which there are no values. The others are painted already, by the kernels of the
/// metric. grid: (blocks, 1, frames)
struct PaintBlack : device::KernelOf<PaintMapsArguments, kIngestBlock> {
    static constexpr int kBlocks = 16; ///< of a frame

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        const MapJob& job = arguments.jobs[block.z()];
        const MapPaint& paint = arguments.paint;
        if (job.plane[0] == nullptr || job.is_drawn != 0) return;
        for (int y = 2 * block.x(); y < paint.height; y += 2 * kBlocks)
            for (int x = kPaintColumns * block.thread(); x < paint.width; x += kPaintColumns * kThreads)
                paint_run(paint, job, {}, x, y, true);
    }
};

#define QC_INGEST_KERNELS(KERNEL)                                                                                      \
    KERNEL(qc_hand_over, CopyAndZero)                                                                                  \
    KERNEL(qc_convert, Convert)                                                                                        \
    KERNEL(qc_recode_map_narrow, Recode<kMapNarrow>)                                                                   \
    KERNEL(qc_recode_map_wide, Recode<kMapWide>)                                                                       \
    KERNEL(qc_recode_yuv_of_bytes, Recode<kYuvOfBytes>)                                                                \
    KERNEL(qc_recode_yuv_of_words, Recode<kYuvOfWords>)                                                                \
    KERNEL(qc_recode_yuv_wide, Recode<kYuvWide>)                                                                       \
    KERNEL(qc_recode_rgb_of_bytes, Recode<kRgbOfBytes>)                                                                \
    KERNEL(qc_recode_rgb_of_words, Recode<kRgbOfWords>)                                                                \
    KERNEL(qc_scale, ScaleTile)                                                                                        \
    KERNEL(qc_scale_bytes_4, ScaleStrips<4>)                                                                           \
    KERNEL(qc_scale_bytes_6, ScaleStrips<6>)                                                                           \
    KERNEL(qc_keep_history, KeepHistory)                                                                               \
    KERNEL(qc_keep_pictures, KeepPictures)                                                                             \
    KERNEL(qc_paint_maps, PaintMaps)                                                                                   \
    KERNEL(qc_paint_black, PaintBlack)
QC_DECLARE_KERNELS(QC_INGEST_KERNELS)

/// By RecodeWork.
inline constexpr KernelIdentifier<RecodeArguments> kRecodeKernels[kRecodeWorks] = {
    kernels::qc_recode_map_narrow,   kernels::qc_recode_map_wide, kernels::qc_recode_yuv_of_bytes,
    kernels::qc_recode_yuv_of_words, kernels::qc_recode_yuv_wide, kernels::qc_recode_rgb_of_bytes,
    kernels::qc_recode_rgb_of_words};

} // namespace qc
