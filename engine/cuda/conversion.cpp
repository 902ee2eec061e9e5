// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/conversion.hpp"

#include "api/picture.hpp"

namespace qc::cuda {

Converter::Converter(const BackendSetup& setup) : setup_(setup) {
    for (int input = 0; input < setup_.inputs(); ++input)
        place_.push_back(needs_conversion(setup_.format_of(input), setup_.geometry) ? inputs_++ : -1);
    qc_format lifted{};
    lifted.chroma = QC_CHROMA_444; // planar; sizes come from the geometry
    lifted.container_bits = 16;
    layout_ = picture_layout(lifted, setup_.geometry, setup_.needs_chroma);
}

DevicePicture Converter::add_jobs(const DevicePicture& raw, int frame, int input, const DeviceBuffer& converted,
                                  ConvertJob* jobs, int* count) const {
    const qc_format& format = setup_.format_of(input);
    const size_t base = frame_bytes() * static_cast<size_t>(frame) +
                        layout_.bytes * static_cast<size_t>(place_[static_cast<size_t>(input)]);
    DevicePicture target{};
    for (int p = 0; p < layout_.planes; ++p) {
        auto* data = converted.as<uint16_t>(base + layout_.offset[p]);
        ConvertJob job{};
        job.source = raw.plane[p].data;
        job.target = data;
        job.source_pitch_bytes = raw.plane[p].pitch_bytes;
        job.target_pitch_bytes = layout_.pitch_bytes[p];
        job.width = setup_.geometry.stored_width(p);
        job.height = setup_.geometry.stored_height(p);
        job.step = raw.plane[p].step;
        job.source_bytes = static_cast<uint16_t>(format.container_bits / 8);
        job.shift_right = static_cast<uint16_t>(format.shift);
        job.shift_left = static_cast<uint16_t>(setup_.geometry.depth - format.depth);
        jobs[(*count)++] = job;
        target.plane[p] = DevicePlane{data, layout_.pitch_bytes[p], 1, 0};
    }
    return target;
}

Status Converter::enqueue(const ConvertJob* jobs, int count, DeviceQueue& queue) const {
    if (count == 0) return {};
    const Dim3 grid{blocks_for(setup_.geometry.width, 4 * kIngestBlock), static_cast<unsigned>(setup_.geometry.height),
                    static_cast<unsigned>(count)};
    return queue.launch(kernel_, grid, Convert::Arguments{jobs});
}

} // namespace qc::cuda
