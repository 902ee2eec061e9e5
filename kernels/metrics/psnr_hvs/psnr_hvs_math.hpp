// SPDX-License-Identifier: BSD-2-Clause-Patent
// Arithmetic of one 8 x 8 block: integer transform, contrast masking, weighted errors. Single precision, every
// operation rounded by itself and in a fixed order, so that host and device agree to the last bit.
//
// K. Egiazarian et al., "New full-reference quality metrics based on HVS", VPQM 2006; N. Ponomarenko et al., "On
// between-coefficient contrast masking of DCT basis functions", VPQM 2007. The transform and the sensitivity tables are
// those of the Daala project's variant, which libvmaf measures with.
#pragma once

#include <cstdint>

#if !defined(__CUDA_ARCH__)
#include <cmath>
#endif

#include "contract/types.hpp"
#include "device/unroll.hpp"

namespace qc::psnr_hvs {

constexpr int kPlanes = 3;
constexpr int kBlockSide = 8;
constexpr int kBlockStep = 7; ///< neighbouring blocks share one row or column
constexpr int kBlockSize = kBlockSide * kBlockSide;

/// Samples or coefficients of a block in raster order; rows of coefficients are vertical frequencies.
struct Matrix {
    int32_t at[kBlockSize];
};

// ---- sensitivity ----------------------------------------------------------------------------------------------------

/// Contrast sensitivity by plane (Y, Cb, Cr). The chroma tables were made for 4:2:0 and serve all formats.
constexpr float kSensitivity[kPlanes][kBlockSize] = {
    // clang-format off
    {1.6193873005f, 2.2901594831f, 2.08509755623f, 1.48366094411f, 1.00227514334f, 0.678296995242f, 0.466224900598f, 0.3265091542f,
     2.2901594831f, 1.94321815382f, 2.04793073064f, 1.68731108984f, 1.2305666963f, 0.868920337363f, 0.61280991668f, 0.436405793551f,
     2.08509755623f, 2.04793073064f, 1.34329019223f, 1.09205635862f, 0.875748795257f, 0.670882927016f, 0.501731932449f, 0.372504254596f,
     1.48366094411f, 1.68731108984f, 1.09205635862f, 0.772819797575f, 0.605636379554f, 0.48309405692f, 0.380429446972f, 0.295774038565f,
     1.00227514334f, 1.2305666963f, 0.875748795257f, 0.605636379554f, 0.448996256676f, 0.352889268808f, 0.283006984131f, 0.226951348204f,
     0.678296995242f, 0.868920337363f, 0.670882927016f, 0.48309405692f, 0.352889268808f, 0.27032073436f, 0.215017739696f, 0.17408067321f,
     0.466224900598f, 0.61280991668f, 0.501731932449f, 0.380429446972f, 0.283006984131f, 0.215017739696f, 0.168869545842f, 0.136153931001f,
     0.3265091542f, 0.436405793551f, 0.372504254596f, 0.295774038565f, 0.226951348204f, 0.17408067321f, 0.136153931001f, 0.109083846276f},
    // clang-format on
    // clang-format off
    {1.91113096927f, 2.46074210438f, 1.18284184739f, 1.14982565193f, 1.05017074788f, 0.898018824055f, 0.74725392039f, 0.615105596242f,
     2.46074210438f, 1.58529308355f, 1.21363250036f, 1.38190029285f, 1.33100189972f, 1.17428548929f, 0.996404342439f, 0.830890433625f,
     1.18284184739f, 1.21363250036f, 0.978712413627f, 1.02624506078f, 1.03145147362f, 0.960060382087f, 0.849823426169f, 0.731221236837f,
     1.14982565193f, 1.38190029285f, 1.02624506078f, 0.861317501629f, 0.801821139099f, 0.751437590932f, 0.685398513368f, 0.608694761374f,
     1.05017074788f, 1.33100189972f, 1.03145147362f, 0.801821139099f, 0.676555426187f, 0.605503172737f, 0.55002013668f, 0.495804539034f,
     0.898018824055f, 1.17428548929f, 0.960060382087f, 0.751437590932f, 0.605503172737f, 0.514674450957f, 0.454353482512f, 0.407050308965f,
     0.74725392039f, 0.996404342439f, 0.849823426169f, 0.685398513368f, 0.55002013668f, 0.454353482512f, 0.389234902883f, 0.342353999733f,
     0.615105596242f, 0.830890433625f, 0.731221236837f, 0.608694761374f, 0.495804539034f, 0.407050308965f, 0.342353999733f, 0.295530605237f},
    // clang-format on
    // clang-format off
    {2.03871978502f, 2.62502345193f, 1.26180942886f, 1.11019789803f, 1.01397751469f, 0.867069376285f, 0.721500455585f, 0.593906509971f,
     2.62502345193f, 1.69112867013f, 1.17180569821f, 1.3342742857f, 1.28513006198f, 1.13381474809f, 0.962064122248f, 0.802254508198f,
     1.26180942886f, 1.17180569821f, 0.944981930573f, 0.990876405848f, 0.995903384143f, 0.926972725286f, 0.820534991409f, 0.706020324706f,
     1.11019789803f, 1.3342742857f, 0.990876405848f, 0.831632933426f, 0.77418706195f, 0.725539939514f, 0.661776842059f, 0.587716619023f,
     1.01397751469f, 1.28513006198f, 0.995903384143f, 0.77418706195f, 0.653238524286f, 0.584635025748f, 0.531064164893f, 0.478717061273f,
     0.867069376285f, 1.13381474809f, 0.926972725286f, 0.725539939514f, 0.584635025748f, 0.496936637883f, 0.438694579826f, 0.393021669543f,
     0.721500455585f, 0.962064122248f, 0.820534991409f, 0.661776842059f, 0.531064164893f, 0.438694579826f, 0.375820256136f, 0.330555063063f,
     0.593906509971f, 0.802254508198f, 0.706020324706f, 0.587716619023f, 0.478717061273f, 0.393021669543f, 0.330555063063f, 0.285345396658f},
    // clang-format on
};

/// What the errors of one plane are weighted with.
struct PlaneTables {
    float sensitivity[kBlockSize];
    float masking[kBlockSize];         ///< squared sensitivity in units of the masking model
    float inverse_masking[kBlockSize]; ///< rounded reciprocal, for divide()
};

constexpr PlaneTables make_tables(int plane) {
    constexpr double kMaskingScale = 0.3885746225901003;
    PlaneTables tables{};
    for (int i = 0; i < kBlockSize; ++i) {
        const double scaled = static_cast<double>(kSensitivity[plane][i]) * kMaskingScale;
        tables.sensitivity[i] = kSensitivity[plane][i];
        tables.masking[i] = static_cast<float>(scaled * scaled);
        tables.inverse_masking[i] = 1.0f / tables.masking[i];
    }
    return tables;
}

constexpr PlaneTables kPlaneTables[kPlanes] = {make_tables(0), make_tables(1), make_tables(2)};

#if defined(__CUDACC__)
static __constant__ PlaneTables device_tables[kPlanes] = {make_tables(0), make_tables(1), make_tables(2)};
#endif

QC_HD const PlaneTables& tables_of(int plane) {
#if defined(__CUDA_ARCH__)
    return device_tables[plane];
#else
    return kPlaneTables[plane];
#endif
}

// ---- integer transform ----------------------------------------------------------------------------------------------

/// a / 2, rounded towards zero.
QC_HD int32_t half(int32_t a) {
    return (a + static_cast<int32_t>(static_cast<uint32_t>(a) >> 31)) >> 1;
}

/// a * factor / 2^shift, halves rounded up.
template <int kFactor, int kShift>
QC_HD int32_t scaled(int32_t a) {
    return (a * kFactor + (1 << (kShift - 1))) >> kShift;
}

/// Eight-point DCT by lifting steps, in place over values that lie `stride` apart. At most 12-bit samples fit.
QC_HD void transform_line(int32_t* line, int stride) {
    const int32_t x0 = line[0], x1 = line[stride], x2 = line[2 * stride], x3 = line[3 * stride];
    const int32_t x4 = line[4 * stride], x5 = line[5 * stride], x6 = line[6 * stride], x7 = line[7 * stride];
    // Butterflies of mirrored samples.
    int32_t odd0 = x0 - x7;
    const int32_t sum0 = x0 - half(odd0);
    const int32_t sum1 = x1 + x6;
    int32_t odd1 = x6 - half(sum1);
    int32_t odd2 = x2 - x5;
    const int32_t sum2 = x2 - half(odd2);
    const int32_t sum3 = x3 + x4;
    int32_t odd3 = half(sum3) - x4;
    // Even coefficients.
    int32_t even0 = sum0 + half(sum3);
    int32_t even1 = even0 - sum3;
    int32_t even2 = half(sum1) - sum2;
    int32_t even3 = even2 - sum1;
    even0 -= scaled<13573, 15>(even3);
    even3 += scaled<11585, 14>(even0);
    even0 -= scaled<13573, 15>(even3);
    even1 -= scaled<21895, 15>(even2);
    even2 += scaled<15137, 14>(even1);
    even1 -= scaled<21895, 15>(even2);
    // Odd coefficients.
    odd2 += scaled<19195, 15>(odd1);
    odd1 += scaled<11585, 14>(odd2);
    odd2 -= scaled<7489, 13>(odd1);
    odd3 = half(odd1) - odd3;
    odd1 -= odd3;
    odd2 = half(odd0) - odd2;
    odd0 -= odd2;
    odd3 += scaled<3227, 15>(odd0);
    odd0 -= scaled<6393, 15>(odd3);
    odd3 += scaled<3227, 15>(odd0);
    odd1 += scaled<2485, 13>(odd2);
    odd2 -= scaled<18205, 15>(odd1);
    odd1 += scaled<2485, 13>(odd2);

    line[0] = even0;
    line[stride] = odd0;
    line[2 * stride] = even2;
    line[3 * stride] = odd2;
    line[4 * stride] = even3;
    line[5 * stride] = odd1;
    line[6 * stride] = even1;
    line[7 * stride] = odd3;
}

/// Columns, then rows.
QC_HD void transform(Matrix& block) {
    QC_UNROLL
    for (int column = 0; column < kBlockSide; ++column) transform_line(block.at + column, kBlockSide);
    QC_UNROLL
    for (int row = 0; row < kBlockSide; ++row) transform_line(block.at + row * kBlockSide, 1);
}

// ---- masking --------------------------------------------------------------------------------------------------------

QC_HD int quadrant_of(int i) {
    return i / (kBlockSize / 2) + 2 * (i % kBlockSide / (kBlockSide / 2));
}

/// masking_ratio() from the sums of squares around the means, of the block and of its quadrants.
QC_HD float ratio_of_energies(float energy, const float (&quadrant_energy)[4]) {
    // They become unbiased variances times the number of samples.
    constexpr float kBlockFactor = 1.0f / 63 * 64, kQuadrantFactor = 1.0f / 15 * 16;
    energy = energy * kBlockFactor;
    float sum = quadrant_energy[0] * kQuadrantFactor;
    QC_UNROLL
    for (int k = 1; k < 4; ++k) sum = sum + quadrant_energy[k] * kQuadrantFactor;
    return energy > 0.0f ? sum / energy : energy;
}

/// Energy of the quadrants around their means over that of the block around its mean: small where the block's energy
/// is an edge between quadrants, which masks little.
QC_HD float masking_ratio(const Matrix& samples) {
    int32_t sum = 0, quadrant_sum[4] = {};
    QC_UNROLL
    for (int i = 0; i < kBlockSize; ++i) quadrant_sum[quadrant_of(i)] += samples.at[i];
    float quadrant_mean[4];
    QC_UNROLL
    for (int k = 0; k < 4; ++k) {
        sum += quadrant_sum[k];
        quadrant_mean[k] = static_cast<float>(quadrant_sum[k]) / 16.0f;
    }
    const float mean = static_cast<float>(sum) / 64.0f;
    float energy = 0.0f, quadrant_energy[4] = {};
    QC_UNROLL
    for (int i = 0; i < kBlockSize; ++i) {
        const int k = quadrant_of(i);
        const float sample = static_cast<float>(samples.at[i]);
        const float from_mean = sample - mean, from_quadrant_mean = sample - quadrant_mean[k];
        energy = energy + from_mean * from_mean;
        quadrant_energy[k] = quadrant_energy[k] + from_quadrant_mean * from_quadrant_mean;
    }
    return ratio_of_energies(energy, quadrant_energy);
}

/// @param energy of all coefficients but DC, weighted
QC_HD float strength_of(float energy, float ratio) {
#if defined(__CUDA_ARCH__)
    return __fsqrt_rn(energy * ratio) / 32.0f;
#else
    return std::sqrt(energy * ratio) / 32.0f;
#endif
}

/// How strongly a picture's block masks errors.
QC_HD float masking_strength(const Matrix& coefficients, float ratio, const PlaneTables& tables) {
    float energy = 0.0f;
    QC_UNROLL
    for (int i = 1; i < kBlockSize; ++i) {
        const float coefficient = static_cast<float>(coefficients.at[i]);
        energy = energy + (coefficient * coefficient) * tables.masking[i];
    }
    return strength_of(energy, ratio);
}

// ---- errors ---------------------------------------------------------------------------------------------------------

/// numerator / denominator, rounded correctly, from the rounded reciprocal of the denominator. The first correction
/// brings the quotient within one unit of the last place, the second one rounds it (P. Markstein, IBM J. Res. Dev.
/// 34(1), 1990). Neither operand is near the ends of the range here.
QC_HD float divide(float numerator, float denominator, float reciprocal) {
#if defined(__CUDA_ARCH__)
    float quotient = numerator * reciprocal;
    quotient = __fmaf_rn(__fmaf_rn(-quotient, denominator, numerator), reciprocal, quotient);
    return __fmaf_rn(__fmaf_rn(-quotient, denominator, numerator), reciprocal, quotient);
#else
    (void)reciprocal;
    return numerator / denominator;
#endif
}

/// Weighted squared error of coefficient i. `strength` is the larger one of both pictures; DC is never masked.
QC_HD float error_term(int i, int32_t difference, float strength, const PlaneTables& tables) {
    float error = static_cast<float>(difference < 0 ? -difference : difference);
    if (i > 0) {
        const float threshold = divide(strength, tables.masking[i], tables.inverse_masking[i]);
        error = error < threshold ? 0.0f : error - threshold;
    }
    const float weighted = error * tables.sensitivity[i];
    return weighted * weighted;
}

} // namespace qc::psnr_hvs
