// SPDX-License-Identifier: BSD-2-Clause-Patent
// Lifting pictures of fewer bits to the session's depth, on the device. Knows the kernel
// (ingest/ingest_kernels.hpp) and picture layouts; makes no driver call but launches.
#pragma once

#include <vector>

#include "api/backend.hpp"
#include "contract/device.hpp"
#include "cuda/context.hpp"
#include "cuda/picture_layout.hpp"
#include "ingest/ingest_kernels.hpp"

namespace qc::cuda {

/// Which inputs are converted, where to, and the launch that does it. Owns no memory: the converted pictures lie in a
/// slot's buffer, the jobs in its description.
class Converter {
public:
    /// @param setup outlives the converter
    explicit Converter(const BackendSetup& setup);

    /// Once, before enqueue(). @param ingest the engine's own kernels
    Status find_kernel(DeviceProgram& ingest) { return ingest.find(kernels::qc_convert, &kernel_); }

    /// How many inputs are converted.
    int inputs() const { return inputs_; }
    /// Memory for the converted pictures of one frame.
    size_t frame_bytes() const { return layout_.bytes * static_cast<size_t>(inputs_); }
    bool converts(int input) const { return place_[static_cast<size_t>(input)] >= 0; }

    /// Notes the jobs that convert a picture, after the `*count` that are there.
    /// @param raw the picture as it came; @param converted a slot's buffer
    /// @return where it will lie, for whatever comes after enqueue()
    DevicePicture add_jobs(const DevicePicture& raw, int frame, int input, const DeviceBuffer& converted,
                           ConvertJob* jobs, int* count) const;
    /// Enqueues all jobs of a batch as one launch. @param jobs on the device
    Status enqueue(const ConvertJob* jobs, int count, DeviceQueue& queue) const;

private:
    const BackendSetup& setup_;
    std::vector<int> place_; ///< per input: among the converted ones of a frame; -1: read as it is
    int inputs_ = 0;
    PictureLayout layout_; ///< of a converted picture: planar, 16 bits a sample
    LoadedKernel<Convert::Arguments> kernel_;
};

} // namespace qc::cuda
