// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scaling pictures to the session's size, on the device. Knows the kernels (ingest/scale_tile.hpp, scale_strip.hpp) and
// the weights (api/scaling.hpp); makes no driver call but launches and the tables' upload.
#pragma once

#include <optional>
#include <vector>

#include "api/scaling.hpp"
#include "contract/device.hpp"
#include "cuda/picture_layout.hpp"
#include "ingest/ingest_kernels.hpp"

namespace qc::cuda {

/// Which inputs are scaled, and the launch that does it. Owns no memory: as the converter's.
class Scaler {
public:
    explicit Scaler(const BackendSetup& setup);

    /// Once, before add_job(): uploads the weights. Nothing where no input is scaled.
    Status prepare(DeviceProgram& ingest);

    /// How many inputs are scaled.
    int inputs() const { return inputs_; }
    bool scales(int input) const { return jobs_[static_cast<size_t>(input)].has_value(); }
    /// Notes the job that scales a picture, behind the `*count` that are there.
    /// @param raw the picture as it was given; @param target where it will lie, planar, rows as the layout has them
    void add_job(const DevicePicture& raw, const DevicePicture& target, int input, ScaleJob* jobs, int* count) const;
    /// Enqueues all jobs of a batch as one launch. @param jobs on the device
    Status enqueue(const ScaleJob* jobs, int count, DeviceQueue& queue) const;

private:
    void choose_kernel();
    void plan(int input, const InputScaling& scaling);
    /// Blocks of a picture.
    static unsigned plan_strips(const ScaleJob& job);
    unsigned plan_tiles(const InputScaling& scaling, ScaleJob* job);

    const BackendSetup& setup_;
    int inputs_ = 0;
    std::vector<std::optional<InputScaling>> scalings_; ///< until the weights are uploaded
    std::vector<std::optional<ScaleJob>> jobs_;         ///< per input: what is the same for all of its pictures
    int strip_taps_ = 0;                                ///< of the kernel that makes strips; 0: tiles are made
    size_t shared_bytes_ = 0;
    unsigned blocks_ = 0; ///< of the picture that has most
    LoadedKernel<ScaleArguments> kernel_;
};

} // namespace qc::cuda
