// SPDX-License-Identifier: BSD-2-Clause-Patent
// Text to option values, and the little grammar of the option strings ("name=vif:vif_enhn_gain_limit=1|name=psnr").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "contract/metric.hpp"

namespace qc {

/// What an option that the metric does not have means.
enum class UnknownOption {
    kError, ///< of the user: a mistake; the text lists the metric's options
    kIgnore ///< of a model file: libvmaf ignores it, and so must we
};

/// Sets one option from text: "true"/"false" for switches, numbers as normalised_number() gives them, within the range.
/// @return QC_ERROR_INVALID with a line that names metric, option, value and what is accepted
Status set_option(const MetricDescriptor& metric, std::string_view name, std::string_view text, UnknownOption unknown,
                  OptionValues* options);

struct KeyValue {
    std::string key;
    std::string value;
    bool has_value = true; ///< false: the piece had no '='
};

/// Cuts text at every `separators` character. A backslash takes the next character literally, single quotes a whole
/// stretch. The pieces keep their escapes, so that they can be cut again; see unescape().
std::vector<std::string> split_escaped(std::string_view text, std::string_view separators);

/// Removes what split_escaped() kept.
std::string unescape(std::string_view text);

/// "key=value:key=value" -> pairs, unescaped.
std::vector<KeyValue> parse_key_values(std::string_view text);

} // namespace qc
