// SPDX-License-Identifier: BSD-2-Clause-Patent
// A conversion as kernels take it, made on the host.
#pragma once

#include <cmath>

#include "families/linear_light/linear_device.hpp"

namespace qc::linear_light {

/// Puts weights where samples first .. first + 3 are expected. A weight outside of these is 0.
inline void place_taps(const ChromaTaps<double>& taps, int first, float (&weight)[4]) {
    for (int i = 0; i < 4; ++i) {
        const int at = taps.first + i - first;
        if (at >= 0 && at < 4) weight[at] = static_cast<float>(taps.weight[i]);
    }
}

inline AxisTaps make_taps(const ChromaAxis& axis, ChromaFilter filter) {
    AxisTaps taps{};
    if (axis.log2_factor == 0) return taps;
    place_taps(chroma_taps<double>(filter, axis.centred, 0), -2, taps.even);
    place_taps(chroma_taps<double>(filter, axis.centred, 1), -1, taps.odd);
    taps.even_is_sample = taps.even[2] == 1.0f;
    return taps;
}

inline int chroma_size(int luma_size, const ChromaAxis& axis) {
    return (luma_size + axis.log2_factor) >> axis.log2_factor;
}

/// Whether the short way of linear_rgb() does what the conversion asks for.
inline bool is_usual(const ColourConversion<double>& conversion) {
    for (int p = 0; p < conversion.planes; ++p)
        if (conversion.origin[p] != std::nearbyint(conversion.origin[p])) return false;
    const auto& matrix = conversion.matrix;
    const bool luma_and_chroma =
        matrix[0][0] == matrix[1][0] && matrix[0][0] == matrix[2][0] && matrix[0][1] == 0.0 && matrix[2][2] == 0.0;
    return luma_and_chroma && !conversion.clamp_codes && conversion.gamut == Gamut::kClip &&
           conversion.transfer == Transfer::kPower && !conversion.convert_primaries;
}

inline DeviceConversion make_device_conversion(const ColourConversion<double>& from) {
    DeviceConversion to{};
    to.across = make_taps(from.axis_x, from.chroma_filter);
    to.down = make_taps(from.axis_y, from.chroma_filter);
    to.general = to_single(from);
    for (int p = 0; p < from.planes; ++p) to.shifted_origin[p] = static_cast<float>(kIntegerBase + from.origin[p]);
    to.luma = to.general.matrix[0][0];
    to.red_cr = to.general.matrix[0][2];
    to.green_cb = to.general.matrix[1][1];
    to.green_cr = to.general.matrix[1][2];
    to.blue_cb = to.general.matrix[2][1];
    to.exponent = to.general.exponent;
    return to;
}

inline Chroma chroma_of(const ColourConversion<double>& conversion) {
    if (conversion.planes == 1) return Chroma::kNone;
    if (conversion.axis_x.log2_factor == 0) return Chroma::kFull;
    return conversion.axis_y.log2_factor == 0 ? Chroma::kHalvedAcross : Chroma::kHalved;
}

} // namespace qc::linear_light
