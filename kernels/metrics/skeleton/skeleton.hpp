// SPDX-License-Identifier: BSD-2-Clause-Patent
/// Mean absolute difference of luma, in codes of the session's depth, times an option.
///
/// | property      |                                                                                            |
/// |---------------|--------------------------------------------------------------------------------------------|
/// | reads         | luma                                                                                       |
/// | depth, layout | 8, 10, 12 or 16 bits, any layout                                                           |
/// | smallest size | 1 x 1                                                                                      |
/// | accumulators  | one word: the sum of absolute differences, below 2^16 * 2^32 whatever the picture          |
/// | determinism   | integer sums: the same bits on every run, device and backend                               |
/// | scores        | 0 for identical pictures, at most 2^depth - 1 times the option                             |
#pragma once

#include "contract/metric.hpp"

namespace qc::skeleton {

/// What the engine's list of metrics asks for: it calls <name>::descriptor() of every folder.
const MetricDescriptor& descriptor();

/// CPU reference: sum of absolute differences of luma. Thread-safe.
uint64_t score_cpu(const HostPair& pair, const FrameGeometry& geometry);

} // namespace qc::skeleton
