// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/ssimulacra2_launch.hpp"

#include <algorithm>

#include "families/linear_light/linear_launch.hpp"

namespace qc::ssimulacra2 {
namespace {

constexpr size_t kScratchAlignment = 256;

template <typename Integer>
Integer round_up(Integer value, Integer multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

PlaneLayout make_layout(const Plan& plan) {
    PlaneLayout layout{};
    layout.levels = plan.levels;
    uint64_t used = 0;
    for (int level = 0; level < plan.levels; ++level) {
        layout.width[level] = plan.level[level].width;
        layout.height[level] = plan.level[level].height;
        layout.offset[level] = static_cast<uint32_t>(used);
        for (int c = 0; c < kChannels; ++c)
            if (plan.needed[level][c] != 0) layout.stored[level] |= channel_bit(c);
        if (layout.stored[level] != 0) used += level_floats(layout.width[level], layout.height[level]);
    }
    layout.picture = used;
    return layout;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

/// In the order of Chroma.
#define QC_PYRAMID_ROW(sample, suffix)                                                                                 \
    {                                                                                                                  \
        kernels::ssimulacra2_pyramid_##sample##_400##suffix, kernels::ssimulacra2_pyramid_##sample##_420##suffix,      \
            kernels::ssimulacra2_pyramid_##sample##_422##suffix, kernels::ssimulacra2_pyramid_##sample##_444##suffix   \
    }

/// [sample type][general]
constexpr KernelIdentifier<PyramidArguments> kPyramidKernels[2][2][4] = {
    {QC_PYRAMID_ROW(u8, ), QC_PYRAMID_ROW(u8, _general)}, {QC_PYRAMID_ROW(u16, ), QC_PYRAMID_ROW(u16, _general)}};

// ---- strips ---------------------------------------------------------------------------------------------------------

Variant variant_of(uint8_t terms) {
    const bool artifact = needs(terms, kArtifact), detail = needs(terms, kDetail);
    if (!needs_structure(terms)) return detail ? kEverything : kArtifactOnly;
    if (artifact && detail) return kEverything;
    if (artifact) return kStructureArtifact;
    return detail ? kStructureDetail : kStructureOnly;
}

/// Cuts a plane into strips of equal height, if possible.
void cut_plane(const PlaneLayout& layout, int level, int channel, int columns, Variant variant,
               std::vector<Strip>* strips) {
    const int width = layout.width[level], height = layout.height[level];
    const int most = variant == kArtifactOnly ? tuning::kEdgeStripRows : tuning::kStripRows;
    const int count = (height + most - 1) / most;
    const int rows = round_up((height + count - 1) / count, kGroupRows);
    for (int y = 0; y < height; y += rows)
        for (int x = 0; x < width; x += columns) {
            Strip strip{};
            strip.offset = layout.offset[level] + static_cast<uint32_t>(channel * kPanelColumns);
            strip.width = width;
            strip.height = height;
            strip.x = x;
            strip.y = y;
            strip.rows = std::min(rows, height - y);
            strip.variant = variant;
            strip.plane = level * kChannels + channel;
            strips->push_back(strip);
        }
}

} // namespace

Launcher::Launcher(const Plan& plan, SampleType sample, bool has_weights)
    : pyramid_{}, fields_{}, finish_{}, same_conversion_(plan.reference == plan.distorted),
      usual_conversion_(is_usual(plan.reference) && is_usual(plan.distorted)) {
    const PlaneLayout layout = make_layout(plan);
    const ColourConversion<double>* const conversion[] = {&plan.reference, &plan.distorted};
    for (int input = 0; input < 2; ++input) {
        PyramidArguments& pyramid = pyramid_[input];
        pyramid.layout = layout;
        pyramid.inputs = same_conversion_ ? 2 : 1;
        pyramid.first_input = input;
        pyramid.chroma_width = chroma_size(layout.width[0], conversion[input]->axis_x);
        pyramid.chroma_height = chroma_size(layout.height[0], conversion[input]->axis_y);
        pyramid.conversion = make_device_conversion(*conversion[input]);
    }
    pyramid_identifier_ = kPyramidKernels[sample == SampleType::kU8 ? 0 : 1][usual_conversion_ ? 0 : 1]
                                         [static_cast<int>(chroma_of(plan.reference))];

    wide_blur_ = plan.blur.radius > 4 || plan.blur.renormalise != 0;
    const int columns = wide_blur_ ? kStripColumns<kMaxRadius> : kStripColumns<4>;
    finish_.levels = plan.levels;
    // The large levels first, and of each what takes longest.
    for (int level = 0; level < plan.levels; ++level)
        for (const Channel c : {kY, kX, kB}) {
            const int plane = c * plan.levels + level;
            const uint8_t terms = plan.needed[level][c];
            finish_.first[plane] = static_cast<int32_t>(strips_.size());
            finish_.needed[plane] = terms;
            if (terms != 0) cut_plane(layout, level, c, columns, variant_of(terms), &strips_);
            finish_.number[plane] = static_cast<int32_t>(strips_.size()) - finish_.first[plane];
        }
    fields_.picture = layout.picture;
    fields_.renormalise = plan.blur.renormalise;
    for (int i = 0; i <= plan.blur.radius; ++i) fields_.tap[i] = static_cast<float>(plan.blur.tap[i]);
    fields_.strip_count = finish_.strip_count = static_cast<int32_t>(strips_.size());
    if (has_weights) weighted_.emplace(plan, layout);
}

size_t Launcher::plane_bytes(int count) const {
    return round_up(picture_index(count, 0) * fields_.picture * sizeof(float), kScratchAlignment);
}

size_t Launcher::sum_bytes(int count) const {
    return round_up(static_cast<size_t>(count) * strips_.size() * kTerms * sizeof(float), kScratchAlignment);
}

size_t Launcher::kept_bytes(int count) const {
    return round_up(static_cast<size_t>(count) * fields_.kept.pair * sizeof(uint16_t), kScratchAlignment);
}

size_t Launcher::scratch_bytes(int count) const {
    return plane_bytes(count) + sum_bytes(count) + kept_bytes(count) +
           (weighted_ ? weighted_->scratch_bytes(count) : 0);
}

void Launcher::draw_map(const FieldWeights& weights) {
    KeptErrors& kept = fields_.kept;
    const PlaneLayout& layout = pyramid_[0].layout;
    for (int level = 0; level < layout.levels; ++level) {
        kept.stored[level] = layout.stored[level];
        kept.pitch[level] = round_up(layout.width[level], kRowPixels);
        kept.plane[level] = static_cast<uint32_t>(kept.pitch[level] * layout.height[level]);
        kept.offset[level] = static_cast<uint32_t>(kept.pair);
        kept.pair += uint64_t{kChannels} * kept.plane[level];
        for (int c = 0; c < kChannels; ++c)
            for (int m = 0; m < kFields; ++m) kept.weight[level][c][m] = static_cast<float>(weights[level][c][m]);
    }
    kept.pair = round_up(kept.pair, uint64_t{kRowPixels});
    draws_map_ = true;
}

/// Leaves out what no picture shows: planes that together, with errors of 1, come to no more than a quarter of a level.
/// @param scale of map_level()
KeptErrors Launcher::kept_for(float scale) const {
    constexpr float kLeftOut = 0.25f;
    KeptErrors kept = fields_.kept;
    float left = kLeftOut;
    for (int level = 0; level < kMaxLevels; ++level)
        for (int c = 0; c < kChannels; ++c) {
            const auto& weight = kept.weight[level][c];
            const float levels = scale * (weight[kStructure] + weight[kArtifact] + weight[kDetail]);
            if (!kept.keeps(level, c) || levels > left) continue;
            left -= levels;
            kept.stored[level] &= ~channel_bit(c);
        }
    return kept;
}

Status Launcher::enqueue_map(const DeviceBatch& batch, const KeptErrors& kept, DeviceQueue& queue) const {
    const PlaneLayout& layout = pyramid_[0].layout;
    const DrawArguments draw{batch.pairs, kept, batch.map, {layout.width[0], layout.height[0]}, layout.levels};
    const Dim3 grid{blocks_for(layout.width[0], DrawErrors::kColumns), blocks_for(layout.height[0], DrawErrors::kRows),
                    static_cast<unsigned>(batch.count)};
    return queue.launch(draw_kernel_, grid, draw);
}

Status Launcher::prepare(DeviceProgram& program) {
    QC_RETURN_IF_ERROR(program.find(pyramid_identifier_, &pyramid_kernel_));
    const auto& fields = wide_blur_
                             ? draws_map_ ? kernels::ssimulacra2_fields_wide_kept : kernels::ssimulacra2_fields_wide
                         : draws_map_ ? kernels::ssimulacra2_fields_kept
                                      : kernels::ssimulacra2_fields;
    QC_RETURN_IF_ERROR(program.find(fields, &field_kernel_));
    if (draws_map_) QC_RETURN_IF_ERROR(program.find(kernels::ssimulacra2_draw, &draw_kernel_));
    QC_RETURN_IF_ERROR(program.find(kernels::ssimulacra2_finish, &finish_kernel_));
    if (weighted_) QC_RETURN_IF_ERROR(weighted_->prepare(program));
    return program.upload(strips_.data(), strips_.size() * sizeof(Strip), &strip_table_);
}

Status Launcher::enqueue(const DeviceBatch& batch, DeviceQueue& queue) const {
    const auto pairs = static_cast<unsigned>(batch.count);
    auto* const planes = static_cast<float*>(batch.scratch);
    auto* const sums = reinterpret_cast<float*>(static_cast<char*>(batch.scratch) + plane_bytes(batch.count));

    for (int input = 0; input < (same_conversion_ ? 1 : 2); ++input) {
        PyramidArguments arguments = pyramid_[input];
        arguments.pairs = batch.pairs;
        arguments.planes = planes;
        const Dim3 grid{blocks_for(arguments.layout.width[0], kTileSize),
                        blocks_for(arguments.layout.height[0], kTileSize),
                        pairs * static_cast<unsigned>(arguments.inputs)};
        QC_RETURN_IF_ERROR(queue.launch(pyramid_kernel_, grid, arguments));
    }

    FieldArguments fields = fields_;
    fields.pairs = batch.pairs;
    fields.planes = planes;
    fields.strips = static_cast<const Strip*>(strip_table_);
    fields.sums = sums;
    fields.kept = kept_for(batch.map.scale);
    fields.kept.errors = reinterpret_cast<uint16_t*>(reinterpret_cast<char*>(sums) + sum_bytes(batch.count));
    const Dim3 strips{static_cast<unsigned>(strips_.size()), 1, pairs};
    if (!weighted_ || draws_map_) QC_RETURN_IF_ERROR(queue.launch(field_kernel_, strips, fields));
    if (draws_map_) QC_RETURN_IF_ERROR(enqueue_map(batch, fields.kept, queue));
    if (weighted_)
        return weighted_->enqueue(batch, planes, reinterpret_cast<char*>(fields.kept.errors) + kept_bytes(batch.count),
                                  queue);

    FinishArguments finish = finish_;
    finish.pairs = batch.pairs;
    finish.sums = sums;
    finish.accumulators = batch.accumulators;
    const Dim3 sums_of_planes{static_cast<unsigned>(kChannels * finish_.levels), 1, pairs};
    return queue.launch(finish_kernel_, sums_of_planes, finish);
}

} // namespace qc::ssimulacra2
