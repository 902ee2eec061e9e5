// SPDX-License-Identifier: BSD-2-Clause-Patent
// PSNR-HVS on the GPU, in four steps: the terms of all blocks, the binade that the running sum will have reached before
// each group of blocks, the groups' transitions for that binade, and a walk over the groups. psnr_hvs_sum.hpp explains
// the transitions; a wrong guess of a binade costs time, never exactness.
//
// The blocks of a plane, in raster order, form groups of 32: one lane per block. Terms are stored so that a warp's
// accesses are contiguous: term i of the group's block l at [i * 32 + l]. The last group is filled up with zero terms.
#pragma once

#include <bit>

#include "device/bits.hpp"
#include "device/block_sum.hpp"
#include "device/bytes.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "metrics/psnr_hvs/psnr_hvs_math.hpp"
#include "metrics/psnr_hvs/psnr_hvs_sum.hpp"
#include "metrics/psnr_hvs/psnr_hvs_tuning.hpp"
#include "metrics/psnr_hvs/psnr_hvs_weights.hpp"

namespace qc::psnr_hvs {
constexpr int kLanes = device::kWarpSize; ///< blocks of a group
constexpr int kTermsPerGroup = kLanes * kBlockSize;

struct PlaneTask {
    int blocks_x = 0;
    int blocks = 0;
    int first_group = 0; ///< of the plane among those of all planes
    int groups = 0;
};

/// What is the same for every pair.
struct Task {
    PlaneTask plane[kPlanes];
    int groups = 0; ///< of all planes of a pair
};

inline Task make_task(const FrameGeometry& geometry) {
    Task task;
    for (int p = 0; p < kPlanes; ++p) {
        PlaneTask& plane = task.plane[p];
        plane.blocks_x = (geometry.plane_width(p) - 1) / kBlockStep;
        plane.blocks = plane.blocks_x * ((geometry.plane_height(p) - 1) / kBlockStep);
        plane.first_group = task.groups;
        plane.groups = (plane.blocks + kLanes - 1) / kLanes;
        task.groups += plane.groups;
    }
    return task;
}

/// Device memory of a batch: per pair the terms, and per group a rough sum, the binade to expect before it, its
/// transition.
struct Scratch {
    float* terms;
    float* group_sums;
    uint32_t* binades;
    Transition* transitions;
};

inline size_t scratch_bytes_of(const Task& task, int count) {
    const size_t per_group = kTermsPerGroup * sizeof(float) + sizeof(float) + sizeof(uint32_t) + sizeof(Transition);
    return per_group * static_cast<size_t>(task.groups) * static_cast<size_t>(count);
}

/// Carves `memory`, of scratch_bytes_of(task, count) bytes. The parts lie in the order of decreasing alignment.
inline Scratch make_scratch(void* memory, const Task& task, int count) {
    const size_t groups = static_cast<size_t>(task.groups) * static_cast<size_t>(count);
    Scratch scratch;
    scratch.terms = static_cast<float*>(memory);
    scratch.transitions = reinterpret_cast<Transition*>(scratch.terms + groups * kTermsPerGroup);
    scratch.group_sums = reinterpret_cast<float*>(scratch.transitions + groups);
    scratch.binades = reinterpret_cast<uint32_t*>(scratch.group_sums + groups);
    return scratch;
}

QC_HD int plane_of_group(const Task& task, int group) {
    return group < task.plane[1].first_group ? 0 : group < task.plane[2].first_group ? 1 : 2;
}

template <typename T>
QC_HD void load_block(const DevicePlane& plane, int x, int y, Matrix& block) {
    QC_UNROLL
    for (int i = 0; i < kBlockSize; ++i) {
        block.at[i] = static_cast<int32_t>(read_sample<T>(plane, x + i % kBlockSide, y + i / kBlockSide));
    }
}

/// Coefficients that wait for those of the other picture.
template <typename T>
class KeptCoefficients {
public:
    QC_HD void keep(const Matrix& coefficients) { all_ = coefficients; }
    QC_HD int32_t at(int i) const { return all_.at[i]; }

private:
    Matrix all_{};
};

/// Of samples of 8 bits, two to a word: both ways the transform makes at most eight times a sample of them, so that
/// they are far within 16 bits.
template <>
class KeptCoefficients<uint8_t> {
public:
    QC_HD void keep(const Matrix& coefficients) {
        QC_UNROLL
        for (int i = 0; i < kBlockSize / 2; ++i) {
            pair_[i] = device::select_bytes(static_cast<uint32_t>(coefficients.at[2 * i]),
                                            static_cast<uint32_t>(coefficients.at[2 * i + 1]), 0x5410u);
        }
    }
    QC_HD int32_t at(int i) const { return static_cast<int16_t>(pair_[i / 2] >> (16 * (i % 2))); }

private:
    uint32_t pair_[kBlockSize / 2] = {};
};

/// Writes the terms of block number `index` of a plane to terms[0], terms[kLanes], ... @return their sum, roughly
template <typename T>
QC_HD float score_block(const DevicePlane& reference, const DevicePlane& distorted, const PlaneTask& plane, int index,
                        const PlaneTables& tables, float* terms) {
    if (index >= plane.blocks) {
        for (int i = 0; i < kBlockSize; ++i) terms[i * kLanes] = 0.0f;
        return 0.0f;
    }
    const int x = index % plane.blocks_x * kBlockStep, y = index / plane.blocks_x * kBlockStep;
    Matrix block;
    KeptCoefficients<T> reference_block;
    float strength = 0.0f;
    // One copy of the code serves both pictures: it fills much of an instruction cache.
    QC_NO_UNROLL
    for (int picture = 0; picture < 2; ++picture) {
        load_block<T>(picture == 0 ? reference : distorted, x, y, block);
        const float ratio = masking_ratio(block);
        transform(block);
        const float own = masking_strength(block, ratio, tables);
        strength = own > strength ? own : strength;
        if (picture == 0) reference_block.keep(block);
    }
    float sum = 0.0f;
    QC_UNROLL
    for (int i = 0; i < kBlockSize; ++i) {
        const float term = error_term(i, reference_block.at(i) - block.at[i], strength, tables);
        terms[i * kLanes] = term;
        sum = sum + term;
    }
    return sum;
}

/// Transition of one block's terms.
QC_HD Transition block_transition(const float* terms, uint32_t binade) {
    TransitionBuilder builder(binade);
    QC_UNROLL
    for (int i = 0; i < kBlockSize; ++i) builder.add(terms[i * kLanes]);
    return builder.transition();
}

/// Term by term.
QC_HD float add_block(float sum, const float* terms) {
    QC_UNROLL
    for (int i = 0; i < kBlockSize; ++i) sum = sum + terms[i * kLanes];
    return sum;
}

// ---- sums, by a warp ------------------------------------------------------------------------------------------------

/// Transitions of all lanes up to and including the own one.
template <class Block>
QC_HD Transition prefix_transitions(Block& block, Transition transition) {
    QC_UNROLL
    for (int distance = 1; distance < kLanes; distance *= 2) {
        Transition before;
        before.increment[0] = block.shuffle_up(transition.increment[0], distance);
        before.increment[1] = block.shuffle_up(transition.increment[1], distance);
        if (block.lane() >= distance) transition = compose(before, transition);
    }
    return transition;
}

/// Of a word that is not 0.
QC_HD int lowest_one(uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return __ffs(static_cast<int>(bits)) - 1;
#else
    return std::countr_zero(bits);
#endif
}

/// Applies the transitions of the lanes from `first` on, up to the first that does not hold. @return that lane, or
/// kLanes
template <class Block>
QC_HD int apply_while_valid(Block& block, Transition transition, uint32_t binade, int first, float& sum) {
    if (block.lane() < first) {
        transition = identity_transition();
        binade = binade_of(sum);
    }
    // A transition for another binade must not be composed into those of later lanes; the ballot below stops before it.
    const Transition prefix = prefix_transitions(block, transition);
    const bool holds = block.lane() < first || transition_holds(sum, prefix, binade);
    const uint32_t failed = block.ballot(!holds);
    const int stop = failed == 0 ? kLanes : lowest_one(failed);
    if (stop > first) {
        const float after = apply(sum, prefix);
        sum = block.shuffle_from(after, stop - 1);
    }
    return stop;
}

/// Adds a group whose transition does not hold: block by block, for the binade that the sum is really in.
template <class Block>
QC_HD_NOINLINE float add_group(Block& block, float sum, const float* group_terms) {
    int next = 0;
    while (next < kLanes) {
        const uint32_t binade = binade_of(sum);
        const Transition transition = block_transition(group_terms + block.lane(), binade);
        next = apply_while_valid(block, transition, binade, next, sum);
        if (next < kLanes) sum = add_block(sum, group_terms + next);
        ++next;
    }
    return sum;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

/// Of all kernels.
struct BatchArguments {
    const DevicePair* pairs;
    uint64_t* accumulators;
    Scratch scratch;
    Task task;
};

/// One warp per group.
constexpr int kGroupThreads = kTuning.warps * kLanes;

/// The group that this warp works on, or -1.
template <class Block>
QC_HD int group_of_warp(Block& block, const Task& task) {
    const int group = block.x() * kTuning.warps + block.warp();
    return group < task.groups ? group : -1;
}

/// The groups of the plane and pair that this block works on.
struct PlaneGroups {
    size_t first; ///< among those of all pairs
    int count;
};

template <class Block>
QC_HD PlaneGroups groups_of_block(Block& block, const Task& task) {
    const PlaneTask& plane = task.plane[block.x()];
    return {static_cast<size_t>(block.z()) * task.groups + plane.first_group, plane.groups};
}

/// grid: (groups in blocks of warps, 1, pairs)
template <typename T>
struct ComputeTerms : device::KernelOf<BatchArguments, kGroupThreads, kTuning.blocks_per_multiprocessor> {
    template <class Block>
    QC_HD static void run(Block& block, const BatchArguments& arguments) {
        const Task& task = arguments.task;
        const int group = group_of_warp(block, task);
        if (group < 0) return;
        const int p = plane_of_group(task, group);
        const DevicePair& pair = arguments.pairs[block.z()];
        const DevicePlane reference = pair.reference.plane[p], distorted = pair.distorted.plane[p];
        const size_t slot = static_cast<size_t>(block.z()) * task.groups + group;
        const int index = (group - task.plane[p].first_group) * kLanes + block.lane();
        const float sum = score_block<T>(reference, distorted, task.plane[p], index, tables_of(p),
                                         arguments.scratch.terms + slot * kTermsPerGroup + block.lane());
        const float group_sum = device::warp_tree_sum(block, sum);
        if (block.lane() == 0) arguments.scratch.group_sums[slot] = group_sum;
    }
};

/// One warp per plane and pair: where the running sum will be before each group, roughly. grid: (planes, 1, pairs)
struct GuessBinades : device::KernelOf<BatchArguments, kLanes> {
    template <class Block>
    QC_HD static void run(Block& block, const BatchArguments& arguments) {
        const auto [first, groups] = groups_of_block(block, arguments.task);
        const Scratch& scratch = arguments.scratch;
        const int lane = block.lane();
        float before = 0.0f; // all groups of earlier rounds
        for (int base = 0; base < groups; base += kLanes) {
            const int group = base + lane;
            const float own = group < groups ? scratch.group_sums[first + group] : 0.0f;
            float prefix = own;
            QC_UNROLL
            for (int distance = 1; distance < kLanes; distance *= 2) {
                const float left = block.shuffle_up(prefix, distance);
                if (lane >= distance) prefix += left;
            }
            float exclusive = block.shuffle_up(prefix, 1);
            if (lane == 0) exclusive = 0.0f;
            if (group < groups) scratch.binades[first + group] = binade_of(before + exclusive);
            before += block.shuffle_from(prefix, kLanes - 1);
        }
    }
};

/// The groups' transitions for the expected binades. grid: (groups in blocks of warps, 1, pairs)
struct BuildTransitions : device::KernelOf<BatchArguments, kGroupThreads> {
    template <class Block>
    QC_HD static void run(Block& block, const BatchArguments& arguments) {
        const int group = group_of_warp(block, arguments.task);
        if (group < 0) return;
        const Scratch& scratch = arguments.scratch;
        const size_t slot = static_cast<size_t>(block.z()) * arguments.task.groups + group;
        const float* const terms = scratch.terms + slot * kTermsPerGroup;
        const Transition transition =
            prefix_transitions(block, block_transition(terms + block.lane(), scratch.binades[slot]));
        if (block.lane() == kLanes - 1) scratch.transitions[slot] = transition;
    }
};

/// The running sum over the groups of a plane.
template <class Block>
QC_HD float walk(Block& block, const Scratch& scratch, const PlaneGroups& plane) {
    const auto [first, groups] = plane;
    const int lane = block.lane();
    float sum = 0.0f; // the same in all lanes
    for (int base = 0; base < groups; base += kLanes) {
        const bool present = base + lane < groups;
        const Transition transition = present ? scratch.transitions[first + base + lane] : identity_transition();
        const uint32_t guessed = present ? scratch.binades[first + base + lane] : 0;
        int next = 0;
        while (next < kLanes && base + next < groups) {
            // Groups beyond the last one add nothing, whatever the binade.
            const uint32_t binade = present ? guessed : binade_of(sum);
            next = apply_while_valid(block, transition, binade, next, sum);
            if (next < kLanes && base + next < groups) {
                sum = add_group(block, sum, scratch.terms + (first + base + next) * kTermsPerGroup);
            }
            ++next;
        }
    }
    return sum;
}

/// One warp per plane and pair: the running sum. grid: (planes, 1, pairs)
/// @tparam kWords accumulators of a pair
template <int kWords>
struct WalkGroups : device::KernelOf<BatchArguments, kLanes> {
    template <class Block>
    QC_HD static void run(Block& block, const BatchArguments& arguments) {
        const float sum = walk(block, arguments.scratch, groups_of_block(block, arguments.task));
        if (block.lane() == 0) {
            const size_t output = static_cast<size_t>(arguments.pairs[block.z()].output) * kWords;
            arguments.accumulators[output + block.x()] = device::bits_of(static_cast<double>(sum));
        }
    }
};

// ---- with weights: two steps between the terms of all blocks and what is done with them -----------------------------

struct WeightedArguments {
    BatchArguments batch; ///< kWeightedWords accumulators of a pair
    uint32_t* weights;    ///< of the blocks, as their terms lie: that of a group's block l at [l]
    sse::WeightedPlane plane[kPlanes];
};

inline size_t weight_bytes_of(const Task& task, int count) {
    return static_cast<size_t>(task.groups) * static_cast<size_t>(count) * kLanes * sizeof(uint32_t);
}

/// The group of a warp, if it has one. @param visit (group, plane)
template <class Block, class Visit>
QC_HD void visit_group(Block& block, const Task& task, const Visit& visit) {
    const int group = group_of_warp(block, task);
    if (group >= 0) visit(group, plane_of_group(task, group));
}

/// A group's place in the batch.
template <class Block>
QC_HD size_t slot_of(Block& block, const Task& task, int group) {
    return static_cast<size_t>(block.z()) * task.groups + group;
}

/// What the blocks weigh, and the sum of that. grid: (groups in blocks of warps, 1, pairs)
struct WeighBlocks : device::KernelOf<WeightedArguments, kGroupThreads> {
    template <class Block>
    QC_HD static void run(Block& block, const WeightedArguments& arguments) {
        visit_group(block, arguments.batch.task, [&](int group, int p) {
            const PlaneTask& plane = arguments.batch.task.plane[p];
            const DevicePair& pair = arguments.batch.pairs[block.z()];
            const int index = (group - plane.first_group) * kLanes + block.lane();
            uint32_t weight = 0;
            if (index < plane.blocks)
                weight = weight_of_block(arguments.plane[p], WeightReader(pair.weights),
                                         index % plane.blocks_x * kBlockStep, index / plane.blocks_x * kBlockStep);
            arguments.weights[slot_of(block, arguments.batch.task, group) * kLanes + block.lane()] = weight;
            const uint64_t sum = block.warp_sum(weight);
            if (block.lane() == 0)
                block.atomic_add(arguments.batch.accumulators + static_cast<size_t>(pair.output) * kWeightedWords +
                                     kSumsOfWeights + p,
                                 sum);
        });
    }
};

/// Lets the terms count, and adds them up again, roughly. grid: (groups in blocks of warps, 1, pairs)
struct WeighTerms : device::KernelOf<WeightedArguments, kGroupThreads> {
    template <class Block>
    QC_HD static void run(Block& block, const WeightedArguments& arguments) {
        visit_group(block, arguments.batch.task, [&](int group, int p) {
            const size_t slot = slot_of(block, arguments.batch.task, group);
            const size_t output = arguments.batch.pairs[block.z()].output;
            const float factor = factor_of(arguments.weights[slot * kLanes + block.lane()],
                                           arguments.batch.accumulators[output * kWeightedWords + kSumsOfWeights + p],
                                           arguments.batch.task.plane[p].blocks);
            float* const terms = arguments.batch.scratch.terms + slot * kTermsPerGroup + block.lane();
            float sum = 0.0f;
            QC_UNROLL
            for (int i = 0; i < kBlockSize; ++i) {
                const float term = terms[i * kLanes] * factor;
                terms[i * kLanes] = term;
                sum = sum + term;
            }
            const float group_sum = device::warp_tree_sum(block, sum);
            if (block.lane() == 0) arguments.batch.scratch.group_sums[slot] = group_sum;
        });
    }
};

#define QC_PSNR_HVS_KERNELS(KERNEL)                                                                                    \
    KERNEL(psnr_hvs_terms_u8, ComputeTerms<uint8_t>)                                                                   \
    KERNEL(psnr_hvs_terms_u16, ComputeTerms<uint16_t>)                                                                 \
    KERNEL(psnr_hvs_guess, GuessBinades)                                                                               \
    KERNEL(psnr_hvs_transitions, BuildTransitions)                                                                     \
    KERNEL(psnr_hvs_walk, WalkGroups<kPlanes>)                                                                         \
    KERNEL(psnr_hvs_weigh_blocks, WeighBlocks)                                                                         \
    KERNEL(psnr_hvs_weigh_terms, WeighTerms)                                                                           \
    KERNEL(psnr_hvs_walk_weighted, WalkGroups<kWeightedWords>)
QC_DECLARE_KERNELS(QC_PSNR_HVS_KERNELS)

} // namespace qc::psnr_hvs
