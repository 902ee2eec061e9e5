// SPDX-License-Identifier: BSD-2-Clause-Patent
/// PSNR-HVS-M: PSNR of contrast-sensitivity weighted DCT errors with contrast masking. Equals libvmaf 3.2.0's extractor
/// "psnr_hvs" to the last bit, its single-precision running sum included.
///
/// | property      |                                                                                           |
/// |---------------|-------------------------------------------------------------------------------------------|
/// | reads         | all planes                                                                                |
/// | depth, layout | 8 to 12 bits; 4:2:0, 4:2:2 and 4:4:4; 4:0:0 is refused                                    |
/// | smallest size | 8 x 8 in every plane (16 x 16 for 4:2:0); libvmaf scores smaller planes as NaN            |
/// | accumulators  | three words: the weighted squared error of each plane, a double that holds the            |
/// |               | single-precision running sum over all blocks                                              |
/// | with weights  | a block's terms count by the mean weight of its samples, on average once; three more words\|
/// |               | are the sums of the blocks' weights                                                       |
/// | determinism   | the sum is the sequential one on both backends: the same bits on every run and device     |
/// | scores        | plus infinity for planes without an error                                                 |
#pragma once

#include "contract/metric.hpp"

namespace qc::psnr_hvs {

const MetricDescriptor& descriptor();

/// CPU reference: of every plane the running sum of all weighted errors, as accumulators hold it; with weights the sums
/// of weights too. Thread-safe.
void score_cpu(const FrameGeometry& geometry, const HostPair& pair, std::span<uint64_t> accumulators);

} // namespace qc::psnr_hvs
