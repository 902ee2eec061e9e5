// SPDX-License-Identifier: BSD-2-Clause-Patent
// What quality-cuda has a cluster do: score --on, submit. Each throws Failure.
#pragma once

#include "parts/commands.hpp"

namespace qc::cli {

ExitCode score_on_cluster(const Options& options);
ExitCode submit_plan(const Options& options);

} // namespace qc::cli
