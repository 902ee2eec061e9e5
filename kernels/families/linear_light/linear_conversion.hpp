// SPDX-License-Identifier: BSD-2-Clause-Patent
// From the codes of a picture to linear light: what has to be done, as plain data, and how chroma comes to the size of
// luma. Shared by both backends: the CPU evaluates it in double precision, CUDA in single precision.
#pragma once

#include <cstdint>

#include "contract/types.hpp"

namespace qc::linear_light {

enum class ChromaFilter : int32_t { kCatmullRom, kBilinear, kNearest };

/// How one axis of the chroma planes relates to luma.
struct ChromaAxis {
    int32_t log2_factor; ///< 0: as many samples as luma; 1: half as many, rounded up
    int32_t centred;     ///< luma sample i lies at chroma position (i - 0.5) / 2 if 1, at i / 2 if 0
    bool operator==(const ChromaAxis&) const = default;
};

/// What happens to R'G'B' beyond [0, 1].
enum class Gamut : int32_t {
    kClip,  ///< clipped to [0, 1]
    kFloor, ///< below 0 becomes 0, above 1 is kept
    kExtend ///< kept; the transfer function is extended to negative values by odd symmetry
};

/// From non-linear R'G'B' to linear light.
enum class Transfer : int32_t {
    kLinear,
    kPower, ///< v ^ exponent
    kSrgb,  ///< IEC 61966-2-1
    kBt709, ///< inverse of the camera curve of BT.709
    kPq,    ///< SMPTE ST 2084, times light_scale
    kHlg ///< ARIB STD-B67: inverse OETF, then the OOTF for 1000 cd/m2 (needs all three components), times light_scale
};

/// From the codes of one input to linear RGB with BT.709 primaries, 1.0 being reference white. In this order:
///   1. every sample is clamped to [code_low, code_high] of its plane if clamp_codes,
///   2. chroma planes are brought to luma size (they are absent if planes is 1),
///   3. R'G'B'[i] = sum over planes p of matrix[i][p] * (sample[p] - origin[p]),
///   4. gamut, 5. transfer function, 6. rgb = primaries * rgb if convert_primaries.
/// Pictures of RGB samples have their planes in the order G, B, R; the matrix sorts that out.
template <typename Real>
struct ColourConversion {
    int32_t planes; ///< 1 (grey) or 3
    int32_t clamp_codes;
    Real code_low[3], code_high[3];
    ChromaFilter chroma_filter;
    ChromaAxis axis_x, axis_y; ///< both factors 1 for 4:4:4 and RGB
    Real origin[3];            ///< code of zero, e.g. 16, 128, 128
    Real matrix[3][3];         ///< [R, G, B][plane]; columns 1 and 2 are 0 for grey
    Gamut gamut;
    Transfer transfer;
    Real exponent;    ///< of Transfer::kPower
    Real light_scale; ///< of kPq: 10000 / white, of kHlg: 1000 / white, in cd/m2
    int32_t convert_primaries;
    Real primaries[3][3];
    bool operator==(const ColourConversion&) const = default;
};

/// The same in single precision.
inline ColourConversion<float> to_single(const ColourConversion<double>& from) {
    ColourConversion<float> to{};
    to.planes = from.planes;
    to.clamp_codes = from.clamp_codes;
    to.chroma_filter = from.chroma_filter;
    to.axis_x = from.axis_x;
    to.axis_y = from.axis_y;
    to.gamut = from.gamut;
    to.transfer = from.transfer;
    to.exponent = static_cast<float>(from.exponent);
    to.light_scale = static_cast<float>(from.light_scale);
    to.convert_primaries = from.convert_primaries;
    for (int i = 0; i < 3; ++i) {
        to.code_low[i] = static_cast<float>(from.code_low[i]);
        to.code_high[i] = static_cast<float>(from.code_high[i]);
        to.origin[i] = static_cast<float>(from.origin[i]);
        for (int j = 0; j < 3; ++j) {
            to.matrix[i][j] = static_cast<float>(from.matrix[i][j]);
            to.primaries[i][j] = static_cast<float>(from.primaries[i][j]);
        }
    }
    return to;
}

// ---- chroma ---------------------------------------------------------------------------------------------------------

/// Four neighbouring chroma samples and their weights; `first` may lie outside the plane, whose edge samples repeat.
template <typename Real>
struct ChromaTaps {
    int32_t first;
    Real weight[4];
};

/// Taps for luma sample i of an axis with half as many chroma samples. The position is a multiple of 1/4 sample, hence
/// all weights are multiples of 1/128, exact in single precision.
template <typename Real>
QC_HD ChromaTaps<Real> chroma_taps(ChromaFilter filter, int centred, int i) {
    if (filter == ChromaFilter::kNearest) return {(i >> 1) - 1, {0, 1, 0, 0}};
    const int quarters = 2 * i - centred;
    const int k = quarters >> 2;
    const Real t = static_cast<Real>(quarters & 3) / 4;
    if (filter == ChromaFilter::kBilinear) return {k - 1, {0, 1 - t, t, 0}};
    const Real t2 = t * t, t3 = t2 * t;
    return {k - 1, {-t / 2 + t2 - t3 / 2, 1 - t2 * 5 / 2 + t3 * 3 / 2, t / 2 + t2 * 2 - t3 * 3 / 2, -t2 / 2 + t3 / 2}};
}

} // namespace qc::linear_light
