// SPDX-License-Identifier: BSD-2-Clause-Patent
/// Floating-point VIF: how much of the reference's information the distorted luma still carries, at four scales. Equals
/// libvmaf 3.2.0's extractor "float_vif" to the last bit, on both backends.
///
/// | property      |                                                                                            |
/// |---------------|--------------------------------------------------------------------------------------------|
/// | reads         | luma of both pictures                                                                      |
/// | depth, layout | 8 to 16 bits, any                                                                          |
/// | smallest size | 16 x 16; with vif_kernelscale or vif_prescale what the mirrored filters need             |
/// | accumulators  | numerator and denominator of each scale, as doubles that hold single-precision sums; under |
/// |               | weights behind them their sum of each scale                                                 |
/// | determinism   | single precision in a fixed order, nothing contracted: the same bits everywhere            |
#pragma once

#include "contract/metric.hpp"
#include "metrics/float_vif/float_vif_plan.hpp"

namespace qc::float_vif {

const MetricDescriptor& descriptor();

/// The readable reference on the CPU: fills the accumulators. Thread-safe.
void score_cpu(const Plan& plan, const FrameGeometry& geometry, const HostPair& pair, std::span<uint64_t> accumulators);

} // namespace qc::float_vif
