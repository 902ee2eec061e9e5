// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whole pictures of earlier pairs, for metrics that filter in time. Knows memory (context.hpp), descriptions and the
// kernel that copies planes (ingest/ingest_kernels.hpp); no slot.
#pragma once

#include <span>
#include <vector>

#include "api/backend.hpp"
#include "contract/device.hpp"
#include "contract/timeline.hpp"
#include "cuda/context.hpp"
#include "cuda/description.hpp"
#include "cuda/picture_layout.hpp"
#include "ingest/ingest_kernels.hpp"

namespace qc::cuda {

/// A ring of pictures on the device for each input, which all batches share: they run one after the other, and each
/// copies its pictures into the rings at its end. A frame's place in a ring follows from its number, so nothing is
/// moved. What a batch sees, its own pictures behind those in the rings, is listed in its description.
class Timeline {
public:
    /// @param setup outlives the timeline; @param frames of a batch at most
    Timeline(const BackendSetup& setup, int frames);

    /// Once, before enqueue(). @param ingest the engine's own kernels
    Status find_kernel(DeviceProgram& ingest) {
        return depth_ > 0 ? ingest.find(kernels::qc_keep_pictures, &kernel_) : Status();
    }
    /// @return QC_ERROR_NO_MEMORY
    Status allocate(Context& context);

    /// How many earlier pairs are kept; 0: nobody looks back at any.
    int depth() const { return depth_; }

    /// Lists a frame's pictures. @param inputs the frame's pictures; plane data null: absent
    void add(std::span<const DevicePicture> inputs, int frame, const Description& description);
    /// The next frame has none before it.
    void forget() { std::fill(past_.begin(), past_.end(), 0); }

    /// Enqueues the copies into the rings. @param frames of the batch
    Status enqueue(const Description& description, int frames, DeviceQueue& queue) const;
    /// What kernels see of a batch.
    DeviceTimeline device(const Description& description) const;

private:
    DevicePicture kept(int input, int64_t frame) const;

    const BackendSetup& setup_;
    const int depth_, frames_;
    LoadedKernel<KeepPictures::Arguments> kernel_;
    FrameGeometry geometry_;
    size_t plane_offset_[3] = {}, picture_bytes_ = 0;
    uint32_t pitch_bytes_[3] = {};
    DeviceBuffer memory_;    ///< [input][frame % depth]
    std::vector<int> past_;  ///< per rendition: pairs that the next frame may look back at
    int64_t next_frame_ = 0; ///< of the session
};

} // namespace qc::cuda
