// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums of squared errors (SSE) on the CPU, for the metrics that are made of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "contract/types.hpp"
#include "device/word_lanes.hpp"

namespace qc::sse {

/// Name of the stage (MetricDescriptor::stage) whose only word is the exact SSE of luma.
inline constexpr std::string_view kLumaStage = "sse";
/// Words: the exact SSE of luma, of Cb and of Cr. With weights each of them is kWeightedWords (sse_weighted.hpp), in
/// both.
inline constexpr std::string_view kChromaStage = "sse+chroma";

/// Over the top left width x height samples of a plane.
/// @param lanes no more than the machine has
uint64_t sum_of_squared_errors(const HostPlane& reference, const HostPlane& distorted, int width, int height,
                               SampleType sample, device::WordLanes lanes = device::best_word_lanes());

} // namespace qc::sse
