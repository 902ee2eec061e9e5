// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "plan/request.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "models/builtin_models.hpp"
#include "plan/metric_registry.hpp"
#include "plan/option_parser.hpp"
#include "plan/stats_lines.hpp"
#include "text/message.hpp"
#include "text/nearest.hpp"

namespace qc {
namespace {

constexpr std::string_view kVmaf = "vmaf"; ///< as a metric: the models
constexpr std::string_view kAll = "all";   ///< as a metric: every one there is

bool given(const char* text) {
    return text != nullptr && *text != '\0';
}

std::string trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

/// The non-empty pieces of an option that lists things.
std::vector<std::string> split_list(const char* text, std::string_view separators) {
    std::vector<std::string> list;
    if (text == nullptr) return list;
    for (const std::string& piece : split_escaped(text, separators))
        if (std::string item = trimmed(piece); !item.empty()) list.push_back(std::move(item));
    return list;
}

const MetricDescriptor* find_by_name(MetricRegistry registry, std::string_view name) {
    for (const MetricDescriptor* metric : registry)
        if (metric->name == name) return metric;
    return nullptr;
}

/// All metrics of this short name, otherwise the one of this name.
std::vector<const MetricDescriptor*> find_by_any_name(MetricRegistry registry, std::string_view name) {
    std::vector<const MetricDescriptor*> found;
    for (const MetricDescriptor* metric : registry)
        if (!name.empty() && metric->short_name == name) found.push_back(metric);
    if (const MetricDescriptor* metric = find_by_name(registry, name); found.empty() && metric != nullptr)
        found.push_back(metric);
    return found;
}

std::string joined_names(MetricRegistry metrics) {
    std::vector<std::string> names;
    names.reserve(metrics.size());
    for (const MetricDescriptor* metric : metrics) names.emplace_back(metric->name);
    return joined(names);
}

/// With their short names: "float_ssim (ssim)".
std::vector<std::string> names_of(MetricRegistry metrics) {
    std::vector<std::string> names;
    for (const MetricDescriptor* metric : metrics) {
        names.emplace_back(metric->name);
        if (!metric->short_name.empty()) names.back() += " (" + std::string(metric->short_name) + ")";
    }
    return names;
}

/// @param option that names a metric which is none
Status unknown_metric(MetricRegistry registry, const char* option, const std::string& name) {
    const std::vector<std::string> known = metric_names(registry);
    std::vector<std::string> words;
    for (const std::string& each : known) { // "float_ssim (ssim)" is two
        const size_t blank = each.find(" (");
        words.push_back(each.substr(0, blank));
        if (blank != std::string::npos) words.push_back(each.substr(blank + 2, each.size() - blank - 3));
    }
    const std::string meant = suggestion(name, words);
    return invalid(std::string(option) + ": unknown metric " + in_quotes(name) +
                   (meant.empty() ? ", known are " + joined(known) : meant));
}

class RequestParser {
public:
    RequestParser(const qc_config& config, MetricRegistry registry, ScoreRequest* request)
        : config_(config), registry_(registry), request_(*request) {}

    Status parse() {
        request_.registry = registry_;
        if (config_.n_subsample < 0)
            return invalid(format("n_subsample is %d, it must be at least 1", config_.n_subsample));
        request_.n_subsample = std::max(config_.n_subsample, 1);
        request_.skip_unsupported = config_.skip_unsupported != 0;
        request_.stats_format = config_.stats_format;
        QC_RETURN_IF_ERROR(read_features());
        QC_RETURN_IF_ERROR(read_metrics());
        QC_RETURN_IF_ERROR(read_models());
        QC_RETURN_IF_ERROR(read_map());
        return check_stats_format();
    }

private:
    Status read_metrics() {
        std::vector<std::string> names = split_list(config_.metrics, "|+");
        wants_vmaf_ = given(config_.model);
        if (names.empty()) names.emplace_back(kVmaf);
        request_.several = names.size() > 1;

        std::vector<const MetricDescriptor*> metrics;
        for (const std::string& name : names) QC_RETURN_IF_ERROR(read_metric_name(name, &metrics));
        std::vector<OptionValues> values;
        values.reserve(metrics.size());
        for (const MetricDescriptor* metric : metrics) values.emplace_back(metric->options);
        QC_RETURN_IF_ERROR(serve_stats_format(metrics, &values));
        QC_RETURN_IF_ERROR(read_metric_options(names, metrics, &values));
        for (size_t i = 0; i < metrics.size(); ++i)
            request_.metrics.push_back({metrics[i], std::move(values[i]), "metrics"});
        return {};
    }

    Status read_metric_name(const std::string& name, std::vector<const MetricDescriptor*>* metrics) {
        std::vector<const MetricDescriptor*> found;
        if (name == kAll) {
            request_.several = wants_all_ = wants_vmaf_ = true;
            std::copy_if(registry_.begin(), registry_.end(), std::back_inserter(found),
                         [](const MetricDescriptor* metric) { return !metric->is_example; });
        } else if (name == kVmaf) {
            wants_vmaf_ = true;
        } else {
            found = find_by_any_name(registry_, name);
            if (found.empty()) return unknown_metric(registry_, "metrics", name);
        }
        for (const MetricDescriptor* metric : found)
            if (std::find(metrics->begin(), metrics->end(), metric) == metrics->end()) metrics->push_back(metric);
        return {};
    }

    /// Switches on what the lines of another tool need; the user's options come later and may switch it off again.
    Status serve_stats_format(const std::vector<const MetricDescriptor*>& metrics, std::vector<OptionValues>* values) {
        const StatsLineSpec* line = find_stats_line(config_.stats_format);
        if (line == nullptr || line->needed_option.empty()) return {};
        for (size_t i = 0; i < metrics.size(); ++i)
            if (metrics[i]->name == line->metric)
                QC_RETURN_IF_ERROR(
                    set_option(*metrics[i], line->needed_option, "true", UnknownOption::kError, &(*values)[i]));
        return {};
    }

    Status check_stats_format() const {
        const StatsLineSpec* line = find_stats_line(config_.stats_format);
        if (line == nullptr || config_.renditions <= 1) return {};
        return invalid(format("stats_format=%s describes one distorted input, but there are %d renditions",
                              std::string(line->name).c_str(), config_.renditions));
    }

    /// @param names of the metrics that were asked for
    Status read_metric_options(const std::vector<std::string>& names,
                               const std::vector<const MetricDescriptor*>& metrics, std::vector<OptionValues>* values) {
        for (const std::string& item : split_list(config_.options, "|")) {
            const std::vector<KeyValue> pairs = parse_key_values(item);
            MetricOption option;
            if (pairs.size() != 1 || !pairs[0].has_value)
                return invalid("options: " + in_quotes(item) + " is not of the form METRIC.OPTION=VALUE");
            QC_RETURN_IF_ERROR(prefixed("options", parse_metric_option(pairs[0].key, pairs[0].value, &option)));
            const auto named = find_by_any_name(metrics, option.metric);
            if (named.empty()) return unnamed_metric(option.metric, names);
            for (const MetricDescriptor* metric : named) {
                const auto at = std::find(metrics.begin(), metrics.end(), metric) - metrics.begin();
                QC_RETURN_IF_ERROR(
                    prefixed("options", set_option(*metric, option.option, option.value, UnknownOption::kError,
                                                   &(*values)[static_cast<size_t>(at)])));
            }
        }
        return {};
    }

    Status unnamed_metric(const std::string& name, const std::vector<std::string>& asked) const {
        if (name == kVmaf)
            return invalid("options: vmaf has none; the metrics of a model take theirs in the model option, e.g. "
                           "model=version=vmaf_v0.6.1:vif.vif_enhn_gain_limit=1");
        if (find_by_any_name(registry_, name).empty()) return unknown_metric(registry_, "options", name);
        return invalid("options: " + in_quotes(name) + " is not among the metrics (" + joined(asked) +
                       "): ask for it too, metrics=" + joined(asked, "+") + "+" + name);
    }

    Status read_models() {
        if (!wants_vmaf_) return {};
        std::vector<std::string> items = split_list(config_.model, "|");
        if (items.empty() && wants_all_) items.assign(models_of_all().begin(), models_of_all().end());
        if (items.empty()) items.push_back("version=" + std::string(builtin_model_names().front()));
        std::vector<ModelRequest>& models = request_.models;
        models.resize(items.size());
        for (size_t i = 0; i < items.size(); ++i)
            QC_RETURN_IF_ERROR(prefixed("model " + in_quotes(items[i]),
                                        parse_model_request(items[i], &models[i], &request_.warnings)));
        // Before sizes are known, any of the models that may be chosen stands for the one.
        for (ModelRequest& model : models)
            if (model.automatic) model.version = automatic_model_name(0, 0, 0.0);
        QC_RETURN_IF_ERROR(name_models(&models));
        for (ModelRequest& model : models) QC_RETURN_IF_ERROR(load_model(registry_, &model));
        return {};
    }

    /// A short name that several metrics share means the first of them that has a map.
    Status read_map() {
        if (!given(config_.maps)) return {};
        const std::vector<const MetricDescriptor*> mapped = mapped_metrics(registry_);
        const std::string name = trimmed(config_.maps);
        if (const auto found = find_by_any_name(mapped, name); !found.empty()) {
            request_.map = found.front();
            return {};
        }
        const bool is_metric = name == kVmaf || name == kAll || !find_by_any_name(registry_, name).empty();
        return invalid("maps: " + in_quotes(name) + (is_metric ? " has no map" : " is no metric") + ", accepted are " +
                       joined(names_of(mapped)));
    }

    Status read_features() {
        for (const std::string& item : split_list(config_.feature, "|"))
            QC_RETURN_IF_ERROR(prefixed("feature " + in_quotes(item), read_feature(item)));
        return {};
    }

    Status read_feature(const std::string& item) {
        std::vector<KeyValue> pairs = parse_key_values(item);
        const auto is_name = [](const KeyValue& pair) { return !pair.has_value || pair.key == "name"; };
        const auto name_pair = std::find_if(pairs.begin(), pairs.end(), is_name);
        if (name_pair == pairs.end()) return invalid("name=METRIC is missing");
        const std::string name = name_pair->has_value ? name_pair->value : name_pair->key;
        pairs.erase(name_pair);
        const MetricDescriptor* metric = find_by_name(registry_, name);
        if (metric == nullptr)
            return invalid("unknown metric " + in_quotes(name) + ", known are " + joined_names(registry_));
        OptionValues values(metric->options);
        for (const KeyValue& pair : pairs) {
            if (!pair.has_value) return invalid(in_quotes(pair.key) + " is not of the form OPTION=VALUE");
            QC_RETURN_IF_ERROR(set_option(*metric, pair.key, pair.value, UnknownOption::kError, &values));
        }
        request_.metrics.push_back({metric, std::move(values), "feature"});
        return {};
    }

    const qc_config& config_;
    MetricRegistry registry_;
    ScoreRequest& request_;
    bool wants_vmaf_ = false, wants_all_ = false;
};

bool takes_rgb(const MetricDescriptor* metric) {
    return metric->accepts_rgb;
}

} // namespace

bool ScoreRequest::accepts_rgb() const {
    if (map != nullptr && !takes_rgb(map)) return false;
    return std::all_of(metrics.begin(), metrics.end(),
                       [](const MetricRequest& request) { return takes_rgb(request.metric); }) &&
           std::all_of(models.begin(), models.end(), [](const ModelRequest& model) {
               return std::all_of(model.inputs.begin(), model.inputs.end(),
                                  [](const ModelInput& input) { return takes_rgb(input.metric); });
           });
}

bool ScoreRequest::takes_long() const {
    return std::any_of(metrics.begin(), metrics.end(),
                       [](const MetricRequest& request) { return request.metric->takes_long; });
}

Status parse_request(const qc_config& config, MetricRegistry registry, ScoreRequest* request) {
    *request = {};
    return RequestParser(config, registry, request).parse();
}

std::vector<std::string> metric_names(MetricRegistry registry) {
    std::vector<std::string> names{std::string(kVmaf), std::string(kAll)};
    const std::vector<std::string> metrics = names_of(registry);
    names.insert(names.end(), metrics.begin(), metrics.end());
    return names;
}

std::vector<const MetricDescriptor*> mapped_metrics(MetricRegistry registry) {
    std::vector<const MetricDescriptor*> mapped{&difference_metric()};
    std::copy_if(registry.begin(), registry.end(), std::back_inserter(mapped),
                 [](const MetricDescriptor* metric) { return metric->map != nullptr; });
    return mapped;
}

} // namespace qc
