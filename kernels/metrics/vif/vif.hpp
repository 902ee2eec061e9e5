// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer VIF (libvmaf's extractor "vif"): how much of the reference's information the distorted luma still carries, at
// four scales. Exact: equal to libvmaf 3.2.0 in every bit.
//
// | depths        | sizes             | planes | looks at other frames |
// |---------------|-------------------|--------|-----------------------|
// | 8, 10, 12, 16 | 16 x 16 and above | luma   | no                    |
#pragma once

#include <cstdint>
#include <span>

#include "contract/metric.hpp"
#include "device/word_lanes.hpp"
#include "metrics/vif/vif_math.hpp"

namespace qc::vif {

const MetricDescriptor& descriptor();

/// The options that change accumulators.
struct Parameters {
    double gain_limit = 100.0;
    bool skip_scale_0 = false; ///< scale 0 is not evaluated, its accumulators stay 0
};

/// The readable reference on the CPU: whole pictures, 64-bit arithmetic. Adds a pair's sums to `accumulators`
/// (kAccumulatorWords, by scale, then by AccumulatorWord). Thread-safe.
void score_cpu(const FrameGeometry& geometry, const Parameters& parameters, const HostPair& pair,
               std::span<uint64_t> accumulators);

/// The same words under the pair's weights, each pixel's times its weight (weight_shape()). Thread-safe.
void score_weighted_cpu(const FrameGeometry& geometry, const Parameters& parameters, const HostPair& pair,
                        std::span<uint64_t> accumulators);

/// The same words as the one or the other, row by row, vectorised: what the CPU backend runs. Thread-safe.
/// @param lanes no more than the machine has
void score_cpu_rows(const FrameGeometry& geometry, const Parameters& parameters, const HostPair& pair,
                    std::span<uint64_t> accumulators, device::WordLanes lanes = device::best_word_lanes());

/// The map of the finest scale that is evaluated, 0 or 1: lost_bits() and lost_flat_bits() of each of its pixels. Their
/// sum is the scale's denominator less its numerator. Thread-safe.
void draw_cpu(const FrameGeometry& geometry, const Parameters& parameters, const HostPair& pair, Plane<float> values);

/// Content of LogTable (kLogTableSize entries), LogThresholds (kLogThresholds) and LogCorrections (kLogCorrections).
std::span<const uint16_t> log_table();
std::span<const uint32_t> log_thresholds();
std::span<const uint8_t> log_corrections();

} // namespace qc::vif
