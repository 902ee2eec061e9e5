// SPDX-License-Identifier: BSD-2-Clause-Patent
// The command `compare`: two logs in, a table or JSON out.
#pragma once

#include <string>

#include "compare/comparison.hpp"
#include "words/failure.hpp"

namespace qc::cli {

struct CompareOptions {
    std::string a, b;
    ComparisonOptions comparison;
    bool as_json = false;
    std::vector<std::string> fail_if; ///< conditions on differences
};
/// @throws Failure
ExitCode compare(const CompareOptions& options);

} // namespace qc::cli
