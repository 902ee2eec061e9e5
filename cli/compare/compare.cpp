// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "compare/compare.hpp"

#include "logs/logs.hpp"
#include "words/terminal.hpp"

namespace qc::cli {

ExitCode compare(const CompareOptions& options) {
    const Comparison comparison = compare_logs(read_scores(options.a), read_scores(options.b), options.comparison);
    if (options.as_json)
        print_whole(
            DataText(json_of_comparison(comparison).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
    else
        print_whole(TerminalText(text_of_comparison(comparison)));
    return kDone;
}

} // namespace qc::cli
