// SPDX-License-Identifier: BSD-2-Clause-Patent
// What float_ssim and float_ms_ssim share: levels, one window that runs over all of them, scores of its sums.
#pragma once

#include "contract/metric.hpp"
#include "families/structural/structural_decibel.hpp"
#include "families/structural/structural_kernels.hpp"
#include "families/structural/structural_plan.hpp"

namespace qc::structural {

class LevelScorer : public Scorer {
public:
    size_t accumulator_words() const final { return plan_.words(); }
    size_t scratch_bytes(int count) const final { return plan_.scratch_bytes(count); }

    Status prepare(DeviceProgram& program) final {
        QC_RETURN_IF_ERROR(prepare_levels(program));
        if (plan_.has_weights())
            return program.find(
                bytes() ? kernels::structural_window_weighted_u8 : kernels::structural_window_weighted_u16, &window_);
        if (draws_maps())
            return program.find(bytes() ? kernels::structural_window_map_u8 : kernels::structural_window_map_u16,
                                &window_);
        return program.find(bytes() ? kernels::structural_window_u8 : kernels::structural_window_u16, &window_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const final {
        const Task task = plan_.task_for(batch);
        const auto count = static_cast<unsigned>(batch.count);
        QC_RETURN_IF_ERROR(enqueue_levels(task, count, queue));
        return queue.launch(window_, Dim3{plan_.window_blocks(), 1, count}, task);
    }

protected:
    LevelScorer(const FrameGeometry& geometry, const LevelPlan& plan) : geometry_(geometry), plan_(plan) {}

    const FrameGeometry& geometry() const { return geometry_; }
    const LevelPlan& plan() const { return plan_; }
    bool bytes() const { return geometry_.sample == SampleType::kU8; }

private:
    virtual Status prepare_levels(DeviceProgram& program) = 0;
    /// Makes the levels in scratch memory. count: pairs
    virtual Status enqueue_levels(const Task& task, unsigned count, DeviceQueue& queue) const = 0;

    const FrameGeometry geometry_;
    const LevelPlan plan_;
    LoadedKernel<Task> window_;
};

class LevelFinaliser : public Finaliser {
protected:
    LevelFinaliser(const FrameGeometry& geometry, const OptionValues& options, const LevelPlan& plan)
        : with_terms_(options.flag(kEnableLcs)), decibels_(geometry, options.flag(kEnableDb), options.flag(kClipDb)),
          plan_(plan) {}

    bool with_terms() const { return with_terms_; }
    double decibels_of(double score) const { return decibels_.of(score); }
    const LevelPlan& plan() const { return plan_; }

private:
    const bool with_terms_; ///< luminance, contrast and structure are written too
    const Decibels decibels_;
    const LevelPlan plan_;
};

} // namespace qc::structural
