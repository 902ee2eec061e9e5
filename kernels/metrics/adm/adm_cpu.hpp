// SPDX-License-Identifier: BSD-2-Clause-Patent
// CPU backend of integer ADM.
#pragma once

#include <cstdint>
#include <span>

#include "contract/types.hpp"
#include "metrics/adm/adm_plan.hpp"

namespace qc::adm {

/// Adds the sums of one pair's luma to `accumulators` (kWords words). Thread-safe.
void score_cpu(const Plan& plan, SampleType sample, const HostPair& pair, std::span<uint64_t> accumulators);

} // namespace qc::adm
