// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of row_sums.hpp: a metric takes SumRows and SumColumns<DevicePair or DeviceReference> into its
// list under names of its own.
#pragma once

#include "device/block.hpp"
#include "device/kernel_list.hpp"
#include "device/row_sums.hpp"

namespace qc::device {
/// grid: (groups of rows)
struct SumRows : device::KernelOf<RowSumTask, kRowSumBlock> {
    template <class Block>
    QC_HD static void run(Block& block, const RowSumTask& task) {
        const int row = block.x() * kThreads + block.thread();
        if (row < task.rows) task.sums[row] = sum_row(task.terms + static_cast<size_t>(row) * task.pitch, task.width);
    }
};

template <typename Evaluation>
struct ColumnSumArguments {
    const Evaluation* evaluations;
    uint64_t* accumulators;
    ColumnSumTask task;
};

/// grid: (planes of all kinds, evaluations)
template <typename Evaluation>
struct SumColumns : device::KernelOf<ColumnSumArguments<Evaluation>, kColumnSumBlock> {
    template <class Block>
    QC_HD static void run(Block& block, const ColumnSumArguments<Evaluation>& arguments) {
        const ColumnSumTask& task = arguments.task;
        auto& chunk = shared<float[kColumnSumChunk]>(block);
        const int kind = block.x() / task.planes, plane = block.x() % task.planes;
        const int height = task.height[kind];
        const float* const sums = task.sums[kind] + (static_cast<size_t>(block.y()) * task.planes + plane) * height;
        float total = 0.0f;
        for (int first = 0; first < height; first += kColumnSumChunk) {
            const int count = height - first < kColumnSumChunk ? height - first : kColumnSumChunk;
            for (int i = block.thread(); i < count; i += kColumnSumBlock) chunk[i] = sums[first + i];
            block.sync();
            if (block.thread() == 0) {
                QC_UNROLL_BY(16)
                for (int i = 0; i < count; ++i) total = total + chunk[i];
            }
            block.sync();
        }
        if (block.thread() == 0) {
            const size_t output = static_cast<size_t>(arguments.evaluations[block.y()].output) * task.words;
            arguments.accumulators[output + task.word[kind] + plane] = accumulator_of(total);
        }
    }
};

} // namespace qc::device
