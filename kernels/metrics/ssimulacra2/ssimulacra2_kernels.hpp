// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2 on the GPU: what the blocks of its three kernels do. The phases of their threads are in
// ssimulacra2_pyramid_phases.hpp and ssimulacra2_field_phases.hpp.
#pragma once

#include "device/kernel_list.hpp"
#include "metrics/ssimulacra2/ssimulacra2_field_phases.hpp"
#include "metrics/ssimulacra2/ssimulacra2_pyramid_phases.hpp"
#include "metrics/ssimulacra2/ssimulacra2_sums.hpp"
#include "metrics/ssimulacra2/ssimulacra2_weighted_kernels.hpp"

namespace qc::ssimulacra2 {
// ---- pyramid --------------------------------------------------------------------------------------------------------

/// grid: (tiles across, tiles down, pictures)
template <typename T, Chroma kChroma, bool kGeneral>
struct MakePyramid : device::KernelOf<PyramidArguments, kPyramidThreads,
                                      kGeneral ? tuning::kPyramidGeneralMinBlocks : tuning::kPyramidMinBlocks> {
    template <class Block>
    QC_HD static void run(Block& block, const PyramidArguments& arguments) {
        auto& shared = device::shared<PyramidShared<kChroma>>(block);
        const int thread = block.thread(), tile_x = block.x(), tile_y = block.y();
        const PictureTask task = picture_task(arguments, block.z());
        if (task.input == 0 && repeats_reference(arguments.pairs, task.pair)) return;
        const DevicePair& pair = arguments.pairs[task.pair];
        const DevicePicture& picture = task.input == 0 ? pair.reference : pair.distorted;
        const PlaneLayout& layout = arguments.layout;
        float* const planes = arguments.planes + picture_index(task.pair, task.input) * layout.picture;

        const PixelBlock<T, kChroma> pixels(picture, layout, thread, tile_x, tile_y);
        if constexpr (ChromaTile<kChroma>::kShared) {
            load_chroma<T, kChroma, kGeneral>(shared, thread, arguments, picture, tile_x, tile_y);
            block.sync_warp();
            interpolate_across<kChroma>(shared, thread, arguments.conversion.across);
            block.sync();
        }
        block_phase<T, kChroma, kGeneral>(shared, thread, arguments, pixels, planes);
        if (layout.levels <= 2) return;
        block.sync();
        level_phases<kGeneral>(block, shared, layout, planes, tile_x, tile_y);
    }
};

// ---- fields ---------------------------------------------------------------------------------------------------------

struct alignas(16) Stages {
    float sample[kStages * kStageFloats];
};

template <class Work, class Block>
QC_HD void score_strip(Block& block, const FieldArguments& arguments, const Strip& strip, const float* a,
                       const float* d, int pair, float* target) {
    float* const stages = device::shared<Stages>(block).sample;
    const int thread = block.thread();
    StripThread<Work> state(strip, a, d, thread);
    state.load(arguments);
    QC_NO_UNROLL
    for (int group = 0; group < Work::kWarmUpGroups; ++group) {
        state.warm_up(arguments);
        state.load(arguments);
    }
    QC_NO_UNROLL
    for (int row = 0, stage = 0; row < strip.rows; row += kGroupRows, stage ^= kStageFloats) {
        state.filter_column(arguments, stages + stage, thread);
        if (row + kGroupRows < strip.rows) state.load(arguments);
        block.sync();
        state.score_row(arguments, strip, stages + stage, pair);
    }
    const auto& sums = add_warps(block, state.sum);
    if (thread < kTerms) target[thread] = sums.total(thread);
}

/// grid: (strips, 1, pairs). Strips of the last pair come first: its planes may still be in the L2 cache.
/// @tparam kDraws keeps the errors for the map as well
template <int kRadius, bool kDraws = false>
struct ScoreFields : device::KernelOf<FieldArguments, kStripThreads,
                                      (kRadius > 4 ? tuning::kWideStripMinBlocks : tuning::kStripMinBlocks)> {
    template <class Block>
    QC_HD static void run(Block& block, const FieldArguments& arguments) {
        const int pair = block.grid_z() - 1 - block.z();
        const Strip strip = arguments.strips[block.x()];
        const int owner = reference_owner(arguments.pairs, pair);
        const float* const a = plane_of(arguments, strip, picture_index(owner, 0));
        const float* const d = plane_of(arguments, strip, picture_index(pair, 1));
        float* const target = arguments.sums + (static_cast<size_t>(pair) * arguments.strip_count + block.x()) * kTerms;
        if constexpr (kRadius > 4) {
            score_strip<Work<kRadius, true, true, true, kDraws>>(block, arguments, strip, a, d, pair, target);
        } else {
            switch (strip.variant) {
            case kStructureOnly:
                score_strip<Work<kRadius, true, false, false, kDraws>>(block, arguments, strip, a, d, pair, target);
                break;
            case kStructureArtifact:
                score_strip<Work<kRadius, true, true, false, kDraws>>(block, arguments, strip, a, d, pair, target);
                break;
            case kStructureDetail:
                score_strip<Work<kRadius, true, false, true, kDraws>>(block, arguments, strip, a, d, pair, target);
                break;
            case kArtifactOnly:
                score_strip<Work<kRadius, false, true, false, kDraws>>(block, arguments, strip, a, d, pair, target);
                break;
            default:
                score_strip<Work<kRadius, true, true, true, kDraws>>(block, arguments, strip, a, d, pair, target);
                break;
            }
        }
    }
};

// ---- sums of strips -------------------------------------------------------------------------------------------------

/// grid: (planes, 1, pairs)
/// @tparam kWords accumulators of a pair
template <int kWords>
struct SumStrips : device::KernelOf<FinishArguments, tuning::kFinishThreads> {
    template <class Block>
    QC_HD static void run(Block& block, const FinishArguments& arguments) {
        const int plane = block.x(), pair = block.z(), term = block.thread();
        double sum[kTerms] = {};
        add_strips(arguments, plane, pair, block.thread(), sum);
        const auto& sums = add_warps(block, sum);
        if (term >= kTerms || (arguments.needed[plane] >> term & 1u) == 0) return;
        const size_t row = static_cast<size_t>(arguments.pairs[pair].output) * kWords;
        arguments.accumulators[row + plane * kTerms + term] = device::bits_of(sums.total(term));
    }
};

// ---- list -----------------------------------------------------------------------------------------------------------

#define QC_SSIMULACRA2_PYRAMIDS(KERNEL, suffix, general)                                                               \
    KERNEL(ssimulacra2_pyramid_u8_400##suffix, MakePyramid<uint8_t, Chroma::kNone, general>)                           \
    KERNEL(ssimulacra2_pyramid_u8_420##suffix, MakePyramid<uint8_t, Chroma::kHalved, general>)                         \
    KERNEL(ssimulacra2_pyramid_u8_422##suffix, MakePyramid<uint8_t, Chroma::kHalvedAcross, general>)                   \
    KERNEL(ssimulacra2_pyramid_u8_444##suffix, MakePyramid<uint8_t, Chroma::kFull, general>)                           \
    KERNEL(ssimulacra2_pyramid_u16_400##suffix, MakePyramid<uint16_t, Chroma::kNone, general>)                         \
    KERNEL(ssimulacra2_pyramid_u16_420##suffix, MakePyramid<uint16_t, Chroma::kHalved, general>)                       \
    KERNEL(ssimulacra2_pyramid_u16_422##suffix, MakePyramid<uint16_t, Chroma::kHalvedAcross, general>)                 \
    KERNEL(ssimulacra2_pyramid_u16_444##suffix, MakePyramid<uint16_t, Chroma::kFull, general>)

/// fields_wide: blurs of radius 8 or with other borders, all fields.
#define QC_SSIMULACRA2_KERNELS(KERNEL)                                                                                 \
    QC_SSIMULACRA2_PYRAMIDS(KERNEL, , false)                                                                           \
    QC_SSIMULACRA2_PYRAMIDS(KERNEL, _general, true)                                                                    \
    KERNEL(ssimulacra2_fields, ScoreFields<4>)                                                                         \
    KERNEL(ssimulacra2_fields_wide, ScoreFields<kMaxRadius>)                                                           \
    KERNEL(ssimulacra2_finish, SumStrips<kAccumulatorWords>)                                                           \
    KERNEL(ssimulacra2_fields_kept, ScoreFields<4, true>)                                                              \
    KERNEL(ssimulacra2_fields_wide_kept, ScoreFields<kMaxRadius, true>)                                                \
    KERNEL(ssimulacra2_draw, DrawErrors)                                                                               \
    KERNEL(ssimulacra2_weights, MakeWeights)                                                                           \
    KERNEL(ssimulacra2_fields_weighted, ScoreWeightedFields<4>)                                                        \
    KERNEL(ssimulacra2_fields_wide_weighted, ScoreWeightedFields<kMaxRadius>)                                          \
    KERNEL(ssimulacra2_finish_weighted, SumStrips<kWeightedWords>)
QC_DECLARE_KERNELS(QC_SSIMULACRA2_KERNELS)

} // namespace qc::ssimulacra2
