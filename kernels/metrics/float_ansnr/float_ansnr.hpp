// SPDX-License-Identifier: BSD-2-Clause-Patent
/// Anti-noise SNR: the energy of the slightly smoothed reference over that of its difference from the strongly smoothed
/// distorted picture. Equals libvmaf 3.2.0's extractor "float_ansnr" to the last bit, its single-precision running sums
/// included.
///
/// | property      |                                                                                           |
/// |---------------|-------------------------------------------------------------------------------------------|
/// | reads         | luma                                                                                      |
/// | depth, layout | 8, 10, 12 or 16 bits, any layout                                                          |
/// | smallest size | 3 x 3                                                                                     |
/// | accumulators  | two words, doubles that hold single-precision sums: signal and noise energy; with weights |
/// |               | a third, the sum of the weights                                                           |
/// | determinism   | sums run along each row, then over the rows, on both backends: the same bits everywhere   |
/// | scores        | minus infinity for the ratio, if the smoothed reference is mid-grey everywhere             |
#pragma once

#include "contract/metric.hpp"

namespace qc::float_ansnr {

const MetricDescriptor& descriptor();

struct Energies {
    float signal = 0.0f, noise = 0.0f;
    uint64_t weights = 0; ///< of the samples, with weights
};

/// CPU reference, by the pair's weights if there are any. Thread-safe.
Energies score_cpu(const FrameGeometry& geometry, const HostPair& pair);

} // namespace qc::float_ansnr
