// SPDX-License-Identifier: BSD-2-Clause-Patent
/// PSNR of luma and chroma from exact integer sums. Equals libvmaf 3.2.0's extractor "psnr" to the last bit.
///
/// | property      |                                                                                          |
/// |---------------|------------------------------------------------------------------------------------------|
/// | reads         | all planes; luma alone with enable_chroma=false and for 4:0:0                            |
/// | depth, layout | 8, 10, 12 or 16 bits, any layout; chroma that is halved is rounded down                  |
/// | smallest size | 1 x 1; a picture too small to have chroma samples gives luma only                        |
/// | accumulators  | three words: the sum of squared errors (SSE) of each plane                               |
/// | determinism   | integer sums: the same bits on every run, device and backend                             |
/// | aggregates    | with enable_apsnr, apsnr_* over all frames; minus infinity, as in libvmaf, for planes    |
/// |               | that were not measured                                                                   |
#pragma once

#include "common/metric.hpp"

namespace qc::psnr {

const MetricDescriptor& descriptor();

/// CPU reference: sum of squared errors over the top left width x height samples of a plane.
uint64_t sum_of_squared_errors(const HostPlane& reference, const HostPlane& distorted, int width, int height,
                               SampleType sample);

} // namespace qc::psnr
