// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the scorers of both SpEED metrics share: scratch memory, tables, launches.
#pragma once

#include <utility>

#include "contract/metric.hpp"
#include "families/speed/speed_kernels.hpp"
#include "families/speed/speed_plan.hpp"

namespace qc::speed {

class SpeedScorer : public Scorer {
public:
    size_t accumulator_words() const final { return static_cast<size_t>(images_ / 2) * kWordsPerPlane; }

    size_t scratch_bytes(int count) const final { return static_cast<size_t>(count) * images_ * layout_.image_bytes; }

    Status prepare(DeviceProgram& program) final {
        const auto& decimate = set_.decimate[sample_ == SampleType::kU8 ? 0 : 1];
        QC_RETURN_IF_ERROR(program.find(decimate[static_cast<int>(plan_.resize) + 1], &decimate_));
        QC_RETURN_IF_ERROR(program.find(set_.band_pass, &band_pass_));
        QC_RETURN_IF_ERROR(program.find(set_.covariance, &covariance_));
        QC_RETURN_IF_ERROR(program.find(set_.analyse, &analyse_));
        QC_RETURN_IF_ERROR(program.find(set_.compare, &compare_));
        if (plan_.resize == Resize::kNone) return {};
        QC_RETURN_IF_ERROR(upload(program, plan_.columns, &columns_));
        return upload(program, plan_.rows, &rows_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const final {
        const Task task = task_for(batch);
        const auto count = static_cast<unsigned>(batch.count), images = static_cast<unsigned>(images_);
        const Dim3 decimate_grid{blocks_for(plan_.grid.width, grid_points_per_block(plan_.smoothing.taps)),
                                 static_cast<unsigned>(plan_.grid.height) * images, count};
        QC_RETURN_IF_ERROR(queue.launch(decimate_, decimate_grid, task));
        QC_RETURN_IF_ERROR(queue.launch(band_pass_, Dim3{images, 1, count}, task));
        QC_RETURN_IF_ERROR(queue.launch(covariance_, Dim3{images, kCovarianceGroups, count}, task));
        QC_RETURN_IF_ERROR(queue.launch(analyse_, Dim3{images, 2, count}, task));
        return queue.launch(compare_, Dim3{images / 2, 1, count}, task);
    }

protected:
    /// @param images per pair: two for each score
    SpeedScorer(const KernelSet& set, SampleType sample, Plan plan, int images, bool difference_to_reference = false)
        : set_(set), sample_(sample), plan_(std::move(plan)), images_(images),
          difference_to_reference_(difference_to_reference) {
        const auto aligned = [](size_t bytes) { return (bytes + 127) / 128 * 128; };
        const size_t grid_bytes = aligned(plan_.grid_samples() * sizeof(float));
        layout_.coefficients = grid_bytes;
        layout_.means = 2 * grid_bytes;
        layout_.products = layout_.means + aligned(kDimensions * sizeof(float));
        layout_.eigenvalues = layout_.products + aligned(sizeof(double) * kCovarianceGroups * kProducts);
        layout_.statistics = layout_.eigenvalues + aligned(sizeof(Eigenvalues));
        layout_.image_bytes =
            layout_.statistics + aligned(static_cast<size_t>(plan_.block_count()) * sizeof(BlockStatistics));
    }

    SampleType sample() const { return sample_; }
    const Plan& plan() const { return plan_; }
    bool difference_to_reference() const { return difference_to_reference_; }

private:
    static Status upload(DeviceProgram& program, const std::vector<ResizeEntry>& axis, const ResizeEntry** address) {
        const void* uploaded = nullptr;
        QC_RETURN_IF_ERROR(program.upload(axis.data(), axis.size() * sizeof(ResizeEntry), &uploaded));
        *address = static_cast<const ResizeEntry*>(uploaded);
        return {};
    }

    Task task_for(const DeviceBatch& batch) const {
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
        task.difference_to_reference = difference_to_reference_;
        task.sample_scale = plan_.sample_scale;
        task.noise = plan_.noise;
        task.visible_entropy = plan_.visible_entropy;
        task.smoothing = plan_.smoothing;
        task.mean = plan_.mean;
        return task;
    }

    const KernelSet set_;
    const SampleType sample_;
    const Plan plan_;
    const int images_;
    const bool difference_to_reference_;
    ImageLayout layout_;
    LoadedKernel<Task> decimate_, band_pass_, covariance_, analyse_, compare_;
    const ResizeEntry *columns_ = nullptr, *rows_ = nullptr; ///< device addresses
};

} // namespace qc::speed
