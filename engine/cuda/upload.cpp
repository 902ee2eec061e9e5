// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/upload.hpp"

namespace qc::cuda {
namespace {

/// The largest container of a sample: whatever lies in the bits below the sample may stay there. Where samples are
/// unpacked, that looks after them.
uint16_t largest_word(const qc_format& format) {
    if (format.container_bits == 8 || !is_read_in_place(format)) return RowCopy::kAnyWord;
    return static_cast<uint16_t>((1u << (format.depth + format.shift)) - 1);
}

} // namespace

Uploader::Uploader(Context& context, const BackendSetup& setup, int frames)
    : context_(context), setup_(setup), frames_(frames) {
    for (int input = 0; input < setup_.readable(); ++input) {
        layouts_.push_back(picture_layout(setup_.source_format_of(input), setup_.source_planes_read(input) > 1));
        input_offsets_.push_back(frame_bytes_);
        frame_bytes_ += layouts_.back().bytes;
    }
}

Status Uploader::take_buffers(UploadBuffers* buffers) {
    if (copier_ == nullptr) copier_ = std::make_unique<RowCopier>(setup_.config->n_threads);
    if (buffers->device.bytes() != 0) return {};
    const size_t bytes = frame_bytes_ * static_cast<size_t>(frames_);
    QC_RETURN_IF_ERROR(buffers->device.allocate(context_, bytes, "uploads of software frames"));
    return buffers->staging.allocate(context_, bytes, "uploads of software frames");
}

/// Lists what has to be copied: rows into staging memory, runs from there to the device.
void Uploader::gather(const FrameInput& input, int frame, const UploadBuffers& buffers) {
    row_copies_.clear();
    runs_.clear();
    for (int i = 0; i < setup_.readable(); ++i) {
        const qc_picture& source = input.picture(i);
        if (!is_in_host_memory(source)) continue;
        const PictureLayout& layout = layouts_[static_cast<size_t>(i)];
        const size_t base = offset_of(frame, i);
        const uint16_t largest = largest_word(setup_.source_format_of(i));
        for (int p = 0; p < layout.planes; ++p)
            row_copies_.push_back({static_cast<const char*>(source.plane[p]),
                                   buffers.staging.as<char>(base + layout.offset[p]), source.pitch_bytes[p],
                                   static_cast<ptrdiff_t>(layout.pitch_bytes[p]),
                                   static_cast<size_t>(layout.row_bytes[p]), layout.rows[p], largest});
        if (!runs_.empty() && runs_.back().second == base)
            runs_.back().second += layout.bytes;
        else
            runs_.emplace_back(base, base + layout.bytes);
    }
}

Status Uploader::upload(const FrameInput& input, int frame, UploadBuffers* buffers, bool* any) {
    bool needed = false;
    for (int i = 0; i < setup_.readable(); ++i) needed = needed || is_in_host_memory(input.picture(i));
    if (!needed) return {};
    QC_RETURN_IF_ERROR(take_buffers(buffers));
    gather(input, frame, *buffers);
    copier_->copy(row_copies_);
    for (const auto& [begin, end] : runs_) {
        QC_CUDA(context_.driver(), cuMemcpyHtoDAsync, buffers->device.address() + begin,
                buffers->staging.as<char>(begin), end - begin, stream());
        context_.counters.pixel_bytes_to_device += static_cast<int64_t>(end - begin);
    }
    *any = true;
    return {};
}

DevicePicture Uploader::picture(const UploadBuffers& buffers, int frame, int input) const {
    const PictureLayout& layout = layouts_[static_cast<size_t>(input)];
    std::array<const void*, 3> planes{};
    for (int p = 0; p < layout.planes; ++p)
        planes[p] = buffers.device.as<const char>(offset_of(frame, input) + layout.offset[p]);
    return picture_view(setup_.source_format_of(input), setup_.source_planes_read(input), planes, layout.pitch_bytes);
}

} // namespace qc::cuda
