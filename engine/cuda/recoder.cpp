// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/recoder.hpp"

#include <algorithm>

#include "api/picture.hpp"

namespace qc::cuda {

Recoder::Recoder(const BackendSetup& setup) : setup_(setup), jobs_(static_cast<size_t>(setup.inputs())) {
    for (int input = 0; input < setup_.inputs(); ++input) {
        const BackendSetup::Recoded* const how = setup_.recoded_of(input);
        if (how == nullptr) continue;
        const qc_format& made = setup_.format_of(input);
        jobs_[static_cast<size_t>(input)] = plan(*how, made);
        width_ = std::max(width_, made.width);
        height_ = std::max(height_, made.height);
        kinds_[static_cast<size_t>(how->recoding.kind)].is_there = true;
        ++inputs_;
    }
}

/// Everything about an input's jobs but addresses.
RecodeJob Recoder::plan(const BackendSetup::Recoded& how, const qc_format& made) const {
    RecodeJob job{};
    job.recoding = how.recoding;
    job.target_bytes = made.container_bits / 8;
    for (int q = 0; q < how.recoding.source_planes; ++q) {
        const PlaneExtent extent = stored_extent(unpacked_format(how.source), q);
        const Subsampling repeated = repetition(how.source, q);
        RecodeSource& source = job.source[q];
        source.columns = extent.columns;
        source.rows = extent.rows;
        source.samples = sample_source(how.source, q);
        source.repeat_across = static_cast<uint8_t>(repeated.across);
        source.repeat_down = static_cast<uint8_t>(repeated.down);
    }
    for (int p = 0; p < how.recoding.target_planes; ++p) {
        const PlaneExtent extent = stored_extent(made, p);
        job.target[p].columns = extent.columns;
        job.target[p].rows = extent.rows;
    }
    return job;
}

/// Whether all components lie in pixels of bytes that four of can be loaded at once.
static void find_pixels(RecodeJob* job) {
    const RecodeSource& first = job->source[0];
    const int step = first.samples.step_bytes;
    if (job->recoding.source_planes != 3 || first.samples.bytes != 1 || (step != 3 && step != 4)) return;
    const uint8_t* begin = std::min({first.data, job->source[1].data, job->source[2].data});
    const unsigned wide = step == 4 ? 16 : 4;
    if (step == 4) begin -= reinterpret_cast<uintptr_t>(begin) % 4; // the unused byte may come first
    for (const RecodeSource& source : job->source)
        if (source.data - begin >= step || source.pitch_bytes != first.pitch_bytes) return;
    if ((reinterpret_cast<uintptr_t>(begin) | first.pitch_bytes) % wide != 0) return;
    job->pixels = begin;
    job->pixel_bytes = step;
}

PictureLayout Recoder::layout(int input) const {
    return picture_layout(setup_.format_of(input), setup_.planes_read() > 1);
}

Status Recoder::prepare(DeviceProgram& ingest) {
    const KernelIdentifier<RecodeArguments> identifiers[] = {kernels::qc_recode_planes, kernels::qc_recode_to_yuv,
                                                             kernels::qc_recode_to_rgb};
    for (size_t kind = 0; kind < kinds_.size(); ++kind)
        if (kinds_[kind].is_there) QC_RETURN_IF_ERROR(ingest.find(identifiers[kind], &kinds_[kind].kernel));
    return {};
}

void Recoder::add_job(const DevicePicture& raw, const DevicePicture& target, int input, RecodeJob* jobs,
                      int* count) const {
    RecodeJob& job = jobs[(*count)++] = *jobs_[static_cast<size_t>(input)];
    for (int q = 0; q < job.recoding.source_planes; ++q) {
        RecodeSource& source = job.source[q];
        source.data = static_cast<const uint8_t*>(raw.plane[q].data);
        source.pitch_bytes = raw.plane[q].pitch_bytes;
        const SampleSource& samples = source.samples;
        const unsigned wide = 4u * samples.bytes; // bytes that are loaded at once
        const bool is_aligned = (reinterpret_cast<uintptr_t>(source.data) | source.pitch_bytes) % wide == 0;
        const bool is_dense = samples.bytes <= 2 && samples.step_bytes == samples.bytes && samples.swapped == 0;
        source.is_plain = is_aligned && is_dense && source.repeat_across == 0 ? 1 : 0;
    }
    find_pixels(&job);
    for (int p = 0; p < job.recoding.target_planes; ++p) {
        job.target[p].data = const_cast<void*>(target.plane[p].data);
        job.target[p].pitch_bytes = target.plane[p].pitch_bytes;
    }
}

Status Recoder::enqueue(const RecodeJob* jobs, int count, DeviceQueue& queue) const {
    if (count == 0) return {};
    const Dim3 grid{blocks_for(width_, kRecodeColumns * kIngestBlock),
                    blocks_for(height_, Recode<kRecodePlanes>::kRowsOfBlock), static_cast<unsigned>(count)};
    for (const Kind& kind : kinds_)
        if (kind.is_there) QC_RETURN_IF_ERROR(queue.launch(kind.kernel, grid, RecodeArguments{jobs}));
    return {};
}

} // namespace qc::cuda
