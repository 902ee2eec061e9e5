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

#include <string>
#include <string_view>

#include "contract/metric.hpp"

namespace qc {

/// "_egl_1_nvd_4_ssz", or "" when every option that shows in names has its default. Does not look at templated_names.
std::string option_suffix(const OptionValues& options);

/// Suffix that tells instances of a metric apart: option_suffix() for templated names, otherwise "".
std::string instance_suffix(const MetricDescriptor& metric, const OptionValues& options);

/// Name under which models ask for the score.
std::string stored_name(const MetricDescriptor& metric, const OutputSpec& output, const OptionValues& options);

/// Name in logs.
std::string log_name(const MetricDescriptor& metric, const OutputSpec& output, const OptionValues& options);

/// Metadata key of a log name: lower case.
std::string metadata_key(std::string_view log_name);

} // namespace qc
