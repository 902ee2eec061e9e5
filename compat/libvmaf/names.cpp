// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "names.hpp"

#include <algorithm>

#include "log.hpp"

namespace compat {
namespace {

struct Family {
    std::string_view begin, replacement;
};
/// The first that fits counts. What lies between begin and "_score" is what reports say.
constexpr Family kFamilies[] = {{"VMAF_integer_feature_", "integer_"},
                                {"VMAF_feature_", ""},
                                {"Cambi_feature_", ""},
                                {"Speed_chroma_feature_", ""},
                                {"Speed_temporal_feature_", ""}};
constexpr std::string_view kEnd = "_score";
constexpr std::string_view kOfTheGpu = "_cuda"; ///< how libvmaf calls an extractor's twin

bool find_option(int extractor, std::string_view name, qc_option* option) {
    for (int i = 0; qc_metric_option(extractor, i, option) == QC_OK; ++i)
        if (name == option->name) return true;
    return false;
}

} // namespace

std::string report_name(std::string_view name) {
    for (const Family& family : kFamilies)
        if (name.starts_with(family.begin) && name.ends_with(kEnd) && name.size() > family.begin.size() + kEnd.size() &&
            name != "VMAF_integer_feature_motion_sad_score")
            return std::string(family.replacement) +
                   std::string(name.substr(family.begin.size(), name.size() - family.begin.size() - kEnd.size()));
    return std::string(name);
}

int find_extractor(std::string_view name) {
    if (name == "adm_cuda" || name == "vif_cuda" || name == "motion_cuda") name.remove_suffix(kOfTheGpu.size());
    const char* known = nullptr;
    for (int i = 0; (known = qc_metric_name(i)) != nullptr; ++i)
        if (name == known) return i;
    return -1;
}

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        if (std::string_view("\\':|=").find(c) != std::string_view::npos) safe += '\\';
        safe += c;
    }
    return safe;
}

std::map<std::string, std::string> known_options(int extractor, const VmafFeatureDictionary& options) {
    std::map<std::string, std::string> known = options.values;
    qc_option option{};
    for (const auto& [name, value] : options.values) {
        if (find_option(extractor, name, &option)) continue;
        say(VMAF_LOG_LEVEL_WARNING,
            std::string(qc_metric_name(extractor)) + " has no option \"" + name + "\": it is ignored");
        known.erase(name);
    }
    return known;
}

std::string harmless_option(int extractor) {
    qc_option option{};
    for (int i = 0; qc_metric_option(extractor, i, &option) == QC_OK; ++i) {
        if (option.type == QC_OPTION_BOOL) return std::string(option.name) + "=false";
        if (option.type == QC_OPTION_CHOICE)
            return std::string(option.name) + "=" + escaped(qc_metric_option_choice(extractor, i, 0));
        if (option.type != QC_OPTION_TEXT)
            return std::string(option.name) + "=" + std::to_string(static_cast<long long>(option.maximum));
    }
    return {};
}

} // namespace compat
