// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of float_ms_ssim: the low pass, of which a block reads a tile of one picture, mirrored at the borders,
// and makes its part of the next scale; then the window of the family.
#pragma once

#include "device/kernel_list.hpp"
#include "families/structural/structural_kernels.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim_math.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim_tuning.hpp"

namespace qc::float_ms_ssim {
constexpr int kLowPassThreads = kTuning.warps * structural::kLanes;
/// Results of a block.
constexpr int kTileWidth = structural::kLanes, kTileHeight = kTuning.warps * kTuning.runs * kTuning.run;
constexpr int kReadRows = 2 * kTileHeight + kSide - 2;
constexpr int kReadColumns = (2 * kTileWidth + kSide - 2 + 3) / 4 * 4;

/// Even and odd columns apart: neighbouring lanes, whose windows are two columns apart, read different banks.
struct LowPassMemory {
    float samples[kReadRows][2][kReadColumns / 2];
};

/// The input is read from (2 x - 4, 2 y - 4), (x, y) the first result of the block.
template <typename T>
QC_HD void read_phase(LowPassMemory& memory, const structural::Task& task, int from, int pair, int picture, int x,
                      int y, int thread) {
    const auto store = [&](int row, int column, float sample) { memory.samples[row][column % 2][column / 2] = sample; };
    const structural::Level& level = task.level[from];
    const int left = 2 * x - kRadius, top = 2 * y - kRadius;
    if (level.samples == nullptr) {
        structural::read_tile<kReadRows, kReadColumns, kLowPassThreads>(structural::LumaSource<T>(task, pair, picture),
                                                                        left, top, thread, store);
    } else {
        structural::read_tile<kReadRows, kReadColumns, kLowPassThreads>(structural::LevelSource(level, pair, picture),
                                                                        left, top, thread, store);
    }
}

template <bool kSigned>
QC_HD void low_pass_phase(const LowPassMemory& memory, const structural::Task& task, int to, int pair, int picture,
                          int x, int y, int thread) {
    const structural::Level& level = task.level[to];
    const int lane = thread % structural::kLanes, column = x + lane;
    float* const samples = level.samples + static_cast<uint64_t>(2 * pair + picture) * level.plane;
    QC_NO_UNROLL for (int run = 0; run < kTuning.runs; ++run) {
        const int first = (thread / structural::kLanes * kTuning.runs + run) * kTuning.run; // of the tile's rows
        if (y + first >= level.height) return;
        low_pass_run<kTuning.run, kSigned>(
            [&](int row, int u) { return memory.samples[2 * first + row][u % 2][lane + u / 2]; },
            [&](int i, float result) {
                const int row = y + first + i;
                if (column < level.width && row < level.height) {
                    samples[static_cast<ptrdiff_t>(row) * level.pitch + column] = result;
                }
            });
    }
}

struct LowPassArguments {
    structural::Task task;
    int from; ///< level that is read; the next one is made
};

/// grid: (tiles in x, tiles in y, 2 * pairs): both pictures of a pair
/// @tparam kSigned whether the input may be negative: that of level 0 is not
template <typename T, bool kSigned>
struct LowPass : device::KernelOf<LowPassArguments, kLowPassThreads, kTuning.min_blocks> {
    template <class Block>
    QC_HD static void run(Block& block, const LowPassArguments& arguments) {
        auto& memory = device::shared<LowPassMemory>(block);
        const int pair = static_cast<int>(static_cast<unsigned>(block.z()) / 2), picture = block.z() & 1;
        const int x = block.x() * kTileWidth, y = block.y() * kTileHeight;
        read_phase<T>(memory, arguments.task, arguments.from, pair, picture, x, y, block.thread());
        block.sync();
        low_pass_phase<kSigned>(memory, arguments.task, arguments.from + 1, pair, picture, x, y, block.thread());
    }
};

#define QC_FLOAT_MS_SSIM_KERNELS(KERNEL)                                                                               \
    KERNEL(float_ms_ssim_low_pass_u8, LowPass<uint8_t, false>)                                                         \
    KERNEL(float_ms_ssim_low_pass_u16, LowPass<uint16_t, false>)                                                       \
    KERNEL(float_ms_ssim_low_pass, LowPass<uint8_t, true>)                                                             \
    QC_STRUCTURAL_KERNELS(KERNEL)
QC_DECLARE_KERNELS(QC_FLOAT_MS_SSIM_KERNELS)

} // namespace qc::float_ms_ssim
