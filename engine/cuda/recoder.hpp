// SPDX-License-Identifier: BSD-2-Clause-Patent
// Recoding pictures whose samples stand for something else than what is scored, on the device. Knows the kernels
// (ingest/recode_kernels.hpp) and picture layouts; makes no driver call but launches.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "api/backend.hpp"
#include "contract/device.hpp"
#include "cuda/picture_layout.hpp"
#include "ingest/ingest_kernels.hpp"

namespace qc::cuda {

/// Which inputs are recoded, and the launch that does it. Owns no memory: as the converter's.
class Recoder {
public:
    explicit Recoder(const BackendSetup& setup);

    /// Once, before enqueue(). Nothing where no input is recoded.
    Status prepare(DeviceProgram& ingest);

    /// How many inputs are recoded.
    int inputs() const { return inputs_; }
    bool recodes(int input) const { return jobs_[static_cast<size_t>(input)].has_value(); }
    /// Of a recoded picture: planar, as large as what came.
    PictureLayout layout(int input) const;
    /// Notes the job that recodes a picture, behind the `*count` that are there.
    /// @param raw the picture as it was given; @param target where it will lie, rows as the layout has them
    void add_job(const DevicePicture& raw, const DevicePicture& target, int input, RecodeJob* jobs, int* count) const;
    /// Enqueues all jobs of a batch, a launch for each kernel. @param jobs on the device
    Status enqueue(const RecodeJob* jobs, int count, DeviceQueue& queue) const;

private:
    RecodeJob plan(const BackendSetup::Recoded& how, const qc_format& made) const;

    const BackendSetup& setup_;
    int inputs_ = 0;
    std::vector<std::optional<RecodeJob>> jobs_; ///< per input: what is the same for all of its pictures
    int blocks_across_ = 0;                      ///< of the widest picture
    struct Launch {
        int down = 0; ///< blocks, of the picture that takes most; 0: it has nothing to do
        LoadedKernel<RecodeArguments> kernel;
    };
    std::array<Launch, kRecodeWorks> launches_; ///< by RecodeWork
};

} // namespace qc::cuda
