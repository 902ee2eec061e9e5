// SPDX-License-Identifier: BSD-2-Clause-Patent
// The command `verify`: whether a log is whole, says what its frames say, and is of the files, models and program that
// are here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parts/commands.hpp"
#include "words/failure.hpp"

namespace qc::cli {

struct VerifyOptions {
    std::string log, ffmpeg;
    bool scores_again = false;
    bool trusts_command = false; ///< filters and addresses of the recorded command are accepted
    bool as_json = false, is_strict = false;
};

/// What a recorded command asked for. @throws Failure, or what its parser throws
using CommandParser = std::function<Options(const std::vector<std::string>& arguments)>;

/// @return kBelowThreshold: something does not hold; with --strict kDoubtful: something could not be checked, or was
/// made by another version  @throws Failure
ExitCode verify(const VerifyOptions& options, const CommandParser& parse);

} // namespace qc::cli
