// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the strings of a configuration ask for, before anything is known of the pictures. Strings are parsed and model
// files read here, once; the plan (score_plan.hpp) is made of a request and a geometry. Depends on models and on the
// metrics' contract; names no metric.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "contract/metric.hpp"
#include "plan/model_request.hpp"
#include "quality_cuda.h"

namespace qc {

/// One metric that is wanted, with its options.
struct MetricRequest {
    const MetricDescriptor* metric = nullptr;
    OptionValues options;
    std::string requester; ///< for messages: the configuration's field
};

struct ScoreRequest {
    MetricRegistry registry;
    std::vector<MetricRequest> metrics; ///< those of `feature`, then those of `metrics` (but "vmaf")
    std::vector<ModelRequest> models;
    const MetricDescriptor* map = nullptr; ///< whose map is drawn; null: none
    bool several = false;                  ///< `metrics` names more than one
    qc_stats_format stats_format = QC_STATS_FORMAT_NONE;
    int n_subsample = 1;
    bool skip_unsupported = false;
    std::vector<std::string> warnings; ///< things to tell the user once, one line each

    /// Whether every metric takes RGB pictures.
    bool accepts_rgb() const;
    /// Whether a metric takes long (MetricDescriptor::takes_long). No model's does.
    bool takes_long() const;
};

/// Reads metrics, model, feature, options, maps, stats_format, renditions, n_subsample and skip_unsupported of the
/// configuration; nothing else is looked at.
///
/// "all" among the metrics stands for every metric but examples, and, without `model`, for the models of
/// models_of_all().
///
/// @return QC_ERROR_INVALID or QC_ERROR_IO with one line that names the option, the value and what is accepted
Status parse_request(const qc_config& config, MetricRegistry registry, ScoreRequest* request);

/// What qc_config::maps accepts, by their names or short names: the metrics that have a map, and the difference.
std::vector<const MetricDescriptor*> mapped_metrics(MetricRegistry registry);

/// Names that qc_config::metrics accepts: "vmaf", "all" and every metric's, with its short name: "float_ssim (ssim)".
std::vector<std::string> metric_names(MetricRegistry registry);

} // namespace qc
