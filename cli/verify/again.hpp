// SPDX-License-Identifier: BSD-2-Clause-Patent
// A log's run, once more.
#pragma once

#include <string>

#include "verify/checks.hpp"
#include "verify/verify.hpp"

namespace qc::cli {

/// Scores the recorded files as the recorded command asked for, and compares every score, exactly.
/// @throws Failure if that cannot be done
Check score_again(const VerifyOptions& options, const ScoreLog& log, const Provenance& made,
                  const CommandParser& parse);

} // namespace qc::cli
