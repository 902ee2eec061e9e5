// SPDX-License-Identifier: BSD-2-Clause-Patent
/// The absolute difference of both pictures' luma, for maps alone. No metric that a user could ask scores of: psnr has
/// them.
///
/// | property      |                                                                                            |
/// |---------------|--------------------------------------------------------------------------------------------|
/// | reads         | luma (green of RGB pictures)                                                               |
/// | depth, layout | 8, 10, 12 or 16 bits, any layout                                                           |
/// | map           | |reference - distorted| of each sample, on the scale of 8 bits whatever the depth           |
/// | accumulators  | none                                                                                       |
/// | determinism   | exact: a difference of integers times a power of two                                       |
#pragma once

#include "contract/metric.hpp"

namespace qc::difference {

const MetricDescriptor& descriptor();

/// CPU reference. Thread-safe.
void draw_cpu(const HostPair& pair, const FrameGeometry& geometry, Plane<float> values);

} // namespace qc::difference
