// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a block of the GPU does: a part of a row of one map.
#pragma once

#include "contract/map.hpp"
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

/// grid: (blocks of a row, rows, pairs)
template <typename Sample>
struct Draw {
    using Arguments = DrawArguments;
    static constexpr int kThreads = kTuning.threads;

    template <class Block>
    QC_HD static void run(Block& block, const DrawArguments& arguments) {
        const DevicePair& pair = arguments.pairs[block.z()];
        const Plane<float> values = arguments.map.of_output(pair.output, arguments.shape);
        const int x = block.x() * kThreads + block.thread(), y = block.y();
        if (values.data == nullptr || x >= values.width) return;
        values.at(x, y) =
            difference_of(static_cast<int>(read_sample<Sample>(pair.reference.plane[0], x, y)),
                          static_cast<int>(read_sample<Sample>(pair.distorted.plane[0], x, y)), arguments.scale);
    }
};

#define QC_DIFFERENCE_KERNELS(KERNEL)                                                                                  \
    KERNEL(difference_u8, Draw<uint8_t>)                                                                               \
    KERNEL(difference_u16, Draw<uint16_t>)
QC_DECLARE_KERNELS(QC_DIFFERENCE_KERNELS)

} // namespace qc::difference
