// SPDX-License-Identifier: BSD-2-Clause-Patent
// Host side of the SpEED kernels: scratch memory, tables, launches. The same for both metrics.
#pragma once

#include "contract/device.hpp"
#include "families/speed/speed_phases.hpp"
#include "families/speed/speed_plan.hpp"

namespace qc::speed {

class Pipeline {
public:
    /// @param images per pair: two for each score
    Pipeline(const Plan& plan, int images) : plan_(plan), images_(images) {
        const auto aligned = [](size_t bytes) { return (bytes + 127) / 128 * 128; };
        const size_t grid_bytes = aligned(plan.grid_samples() * sizeof(float));
        layout_.coefficients = grid_bytes;
        layout_.statistics = 2 * grid_bytes;
        layout_.singular =
            layout_.statistics + aligned(static_cast<size_t>(plan.block_count()) * sizeof(BlockStatistics));
        layout_.image_bytes = layout_.singular + aligned(sizeof(int32_t));
    }

    size_t scratch_bytes(int count) const { return static_cast<size_t>(count) * images_ * layout_.image_bytes; }

    Status prepare(DeviceProgram& program, SampleType sample) {
        constexpr const char* kNames[] = {"plain", "nearest", "bilinear", "bicubic", "lanczos4"};
        const std::string name = std::string("speed_decimate_") + (sample == SampleType::kU8 ? "u8_" : "u16_") +
                                 kNames[static_cast<int>(plan_.resize) + 1];
        QC_RETURN_IF_ERROR(program.find(name.c_str(), 0, &decimate_));
        QC_RETURN_IF_ERROR(program.find("speed_analyse", 0, &analyse_));
        QC_RETURN_IF_ERROR(program.find("speed_compare", 0, &compare_));
        if (plan_.resize == Resize::kNone) return {};
        QC_RETURN_IF_ERROR(upload(program, plan_.columns, &columns_));
        return upload(program, plan_.rows, &rows_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue, bool difference_to_reference = false) const {
        const Task task = task_for(batch, difference_to_reference);
        const auto count = static_cast<unsigned>(batch.count), images = static_cast<unsigned>(images_);
        const Dim3 decimate_grid{blocks_for(plan_.grid.width, grid_points_per_block(plan_.smoothing.taps)),
                                 static_cast<unsigned>(plan_.grid.height) * images, count};
        QC_RETURN_IF_ERROR(queue.launch(decimate_, decimate_grid, threads(kTuning.decimate_threads), task));
        QC_RETURN_IF_ERROR(queue.launch(analyse_, Dim3{images, 1, count}, threads(kTuning.analyse_threads), task));
        return queue.launch(compare_, Dim3{images / 2, 1, count}, threads(kTuning.compare_threads), task);
    }

private:
    static Dim3 threads(int count) { return Dim3{static_cast<unsigned>(count)}; }

    static Status upload(DeviceProgram& program, const std::vector<ResizeEntry>& axis, const ResizeEntry** address) {
        const void* uploaded = nullptr;
        QC_RETURN_IF_ERROR(program.upload(axis.data(), axis.size() * sizeof(ResizeEntry), &uploaded));
        *address = static_cast<const ResizeEntry*>(uploaded);
        return {};
    }

    Task task_for(const DeviceBatch& batch, bool difference_to_reference) const {
        Task task{};
        task.pairs = batch.pairs;
        task.accumulators = batch.accumulators;
        task.scratch = static_cast<unsigned char*>(batch.scratch);
        task.columns = columns_;
        task.rows = rows_;
        task.layout = layout_;
        task.images = images_;
        task.source_width = plan_.source.width;
        task.source_height = plan_.source.height;
        task.scaled_width = plan_.scaled.width;
        task.scaled_height = plan_.scaled.height;
        task.grid_width = plan_.grid.width;
        task.grid_height = plan_.grid.height;
        task.blocks_x = plan_.blocks.width;
        task.blocks_y = plan_.blocks.height;
        task.windows_x = plan_.windows.width;
        task.windows_y = plan_.windows.height;
        task.weight_mode = plan_.weight_mode;
        task.difference_to_reference = difference_to_reference;
        task.sample_scale = plan_.sample_scale;
        task.noise = plan_.noise;
        task.visible_entropy = plan_.visible_entropy;
        task.smoothing = plan_.smoothing;
        task.mean = plan_.mean;
        return task;
    }

    const Plan& plan_;
    const int images_;
    ImageLayout layout_;
    Kernel decimate_, analyse_, compare_;
    const ResizeEntry *columns_ = nullptr, *rows_ = nullptr; ///< device addresses
};

} // namespace qc::speed
