// SPDX-License-Identifier: BSD-2-Clause-Patent
// The entries of the option `model`: which model, under which name, and which metrics feed it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "contract/metric.hpp"
#include "models/model.hpp"

namespace qc {

using MetricRegistry = std::span<const MetricDescriptor* const>;

/// An option that the user gives to a metric.
struct MetricOption {
    std::string metric, option, value;
};

/// "METRIC.OPTION" and its value.
Status parse_metric_option(const std::string& key, const std::string& value, MetricOption* option);

/// Where one feature of a model comes from.
struct ModelInput {
    const MetricDescriptor* metric = nullptr;
    size_t output = 0; ///< of the metric
    OptionValues options;
};

/// One entry of the `model` option.
struct ModelRequest {
    std::string version, path; ///< one of the two
    bool automatic = false;    ///< version is "auto": what stands in `version` is chosen by size and frame rate
    std::string wished_name;   ///< by the user; empty: by name_models()
    std::string name;
    ModelFlags flags;
    std::vector<MetricOption> overrides;

    std::shared_ptr<const Model> model;
    std::vector<ModelInput> inputs; ///< per feature of the model

    const std::string& source() const { return path.empty() ? version : path; }
};

/// Parses one entry; loads nothing.
Status parse_model_request(const std::string& text, ModelRequest* request, std::vector<std::string>* warnings);

/// Gives each request its name. Those without a wish: the first is "vmaf" unless another model has that name, the rest
/// are called after their version or their file ("/x/mine.json": "mine").
/// @return QC_ERROR_INVALID if a name is not fit for a metadata key, or two are equal
Status name_models(std::vector<ModelRequest>* requests);

/// Loads the model and finds the metrics that compute its features, with the options of the model and the user's.
Status load_model(MetricRegistry registry, ModelRequest* request);

/// An automatic request takes the built-in model for pictures of this size (automatic_model_name), and loads it.
Status choose_model(MetricRegistry registry, int width, int height, double frame_rate, ModelRequest* request);

} // namespace qc
