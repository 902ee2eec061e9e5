// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of float_ssim: decimation, then the window of the family.
#pragma once

#include "device/kernel_list.hpp"
#include "families/structural/structural_kernels.hpp"
#include "metrics/float_ssim/float_ssim_math.hpp"
#include "metrics/float_ssim/float_ssim_tuning.hpp"

namespace qc::float_ssim {
struct DecimationArguments {
    structural::Task task; ///< its only level is what the kernel writes
    int width, height;     ///< of the video
    int factor;
    bool power_of_two;
};

/// Sample (x, y) of the decimated picture, for both pictures of a pair.
template <typename T>
QC_HD void decimate(const DecimationArguments& arguments, int pair, int x, int y) {
    const structural::Task& task = arguments.task;
    const structural::Level& level = task.level[0];
    if (x >= level.width || y >= level.height) return;
    const int width = arguments.width, height = arguments.height, factor = arguments.factor;
    for (int picture = 0; picture < 2; ++picture) {
        const structural::LumaSource<T> source(task, pair, picture, width, height);
        const float mean =
            arguments.power_of_two
                ? integer_mean_around(x, y, factor, width, height, weight_of(factor) * task.sample_scale,
                                      [&](int u, int v) { return source.integer(u, v); })
                : mean_around(x, y, factor, width, height, [&](int u, int v) { return source.sample(u, v); });
        level.samples[static_cast<uint64_t>(2 * pair + picture) * level.plane +
                      static_cast<uint64_t>(y) * static_cast<uint64_t>(level.pitch) + static_cast<uint64_t>(x)] = mean;
    }
}

/// grid: (blocks of columns, blocks of rows, pairs)
template <typename T>
struct Decimate : device::KernelOf<DecimationArguments, kTuning.threads_x * kTuning.threads_y> {
    template <class Block>
    QC_HD static void run(Block& block, const DecimationArguments& arguments) {
        static_assert(kTuning.threads_x == device::kWarpSize);
        decimate<T>(arguments, block.z(), block.x() * kTuning.threads_x + block.lane(),
                    block.y() * kTuning.threads_y + block.warp());
    }
};

#define QC_FLOAT_SSIM_KERNELS(KERNEL)                                                                                  \
    KERNEL(float_ssim_decimate_u8, Decimate<uint8_t>)                                                                  \
    KERNEL(float_ssim_decimate_u16, Decimate<uint16_t>)                                                                \
    QC_STRUCTURAL_KERNELS(KERNEL)                                                                                      \
    QC_STRUCTURAL_MAP_KERNELS(KERNEL)
QC_DECLARE_KERNELS(QC_FLOAT_SSIM_KERNELS)

} // namespace qc::float_ssim
