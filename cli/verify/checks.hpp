// SPDX-License-Identifier: BSD-2-Clause-Patent
// What can be held against a log without any picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "logs/scores.hpp"
#include "results/provenance.hpp"

namespace qc::cli {

enum class Held { kYes, kNo, kUnknown };

struct Check {
    const char* name;
    Held held;
    std::string text; ///< what was found: one line
};

/// Whether the run came to its end.
Check check_end(const ScoreLog& log);
/// The frames against the counts in the head.
Check check_counts(const ScoreLog& log);
/// Pooled values against those of the frames, as exactly as printed digits tell.
Check check_pools(const ScoreLog& log);
/// The models of this library, and model files, against those that scored.
Check check_models(const ScoreLog& log);
/// Versions and commits. Another one is no error: kUnknown.
Check check_version(const ScoreLog& log);

/// The log's bytes against what lies beside it.
Check check_bytes(const std::string& log, const std::optional<Provenance>& made, const std::string& why_not);
/// The videos against what was scored.
Check check_files(const std::optional<Provenance>& made, const std::string& why_not);

} // namespace qc::cli
