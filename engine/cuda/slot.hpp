// SPDX-License-Identifier: BSD-2-Clause-Patent
// A slot: one batch, from the frames that fill it to the results that leave it. Knows memory, events, graphs; not who
// fills it and what is computed.
#pragma once

#include <vector>

#include "api/backend.hpp"
#include "cuda/context.hpp"
#include "cuda/description.hpp"
#include "cuda/graph.hpp"
#include "cuda/upload.hpp"
#include "quality_cuda.h"

namespace qc::cuda {

/// A frame whose batch is being filled or in flight.
struct FrameInSlot {
    int64_t index = 0;
    std::vector<bool> present; ///< per rendition
    PictureHold hold;          ///< of pictures in device memory
    qc_picture map{};          ///< in host memory, see Maps
};

/// What every slot of a session has room for.
struct SlotSizes {
    DescriptionLayout description;
    size_t accumulator_bytes = 0;
    size_t converted_bytes = 0;
    size_t map_bytes = 0; ///< of maps' pictures on their way to host memory
    size_t frames = 0;
};

/// Slots go round: free, filling, in flight (between the batch's dispatch and its retirement), free. While one is in
/// flight the device owns its memory. What is taken at creation stays until the end, so graphs may hold its
/// addresses; only the upload buffers come with the first software frame.
struct Slot {
    Description description;
    DeviceBuffer accumulators; ///< see Results
    PinnedBuffer accumulators_host;
    UploadBuffers upload;
    DeviceBuffer converted;    ///< see Converter
    DeviceBuffer map_pictures; ///< see Maps
    PinnedBuffer map_pictures_host;
    Event done;        ///< recorded behind the batch
    GraphCache graphs; ///< after the memory that they use

    std::vector<FrameInSlot> frames;
    std::vector<CUstream> producers; ///< streams whose work the batch must wait for
    BatchShape shape;
    bool uploaded = false; ///< the batch must wait for uploads
    bool in_flight = false;

    /// @return QC_ERROR_NO_MEMORY, QC_ERROR_DEVICE
    Status allocate(Context& context, const SlotSizes& sizes);
    /// Calls the releases of the frames; the slot is free then.
    void release_frames();
};

} // namespace qc::cuda
