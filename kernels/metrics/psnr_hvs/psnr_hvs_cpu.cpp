// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sixteen neighbouring blocks at a time, side by side: every operation of the definition is a loop over them, which the
// compiler vectorises, and the order of operations within a block stays what it is.
#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "device/cpu_clones.hpp"
#include "metrics/psnr_hvs/psnr_hvs.hpp"
#include "metrics/psnr_hvs/psnr_hvs_weights.hpp"

namespace qc::psnr_hvs {
namespace {

constexpr int kBlocks = 16;

/// A number for each block.
template <typename T>
struct PerBlock {
    T of[kBlocks] = {};
};

/// Samples or coefficients: at[i] are those with number i, in raster order, of all blocks.
struct Matrices {
    PerBlock<int32_t> at[kBlockSize];
};

/// The block at (x, y).
template <typename T>
QC_INLINE_HELPER void load_block(Plane<const T> plane, int x, int y, int block, Matrices* blocks) {
    for (int row = 0; row < kBlockSide; ++row) {
        const T* const samples = plane.row(y + row) + x;
        PerBlock<int32_t>* const to = blocks->at + row * kBlockSide;
        for (int column = 0; column < kBlockSide; ++column) to[column].of[block] = samples[column];
    }
}

QC_INLINE_HELPER void transform_lines(PerBlock<int32_t>* first, int stride) {
    int32_t* lines = first->of;
#pragma GCC ivdep
    for (int block = 0; block < kBlocks; ++block) transform_line(lines + block, stride * kBlocks);
}

QC_INLINE_HELPER void transform_blocks(Matrices* blocks) {
    for (int column = 0; column < kBlockSide; ++column) transform_lines(blocks->at + column, kBlockSide);
    for (int row = 0; row < kBlockSide; ++row) transform_lines(blocks->at + row * kBlockSide, 1);
}

/// sum += (value - mean)^2
QC_INLINE_HELPER void add_deviation(const PerBlock<int32_t>& value, const PerBlock<float>& mean, PerBlock<float>* sum) {
    for (int block = 0; block < kBlocks; ++block) {
        const float deviation = static_cast<float>(value.of[block]) - mean.of[block];
        sum->of[block] = sum->of[block] + deviation * deviation;
    }
}

/// masking_ratio() of every block.
QC_INLINE_HELPER PerBlock<float> masking_ratios(const Matrices& samples) {
    PerBlock<int32_t> sum, quadrant_sum[4];
    for (int i = 0; i < kBlockSize; ++i)
        for (int block = 0; block < kBlocks; ++block) quadrant_sum[quadrant_of(i)].of[block] += samples.at[i].of[block];
    PerBlock<float> mean, quadrant_mean[4];
    for (int k = 0; k < 4; ++k)
        for (int block = 0; block < kBlocks; ++block) {
            sum.of[block] += quadrant_sum[k].of[block];
            quadrant_mean[k].of[block] = static_cast<float>(quadrant_sum[k].of[block]) / 16.0f;
        }
    for (int block = 0; block < kBlocks; ++block) mean.of[block] = static_cast<float>(sum.of[block]) / 64.0f;
    PerBlock<float> energy, quadrant_energy[4];
    for (int i = 0; i < kBlockSize; ++i) {
        add_deviation(samples.at[i], mean, &energy);
        add_deviation(samples.at[i], quadrant_mean[quadrant_of(i)], &quadrant_energy[quadrant_of(i)]);
    }
    PerBlock<float> ratios;
    for (int block = 0; block < kBlocks; ++block) {
        const float quadrants[4] = {quadrant_energy[0].of[block], quadrant_energy[1].of[block],
                                    quadrant_energy[2].of[block], quadrant_energy[3].of[block]};
        ratios.of[block] = ratio_of_energies(energy.of[block], quadrants);
    }
    return ratios;
}

/// Transforms the blocks. @return how strongly each masks errors
QC_CPU_CLONES void analyse(Matrices* blocks, const PlaneTables* tables, PerBlock<float>* strengths) {
    const PerBlock<float> ratios = masking_ratios(*blocks);
    transform_blocks(blocks);
    PerBlock<float> energy;
    for (int i = 1; i < kBlockSize; ++i) {
        const float masking = tables->masking[i];
        for (int block = 0; block < kBlocks; ++block) {
            const auto coefficient = static_cast<float>(blocks->at[i].of[block]);
            energy.of[block] = energy.of[block] + (coefficient * coefficient) * masking;
        }
    }
    for (int block = 0; block < kBlocks; ++block)
        strengths->of[block] = strength_of(energy.of[block], ratios.of[block]);
}

QC_CPU_CLONES void error_terms(const Matrices* reference, const Matrices* distorted, const PerBlock<float>* strengths,
                               const PlaneTables* tables, PerBlock<float>* terms) {
    for (int i = 0; i < kBlockSize; ++i)
        for (int block = 0; block < kBlocks; ++block)
            terms[i].of[block] =
                error_term(i, reference->at[i].of[block] - distorted->at[i].of[block], strengths->of[block], *tables);
}

/// Of blocks that count as often as `factors` say.
void weigh_terms(const float* factors, int count, PerBlock<float>* terms) {
    for (int i = 0; i < kBlockSize; ++i)
        for (int block = 0; block < count; ++block) terms[i].of[block] *= factors[block];
}

/// Of the blocks of a plane with weights, in raster order. @param sum_of_weights receives their sum
std::vector<float> factors_under(const HostPlane& sample_weights, const sse::WeightedPlane& plane,
                                 uint64_t* sum_of_weights) {
    const WeightReader reader(sample_weights);
    std::vector<uint32_t> weights;
    for (int y = 0; y + kBlockSide <= plane.height; y += kBlockStep)
        for (int x = 0; x + kBlockSide <= plane.width; x += kBlockStep)
            weights.push_back(weight_of_block(plane, reader, x, y));
    *sum_of_weights = std::accumulate(weights.begin(), weights.end(), uint64_t{0});
    std::vector<float> factors;
    factors.reserve(weights.size());
    for (const uint32_t weight : weights)
        factors.push_back(factor_of(weight, *sum_of_weights, static_cast<int>(weights.size())));
    return factors;
}

/// @param factors how often the blocks count, in raster order; null: each once
template <typename T>
float sum_plane(Plane<const T> reference, Plane<const T> distorted, int width, int height, const PlaneTables& tables,
                const float* factors) {
    const int columns = (width - kBlockSide) / kBlockStep + 1;
    Matrices a, b;
    PerBlock<float> strengths_a, strengths_b, terms[kBlockSize];
    float sum = 0.0f;
    // One running sum in raster order: where it is large, small terms are rounded away, as in libvmaf.
    const auto add_terms = [&](int block) {
        for (const PerBlock<float>& term : terms) sum = sum + term.of[block];
    };
    int waiting = 0; // blocks whose terms are still to be added
    for (int y = 0; y + kBlockSide <= height; y += kBlockStep) {
        for (int column = 0; column < columns; column += kBlocks) {
            const int count = std::min(kBlocks, columns - column);
            // While each addition waits for the one before, the next samples are fetched.
            for (int block = 0; block < kBlocks; ++block) {
                if (block < waiting) add_terms(block);
                if (block >= count) continue; // what is there stays
                const int x = (column + block) * kBlockStep;
                load_block(reference, x, y, block, &a);
                load_block(distorted, x, y, block, &b);
            }
            analyse(&a, &tables, &strengths_a);
            analyse(&b, &tables, &strengths_b);
            for (int block = 0; block < kBlocks; ++block)
                strengths_a.of[block] = std::max(strengths_a.of[block], strengths_b.of[block]);
            error_terms(&a, &b, &strengths_a, &tables, terms);
            if (factors != nullptr) weigh_terms(factors + y / kBlockStep * columns + column, count, terms);
            waiting = count;
        }
    }
    for (int block = 0; block < waiting; ++block) add_terms(block);
    return sum;
}

} // namespace

void score_cpu(const FrameGeometry& geometry, const HostPair& pair, std::span<uint64_t> accumulators) {
    for (int p = 0; p < kPlanes; ++p) {
        const HostPlane &reference = pair.reference.plane[p], &distorted = pair.distorted.plane[p];
        const int width = geometry.plane_width(p), height = geometry.plane_height(p);
        std::vector<float> weighed;
        if (geometry.has_weights)
            weighed = factors_under(pair.weights, sse::weighted_plane(geometry, p),
                                    &accumulators[static_cast<size_t>(kSumsOfWeights + p)]);
        const float* const factors = geometry.has_weights ? weighed.data() : nullptr;
        const double sum =
            geometry.sample == SampleType::kU8
                ? sum_plane(reference.as<uint8_t>(), distorted.as<uint8_t>(), width, height, tables_of(p), factors)
                : sum_plane(reference.as<uint16_t>(), distorted.as<uint16_t>(), width, height, tables_of(p), factors);
        accumulators[p] = std::bit_cast<uint64_t>(sum);
    }
}

} // namespace qc::psnr_hvs
