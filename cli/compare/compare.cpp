// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "compare/compare.hpp"

#include "logs/logs.hpp"
#include "results/results.hpp"
#include "words/json_text.hpp"

namespace qc::cli {

ExitCode compare(const CompareOptions& options) {
    const Comparison comparison = compare_logs(read_scores(options.a), read_scores(options.b), options.comparison);
    const std::string text =
        options.as_json ? json_text(json_of_comparison(comparison), 2) + "\n" : text_of_comparison(comparison);
    print_whole(text);
    return kDone;
}

} // namespace qc::cli
