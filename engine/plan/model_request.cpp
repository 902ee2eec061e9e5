// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "plan/model_request.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "models/builtin_models.hpp"
#include "models/model_json.hpp"
#include "plan/option_parser.hpp"
#include "text/message.hpp"

namespace qc {
namespace {

constexpr std::string_view kAuto = "auto"; ///< as a version: chosen by size and frame rate
constexpr std::string_view kVmaf = "vmaf"; ///< the first model's name unless the user gives one

/// The first metric that can write a score, as models call it.
bool find_by_output(MetricRegistry registry, std::string_view base_name, ModelInput* input) {
    for (const MetricDescriptor* metric : registry)
        for (size_t output = 0; output < metric->outputs.size(); ++output) {
            if (metric->outputs[output].name != base_name) continue;
            *input = {metric, output, OptionValues(metric->options)};
            return true;
        }
    return false;
}

/// Name of a model where "vmaf" is taken: the version, or the file's name without folder and ending.
std::string own_name(const ModelRequest& request) {
    if (request.path.empty()) return request.version;
    const std::string file = request.path.substr(request.path.find_last_of('/') + 1);
    const size_t dot = file.find_last_of('.');
    return dot == std::string::npos || dot == 0 ? file : file.substr(0, dot);
}

Status parse_flag(const KeyValue& pair, bool* flag) {
    if (pair.value != "true" && pair.value != "false")
        return invalid(pair.key + "=" + pair.value + ": it takes true or false");
    *flag = pair.value == "true";
    return {};
}

/// Short words for models.
struct ModelAlias {
    std::string_view name, version;
    bool is_phone = false;
};
constexpr ModelAlias kAliases[] = {{"neg", "vmaf_v0.6.1neg"},
                                   {"4k", "vmaf_4k_v0.6.1"},
                                   {"4kneg", "vmaf_4k_v0.6.1neg"},
                                   {"phone", "vmaf_v0.6.1", true}};

/// @return whether it is one
bool take_alias(const std::string& text, ModelRequest* request) {
    const auto* const found =
        std::find_if(std::begin(kAliases), std::end(kAliases), [&](const auto& each) { return each.name == text; });
    if (found == std::end(kAliases)) return false;
    request->version = found->version;
    request->flags.enable_transform = request->flags.enable_transform || found->is_phone;
    if (found->is_phone && request->wished_name.empty()) request->wished_name = "vmaf_phone";
    return true;
}

/// "vmaf_v0.6.1" or "folder/model.json" in place of version= or path=.
Status parse_bare_model(const std::string& text, ModelRequest* request) {
    const auto names = builtin_model_names();
    const bool is_name = std::find(names.begin(), names.end(), text) != names.end();
    const bool is_path = text.find('/') != std::string::npos || text.ends_with(".json") || is_old_model_file(text);
    if (request->path.size() == 1 && (text.starts_with('/') || text.starts_with('\\')))
        return invalid(
            "path=" + request->path + " ends at a colon, and " + in_quotes(text) +
            " follows: escape the colon of a drive with a backslash, once for each level that reads the text");
    if (!take_alias(text, request)) (is_path && !is_name ? request->path : request->version) = text;
    return {};
}

Status parse_model_key(const KeyValue& pair, ModelRequest* request, std::vector<std::string>* warnings) {
    if (!pair.has_value) return parse_bare_model(pair.key, request);
    if (pair.key == "version") {
        request->version = pair.value;
    } else if (pair.key == "path") {
        request->path = pair.value;
    } else if (pair.key == "name") {
        request->wished_name = pair.value;
        if (pair.value.empty()) return invalid("name must not be empty");
    } else if (pair.key == "enable_transform") {
        return parse_flag(pair, &request->flags.enable_transform);
    } else if (pair.key == "disable_clip") {
        return parse_flag(pair, &request->flags.disable_clip);
    } else if (pair.key == "disable_transform") {
        bool ignored = false;
        warnings->push_back("model option disable_transform has no effect, as in libvmaf");
        return parse_flag(pair, &ignored);
    } else if (pair.key.find('.') != std::string::npos) {
        MetricOption option;
        QC_RETURN_IF_ERROR(parse_metric_option(pair.key, pair.value, &option));
        request->overrides.push_back(std::move(option));
    } else {
        return invalid("unknown key " + in_quotes(pair.key) +
                       ", known are version, path, name, enable_transform, disable_clip and METRIC.OPTION");
    }
    return {};
}

/// Letters, digits and a few signs: the name becomes a metadata key and a log column.
bool good_model_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
               c == '+' || c == '-';
    });
}

Status check_model_names(const std::vector<ModelRequest>& requests) {
    std::set<std::string> names;
    for (const ModelRequest& request : requests) {
        if (!good_model_name(request.name))
            return invalid("model " + in_quotes(request.source()) + ": the name " + in_quotes(request.name) +
                           " must consist of letters, digits and _ . + -; choose one with :name=NAME");
        if (!names.insert(request.name).second)
            return invalid("two models are called " + in_quotes(request.name) + "; give each its own with :name=NAME");
    }
    return {};
}

/// Finds the metrics of the model's features.
Status find_inputs(MetricRegistry registry, ModelRequest* request) {
    request->inputs.clear();
    std::vector<bool> used(request->overrides.size(), false);
    for (const ModelFeature& feature : request->model->features()) {
        ModelInput input{nullptr, 0, OptionValues({})};
        if (!find_by_output(registry, feature.name, &input))
            return invalid("it needs " + in_quotes(feature.name) + ", which no metric of this build computes");
        for (const ModelOption& option : feature.options)
            QC_RETURN_IF_ERROR(
                set_option(*input.metric, option.name, option.text, UnknownOption::kIgnore, &input.options));
        for (size_t i = 0; i < request->overrides.size(); ++i) {
            const MetricOption& option = request->overrides[i];
            if (option.metric != input.metric->name) continue;
            QC_RETURN_IF_ERROR(
                set_option(*input.metric, option.option, option.value, UnknownOption::kError, &input.options));
            used[i] = true;
        }
        request->inputs.push_back(std::move(input));
    }
    const auto unused = std::find(used.begin(), used.end(), false);
    if (unused == used.end()) return {};
    return invalid("none of its features comes from the metric " +
                   in_quotes(request->overrides[static_cast<size_t>(unused - used.begin())].metric));
}

} // namespace

Status parse_metric_option(const std::string& key, const std::string& value, MetricOption* option) {
    const size_t dot = key.find('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == key.size())
        return invalid(in_quotes(key) + " is not of the form METRIC.OPTION");
    *option = {key.substr(0, dot), key.substr(dot + 1), value};
    return {};
}

Status parse_model_request(const std::string& text, ModelRequest* request, std::vector<std::string>* warnings) {
    for (const KeyValue& pair : parse_key_values(text)) QC_RETURN_IF_ERROR(parse_model_key(pair, request, warnings));
    request->automatic = request->path.empty() && request->version == kAuto;
    if (request->version.empty() == request->path.empty())
        return invalid("give either version=NAME or path=FILE, version is one of " + [] {
            std::vector<std::string> names{std::string(kAuto)};
            for (std::string_view name : builtin_model_names()) names.emplace_back(name);
            return joined(names);
        }());
    return {};
}

Status name_models(std::vector<ModelRequest>* requests) {
    bool vmaf_is_free = std::none_of(requests->begin(), requests->end(),
                                     [](const ModelRequest& request) { return request.wished_name == kVmaf; });
    for (ModelRequest& request : *requests) {
        request.name = request.wished_name;
        if (!request.name.empty()) continue;
        request.name = vmaf_is_free ? std::string(kVmaf) : own_name(request);
        vmaf_is_free = false;
    }
    return check_model_names(*requests);
}

Status load_model(MetricRegistry registry, ModelRequest* request) {
    std::shared_ptr<const Model> model;
    Status status =
        request->path.empty() ? load_builtin_model(request->version, &model) : load_model_file(request->path, &model);
    if (!status.ok()) return prefixed("model", status);
    const bool changed = request->flags.enable_transform || request->flags.disable_clip;
    request->model = changed ? model->with_flags(request->flags) : std::move(model);
    return prefixed("model", prefixed(in_quotes(request->source()), find_inputs(registry, request)));
}

Status choose_model(MetricRegistry registry, int width, int height, double frame_rate, ModelRequest* request) {
    request->version = automatic_model_name(width, height, frame_rate);
    return load_model(registry, request);
}

} // namespace qc
