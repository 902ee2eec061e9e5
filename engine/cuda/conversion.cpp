// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/conversion.hpp"

#include <algorithm>

#include "api/picture.hpp"

namespace qc::cuda {
namespace {

/// Planar, as large as the session's pictures.
qc_format converted_format(const BackendSetup& setup) {
    qc_format format{};
    format.width = setup.geometry.width;
    format.height = setup.geometry.height;
    format.chroma = scored_chroma(setup.config->reference.chroma);
    format.container_bits = static_cast<int>(setup.geometry.sample_bytes()) * 8;
    return format;
}

DevicePicture picture_at(const PictureLayout& layout, size_t offset, const DeviceBuffer& memory) {
    DevicePicture picture{};
    for (int p = 0; p < layout.planes; ++p)
        picture.plane[p] = DevicePlane{memory.as<void>(offset + layout.offset[p]), layout.pitch_bytes[p], 1, 0};
    return picture;
}

} // namespace

Converter::Converter(const BackendSetup& setup) : setup_(setup), recoder_(setup), scaler_(setup) {
    const PictureLayout converted = picture_layout(converted_format(setup_), setup_.planes_read() > 1);
    for (int input = 0; input < setup_.inputs(); ++input) {
        Way way;
        way.converts = setup_.needs_conversion(input);
        way.unpacks = scaler_.scales(input) && !is_read_in_place(setup_.format_of(input));
        if (recoder_.recodes(input)) way.recoded = take(recoder_.layout(input));
        if (way.converts) way.converted = take(converted);
        if (way.unpacks) way.unpacked = take(picture_layout(setup_.scaled_format(input), setup_.planes_read() > 1));
        if (way.converts && (way.unpacks || !scaler_.scales(input))) {
            const qc_format made = way.unpacks ? setup_.scaled_format(input) : converted_format(setup_);
            width_ = std::max(width_, made.width);
            height_ = std::max(height_, made.height);
            ++lifted_inputs_;
        }
        ways_.push_back(way);
    }
}

/// Room for a picture in the memory of a frame.
Converter::Place Converter::take(const PictureLayout& layout) {
    const Place place{frame_bytes_, layout};
    frame_bytes_ += layout.bytes;
    return place;
}

Status Converter::prepare(DeviceProgram& ingest) {
    QC_RETURN_IF_ERROR(ingest.find(kernels::qc_convert, &kernel_));
    QC_RETURN_IF_ERROR(recoder_.prepare(ingest));
    return scaler_.prepare(ingest);
}

void Converter::add_lifts(const qc_format& format, const DevicePicture& raw, int depth, const DevicePicture& target,
                          const Extents& extents, ConvertJob* jobs, int* count) const {
    for (int p = 0; p < setup_.planes_read(); ++p) {
        const Subsampling repeated = repetition(format, p);
        ConvertJob job{};
        job.source = raw.plane[p].data;
        job.target = const_cast<void*>(target.plane[p].data);
        job.source_pitch_bytes = raw.plane[p].pitch_bytes;
        job.target_pitch_bytes = target.plane[p].pitch_bytes;
        job.width = extents[static_cast<size_t>(p)].columns;
        job.height = extents[static_cast<size_t>(p)].rows;
        job.samples = sample_source(format, p);
        job.shift_left = static_cast<uint8_t>(depth - format.depth);
        job.target_bytes = depth == 8 ? 1 : 2;
        job.repeat_across = static_cast<uint8_t>(repeated.across);
        job.repeat_down = static_cast<uint8_t>(repeated.down);
        jobs[(*count)++] = job;
    }
}

DevicePicture Converter::place_of(const Place& place, int frame, const DeviceBuffer& converted) const {
    return picture_at(place.layout, frame_bytes_ * static_cast<size_t>(frame) + place.offset, converted);
}

/// @return the picture as it is when its samples stand for what is scored
DevicePicture Converter::add_recoding(const DevicePicture& raw, int frame, int input, const DeviceBuffer& converted,
                                      const Description& description, BatchShape* shape) const {
    if (!recoder_.recodes(input)) return raw;
    const DevicePicture recoded = place_of(ways_[static_cast<size_t>(input)].recoded, frame, converted);
    recoder_.add_job(raw, recoded, input, description.host(&DescriptionLayout::recode_jobs), &shape->recode_jobs);
    return recoded;
}

DevicePicture Converter::add_jobs(const DevicePicture& source, int frame, int input, const DeviceBuffer& converted,
                                  const Description& description, BatchShape* shape) const {
    const Way& way = ways_[static_cast<size_t>(input)];
    const qc_format& format = setup_.format_of(input);
    const DevicePicture raw = add_recoding(source, frame, input, converted, description, shape);
    if (!way.converts) return raw;
    const DevicePicture made = place_of(way.converted, frame, converted),
                        unpacked = place_of(way.unpacked, frame, converted);
    ConvertJob* const jobs = description.host(&DescriptionLayout::jobs);
    if (way.unpacks) {
        const qc_format whole = setup_.scaled_format(input);
        add_lifts(format, raw, whole.depth, unpacked,
                  {stored_extent(whole, 0), stored_extent(whole, 1), stored_extent(whole, 2)}, jobs, &shape->jobs);
    }
    if (scaler_.scales(input))
        scaler_.add_job(way.unpacks ? unpacked : raw, made, input, description.host(&DescriptionLayout::scale_jobs),
                        &shape->scale_jobs);
    else
        add_lifts(format, raw, setup_.geometry.depth, made, scored_extents(), jobs, &shape->jobs);
    return made;
}

/// Of the planes that are scored.
Converter::Extents Converter::scored_extents() const {
    Extents extents{};
    for (int p = 0; p < 3; ++p)
        extents[static_cast<size_t>(p)] = {setup_.geometry.stored_width(p), setup_.geometry.stored_height(p)};
    return extents;
}

/// What is scaled may have been recoded or unpacked before.
Status Converter::enqueue(const Description& description, const BatchShape& shape, DeviceQueue& queue) const {
    QC_RETURN_IF_ERROR(recoder_.enqueue(description.device(&DescriptionLayout::recode_jobs), shape.recode_jobs, queue));
    if (shape.jobs > 0) {
        const Dim3 grid{blocks_for(width_, 4 * kIngestBlock), static_cast<unsigned>(height_),
                        static_cast<unsigned>(shape.jobs)};
        QC_RETURN_IF_ERROR(
            queue.launch(kernel_, grid, Convert::Arguments{description.device(&DescriptionLayout::jobs)}));
    }
    return scaler_.enqueue(description.device(&DescriptionLayout::scale_jobs), shape.scale_jobs, queue);
}

} // namespace qc::cuda
