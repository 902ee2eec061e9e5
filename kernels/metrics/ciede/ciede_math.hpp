// SPDX-License-Identifier: BSD-2-Clause-Patent
// Constants of CIEDE2000 as libvmaf uses it, and which chroma sample belongs to a luma sample.
#pragma once

#include <cstdint>

#include "contract/types.hpp"

namespace qc::ciede {

/// Accumulators: the sum of the differences, and with weights that of the weights.
enum Word { kDifferences, kWeights, kWeightedWords };

// ---- from Y'CbCr to CIE Lab
constexpr double kRedFromV = 1.28033, kGreenFromU = 0.21482, kGreenFromV = 0.38059, kBlueFromU = 2.12798;
/// Rows: X, Y, Z. Columns: linear red, green, blue.
constexpr double kTristimulus[3][3] = {{0.4124564390896921, 0.357576077643909, 0.18043748326639894},
                                       {0.21267285140562248, 0.715152155287818, 0.07217499330655958},
                                       {0.019333895582329317, 0.119192025881303, 0.9503040785363677}};
constexpr double kWhiteX = 0.95047, kWhiteZ = 1.08883;
constexpr double kCurveThreshold = 216.0 / 24389.0, kCurveSlope = 24389.0 / 27.0;

// ---- the difference. k_C is 1.
constexpr float kLightnessWeight = 0.65f, kHueWeight = 4.0f;
constexpr double kChromaKnee = 6103515625.0; ///< 25^7

struct Sample {
    uint32_t y, u, v;
    bool operator==(const Sample&) const = default;
};

struct Lab {
    float lightness, a, b;
};

/// Chroma samples are repeated for the luma samples they cover.
struct ChromaGrid {
    int width, height;    ///< of a chroma plane
    int shift_x, shift_y; ///< 1 where chroma has half the samples

    QC_HD int column(int x) const { return (x >> shift_x) < width ? x >> shift_x : width - 1; }
    QC_HD int row(int y) const { return (y >> shift_y) < height ? y >> shift_y : height - 1; }
};

inline ChromaGrid make_chroma_grid(const FrameGeometry& geometry) {
    return {geometry.chroma_width, geometry.chroma_height, geometry.chroma_width != geometry.width ? 1 : 0,
            geometry.chroma_height != geometry.height ? 1 : 0};
}

/// How codes become x = (c + 0.055) / 1.055 of the channels c, whose power is linear light.
struct CodeScale {
    double luma; ///< of all channels
    double red_v, green_u, green_v, blue_u;
    double red, green, blue; ///< constant terms
};

inline CodeScale scale_of(int depth) {
    const double scale = 1 << (depth - 8);
    const double black = 0.055 - 16.0 / 219.0, middle = 128.0 / 224.0, chroma = 1.0 / (224.0 * scale * 1.055);
    return {.luma = 1.0 / (219.0 * scale * 1.055),
            .red_v = kRedFromV * chroma,
            .green_u = -kGreenFromU * chroma,
            .green_v = -kGreenFromV * chroma,
            .blue_u = kBlueFromU * chroma,
            .red = (black - kRedFromV * middle) / 1.055,
            .green = (black + (kGreenFromU + kGreenFromV) * middle) / 1.055,
            .blue = (black - kBlueFromU * middle) / 1.055};
}

} // namespace qc::ciede
