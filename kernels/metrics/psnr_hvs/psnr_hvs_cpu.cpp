// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <bit>

#include "device/cpu_clones.hpp"
#include "metrics/psnr_hvs/psnr_hvs.hpp"
#include "metrics/psnr_hvs/psnr_hvs_math.hpp"

namespace qc::psnr_hvs {
namespace {

template <typename T>
void load_block(Plane<const T> plane, int x, int y, Matrix* block) {
    for (int row = 0; row < kBlockSide; ++row) {
        const T* samples = plane.row(y + row) + x;
        for (int column = 0; column < kBlockSide; ++column) block->at[row * kBlockSide + column] = samples[column];
    }
}

/// Transforms the block. @return how strongly it masks errors
QC_CPU_CLONES float analyse(Matrix* block, const PlaneTables* tables) {
    const float ratio = masking_ratio(*block);
    transform(*block);
    return mask_strength(*block, ratio, *tables);
}

QC_CPU_CLONES void error_terms(const Matrix* reference, const Matrix* distorted, float strength,
                               const PlaneTables* tables, float* terms) {
    for (int i = 0; i < kBlockSize; ++i) {
        terms[i] = error_term(i, reference->at[i] - distorted->at[i], strength, *tables);
    }
}

template <typename T>
float sum_plane(Plane<const T> reference, Plane<const T> distorted, int width, int height, const PlaneTables& tables) {
    float sum = 0.0f;
    for (int y = 0; y + kBlockSide <= height; y += kBlockStep) {
        for (int x = 0; x + kBlockSide <= width; x += kBlockStep) {
            Matrix a, b;
            load_block(reference, x, y, &a);
            load_block(distorted, x, y, &b);
            const float strength_a = analyse(&a, &tables), strength_b = analyse(&b, &tables);
            float terms[kBlockSize];
            error_terms(&a, &b, std::max(strength_a, strength_b), &tables, terms);
            // One running sum in raster order: where it is large, small terms are rounded away, as in libvmaf.
            for (const float term : terms) sum = sum + term;
        }
    }
    return sum;
}

} // namespace

void score_cpu(const FrameGeometry& geometry, const HostPair& pair, std::span<uint64_t> accumulators) {
    for (int p = 0; p < kPlanes; ++p) {
        const HostPlane &reference = pair.reference.plane[p], &distorted = pair.distorted.plane[p];
        const int width = geometry.plane_width(p), height = geometry.plane_height(p);
        const double sum =
            geometry.sample == SampleType::kU8
                ? sum_plane(reference.as<uint8_t>(), distorted.as<uint8_t>(), width, height, tables_of(p))
                : sum_plane(reference.as<uint16_t>(), distorted.as<uint16_t>(), width, height, tables_of(p));
        accumulators[p] = std::bit_cast<uint64_t>(sum);
    }
}

} // namespace qc::psnr_hvs
