// SPDX-License-Identifier: BSD-2-Clause-Patent
// The maps of a batch: where a metric's kernels put their values, the pictures that are painted of them, and the way of
// those that lie in host memory. Knows slots and descriptions; not what a value means.
#pragma once

#include "api/backend.hpp"
#include "cuda/context.hpp"
#include "cuda/description.hpp"
#include "cuda/program.hpp"
#include "cuda/slot.hpp"
#include "ingest/ingest_kernels.hpp"
#include "quality_cuda.h"

namespace qc::cuda {

/// Nothing of it does anything in a session without a map.
class Maps {
public:
    /// @param setup outlives the object; @param frames of a batch at most
    Maps(const BackendSetup& setup, int frames);

    Status find_kernel(DeviceProgram& ingest);
    /// Of the levels: batches run one after the other and share it. @return QC_ERROR_NO_MEMORY
    Status allocate(Context& context);

    bool exist() const { return setup_.map.has_value(); }
    /// Bytes of a frame's picture in the slot's memory: where the caller's lies in host memory.
    size_t picture_bytes() const { return picture_bytes_; }
    /// For the kernels of the instance that draws.
    DeviceMap device(const Slot& slot) const;

    /// Describes the picture of a frame, which is number `frame` of the slot's batch.
    void add(const FrameInput& input, int frame, const Slot& slot) const;
    /// Before anything is drawn: between rows nothing is painted, and all of a picture in host memory is copied.
    Status clear(const Slot& slot, DeviceQueue& queue) const;
    /// Paints the batch's pictures, behind the kernels that draw.
    Status enqueue(const Slot& slot, DeviceQueue& queue) const;
    /// Behind that, the way down of the pictures that lie in host memory.
    Status copy_down(const Slot& slot, Lane& lane) const;
    /// Bytes that copy_down() copies of a slot's batch.
    size_t bytes_down(const Slot& slot) const;
    /// Hands the pictures of a batch that is done to their callers.
    void deliver(const Slot& slot) const;

private:
    qc_picture picture_at(uint8_t* memory, int frame) const;
    bool marks_blanks() const;
    /// Whether kernels of the metric paint the pictures, for what they have is what is shown.
    bool is_direct() const;

    const BackendSetup& setup_;
    const int frames_;
    int pitch_ = 0;               ///< of the levels
    size_t plane_offset_[3] = {}; ///< in a frame's picture
    size_t plane_pitch_[3] = {};  ///< likewise
    size_t picture_bytes_ = 0;
    LoadedKernel<PaintMaps::Arguments> kernel_;
    DeviceBuffer levels_, blank_;
};

} // namespace qc::cuda
