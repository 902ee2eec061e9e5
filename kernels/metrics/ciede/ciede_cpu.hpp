// SPDX-License-Identifier: BSD-2-Clause-Patent
// CPU reference of CIEDE2000: the formula as libvmaf computes it, with the C library's functions.
#pragma once

#include "contract/types.hpp"
#include "metrics/ciede/ciede_math.hpp"

namespace qc::ciede {

/// Colour of a sample triple of `depth` bits.
Lab reference_lab(const Sample& sample, int depth);

/// CIEDE2000 with libvmaf's weights and roundings.
float reference_difference(const Lab& reference, const Lab& distorted);

/// Sum of the colour differences of all pixels, in raster order. Thread-safe.
double reference_sum(const HostPair& pair, const FrameGeometry& geometry);

} // namespace qc::ciede
