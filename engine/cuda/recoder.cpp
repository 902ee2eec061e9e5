// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/recoder.hpp"

#include <algorithm>

#include "api/picture.hpp"
#include "ingest/recode_order.hpp"

namespace qc::cuda {
Recoder::Recoder(const BackendSetup& setup) : setup_(setup), jobs_(static_cast<size_t>(setup.inputs())) {
    for (int input = 0; input < setup_.inputs(); ++input) {
        const BackendSetup::Recoded* const how = setup_.recoded_of(input);
        if (how == nullptr) continue;
        const qc_format& made = setup_.format_of(input);
        jobs_[static_cast<size_t>(input)] = plan(*how, made);
        blocks_across_ = std::max(blocks_across_, recode::blocks_across(*jobs_[static_cast<size_t>(input)]));
        ++inputs_;
    }
    for (const auto& job : jobs_) {
        if (!job) continue;
        int& down = launches_[static_cast<size_t>(work_of(*job))].down;
        down = std::max(down, recode::blocks_down(*job, blocks_across_));
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
    job.pixel_bytes = pixel_bytes_of(job);
    return job;
}

PictureLayout Recoder::layout(int input) const {
    return picture_layout(setup_.format_of(input), setup_.planes_read() > 1);
}

Status Recoder::prepare(DeviceProgram& ingest) {
    for (size_t work = 0; work < launches_.size(); ++work)
        if (launches_[work].down > 0) QC_RETURN_IF_ERROR(ingest.find(kRecodeKernels[work], &launches_[work].kernel));
    return {};
}

void Recoder::add_job(const DevicePicture& raw, const DevicePicture& target, int input, RecodeJob* jobs,
                      int* count) const {
    RecodeJob& job = jobs[(*count)++] = *jobs_[static_cast<size_t>(input)];
    for (int q = 0; q < job.recoding.source_planes; ++q) {
        RecodeSource& source = job.source[q];
        source.data = static_cast<const uint8_t*>(raw.plane[q].data);
        source.pitch_bytes = raw.plane[q].pitch_bytes;
    }
    find_order(&job);
    for (int p = 0; p < job.recoding.target_planes; ++p) {
        job.target[p].data = const_cast<void*>(target.plane[p].data);
        job.target[p].pitch_bytes = target.plane[p].pitch_bytes;
    }
}

Status Recoder::enqueue(const RecodeJob* jobs, int count, DeviceQueue& queue) const {
    if (count == 0) return {};
    for (const Launch& launch : launches_) {
        const Dim3 grid{static_cast<unsigned>(blocks_across_), static_cast<unsigned>(launch.down),
                        static_cast<unsigned>(count)};
        if (launch.down > 0) QC_RETURN_IF_ERROR(queue.launch(launch.kernel, grid, RecodeArguments{jobs}));
    }
    return {};
}

} // namespace qc::cuda
