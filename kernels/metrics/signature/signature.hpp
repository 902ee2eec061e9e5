// SPDX-License-Identifier: BSD-2-Clause-Patent
/// What both pictures look like from afar (contract/signature.hpp), for the engine's watch of the contents. No metric
/// that a user could ask for: it has no scores, and no place in the list of metrics.
///
/// | property      |                                                                                            |
/// |---------------|--------------------------------------------------------------------------------------------|
/// | reads         | luma (green of RGB pictures), of every row or, above 255 rows, of some 128 to 255          |
/// | depth, layout | 8, 10, 12 or 16 bits, any layout                                                           |
/// | smallest size | 8 x 8                                                                                      |
/// | accumulators  | sums of the reference's blocks, then of the distorted picture's, row by row; each below    |
/// |               | 2^16 * 2^26 whatever the picture                                                           |
/// | determinism   | integer sums: the same bits on every run, device and backend                               |
#pragma once

#include "contract/metric.hpp"
#include "contract/signature.hpp"

namespace qc::signature {

const MetricDescriptor& descriptor();

/// CPU reference. Thread-safe.
void score_cpu(const HostPair& pair, const FrameGeometry& geometry, std::span<uint64_t, kSignatureWords> sums);

} // namespace qc::signature
