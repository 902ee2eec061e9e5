// SPDX-License-Identifier: BSD-2-Clause-Patent
// Software frames on their way to the device. Knows memory and streams (context.hpp), picture layouts and the row
// copier; no slot, no batch.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "api/backend.hpp"
#include "cuda/context.hpp"
#include "cuda/picture_layout.hpp"
#include "cuda/row_copier.hpp"

namespace qc::cuda {

/// Room for all pictures of a batch, on both sides of the bus; taken when its first software frame comes.
struct UploadBuffers {
    PinnedBuffer staging;
    DeviceBuffer device;
};

/// Copies pictures into page-locked memory with several threads, and from there to the device on a stream of its own:
/// uploads run ahead of the kernels. Owns stream and threads, not the buffers: those belong to a slot.
class Uploader {
public:
    /// Both arguments outlive the uploader. @param frames room per batch
    Uploader(Context& context, const BackendSetup& setup, int frames);

    Status create_stream() { return stream_.create(context_); }
    /// Null before create_stream().
    CUstream stream() const { return stream_.handle(); }

    /// Copies those of the frame's pictures that lie in host memory; neighbours travel together. The pictures are no
    /// longer read when it returns; on the device they are complete in the order of the stream. The context is current.
    /// @param frame number within the batch
    /// @param any set if something is under way
    /// @return QC_ERROR_NO_MEMORY for the buffers, or the failed copy
    Status upload(const FrameInput& input, int frame, UploadBuffers* buffers, bool* any);
    /// Where upload() puts a picture.
    DevicePicture picture(const UploadBuffers& buffers, int frame, int input) const;

private:
    /// Bytes of a batch's buffers that are copied at once.
    using Run = std::pair<size_t, size_t>; // begin, end

    Status take_buffers(UploadBuffers* buffers);
    size_t offset_of(int frame, int input) const {
        return frame_bytes_ * static_cast<size_t>(frame) + input_offsets_[static_cast<size_t>(input)];
    }
    void gather(const FrameInput& input, int frame, const UploadBuffers& buffers);

    Context& context_;
    const BackendSetup& setup_;
    const int frames_;
    std::vector<PictureLayout> layouts_; ///< per input
    std::vector<size_t> input_offsets_;  ///< of each input in a frame, bytes
    size_t frame_bytes_ = 0;
    Stream stream_;
    std::unique_ptr<RowCopier> copier_; ///< there once a software frame has come
    std::vector<RowCopy> row_copies_;   ///< of one frame; capacity stays, as of runs_
    std::vector<Run> runs_;
};

} // namespace qc::cuda
