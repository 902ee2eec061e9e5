// SPDX-License-Identifier: BSD-2-Clause-Patent
// The configuration on its way from a caller's memory into a session: struct sizes of other versions, ranges of
// numbers, what a zero stands for.
#pragma once

#include "contract/status.hpp"
#include "quality_cuda_run/engine.h"

namespace qc {

/// Copies a caller's configuration, whose struct_size may be that of an older or newer version, and checks its numbers.
/// Formats are looked at later (session_geometry), strings by the plan.
Status read_config(const qc_config& caller, qc_config* config);

/// Copies what the library counted into a caller's struct of perhaps another size; no byte after its struct_size
/// changes.
Status write_stats(const qc_stats& stats, qc_stats* caller);

/// Replaces the zeros that mean a default. @param cores of the machine, 0 if that is not known
void resolve_common_defaults(qc_config* config);
void resolve_cpu_defaults(unsigned cores, qc_config* config);
void resolve_cuda_defaults(unsigned cores, qc_config* config);

} // namespace qc
