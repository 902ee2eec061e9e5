// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/scaler.hpp"

#include <algorithm>

namespace qc::cuda {
namespace {

/// Most rows of middles that a tile of so many target rows wants.
int rows_of_tile(const ScaleTable& down, int tile_height) {
    const int height = static_cast<int>(down.first.size());
    int most = 0;
    for (int y = 0; y < height; y += tile_height) {
        const int last = std::min(y + tile_height, height) - 1;
        most = std::max(most, down.first[static_cast<size_t>(last)] + down.taps - down.first[static_cast<size_t>(y)]);
    }
    return most;
}

size_t shared_bytes(const InputScaling& scaling, int planes, int tile_height, bool short_middles) {
    int rows = 0;
    for (int p = 0; p < planes; ++p)
        rows = std::max(rows, rows_of_tile(scaling.plane[static_cast<size_t>(p)].down, tile_height));
    return static_cast<size_t>(rows) * scale::kTileWidth * (short_middles ? sizeof(int16_t) : sizeof(int32_t));
}

/// Whether neighbouring target samples begin at most a source sample apart.
bool grows(const ScaleTable& across) {
    for (size_t i = 1; i < across.first.size(); ++i)
        if (across.first[i] - across.first[i - 1] > 1) return false;
    return true;
}

/// The taps of all axes of an input whose bytes can be scaled in strips, otherwise 0.
int strip_taps(const InputScaling& scaling, int planes) {
    const int taps = scaling.plane[0].across.taps;
    for (int p = 0; p < planes; ++p) {
        const InputScaling::PlaneTables& tables = scaling.plane[static_cast<size_t>(p)];
        if (tables.across.taps != taps || tables.down.taps != taps || !grows(tables.across)) return 0;
    }
    return taps == 4 || taps == 6 ? taps : 0;
}

/// Of a plane.
unsigned strips_of(const ScalePlane& plane) {
    return blocks_for(plane.width, scale::kStripWidth) * blocks_for(plane.height, scale::kStripRows);
}

template <typename T>
Status upload(DeviceProgram& program, const std::vector<T>& table, const T** address) {
    const void* uploaded = nullptr;
    QC_RETURN_IF_ERROR(program.upload(table.data(), table.size() * sizeof(T), &uploaded));
    *address = static_cast<const T*>(uploaded);
    return {};
}

Status upload(DeviceProgram& program, const ScaleTable& table, ScaleAxis* axis) {
    axis->taps = table.taps;
    QC_RETURN_IF_ERROR(upload(program, table.first, &axis->first));
    return upload(program, table.weight, &axis->weight);
}

} // namespace

Scaler::Scaler(const BackendSetup& setup) : setup_(setup), scalings_(input_scalings(setup)), jobs_(scalings_.size()) {
    choose_kernel();
    for (size_t input = 0; input < scalings_.size(); ++input)
        if (scalings_[input]) plan(static_cast<int>(input), *scalings_[input]);
}

/// One launch makes all pictures of a batch: strips if all can be made of them.
void Scaler::choose_kernel() {
    bool first = true;
    for (size_t input = 0; input < scalings_.size(); ++input) {
        if (!scalings_[input]) continue;
        const bool bytes = setup_.scaled_format(static_cast<int>(input)).container_bits == 8 &&
                           setup_.geometry.sample_bytes() == 1 && scalings_[input]->math == kByteMath;
        const int taps = bytes ? strip_taps(*scalings_[input], setup_.planes_read()) : 0;
        strip_taps_ = first || taps == strip_taps_ ? taps : 0;
        if (strip_taps_ == 0) return;
        first = false;
    }
}

/// Everything about an input's jobs but addresses.
void Scaler::plan(int input, const InputScaling& scaling) {
    const qc_format format = setup_.scaled_format(input);
    ScaleJob job{};
    job.math = scaling.math;
    job.planes = setup_.planes_read();
    job.source_bytes = static_cast<uint16_t>(format.container_bits / 8);
    job.target_bytes = static_cast<uint16_t>(setup_.geometry.sample_bytes());
    job.short_middles = has_short_middles(format.depth) ? 1 : 0;
    for (int p = 0; p < job.planes; ++p) {
        job.plane[p].width = setup_.geometry.stored_width(p);
        job.plane[p].height = setup_.geometry.stored_height(p);
    }
    blocks_ = std::max(blocks_, strip_taps_ > 0 ? plan_strips(job) : plan_tiles(scaling, &job));
    jobs_[static_cast<size_t>(input)] = job;
    ++inputs_;
}

unsigned Scaler::plan_strips(const ScaleJob& job) {
    unsigned strips = 0;
    for (int p = 0; p < job.planes; ++p) strips += strips_of(job.plane[p]);
    return strips;
}

unsigned Scaler::plan_tiles(const InputScaling& scaling, ScaleJob* job) {
    job->tile_height = scale::kLargestTileHeight;
    const auto bytes = [&] { return shared_bytes(scaling, job->planes, job->tile_height, job->short_middles != 0); };
    while (job->tile_height > 1 && bytes() > scale::kMostSharedBytes) job->tile_height /= 2;
    shared_bytes_ = std::max(shared_bytes_, bytes());
    unsigned tiles = 0;
    for (int p = 0; p < job->planes; ++p)
        tiles +=
            blocks_for(job->plane[p].width, scale::kTileWidth) * blocks_for(job->plane[p].height, job->tile_height);
    return tiles;
}

Status Scaler::prepare(DeviceProgram& ingest) {
    if (inputs_ == 0) return {};
    for (size_t input = 0; input < jobs_.size(); ++input)
        for (int p = 0; jobs_[input] && p < jobs_[input]->planes; ++p) {
            const InputScaling::PlaneTables& tables = scalings_[input]->plane[static_cast<size_t>(p)];
            QC_RETURN_IF_ERROR(upload(ingest, tables.across, &jobs_[input]->plane[p].across));
            QC_RETURN_IF_ERROR(upload(ingest, tables.down, &jobs_[input]->plane[p].down));
        }
    scalings_.clear();
    if (strip_taps_ == 4) return ingest.find(kernels::qc_scale_bytes_4, &kernel_);
    if (strip_taps_ == 6) return ingest.find(kernels::qc_scale_bytes_6, &kernel_);
    return ingest.find(kernels::qc_scale, shared_bytes_, &kernel_);
}

void Scaler::add_job(const DevicePicture& raw, const DevicePicture& target, int input, ScaleJob* jobs,
                     int* count) const {
    ScaleJob& job = jobs[(*count)++] = *jobs_[static_cast<size_t>(input)];
    for (int p = 0; p < job.planes; ++p) {
        job.plane[p].source = raw.plane[p];
        job.plane[p].target = const_cast<void*>(target.plane[p].data);
        job.plane[p].target_pitch_bytes = target.plane[p].pitch_bytes;
    }
}

Status Scaler::enqueue(const ScaleJob* jobs, int count, DeviceQueue& queue) const {
    if (count == 0) return {};
    return queue.launch(kernel_, Dim3{blocks_, static_cast<unsigned>(count), 1}, ScaleArguments{jobs});
}

} // namespace qc::cuda
