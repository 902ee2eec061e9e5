// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames into slots: uploads what lies in host memory and describes the pictures to the kernels. Knows slots, uploads,
// conversion, history and maps; not the metrics, nor when a batch leaves.
#pragma once

#include <vector>

#include "api/backend.hpp"
#include "cuda/conversion.hpp"
#include "cuda/history.hpp"
#include "cuda/maps.hpp"
#include "cuda/slot.hpp"
#include "cuda/timeline.hpp"
#include "cuda/upload.hpp"
#include "quality_cuda.h"

namespace qc::cuda {

/// Takes frames into the slot that is being filled. Owns the uploads' stream and threads.
class Intake {
public:
    /// All arguments outlive the intake. @param frames of a batch at most
    Intake(Context& context, const BackendSetup& setup, int frames, const Converter& converter, History& history,
           Timeline& timeline, const Maps& maps);

    Status create();

    /// Adds the frame to the slot's batch, which must have room and not be in flight. On success the slot owns the
    /// hold on the pictures, or it ended: pictures in host memory are copied when this returns. On failure it is the
    /// caller's.
    /// @return QC_ERROR_NO_MEMORY for the upload buffers, or the failed copy
    Status add(Slot& slot, FrameInput& input);
    /// Makes the stream wait, on the device, for the slot's uploads and for the producers of its pictures (decoders
    /// work asynchronously too). The context is current.
    Status let_wait(CUstream stream, const Slot& slot) const;
    /// Null before create().
    CUstream upload_stream() const { return uploader_.stream(); }

private:
    static void await_producer(Slot& slot, const qc_picture& picture);
    DevicePicture find(Slot& slot, int frame, int input, const qc_picture& source);
    DevicePicture place(Slot& slot, int frame, int input, const qc_picture& source);
    DeviceReference add_reference(Slot& slot, int frame, const FrameInput& input, const DevicePlane& weights,
                                  bool evaluated);
    static void end_pairs(const Slot& slot);
    DevicePicture add_pair(Slot& slot, int frame, int rendition, const qc_picture& source,
                           const DeviceReference& reference, bool evaluated);

    Context& context_;
    const BackendSetup& setup_;
    const Converter& converter_;
    History& history_;
    Timeline& timeline_;
    const Maps& maps_;
    Uploader uploader_;
    Event ready_;                         ///< marks what let_wait() waits for
    std::vector<DevicePicture> pictures_; ///< of one frame, per input; capacity stays
};

} // namespace qc::cuda
