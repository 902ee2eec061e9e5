// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "plan/score_plan.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "models/builtin_models.hpp"
#include "models/model_json.hpp"
#include "plan/feature_name.hpp"
#include "plan/option_parser.hpp"
#include "text.hpp"

namespace qc {

namespace {

using Registry = std::span<const MetricDescriptor* const>;

constexpr std::string_view kAuto = "auto"; ///< as a model's version: chosen by size and frame rate
constexpr std::string_view kVmaf = "vmaf"; ///< as a metric: the models; as a model: its name unless the user gives one
constexpr std::string_view kAll = "all";   ///< as a metric: every one there is
/// What metrics=all scores beside the metrics where `model` is not given.
constexpr std::string_view kModelsOfAll[] = {"version=vmaf_v0.6.1", "version=auto:name=vmaf_v1"};

/// What lines in the style of another tool need: a metric, one of its options switched on, a score per plane.
struct StatsNeed {
    qc_stats_format format;
    std::string_view name; ///< of the format
    std::string_view metric, option;
    std::vector<std::string_view> outputs; ///< the first has to be there
    std::string_view spoilt_by;            ///< option of the metric that makes another quantity of the score
};

const StatsNeed* need_of(qc_stats_format stats_format) {
    static const StatsNeed kNeeds[] = {
        {QC_STATS_FORMAT_PSNR, "psnr", "psnr", "enable_mse", {"mse_y", "mse_cb", "mse_cr"}, ""},
        {QC_STATS_FORMAT_SSIM, "ssim", "float_ssim", "", {"float_ssim"}, "enable_db"},
    };
    for (const StatsNeed& need : kNeeds)
        if (need.format == stats_format) return &need;
    return nullptr;
}

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

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

Status prefixed(const std::string& prefix, const Status& status) {
    return status.ok() ? status : Status(status.code(), prefix + ": " + status.text());
}

const MetricDescriptor* find_by_name(Registry registry, std::string_view name) {
    for (const MetricDescriptor* metric : registry)
        if (metric->name == name) return metric;
    return nullptr;
}

/// All metrics of this short name, else the one of this name.
std::vector<const MetricDescriptor*> find_by_any_name(Registry registry, std::string_view name) {
    std::vector<const MetricDescriptor*> found;
    for (const MetricDescriptor* metric : registry)
        if (!name.empty() && metric->short_name == name) found.push_back(metric);
    if (const MetricDescriptor* metric = find_by_name(registry, name); found.empty() && metric != nullptr)
        found.push_back(metric);
    return found;
}

/// The first metric that can write a score, as models call it.
const MetricDescriptor* find_by_output(Registry registry, std::string_view base_name, size_t* output) {
    for (const MetricDescriptor* metric : registry)
        for (*output = 0; *output < metric->outputs.size(); ++*output)
            if (metric->outputs[*output].name == base_name) return metric;
    return nullptr;
}

// ---- models ---------------------------------------------------------------------------------------------------------

/// An option that the user gives to a metric.
struct MetricOption {
    std::string metric, option, value;
};

Status parse_metric_option(const std::string& key, const std::string& value, MetricOption* option) {
    const size_t dot = key.find('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == key.size())
        return invalid(in_quotes(key) + " is not of the form METRIC.OPTION");
    *option = {key.substr(0, dot), key.substr(dot + 1), value};
    return {};
}

/// One entry of the `model` option.
struct ModelRequest {
    std::string version, path, name;
    ModelFlags flags;
    std::vector<MetricOption> overrides;

    std::string source() const { return path.empty() ? version : path; }
    /// Name of the model where "vmaf" is taken: the version, or the file's name without folder and ending.
    std::string own_name() const {
        if (path.empty()) return version;
        const std::string file = path.substr(path.find_last_of('/') + 1);
        const size_t dot = file.find_last_of('.');
        return dot == std::string::npos || dot == 0 ? file : file.substr(0, dot);
    }
};

Status parse_flag(const KeyValue& pair, bool* flag) {
    if (pair.value != "true" && pair.value != "false")
        return invalid(pair.key + "=" + pair.value + ": it takes true or false");
    *flag = pair.value == "true";
    return {};
}

/// "vmaf_v0.6.1" or "folder/model.json" in place of version= or path=.
Status parse_bare_model(const std::string& text, ModelRequest* request) {
    const auto names = builtin_model_names();
    const bool is_name = std::find(names.begin(), names.end(), text) != names.end();
    const bool is_path = text.find('/') != std::string::npos || text.ends_with(".json");
    (is_path && !is_name ? request->path : request->version) = text;
    return {};
}

Status parse_model_key(const KeyValue& pair, ModelRequest* request, std::vector<std::string>* warnings) {
    if (!pair.has_value) return parse_bare_model(pair.key, request);
    if (pair.key == "version") {
        request->version = pair.value;
    } else if (pair.key == "path") {
        request->path = pair.value;
    } else if (pair.key == "name") {
        request->name = pair.value;
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

Status parse_model_request(const std::string& text, ModelRequest* request, std::vector<std::string>* warnings) {
    for (const KeyValue& pair : parse_key_values(text)) {
        QC_RETURN_IF_ERROR(parse_model_key(pair, request, warnings));
    }
    if (request->version.empty() == request->path.empty())
        return invalid("give either version=NAME or path=FILE, version is one of " + [] {
            std::vector<std::string> names{std::string(kAuto)};
            for (std::string_view name : builtin_model_names()) names.emplace_back(name);
            return joined(names);
        }());
    return {};
}

/// Letters, digits and a few signs: the name becomes a metadata key and a log column.
bool good_model_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
               c == '+' || c == '-';
    });
}

/// Requests without a name: the first is "vmaf" unless another model has that name, the rest are called after their
/// source.
void name_models(std::vector<ModelRequest>* requests) {
    bool vmaf_is_free =
        std::none_of(requests->begin(), requests->end(), [](const ModelRequest& r) { return r.name == kVmaf; });
    for (ModelRequest& request : *requests) {
        if (!request.name.empty()) continue;
        request.name = vmaf_is_free ? std::string(kVmaf) : request.own_name();
        vmaf_is_free = false;
    }
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

// ---- the plan -------------------------------------------------------------------------------------------------------

class PlanBuilder {
public:
    PlanBuilder(const qc_config& config, Registry registry, const FrameGeometry* geometry, ScorePlan* plan)
        : config_(config), registry_(registry), geometry_(geometry), plan_(*plan) {}

    Status build() {
        if (config_.n_subsample < 0)
            return invalid(format("n_subsample is %d, it must be at least 1", config_.n_subsample));
        plan_.n_subsample = std::max(config_.n_subsample, 1);
        QC_RETURN_IF_ERROR(read_features());
        QC_RETURN_IF_ERROR(read_metrics());
        QC_RETURN_IF_ERROR(read_models());
        QC_RETURN_IF_ERROR(check_geometry());
        QC_RETURN_IF_ERROR(make_columns());
        QC_RETURN_IF_ERROR(make_model_columns());
        return make_stats_columns();
    }

private:
    // -- requests

    Status read_metrics() {
        std::vector<std::string> names = split_list(config_.metrics, "|+");
        wants_vmaf_ = given(config_.model);
        if (names.empty()) names.emplace_back(kVmaf);

        several_ = names.size() > 1;

        std::vector<const MetricDescriptor*> metrics;
        for (const std::string& name : names) QC_RETURN_IF_ERROR(read_metric_name(name, &metrics));
        std::vector<OptionValues> values;
        values.reserve(metrics.size());
        for (const MetricDescriptor* metric : metrics) values.emplace_back(metric->options);
        QC_RETURN_IF_ERROR(serve_stats_format(metrics, &values));
        QC_RETURN_IF_ERROR(read_metric_options(metrics, &values));
        for (size_t i = 0; i < metrics.size(); ++i) add_instance(*metrics[i], values[i], "metrics");
        return {};
    }

    Status read_metric_name(const std::string& name, std::vector<const MetricDescriptor*>* metrics) {
        std::vector<const MetricDescriptor*> found;
        if (name == kAll) {
            several_ = wants_all_ = wants_vmaf_ = true;
            std::copy_if(registry_.begin(), registry_.end(), std::back_inserter(found),
                         [](const MetricDescriptor* metric) { return !metric->is_example; });
        } else if (name == kVmaf) {
            wants_vmaf_ = true;
        } else {
            found = find_by_any_name(registry_, name);
            if (found.empty())
                return invalid("metrics: unknown metric " + in_quotes(name) + ", known are " +
                               joined(metric_names(registry_)));
        }
        for (const MetricDescriptor* metric : found)
            if (std::find(metrics->begin(), metrics->end(), metric) == metrics->end()) metrics->push_back(metric);
        return {};
    }

    /// Switches on what the lines need; the user's options come later and may switch it off again.
    Status serve_stats_format(const std::vector<const MetricDescriptor*>& metrics, std::vector<OptionValues>* values) {
        const StatsNeed* need = need_of(config_.stats_format);
        if (need == nullptr || need->option.empty()) return {};
        for (size_t i = 0; i < metrics.size(); ++i)
            if (metrics[i]->name == need->metric)
                QC_RETURN_IF_ERROR(set_option(*metrics[i], need->option, "true", UnknownOption::kError, &(*values)[i]));
        return {};
    }

    Status read_metric_options(const std::vector<const MetricDescriptor*>& metrics, std::vector<OptionValues>* values) {
        for (const std::string& item : split_list(config_.options, "|")) {
            const std::vector<KeyValue> pairs = parse_key_values(item);
            MetricOption option;
            if (pairs.size() != 1 || !pairs[0].has_value)
                return invalid("options: " + in_quotes(item) + " is not of the form METRIC.OPTION=VALUE");
            QC_RETURN_IF_ERROR(prefixed("options", parse_metric_option(pairs[0].key, pairs[0].value, &option)));
            const auto named = find_by_any_name(metrics, option.metric);
            if (named.empty()) return unnamed_metric(option.metric, metrics);
            for (const MetricDescriptor* metric : named) {
                const auto at = std::find(metrics.begin(), metrics.end(), metric) - metrics.begin();
                QC_RETURN_IF_ERROR(
                    prefixed("options", set_option(*metric, option.option, option.value, UnknownOption::kError,
                                                   &(*values)[static_cast<size_t>(at)])));
            }
        }
        return {};
    }

    static Status unnamed_metric(const std::string& name, const std::vector<const MetricDescriptor*>& metrics) {
        if (name == kVmaf)
            return invalid("options: vmaf has none; the metrics of a model take theirs in the model option, e.g. "
                           "model=version=vmaf_v0.6.1:vif.vif_enhn_gain_limit=1");
        std::vector<std::string> names;
        names.reserve(metrics.size());
        for (const MetricDescriptor* metric : metrics) names.emplace_back(metric->name);
        return invalid("options: " + in_quotes(name) + " is not among the metrics (" + joined(names) + ")");
    }

    Status read_models() {
        if (!wants_vmaf_) return {};
        std::vector<std::string> items = split_list(config_.model, "|");
        if (items.empty() && wants_all_) items.assign(std::begin(kModelsOfAll), std::end(kModelsOfAll));
        if (items.empty()) items.push_back("version=" + std::string(builtin_model_names().front()));
        std::vector<ModelRequest> requests(items.size());
        for (size_t i = 0; i < items.size(); ++i)
            QC_RETURN_IF_ERROR(
                prefixed("model " + in_quotes(items[i]), parse_model_request(items[i], &requests[i], &plan_.warnings)));
        for (ModelRequest& request : requests)
            if (request.version == kAuto) choose_model(&request);
        name_models(&requests);
        QC_RETURN_IF_ERROR(check_model_names(requests));
        for (const ModelRequest& request : requests) QC_RETURN_IF_ERROR(prefixed("model", read_model(request)));
        return {};
    }

    /// Before sizes are known, any of the models stands for the one.
    void choose_model(ModelRequest* request) {
        const int width = geometry_ != nullptr ? geometry_->width : 0;
        const int height = geometry_ != nullptr ? geometry_->height : 0;
        request->version = automatic_model_name(width, height, config_.frame_rate);
        if (geometry_ == nullptr) return;
        const std::string rate = config_.frame_rate > 0 ? format("%.4g frames/s", config_.frame_rate)
                                                        : std::string("an unknown frame rate (below 50 is assumed)");
        plan_.notes.push_back("model=auto takes " + request->version + " for " + format("%dx%d", width, height) +
                              " at " + rate);
    }

    Status read_model(const ModelRequest& request) {
        std::shared_ptr<const Model> model;
        QC_RETURN_IF_ERROR(request.path.empty() ? load_builtin_model(request.version, &model)
                                                : load_model_file(request.path, &model));
        if (request.flags.enable_transform || request.flags.disable_clip) model = model->with_flags(request.flags);
        return prefixed(in_quotes(request.source()), add_model(request, std::move(model)));
    }

    Status add_model(const ModelRequest& request, std::shared_ptr<const Model> model) {
        ModelInputs inputs;
        std::vector<bool> used(request.overrides.size(), false);
        for (const ModelFeature& feature : model->features()) {
            size_t output = 0;
            const MetricDescriptor* metric = find_by_output(registry_, feature.name, &output);
            if (metric == nullptr)
                return invalid("it needs " + in_quotes(feature.name) + ", which no metric of this build computes");
            OptionValues values(metric->options);
            for (const ModelOption& option : feature.options)
                QC_RETURN_IF_ERROR(set_option(*metric, option.name, option.text, UnknownOption::kIgnore, &values));
            for (size_t i = 0; i < request.overrides.size(); ++i) {
                const MetricOption& option = request.overrides[i];
                if (option.metric != metric->name) continue;
                QC_RETURN_IF_ERROR(set_option(*metric, option.option, option.value, UnknownOption::kError, &values));
                used[i] = true;
            }
            inputs.push_back({add_instance(*metric, values, request.name), output});
        }
        const auto unused = std::find(used.begin(), used.end(), false);
        if (unused != used.end())
            return invalid("none of its features comes from the metric " +
                           in_quotes(request.overrides[static_cast<size_t>(unused - used.begin())].metric));
        plan_.models.push_back({request.name, request.source(), std::move(model), {}, {}});
        model_inputs_.push_back(std::move(inputs));
        return {};
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
        if (metric == nullptr) {
            std::vector<std::string> names;
            for (const MetricDescriptor* each : registry_) names.emplace_back(each->name);
            return invalid("unknown metric " + in_quotes(name) + ", known are " + joined(names));
        }
        OptionValues values(metric->options);
        for (const KeyValue& pair : pairs) {
            if (!pair.has_value) return invalid(in_quotes(pair.key) + " is not of the form OPTION=VALUE");
            QC_RETURN_IF_ERROR(set_option(*metric, pair.key, pair.value, UnknownOption::kError, &values));
        }
        add_instance(*metric, values, "feature");
        return {};
    }

    // -- instances and columns

    /// Index of an instance that serves the request: an existing one if its scores would have the same names.
    size_t add_instance(const MetricDescriptor& metric, const OptionValues& values, const std::string& requester) {
        const std::string suffix = instance_suffix(metric, values);
        for (size_t i = 0; i < plan_.instances.size(); ++i) {
            const MetricInstance& instance = plan_.instances[i];
            if (instance.descriptor != &metric || instance_suffix(metric, instance.options) != suffix) continue;
            warn_of_dropped_options(instance.options, values, metric, requester);
            return i;
        }
        plan_.instances.push_back({&metric, values, {}, {}});
        return plan_.instances.size() - 1;
    }

    static std::string value_text(const OptionValues& values, size_t index) {
        switch (const OptionSpec& spec = values.specs()[index]; spec.type) {
        case OptionType::kBool:
            return values.flag(index) ? "true" : "false";
        case OptionType::kChoice:
            return std::string(spec.choices[static_cast<size_t>(values.integer(index))]);
        case OptionType::kText:
            return in_quotes(values.text(index));
        default:
            return general_text(values.number(index));
        }
    }

    void warn_of_dropped_options(const OptionValues& kept, const OptionValues& dropped, const MetricDescriptor& metric,
                                 const std::string& requester) {
        for (size_t i = 0; i < metric.options.size(); ++i) {
            const bool wished = !dropped.is_default(i) || !dropped.text(i).empty();
            if (!wished || (dropped.number(i) == kept.number(i) && dropped.text(i) == kept.text(i))) continue;
            plan_.warnings.push_back(std::string(metric.name) + "'s option " + std::string(metric.options[i].name) +
                                     " of " + requester + " has no effect: the metric was requested before with " +
                                     value_text(kept, i));
        }
    }

    Status check_geometry() {
        if (geometry_ == nullptr) return {};
        std::vector<Status> refusals;
        for (const MetricInstance& instance : plan_.instances) {
            refusals.push_back(check_instance(instance));
            if (config_.skip_unsupported == 0) QC_RETURN_IF_ERROR(with_advice(refusals.back()));
        }
        QC_RETURN_IF_ERROR(leave_out(refusals));
        for (MetricInstance& instance : plan_.instances)
            if (instance.descriptor->stage != nullptr)
                instance.stage = instance.descriptor->stage(*geometry_, instance.options);
        return {};
    }

    Status check_instance(const MetricInstance& instance) const {
        return validate(*instance.descriptor, *geometry_, instance.options);
    }

    /// One unsuitable metric of several need not stop the others.
    Status with_advice(const Status& refusal) const {
        if (refusal.ok() || !several_) return refusal;
        return {refusal.code(), refusal.text() + " (on_unsupported=skip leaves out what these pictures do not suit)"};
    }

    void warn_once(std::string text) {
        auto& warnings = plan_.warnings;
        if (std::find(warnings.begin(), warnings.end(), text) == warnings.end()) warnings.push_back(std::move(text));
    }

    /// Drops the instances that were refused, and the models that read them.
    Status leave_out(const std::vector<Status>& refusals) {
        std::vector<size_t> new_index(refusals.size());
        std::vector<MetricInstance> kept;
        for (size_t i = 0; i < refusals.size(); ++i) {
            new_index[i] = kept.size();
            if (refusals[i].ok())
                kept.push_back(std::move(plan_.instances[i]));
            else
                warn_once("left out: " + refusals[i].text());
        }
        if (kept.empty() && !refusals.empty())
            return {refusals.front().code(), "on_unsupported=skip leaves no metric: " + refusals.front().text()};
        plan_.instances = std::move(kept);

        std::vector<ModelUse> models;
        std::vector<ModelInputs> inputs;
        for (size_t m = 0; m < plan_.models.size(); ++m) {
            const auto lacks = [&](const auto& input) { return !refusals[input.first].ok(); };
            if (std::any_of(model_inputs_[m].begin(), model_inputs_[m].end(), lacks)) {
                plan_.warnings.push_back("left out: model " + in_quotes(plan_.models[m].name) +
                                         ", which needs a metric that is left out");
                continue;
            }
            for (auto& [instance, output] : model_inputs_[m]) instance = new_index[instance];
            models.push_back(std::move(plan_.models[m]));
            inputs.push_back(std::move(model_inputs_[m]));
        }
        plan_.models = std::move(models);
        model_inputs_ = std::move(inputs);
        return {};
    }

    Status add_column(ScoreColumn column, int* index) {
        for (const ScoreColumn& other : plan_.columns)
            if (other.name == column.name || other.key == column.key)
                return invalid("two scores are called " + in_quotes(column.name) +
                               (column.is_model ? "; give the model another name with :name=NAME" : ""));
        *index = static_cast<int>(plan_.columns.size());
        plan_.columns.push_back(std::move(column));
        return {};
    }

    Status make_columns() {
        // Without a size: what a large picture with chroma has.
        const FrameGeometry any_size{3840, 2160, 3840, 2160, 8, SampleType::kU8};
        const FrameGeometry& shape = geometry_ != nullptr ? *geometry_ : any_size;
        for (MetricInstance& instance : plan_.instances) {
            const MetricDescriptor& metric = *instance.descriptor;
            instance.column.assign(metric.outputs.size(), -1);
            for (size_t i = 0; i < metric.outputs.size(); ++i) {
                const OutputSpec& output = metric.outputs[i];
                if (output.enabled != nullptr && !output.enabled(instance.options, shape)) continue;
                std::string name = log_name(metric, output, instance.options);
                std::string key = metadata_key(name);
                QC_RETURN_IF_ERROR(
                    add_column({std::move(name), stored_name(metric, output, instance.options), std::move(key), false},
                               &instance.column[i]));
            }
        }
        return {};
    }

    Status make_model_columns() {
        for (size_t m = 0; m < plan_.models.size(); ++m) {
            ModelUse& use = plan_.models[m];
            for (const auto& [instance, output] : model_inputs_[m]) {
                const MetricInstance& source = plan_.instances[instance];
                const int column = source.column[output];
                if (column < 0)
                    return invalid("model " + in_quotes(use.name) + " needs " +
                                   std::string(source.descriptor->outputs[output].name) +
                                   ", which the metric's options switch off");
                use.inputs.push_back(column);
            }
            for (const std::string& name : use.model->output_names(use.name)) {
                int column = -1;
                QC_RETURN_IF_ERROR(add_column({name, name, metadata_key(name), true}, &column));
                use.outputs.push_back(column);
            }
        }
        return {};
    }

    Status make_stats_columns() {
        plan_.stats.format = config_.stats_format;
        const StatsNeed* need = need_of(config_.stats_format);
        if (need == nullptr) return {};
        const std::string name = "stats_format=" + std::string(need->name);
        if (config_.renditions > 1)
            return invalid(format("%s describes one distorted input, but there are %d renditions", name.c_str(),
                                  config_.renditions));
        for (const std::string_view output : need->outputs)
            for (size_t i = 0; i < plan_.columns.size(); ++i)
                if (plan_.columns[i].stored_name == output) plan_.stats.columns.push_back(static_cast<int>(i));
        if (plan_.stats.columns.empty() ||
            plan_.columns[static_cast<size_t>(plan_.stats.columns[0])].stored_name != need->outputs[0])
            return invalid(name + " needs the score " + std::string(need->outputs[0]) + " of the metric " +
                           std::string(need->metric) + ": add " + std::string(need->metric) + " to metrics" +
                           (need->option.empty() ? "" : ", and leave its option " + std::string(need->option) + " on"));
        return check_stats_options(*need, name);
    }

    Status check_stats_options(const StatsNeed& need, const std::string& name) const {
        for (const MetricInstance& instance : plan_.instances) {
            if (instance.descriptor->name != need.metric) continue;
            const auto& specs = instance.descriptor->options;
            for (size_t i = 0; i < specs.size(); ++i)
                if (specs[i].name == need.spoilt_by && instance.options.flag(i))
                    return invalid(name + " needs " + std::string(need.metric) + " without its option " +
                                   std::string(need.spoilt_by));
        }
        return {};
    }

    using ModelInputs = std::vector<std::pair<size_t, size_t>>; ///< instance and output of each feature

    const qc_config& config_;
    Registry registry_;
    const FrameGeometry* geometry_;
    ScorePlan& plan_;
    bool wants_vmaf_ = false, wants_all_ = false;
    bool several_ = false;                  ///< `metrics` names more than one
    std::vector<ModelInputs> model_inputs_; ///< parallel to plan_.models
};

} // namespace

/// Whether the accumulators of one instance begin with those of another, for every frame that the other is evaluated
/// for.
static bool serves(const MetricInstance& source, const MetricInstance& user) {
    if (source.stage.empty() || user.stage.empty()) return false;
    if (user.descriptor->every_frame && !source.descriptor->every_frame) return false;
    return source.stage == user.stage || source.stage.starts_with(user.stage + "+");
}

size_t ScorePlan::computed_by(size_t instance) const {
    size_t best = instance;
    for (size_t i = 0; i < instances.size(); ++i) {
        const bool as_good = serves(instances[i], instances[best]);
        const bool better = !serves(instances[best], instances[i]);
        if (as_good && (better || i < best)) best = i;
    }
    return best;
}

std::vector<std::string> metric_names(std::span<const MetricDescriptor* const> registry) {
    std::vector<std::string> names{std::string(kVmaf), std::string(kAll)};
    for (const MetricDescriptor* metric : registry) {
        names.emplace_back(metric->name);
        if (!metric->short_name.empty()) names.back() += " (" + std::string(metric->short_name) + ")";
    }
    return names;
}

Status build_score_plan(const qc_config& config, std::span<const MetricDescriptor* const> registry,
                        const FrameGeometry* geometry, ScorePlan* plan) {
    *plan = {};
    return PlanBuilder(config, registry, geometry, plan).build();
}

} // namespace qc
