// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of float_motion.
//
//     vertical phase    one column a thread: its samples of both frames go through registers, blurred downwards, to
//                       shared memory
//     horizontal phase  four columns a thread: blurred along the row, the absolute differences go to scratch memory,
//                       where row_sums.hpp adds them in the order that the metric defines
#pragma once

#include <cstring>

#include "device/block.hpp"
#include "device/borders.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "device/row_sum_kernels.hpp"
#include "device/term_weight_kernels.hpp"
#include "device/unroll.hpp"
#include "families/resize/resize.hpp"
#include "metrics/float_motion/float_motion_math.hpp"
#include "metrics/float_motion/float_motion_tuning.hpp"

namespace qc::float_motion {
/// Blurred samples of both frames at one place.
struct alignas(8) SamplePair {
    float previous, current;
};

/// The argument of the kernels of one plane. block.z() is the reference.
struct PlaneTask {
    const DeviceReference* references;
    float* terms; ///< of the first reference
    uint64_t term_plane;
    int term_pitch;
    int plane;
    int width, height;
    float sample_scale;
    BlurTaps taps;
    SamplePair* blurred; ///< kept for the half size; null: not needed
    uint64_t blurred_plane;
};

/// Terms of the half size.
struct HalfTask {
    const SamplePair* blurred;
    uint64_t blurred_plane;
    int source_width, source_height;
    const ResizeEntry *columns, *rows;
    float* terms;
    uint64_t term_plane;
    int term_pitch;
    int width, height;
};

constexpr int kColumnsPerThread = 4;
constexpr int kColumns = kTuning.width + 2 * kReach; ///< of a tile, with the filter's reach
constexpr int kSourceRows = kTuning.height + 2 * kReach;
/// Congruent to the width modulo the 32 banks: a warp that spans two rows reads as if the rows were one.
constexpr int kPitch = kColumns + (kTuning.width - kColumns % 32 + 32 * 32) % 32;
constexpr int kSharedPlane = kTuning.height * kPitch;
static_assert(kColumns <= kTuning.threads && kTuning.width % kColumnsPerThread == 0 && kPitch % 4 == 0);

/// Blurred downwards: the plane before, then the current one.
struct alignas(16) TileMemory {
    float samples[2 * kSharedPlane];
};

/// The plane of an earlier frame; at the start of the stream the current one, from which it then does not differ.
QC_HD DevicePlane previous_plane(const DeviceReference& reference, int plane) {
    const DevicePlane& earlier = plane == 0 ? reference.history[0] : reference.chroma_history[0][plane - 1];
    return earlier.data != nullptr ? earlier : reference.current.plane[plane];
}

/// Blurs a column downwards. `x` and `y`: of the first sample, which may lie outside the picture.
template <typename Sample>
QC_HD void blur_column(const DevicePlane& plane, int x, int y, const PlaneTask& task, float* out) {
    float sample[kSourceRows];
    const int source_x = mirrored_inside(x, task.width);
    if (y >= 0 && y + kSourceRows <= task.height) {
        DevicePlane at = plane;
        at.data = row_bytes(at, y);
        QC_UNROLL for (int row = 0; row < kSourceRows; ++row) {
            sample[row] = normalised(read_sample<Sample>(at, source_x, 0), task.sample_scale);
            at.data = row_bytes(at, 1);
        }
    } else {
        QC_UNROLL for (int row = 0; row < kSourceRows; ++row) {
            const int source_y = mirrored_inside(y + row, task.height);
            sample[row] = normalised(read_sample<Sample>(plane, source_x, source_y), task.sample_scale);
        }
    }
    QC_UNROLL for (int row = 0; row < kTuning.height; ++row) out[row * kPitch] =
        blurred(sample[row], sample[row + 1], sample[row + 2], sample[row + 3], sample[row + 4], task.taps);
}

template <typename Sample>
QC_HD void vertical_phase(float* shared, int thread, int origin_x, int origin_y, const PlaneTask& task,
                          const DeviceReference& reference) {
    if (thread >= kColumns) return;
    const int x = origin_x - kReach + thread, y = origin_y - kReach;
    blur_column<Sample>(previous_plane(reference, task.plane), x, y, task, shared + thread);
    blur_column<Sample>(reference.current.plane[task.plane], x, y, task, shared + kSharedPlane + thread);
}

/// Blurs kColumnsPerThread neighbouring columns along a row. `from` is a multiple of 16 bytes.
QC_HD void blur_group(const float* from, const BlurTaps& taps, float (&out)[kColumnsPerThread]) {
    float value[kColumnsPerThread + 2 * kReach];
#if defined(__CUDA_ARCH__)
    const float4 low = *reinterpret_cast<const float4*>(from), high = *reinterpret_cast<const float4*>(from + 4);
    value[0] = low.x, value[1] = low.y, value[2] = low.z, value[3] = low.w;
    value[4] = high.x, value[5] = high.y, value[6] = high.z, value[7] = high.w;
#else
    memcpy(value, from, sizeof value);
#endif
    QC_UNROLL for (int i = 0; i < kColumnsPerThread; ++i) out[i] =
        blurred(value[i], value[i + 1], value[i + 2], value[i + 3], value[i + 4], taps);
}

QC_HD void horizontal_phase(const float* shared, int thread, int origin_x, int origin_y, const PlaneTask& task,
                            int reference) {
    constexpr int kGroups = kTuning.width / kColumnsPerThread;
    for (int item = thread; item < kGroups * kTuning.height; item += kTuning.threads) {
        const int column = item % kGroups * kColumnsPerThread, row = item / kGroups;
        const int x = origin_x + column, y = origin_y + row;
        if (x >= task.width || y >= task.height) continue;
        float previous[kColumnsPerThread], current[kColumnsPerThread], term[kColumnsPerThread];
        blur_group(shared + row * kPitch + column, task.taps, previous);
        blur_group(shared + kSharedPlane + row * kPitch + column, task.taps, current);
        QC_UNROLL for (int i = 0; i < kColumnsPerThread; ++i) term[i] = absolute_difference(previous[i], current[i]);
        // Beyond the last column this reaches into the padding of the row.
        float* const terms = task.terms + reference * task.term_plane + static_cast<size_t>(y) * task.term_pitch + x;
#if defined(__CUDA_ARCH__)
        *reinterpret_cast<float4*>(terms) = make_float4(term[0], term[1], term[2], term[3]);
#else
        memcpy(terms, term, sizeof term);
#endif
        if (task.blurred == nullptr) continue;
        SamplePair* const kept = task.blurred + reference * task.blurred_plane + static_cast<size_t>(y) * task.width;
        for (int i = 0; i < kColumnsPerThread; ++i)
            if (x + i < task.width) kept[x + i] = SamplePair{previous[i], current[i]};
    }
}

/// One term of the half size.
QC_HD void half_term(const HalfTask& task, int reference, int x, int y) {
    if (x >= task.width) return;
    const SamplePair* const source = task.blurred + reference * task.blurred_plane;
    const auto at = [&](int source_x, int source_y) {
        return source[static_cast<size_t>(source_y) * task.source_width + source_x];
    };
    const ResizeEntry &column = task.columns[x], &row = task.rows[y];
    const float previous = resized<Resize::kBilinear>([&](int at_x, int at_y) { return at(at_x, at_y).previous; },
                                                      column, row, task.source_width, task.source_height);
    const float current = resized<Resize::kBilinear>([&](int at_x, int at_y) { return at(at_x, at_y).current; }, column,
                                                     row, task.source_width, task.source_height);
    task.terms[reference * task.term_plane + static_cast<size_t>(y) * task.term_pitch + x] =
        absolute_difference(previous, current);
}

/// grid: (tiles in x, tiles in y, references)
template <typename Sample>
struct DifferenceTile : device::KernelOf<PlaneTask, kTuning.threads, kTuning.blocks_per_multiprocessor> {
    template <class Block>
    QC_HD static void run(Block& block, const PlaneTask& task) {
        float* const shared = device::shared<TileMemory>(block).samples;
        const int x = block.x() * kTuning.width, y = block.y() * kTuning.height;
        vertical_phase<Sample>(shared, block.thread(), x, y, task, task.references[block.z()]);
        block.sync();
        horizontal_phase(shared, block.thread(), x, y, task, block.z());
    }
};

/// grid: (pieces of a row, rows, references)
struct HalfDifferences : device::KernelOf<HalfTask, kHalfBlock> {
    template <class Block>
    QC_HD static void run(Block& block, const HalfTask& task) {
        half_term(task, block.z(), block.x() * kHalfBlock + block.thread(), block.y());
    }
};

#define QC_FLOAT_MOTION_KERNELS(KERNEL)                                                                                \
    KERNEL(float_motion_terms_u8, DifferenceTile<uint8_t>)                                                             \
    KERNEL(float_motion_terms_u16, DifferenceTile<uint16_t>)                                                           \
    KERNEL(float_motion_half_terms, HalfDifferences)                                                                   \
    KERNEL(float_motion_sum_rows, device::SumRows)                                                                     \
    KERNEL(float_motion_sum_columns, device::SumColumns<DeviceReference>)                                              \
    KERNEL(float_motion_weigh_terms, device::WeighTerms<DeviceReference>)
QC_DECLARE_KERNELS(QC_FLOAT_MOTION_KERNELS)

} // namespace qc::float_motion
