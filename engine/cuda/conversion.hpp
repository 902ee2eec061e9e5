// SPDX-License-Identifier: BSD-2-Clause-Patent
// Bringing pictures to the session's depth and size, on the device. Knows the kernel that lifts samples
// (ingest/ingest_kernels.hpp), the scaler and picture layouts; makes no driver call but launches.
#pragma once

#include <vector>

#include "api/backend.hpp"
#include "contract/device.hpp"
#include "cuda/context.hpp"
#include "cuda/description.hpp"
#include "cuda/picture_layout.hpp"
#include "cuda/scaler.hpp"
#include "ingest/ingest_kernels.hpp"

namespace qc::cuda {

/// Which inputs are converted, where to, and the launch that does it. Owns no memory: the converted pictures lie in a
/// slot's buffer, the jobs in its description.
class Converter {
public:
    /// @param setup outlives the converter
    explicit Converter(const BackendSetup& setup);

    /// Once, before anything else. @param ingest the engine's own kernels
    Status prepare(DeviceProgram& ingest);

    /// How many inputs are lifted to the session's depth.
    int lifted_inputs() const { return inputs_ - scaler_.inputs(); }
    /// How many are scaled, and lifted by that.
    int scaled_inputs() const { return scaler_.inputs(); }
    /// Memory for the converted pictures of one frame.
    size_t frame_bytes() const { return layout_.bytes * static_cast<size_t>(inputs_); }
    bool converts(int input) const { return place_[static_cast<size_t>(input)] >= 0; }

    /// Notes the jobs that convert a picture, in a batch's description and shape.
    /// @param raw the picture as it came; @param converted a slot's buffer
    /// @return where it will lie, for whatever comes after enqueue()
    DevicePicture add_jobs(const DevicePicture& raw, int frame, int input, const DeviceBuffer& converted,
                           const Description& description, BatchShape* shape) const;
    /// Enqueues all jobs of a batch, a launch for each kind.
    Status enqueue(const Description& description, const BatchShape& shape, DeviceQueue& queue) const;

private:
    DevicePicture target(int frame, int input, const DeviceBuffer& converted) const;
    void add_lifts(const DevicePicture& raw, const DevicePicture& target, int input, ConvertJob* jobs,
                   int* count) const;

    const BackendSetup& setup_;
    Scaler scaler_;
    std::vector<int> place_; ///< per input: among the converted ones of a frame; -1: read as it is
    int inputs_ = 0;
    PictureLayout layout_; ///< of a converted picture: planar, samples of the session's type
    LoadedKernel<Convert::Arguments> kernel_;
};

} // namespace qc::cuda
