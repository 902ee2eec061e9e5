// SPDX-License-Identifier: BSD-2-Clause-Patent
// What ends a command: one line for the person who typed it.
#pragma once

#include <stdexcept>
#include <string>

namespace qc::cli {

enum ExitCode { kDone = 0, kFailed = 1, kMisused = 2, kBelowThreshold = 3, kDoubtful = 4 };

class Failure : public std::runtime_error {
public:
    explicit Failure(const std::string& line, ExitCode code = kFailed) : std::runtime_error(line), code_(code) {}
    ExitCode code() const { return code_; }

private:
    ExitCode code_;
};

/// A signal told this process to end.
class Interrupted : public Failure {
public:
    using Failure::Failure;
};

/// The records of a title's parts do not make one run: it has to be scored in one part.
class InexactParts : public Failure {
public:
    using Failure::Failure;
};

} // namespace qc::cli
