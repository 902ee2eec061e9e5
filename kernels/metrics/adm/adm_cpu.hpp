// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM on the CPU, twice: to be read, and to be fast. Both add the sums of one pair's luma to `accumulators`
// (kWords words, under the pair's weights kWeightedWords), the same bits, and are thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "contract/types.hpp"
#include "contract/workspaces.hpp"
#include "device/word_lanes.hpp"
#include "metrics/adm/adm_plan.hpp"

namespace qc::adm {

/// The readable reference: whole bands, 64-bit arithmetic.
void score_cpu(const Plan& plan, SampleType sample, const HostPair& pair, std::span<uint64_t> accumulators);

/// The map: what of the reference's weighted contrast is lost or masked at each place of the finest level that is
/// scored (map_level()), in the shape of that level; 0 where it is not scored.
void draw_cpu(const Plan& plan, SampleType sample, const HostPair& pair, const Plane<float>& values);

struct RowWorkspace;
using RowWorkspaces = Workspaces<RowWorkspace>;

/// Row by row, vectorised: what the CPU backend runs.
/// @param lanes no more than the machine has
void score_cpu_rows(const Plan& plan, SampleType sample, const HostPair& pair, std::span<uint64_t> accumulators,
                    RowWorkspaces& workspaces, device::WordLanes lanes = device::best_word_lanes());

} // namespace qc::adm
