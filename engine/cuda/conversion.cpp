// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/conversion.hpp"

#include "api/picture.hpp"

namespace qc::cuda {
namespace {

/// Planar, as large as the session's pictures.
qc_format converted_format(const BackendSetup& setup) {
    qc_format format{};
    format.width = setup.geometry.width;
    format.height = setup.geometry.height;
    format.chroma = setup.config->reference.chroma;
    format.container_bits = static_cast<int>(setup.geometry.sample_bytes()) * 8;
    return format;
}

} // namespace

Converter::Converter(const BackendSetup& setup) : setup_(setup), scaler_(setup) {
    for (int input = 0; input < setup_.inputs(); ++input)
        place_.push_back(setup_.needs_conversion(input) ? inputs_++ : -1);
    layout_ = picture_layout(converted_format(setup_), setup_.planes_read() > 1);
}

Status Converter::prepare(DeviceProgram& ingest) {
    QC_RETURN_IF_ERROR(ingest.find(kernels::qc_convert, &kernel_));
    return scaler_.prepare(ingest);
}

/// Where a converted picture lies.
DevicePicture Converter::target(int frame, int input, const DeviceBuffer& converted) const {
    const size_t base = frame_bytes() * static_cast<size_t>(frame) +
                        layout_.bytes * static_cast<size_t>(place_[static_cast<size_t>(input)]);
    DevicePicture target{};
    for (int p = 0; p < layout_.planes; ++p)
        target.plane[p] = DevicePlane{converted.as<void>(base + layout_.offset[p]), layout_.pitch_bytes[p], 1, 0};
    return target;
}

void Converter::add_lifts(const DevicePicture& raw, const DevicePicture& target, int input, ConvertJob* jobs,
                          int* count) const {
    const qc_format& format = setup_.format_of(input);
    for (int p = 0; p < layout_.planes; ++p) {
        ConvertJob job{};
        job.source = raw.plane[p].data;
        job.target = static_cast<uint16_t*>(const_cast<void*>(target.plane[p].data));
        job.source_pitch_bytes = raw.plane[p].pitch_bytes;
        job.target_pitch_bytes = target.plane[p].pitch_bytes;
        job.width = setup_.geometry.stored_width(p);
        job.height = setup_.geometry.stored_height(p);
        job.step = raw.plane[p].step;
        job.source_bytes = static_cast<uint16_t>(format.container_bits / 8);
        job.shift_right = static_cast<uint16_t>(format.shift);
        job.shift_left = static_cast<uint16_t>(setup_.geometry.depth - format.depth);
        jobs[(*count)++] = job;
    }
}

DevicePicture Converter::add_jobs(const DevicePicture& raw, int frame, int input, const DeviceBuffer& converted,
                                  const Description& description, BatchShape* shape) const {
    const DevicePicture made = target(frame, input, converted);
    if (scaler_.scales(input))
        scaler_.add_job(raw, made, input, description.host(&DescriptionLayout::scale_jobs), &shape->scale_jobs);
    else
        add_lifts(raw, made, input, description.host(&DescriptionLayout::jobs), &shape->jobs);
    return made;
}

Status Converter::enqueue(const Description& description, const BatchShape& shape, DeviceQueue& queue) const {
    QC_RETURN_IF_ERROR(scaler_.enqueue(description.device(&DescriptionLayout::scale_jobs), shape.scale_jobs, queue));
    if (shape.jobs == 0) return {};
    const Dim3 grid{blocks_for(setup_.geometry.width, 4 * kIngestBlock), static_cast<unsigned>(setup_.geometry.height),
                    static_cast<unsigned>(shape.jobs)};
    return queue.launch(kernel_, grid, Convert::Arguments{description.device(&DescriptionLayout::jobs)});
}

} // namespace qc::cuda
