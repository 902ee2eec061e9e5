// SPDX-License-Identifier: BSD-2-Clause-Patent
// Bringing pictures to planes of the session's depth and size, on the device. Knows the kernel that unpacks samples
// (ingest/ingest_kernels.hpp), the scaler and picture layouts; makes no driver call but launches.
#pragma once

#include <array>
#include <vector>

#include "api/backend.hpp"
#include "contract/device.hpp"
#include "cuda/context.hpp"
#include "cuda/description.hpp"
#include "cuda/picture_layout.hpp"
#include "cuda/recoder.hpp"
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

    /// How many inputs are unpacked or lifted to the session's depth.
    int lifted_inputs() const { return lifted_inputs_; }
    /// How many are scaled, and lifted by that.
    int scaled_inputs() const { return scaler_.inputs(); }
    /// How many are recoded, before everything else.
    int recoded_inputs() const { return recoder_.inputs(); }
    /// Memory for the converted pictures of one frame.
    size_t frame_bytes() const { return frame_bytes_; }
    bool converts(int input) const { return ways_[static_cast<size_t>(input)].converts || recoder_.recodes(input); }

    /// Notes the jobs that convert a picture, in a batch's description and shape.
    /// @param source the picture as it was given; @param converted a slot's buffer
    /// @return where it will lie, for whatever comes after enqueue()
    DevicePicture add_jobs(const DevicePicture& source, int frame, int input, const DeviceBuffer& converted,
                           const Description& description, BatchShape* shape) const;
    /// Enqueues all jobs of a batch, a launch for each kind.
    Status enqueue(const Description& description, const BatchShape& shape, DeviceQueue& queue) const;

private:
    using Extents = std::array<PlaneExtent, 3>;
    /// Of a picture in the memory of a frame.
    struct Place {
        size_t offset = 0;
        PictureLayout layout;
    };
    /// What becomes of an input's pictures.
    struct Way {
        bool converts = false; ///< else they are read as they are
        bool unpacks = false;  ///< before they are scaled
        Place converted;       ///< planar, samples of the session's type
        Place unpacked;        ///< likewise, as large as they were given
        Place recoded;         ///< likewise
    };
    Place take(const PictureLayout& layout);
    Extents scored_extents() const;
    DevicePicture place_of(const Place& place, int frame, const DeviceBuffer& converted) const;
    DevicePicture add_recoding(const DevicePicture& raw, int frame, int input, const DeviceBuffer& converted,
                               const Description& description, BatchShape* shape) const;
    void add_lifts(const qc_format& format, const DevicePicture& raw, int depth, const DevicePicture& target,
                   const Extents& extents, ConvertJob* jobs, int* count) const;

    const BackendSetup& setup_;
    Recoder recoder_;
    Scaler scaler_;
    std::vector<Way> ways_; ///< per input
    size_t frame_bytes_ = 0;
    int lifted_inputs_ = 0;
    int width_ = 0, height_ = 0; ///< of the largest picture that is unpacked or lifted
    LoadedKernel<Convert::Arguments> kernel_;
};

} // namespace qc::cuda
