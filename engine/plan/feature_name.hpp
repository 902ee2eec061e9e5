// SPDX-License-Identifier: BSD-2-Clause-Patent
// How scores are called. libvmaf's rule, so that models, logs and users of both find the same names:
//
//   no option that shows in names differs from its default:  stored "VMAF_integer_feature_adm2_score", log
//   "integer_adm2" otherwise:                                                stored and log
//   "integer_adm2_egl_1_nvd_4_ssz"
//
// The suffix lists the changed options in byte order of their full names; metrics without templated names (psnr) never
// show options.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "contract/metric.hpp"

namespace qc {

/// A decimal number, with or without sign, fraction and exponent; the whole text must be one. Independent of the
/// locale.
std::optional<double> parse_double(std::string_view text);

/// `%g` of the C locale.
std::string general_text(double value);

/// libvmaf's normalisation of a number in an option: read in single precision, printed with %g, so "1.23456789" acts
/// as "1.23457". Text that is no number comes back unchanged.
std::string normalised_number(std::string_view text);

/// "_egl_1_nvd_4_ssz", or "" when every option that shows in names has its default. Does not look at templated_names.
std::string option_suffix(const OptionValues& options);

/// Suffix that tells instances of a metric apart: option_suffix() for templated names, else "".
std::string instance_suffix(const MetricDescriptor& metric, const OptionValues& options);

/// Name under which models ask for the score.
std::string stored_name(const MetricDescriptor& metric, const OutputSpec& output, const OptionValues& options);

/// Name in logs.
std::string log_name(const MetricDescriptor& metric, const OutputSpec& output, const OptionValues& options);

/// Metadata key of a log name: lower case.
std::string metadata_key(std::string_view log_name);

} // namespace qc
