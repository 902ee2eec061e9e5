// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "plan/score_plan.hpp"

#include <algorithm>
#include <string_view>

#include "plan/feature_name.hpp"
#include "plan/stats_lines.hpp"
#include "text/message.hpp"
#include "text/number.hpp"

namespace qc {

namespace {

class PlanBuilder {
public:
    PlanBuilder(const ScoreRequest& request, const FrameGeometry* geometry, const std::string& chroma_conflict,
                std::optional<PictureSize> picture, const RgbPictures* rgb, ScorePlan* plan)
        : request_(request), geometry_(geometry), chroma_conflict_(chroma_conflict), picture_(picture), rgb_(rgb),
          plan_(*plan) {}

    Status build() {
        plan_.n_subsample = request_.n_subsample;
        plan_.warnings = request_.warnings;
        for (const MetricRequest& wish : request_.metrics) add_instance(*wish.metric, wish.options, wish.requester);
        QC_RETURN_IF_ERROR(add_models());
        QC_RETURN_IF_ERROR(check_geometry());
        QC_RETURN_IF_ERROR(make_columns());
        QC_RETURN_IF_ERROR(make_model_columns());
        order_instances();
        return make_stats_columns();
    }

private:
    // -- instances and columns

    Status add_models() {
        std::vector<ModelRequest> models = request_.models;
        if (geometry_ != nullptr)
            for (ModelRequest& model : models)
                if (model.automatic) QC_RETURN_IF_ERROR(choose(&model));
        QC_RETURN_IF_ERROR(name_models(&models));
        for (ModelRequest& model : models) {
            ModelInputs inputs;
            for (const ModelInput& input : model.inputs)
                inputs.emplace_back(add_instance(*input.metric, input.options, model.name), input.output);
            plan_.models.push_back({model.name, model.source(), std::move(model.model), {}, {}});
            model_inputs_.push_back(std::move(inputs));
        }
        return {};
    }

    Status choose(ModelRequest* model) {
        const auto [width, height] = picture_.value_or(PictureSize{geometry_->width, geometry_->height});
        const double frame_rate = geometry_->frame_rate;
        QC_RETURN_IF_ERROR(choose_model(request_.registry, width, height, frame_rate, model));
        const std::string rate = frame_rate > 0 ? format("%.4g frames/s", frame_rate)
                                                : std::string("an unknown frame rate (below 50 is assumed)");
        plan_.notes.push_back("model=auto takes " + model->version + " for " + format("%dx%d", width, height) + " at " +
                              rate);
        return {};
    }

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

    bool sees_rgb(const MetricInstance& instance) const { return rgb_ != nullptr && rgb_->suit(*instance.descriptor); }
    /// Of the pictures that an instance sees.
    const FrameGeometry& geometry_of(const MetricInstance& instance) const {
        return sees_rgb(instance) ? rgb_->geometry : *geometry_;
    }

    Status check_geometry() {
        if (geometry_ == nullptr) return {};
        std::vector<Status> refusals;
        for (const MetricInstance& instance : plan_.instances) {
            refusals.push_back(check_instance(instance));
            if (!request_.skip_unsupported) QC_RETURN_IF_ERROR(with_advice(refusals.back()));
        }
        QC_RETURN_IF_ERROR(leave_out(refusals));
        for (MetricInstance& instance : plan_.instances) {
            if (instance.descriptor->stage == nullptr) continue;
            instance.stage = instance.descriptor->stage(geometry_of(instance), instance.options);
            if (sees_rgb(instance) && !instance.stage.empty()) instance.stage = "rgb " + instance.stage;
        }
        return {};
    }

    Status check_instance(const MetricInstance& instance) const {
        if (!chroma_conflict_.empty() && !sees_rgb(instance) && reads_chroma(instance))
            return invalid(std::string(instance.descriptor->name) + " needs chroma, but " + chroma_conflict_);
        if (geometry_->has_weights && !instance.descriptor->accepts_weights)
            return no_score_under_a_mask(*instance.descriptor);
        return validate(*instance.descriptor, geometry_of(instance), instance.options);
    }

    Status no_score_under_a_mask(const MetricDescriptor& metric) const {
        std::vector<std::string> names;
        for (const MetricDescriptor* other : request_.registry)
            if (other->accepts_weights && !other->is_example) names.emplace_back(other->name);
        return unsupported("mask=1: " + std::string(metric.name) +
                           " has no score under a mask; these metrics have one: " + joined(names));
    }

    /// A metric whose chroma has scores of its own reads it if the instance writes these.
    bool reads_chroma(const MetricInstance& instance) const {
        const MetricDescriptor& metric = *instance.descriptor;
        if (needs_chroma_history(instance)) return true;
        if (!metric.needs_chroma) return false;
        FrameGeometry coloured = *geometry_;
        coloured.chroma_width = coloured.stored_chroma_width = coloured.width;
        coloured.chroma_height = coloured.stored_chroma_height = coloured.height;
        const OptionValues defaults(metric.options);
        bool has_chroma_scores = false;
        for (const OutputSpec& output : metric.outputs) {
            if (output.enabled == nullptr || !output.enabled(defaults, coloured) ||
                output.enabled(defaults, *geometry_))
                continue;
            has_chroma_scores = true;
            if (output.enabled(instance.options, coloured)) return true;
        }
        return !has_chroma_scores;
    }

    /// One unsuitable metric of several need not stop the others.
    Status with_advice(const Status& refusal) const {
        if (refusal.ok() || !request_.several) return refusal;
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
        for (MetricInstance& instance : plan_.instances) {
            const FrameGeometry& shape = geometry_ != nullptr ? geometry_of(instance) : any_size;
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
            add_stream_scores(instance);
        }
        return {};
    }

    /// Programs look for one line with a metric's title: of several instances it is the first one's.
    void add_stream_scores(const MetricInstance& instance) {
        for (const StreamScoreSpec& spec : instance.descriptor->stream_scores) {
            const int column = instance.column[static_cast<size_t>(spec.output)];
            if (column < 0) continue;
            const std::string name = std::string(spec.name) + instance_suffix(*instance.descriptor, instance.options);
            std::string title = std::string(spec.title) + " score";
            for (const StreamScore& other : plan_.stream_scores)
                if (other.title == title) title = "score of " + name;
            plan_.stream_scores.push_back({name, title, column, &spec});
        }
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

    void order_instances() {
        const auto add = [&](size_t instance) {
            auto& order = plan_.reading_order;
            if (std::find(order.begin(), order.end(), instance) == order.end()) order.push_back(instance);
        };
        for (const ModelInputs& inputs : model_inputs_)
            for (const auto& input : inputs) add(input.first);
        for (size_t i = 0; i < plan_.instances.size(); ++i) add(i);
    }

    Status make_stats_columns() {
        plan_.stats.format = request_.stats_format;
        const StatsLineSpec* line = find_stats_line(request_.stats_format);
        if (line == nullptr) return {};
        const std::string name = "stats_format=" + std::string(line->name), metric(line->metric);
        for (const std::string_view output : line->outputs)
            for (size_t i = 0; i < plan_.columns.size(); ++i)
                if (plan_.columns[i].stored_name == output) plan_.stats.columns.push_back(static_cast<int>(i));
        const std::string first(line->outputs[0]), option(line->needed_option);
        if (plan_.stats.columns.empty() ||
            plan_.columns[static_cast<size_t>(plan_.stats.columns[0])].stored_name != first)
            return invalid(name + " needs the score " + first + " of the metric " + metric + ": add " + metric +
                           " to metrics" + (option.empty() ? "" : ", and leave its option " + option + " on"));
        const bool spoilt =
            std::any_of(plan_.instances.begin(), plan_.instances.end(), [&](const MetricInstance& instance) {
                return instance.descriptor->name == line->metric && is_on(instance, line->spoiling_option);
            });
        if (!spoilt) return {};
        return invalid(name + " needs " + metric + " without its option " + std::string(line->spoiling_option));
    }

    static bool is_on(const MetricInstance& instance, std::string_view option) {
        const auto& specs = instance.descriptor->options;
        for (size_t i = 0; i < specs.size(); ++i)
            if (specs[i].name == option) return instance.options.flag(i);
        return false;
    }

    using ModelInputs = std::vector<std::pair<size_t, size_t>>; ///< instance and output of each feature

    const ScoreRequest& request_;
    const FrameGeometry* geometry_;
    const std::string& chroma_conflict_;
    const std::optional<PictureSize> picture_;
    const RgbPictures* rgb_;
    ScorePlan& plan_;
    std::vector<ModelInputs> model_inputs_; ///< parallel to plan_.models
};

} // namespace

/// Whether the accumulators of one instance begin with those of another, for every frame that the other is evaluated
/// for.
static bool serves(const MetricInstance& source, const MetricInstance& user) {
    if (source.stage.empty() || user.stage.empty()) return false;
    if (evaluates_every_frame(*user.descriptor, user.options) &&
        !evaluates_every_frame(*source.descriptor, source.options))
        return false;
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

void keep_model_inputs(ScorePlan* plan) {
    std::vector<bool> is_read(plan->columns.size(), false);
    for (const ModelUse& use : plan->models)
        for (const std::vector<int>* columns : {&use.inputs, &use.outputs})
            for (const int column : *columns) is_read[static_cast<size_t>(column)] = true;
    std::vector<int> new_column;
    std::vector<ScoreColumn> kept;
    for (size_t i = 0; i < plan->columns.size(); ++i) {
        new_column.push_back(is_read[i] ? static_cast<int>(kept.size()) : -1);
        if (is_read[i]) kept.push_back(std::move(plan->columns[i]));
    }
    plan->columns = std::move(kept);
    const auto renumber = [&](std::vector<int>& columns) {
        for (int& column : columns)
            if (column >= 0) column = new_column[static_cast<size_t>(column)];
    };
    for (MetricInstance& instance : plan->instances) renumber(instance.column);
    for (ModelUse& use : plan->models) {
        renumber(use.inputs);
        renumber(use.outputs);
    }
    plan->stream_scores.clear();
}

Status build_score_plan(const ScoreRequest& request, const FrameGeometry* geometry, ScorePlan* plan,
                        const std::string& chroma_conflict, std::optional<PictureSize> picture,
                        const RgbPictures* rgb) {
    *plan = {};
    return PlanBuilder(request, geometry, chroma_conflict, picture, rgb, plan).build();
}

} // namespace qc
