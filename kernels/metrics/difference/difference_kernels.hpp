// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a block of the GPU does: a part of a row of one map.
#pragma once

#include "contract/map.hpp"
#include "device/block.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "metrics/difference/difference_math.hpp"
#include "metrics/difference/difference_tuning.hpp"

namespace qc::difference {
struct DrawArguments {
    const DevicePair* pairs;
    DeviceMap map;
    MapShape shape;
    float scale; ///< see scale_of_depth()
};

/// So many neighbours are drawn by a thread.
constexpr int kColumns = MapPlane::kRun;

/// The first `count` of kColumns samples from x on, which is a multiple of that.
template <typename Sample>
QC_HD void read_run(const DevicePlane& plane, int x, int y, int count, int (&run)[kColumns]) {
    constexpr int kBytes = kColumns * sizeof(Sample), kPerWord = 4 / sizeof(Sample);
    if (count >= kColumns && plane.step == 1 && rows_aligned(plane, kBytes)) {
        const auto words = load_words<kBytes>(row_bytes(plane, y) + static_cast<size_t>(x) * sizeof(Sample));
        QC_UNROLL for (int i = 0; i < kColumns; ++i) {
            const uint32_t word = words.word[i / kPerWord] >> (8 * sizeof(Sample) * (i % kPerWord));
            run[i] = static_cast<int>(static_cast<Sample>(word) >> plane.shift);
        }
        return;
    }
    for (int i = 0; i < kColumns; ++i)
        if (i < count) run[i] = static_cast<int>(read_sample<Sample>(plane, x + i, y));
}

/// A warp draws a part of a row. grid: (blocks of columns, blocks of rows, pairs)
template <typename Sample>
struct Draw : device::KernelOf<DrawArguments, kTuning.rows * device::kWarpSize> {
    static constexpr int kBlockColumns = kColumns * device::kWarpSize;

    template <class Block>
    QC_HD static void run(Block& block, const DrawArguments& arguments) {
        const DevicePair& pair = arguments.pairs[block.z()];
        const MapPlane values = arguments.map.of_output(pair.output, arguments.shape);
        const int x = block.x() * kBlockColumns + kColumns * block.lane(), y = block.y() * kTuning.rows + block.warp();
        if (values.data == nullptr || x >= values.width || y >= values.height) return;
        const int count = values.width - x;
        int reference[kColumns] = {}, distorted[kColumns] = {};
        read_run<Sample>(pair.reference.plane[0], x, y, count, reference);
        read_run<Sample>(pair.distorted.plane[0], x, y, count, distorted);
        float run[kColumns];
        QC_UNROLL for (int i = 0; i < kColumns; ++i) {
            run[i] = difference_of(reference[i], distorted[i], arguments.scale);
        }
        values.put_run(x, y, run);
    }
};

#define QC_DIFFERENCE_KERNELS(KERNEL)                                                                                  \
    KERNEL(difference_u8, Draw<uint8_t>)                                                                               \
    KERNEL(difference_u16, Draw<uint16_t>)
QC_DECLARE_KERNELS(QC_DIFFERENCE_KERNELS)

} // namespace qc::difference
