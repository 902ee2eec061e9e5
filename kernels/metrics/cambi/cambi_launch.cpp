// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cambi/cambi_launch.hpp"

#include <algorithm>
#include <bit>

#include "metrics/cambi/cambi.hpp"

namespace qc::cambi {

size_t Launcher::scratch_bytes(int count) const {
    return drawn_offset(count) + drawn_bytes(count);
}

/// Both pictures are analysed in the same memory, the map's c-values lie behind it.
size_t Launcher::drawn_offset(int count) const {
    const size_t distorted = plan_scratch(settings_, settings_.distorted, count).bytes;
    if (!settings_.full_reference) return rounded_up(distorted, kDrawnAlignment);
    return rounded_up(std::max(distorted, plan_scratch(settings_, settings_.reference, count).bytes), kDrawnAlignment);
}

size_t Launcher::drawn_bytes(int count) const {
    if (!draws_map_) return 0;
    return static_cast<size_t>(count) * plan_pyramid(settings_, settings_.distorted, count).samples_per_picture *
           sizeof(uint16_t);
}

Status Launcher::prepare(DeviceProgram& program) {
    const bool bytes = geometry_.sample == SampleType::kU8;
    const auto& image = settings_.half_size ? bytes ? kernels::cambi_half_image_u8 : kernels::cambi_half_image_u16
                        : bytes             ? kernels::cambi_image_u8
                                            : kernels::cambi_image_u16;
    QC_RETURN_IF_ERROR(program.find(image, &image_));
    QC_RETURN_IF_ERROR(program.find(kernels::cambi_scale, &scale_));
    QC_RETURN_IF_ERROR(program.find(kernels::cambi_select_begin, &select_begin_));
    QC_RETURN_IF_ERROR(program.find(kernels::cambi_select_high, &select_high_));
    QC_RETURN_IF_ERROR(program.find(kernels::cambi_select_low, &select_low_));
    if (draws_map_) QC_RETURN_IF_ERROR(program.find(kernels::cambi_draw, &draw_));
    const void* table = nullptr;
    QC_RETURN_IF_ERROR(program.upload(reciprocals().data(), reciprocals().size_bytes(), &table));
    reciprocals_ = static_cast<const float*>(table);
    QC_RETURN_IF_ERROR(prepare_picture(program, settings_.distorted, &distorted_));
    return settings_.full_reference ? prepare_picture(program, settings_.reference, &reference_) : Status();
}

Status Launcher::prepare_picture(DeviceProgram& program, const Analysis& analysis, PictureKernels* kernels) const {
    kernels->counting = choose_count_kernel(settings_.differences, analysis.window);
    Status status;
    for (const int groups : tuning::kGroupsPerPass) {
        kernels->groups_per_pass = groups;
        status = program.find(kernels->counting.identifier, kernels->counting.shared_bytes(groups), &kernels->count);
        if (status.ok()) break; // otherwise the device may have too little shared memory
    }
    QC_RETURN_IF_ERROR(status);
    if (!analysis.resampled) return {};
    const void *columns = nullptr, *rows = nullptr;
    QC_RETURN_IF_ERROR(program.upload(analysis.columns.data(), analysis.columns.size() * sizeof(uint16_t), &columns));
    QC_RETURN_IF_ERROR(program.upload(analysis.rows.data(), analysis.rows.size() * sizeof(uint16_t), &rows));
    kernels->columns = static_cast<const uint16_t*>(columns);
    kernels->rows = static_cast<const uint16_t*>(rows);
    return {};
}

Status Launcher::enqueue(const DeviceBatch& batch, DeviceQueue& queue) const {
    if (settings_.nothing_visible()) return draws_map_ ? enqueue_map(batch, queue) : Status();
    QC_RETURN_IF_ERROR(enqueue_picture(batch, queue, false));
    if (draws_map_) QC_RETURN_IF_ERROR(enqueue_map(batch, queue));
    return settings_.full_reference ? enqueue_picture(batch, queue, true) : Status();
}

Status Launcher::enqueue_picture(const DeviceBatch& batch, DeviceQueue& queue, bool reference) const {
    const Analysis& analysis = reference ? settings_.reference : settings_.distorted;
    const PictureKernels& kernels = reference ? reference_ : distorted_;
    const auto pictures = static_cast<unsigned>(batch.count);
    auto* const scratch = static_cast<unsigned char*>(batch.scratch);
    const ScratchLayout layout = plan_scratch(settings_, analysis, batch.count);
    Pyramid pyramid = plan_pyramid(settings_, analysis, batch.count);
    pyramid.samples = reinterpret_cast<uint16_t*>(scratch + layout.samples);
    pyramid.occupied = reinterpret_cast<uint32_t*>(scratch + layout.occupied);

    const ImageTask image{.pairs = batch.pairs,
                          .pyramid = pyramid,
                          .columns = kernels.columns,
                          .rows = kernels.rows,
                          .width = analysis.width,
                          .height = analysis.height,
                          .depth = geometry_.depth,
                          .mask_limit = analysis.mask_limit,
                          .walk = image_walk(batch.count),
                          .use_reference = reference,
                          .anti_dither = settings_.anti_dither};
    const Dim3 image_grid{blocks_for(image.width, kUsefulColumns),
                          blocks_for(image.height, image.walk * tuning::kImageWarps), pictures};
    QC_RETURN_IF_ERROR(queue.launch(image_, image_grid, image));

    for (int s = 1; s < kScales; ++s) {
        const PyramidTask task{pyramid, s, pyramid_walk(s)};
        const Dim3 grid{blocks_for(pyramid.scale[s].width, kUsefulColumns),
                        blocks_for(pyramid.scale[s].height, task.walk * tuning::kPyramidWarps), pictures};
        QC_RETURN_IF_ERROR(queue.launch(scale_, grid, task));
    }

    CountTask task = count_task(batch, pyramid, layout, reference);
    const unsigned tiles = plan_tiles(kernels.counting, task.reach, batch.count, &task);
    QC_RETURN_IF_ERROR(queue.launch(kernels.count, Dim3{tiles, 1, pictures}, task));
    if (!may_select(settings_, analysis)) return {};
    return enqueue_selection(batch, queue, kernels, analysis, task, tiles);
}

CountTask Launcher::count_task(const DeviceBatch& batch, const Pyramid& pyramid, const ScratchLayout& layout,
                               bool reference) const {
    CountTask task{};
    task.pyramid = pyramid;
    task.reach = (reference ? settings_.reference : settings_.distorted).reach();
    task.groups_per_pass = (reference ? reference_ : distorted_).groups_per_pass;
    task.first = settings_.first;
    task.last = settings_.last;
    std::copy(settings_.brightest.begin(), settings_.brightest.end(), task.brightest);
    task.dark_limit = settings_.dark_limit;
    task.reciprocals = reciprocals_;
    task.pairs = batch.pairs;
    task.accumulators = batch.accumulators;
    task.words_per_pair = settings_.accumulator_words();
    task.first_word = reference ? kWordsPerPicture : 0;
    task.selections = reinterpret_cast<Selection*>(static_cast<unsigned char*>(batch.scratch) + layout.selections);
    if (!reference && draws_map_) {
        task.extras |= kDrawsMap;
        task.drawn =
            reinterpret_cast<uint16_t*>(static_cast<unsigned char*>(batch.scratch) + drawn_offset(batch.count));
    }
    if (reference || !settings_.heat_maps) return task;
    task.full_heat = settings_.full_heat();
    task.extras |= kHeatMaps;
    size_t word = settings_.heat_map_offset();
    for (int s = 0; s < kScales; ++s) {
        task.heat_map_word[s] = word;
        word += heat_map_words(pyramid.scale[s].width, pyramid.scale[s].height);
    }
    return task;
}

/// Where more c-values are not 0 than are pooled, which is rare, the tiles are walked twice more.
Status Launcher::enqueue_selection(const DeviceBatch& batch, DeviceQueue& queue, const PictureKernels& kernels,
                                   const Analysis& analysis, CountTask task, unsigned tiles) const {
    SelectTask select{};
    select.count = task;
    for (int s = 0; s < kScales; ++s) select.pooled[s] = settings_.pooled_pixels(analysis, s);
    const auto pictures = static_cast<unsigned>(batch.count);
    const Dim3 scales{kScales, pictures}, grid{tiles, 1, pictures};
    QC_RETURN_IF_ERROR(queue.launch(select_begin_, scales, select));
    task.purpose = Purpose::kHighDigits;
    QC_RETURN_IF_ERROR(queue.launch(kernels.count, grid, task));
    QC_RETURN_IF_ERROR(queue.launch(select_high_, scales, select));
    task.purpose = Purpose::kLowDigits;
    QC_RETURN_IF_ERROR(queue.launch(kernels.count, grid, task));
    return queue.launch(select_low_, scales, select);
}

/// Heights of tiles, which may be halved at scale 0, divide by shifting.
static_assert(std::has_single_bit(tuning::kLongWalk / 2u) && std::has_single_bit(tuning::kShortWalk / 2u) &&
              std::has_single_bit(unsigned{tuning::kPyramidWalk}) &&
              std::has_single_bit(unsigned{tuning::kDeepPyramidWalk}));

Status Launcher::enqueue_map(const DeviceBatch& batch, DeviceQueue& queue) const {
    const Analysis& analysis = settings_.distorted;
    DrawTask task{};
    task.is_blank = settings_.nothing_visible() ? 1 : 0;
    task.pyramid = plan_pyramid(settings_, analysis, batch.count);
    task.pyramid.occupied = reinterpret_cast<uint32_t*>(static_cast<unsigned char*>(batch.scratch) +
                                                        plan_scratch(settings_, analysis, batch.count).occupied);
    task.drawn =
        reinterpret_cast<const uint16_t*>(static_cast<unsigned char*>(batch.scratch) + drawn_offset(batch.count));
    task.pairs = batch.pairs;
    task.map = batch.map;
    task.shape = {geometry_.width, geometry_.height};
    task.width = analysis.width;
    task.height = analysis.height;
    task.halving = settings_.half_size ? 1 : 0;
    for (int s = 0; s < kScales; ++s) {
        const auto tile_width = static_cast<uint32_t>(task.pyramid.scale[s].tile_width);
        task.weight[s] = scale_weight(s, analysis.window);
        task.tile_reciprocal[s] = ((uint32_t{1} << 31) + tile_width - 1) / tile_width;
        task.tile_row_shift[s] = std::countr_zero(static_cast<unsigned>(task.pyramid.scale[s].tile_height));
    }
    const Dim3 grid{blocks_for(geometry_.width, kMapTileColumns), blocks_for(geometry_.height, kMapTileRows),
                    static_cast<unsigned>(batch.count)};
    return queue.launch(draw_, grid, task);
}

} // namespace qc::cambi
