// SPDX-License-Identifier: BSD-2-Clause-Patent
// Names: of scores, of extractors, of options; and how they are written into the engine's strings.
#pragma once

#include <map>
#include <string>
#include <string_view>

struct VmafFeatureDictionary {
    std::map<std::string, std::string> values;
};

namespace compat {

/// How reports call a score: "VMAF_integer_feature_adm2_score" is "integer_adm2"; other names stay.
std::string report_name(std::string_view name);

/// Index of an extractor among the engine's metrics, -1 if there is none. "vif_cuda" is "vif".
int find_extractor(std::string_view name);

/// Text that may stand in the engine's strings of models and features.
std::string escaped(std::string_view text);

/// The options that an extractor has; it warns of the others, which change nothing.
std::map<std::string, std::string> known_options(int extractor, const VmafFeatureDictionary& options);

/// "OPTION=VALUE" of an option that every such extractor accepts, "" if it has none.
std::string harmless_option(int extractor);

} // namespace compat
