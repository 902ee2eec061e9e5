// SPDX-License-Identifier: BSD-2-Clause-Patent
// Names of metrics and models as people type them.
#pragma once

#include <string>
#include <vector>

namespace qc::cli {

/// Words that --metrics and --model take: the library's, and short ones of this command.
std::vector<std::string> metric_words();
std::vector<std::string> model_words();

/// "SSIMU2,vmaf" as the filter calls them: "ssimulacra2+vmaf". @throws Failure that says what was meant
std::string settled_metrics(const std::string& typed);
/// "neg|4k" likewise: "vmaf_v0.6.1neg|vmaf_4k_v0.6.1". What names a file stays as it is.
std::string settled_models(const std::string& typed);

} // namespace qc::cli
