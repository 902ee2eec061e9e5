// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host's side of CAMBI on the GPU: scratch memory, tables and launches.
#pragma once

#include "contract/device.hpp"
#include "metrics/cambi/cambi_plan.hpp"

namespace qc::cambi {

/// Fills the accumulators of a batch. The two pictures are worked on one after the other, in the same memory.
class Launcher {
public:
    Launcher(const FrameGeometry& geometry, const Settings& settings) : geometry_(geometry), settings_(settings) {}

    /// Before everything else: a map is wanted too.
    void draw_map() { draws_map_ = true; }
    size_t scratch_bytes(int count) const;
    Status prepare(DeviceProgram& program);
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const;

private:
    /// What the device keeps for one of the two pictures.
    struct PictureKernels {
        CountKernel counting{};
        LoadedKernel<CountTask> count;
        int groups_per_pass = 0;
        const uint16_t *columns = nullptr, *rows = nullptr; ///< null: as they are
    };
    Status prepare_picture(DeviceProgram& program, const Analysis& analysis, PictureKernels* kernels) const;
    Status enqueue_picture(const DeviceBatch& batch, DeviceQueue& queue, bool reference) const;
    CountTask count_task(const DeviceBatch& batch, const Pyramid& pyramid, const ScratchLayout& layout,
                         bool reference) const;
    Status enqueue_selection(const DeviceBatch& batch, DeviceQueue& queue, const PictureKernels& kernels,
                             const Analysis& analysis, CountTask task, unsigned tiles) const;

    size_t drawn_offset(int count) const;
    size_t drawn_bytes(int count) const;
    Status enqueue_map(const DeviceBatch& batch, DeviceQueue& queue) const;

    static constexpr size_t kDrawnAlignment = 256;
    const FrameGeometry geometry_;
    const Settings settings_;
    bool draws_map_ = false;
    LoadedKernel<DrawTask> draw_;
    PictureKernels distorted_, reference_;
    LoadedKernel<ImageTask> image_;
    LoadedKernel<PyramidTask> scale_;
    LoadedKernel<SelectTask> select_begin_, select_high_, select_low_;
    const float* reciprocals_ = nullptr; ///< device address
};

} // namespace qc::cambi
