// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "request.hpp"

#include <algorithm>

#include "log.hpp"

namespace compat {
namespace {

constexpr const char* kTooLate = " is asked for behind the first picture, whose scores would lack it";

bool is_temporal(std::string_view name) {
    return name.find("motion") != std::string_view::npos || name.find("speed_temporal") != std::string_view::npos;
}

} // namespace

int ScoreRequest::add_model(LoadedModel& model, bool is_closed) {
    const std::shared_ptr<Predictor> predictor = model.predictor();
    if (predictor == nullptr) return -EINVAL;
    const std::string text = model.text();
    if (std::find(models_.begin(), models_.end(), text) != models_.end()) return 0;
    if (is_closed) return refused("the model " + model.name() + kTooLate);
    models_.push_back(text);
    const std::vector<std::string>& features = predictor->features();
    looks_back_ = looks_back_ || std::any_of(features.begin(), features.end(), is_temporal);
    return 0;
}

int ScoreRequest::add_feature(const char* extractor, VmafFeatureDictionary** options, bool is_closed) {
    if (std::string_view(extractor) == "null") { // it computes nothing
        static_cast<void>(vmaf_feature_dictionary_free(options));
        return 0;
    }
    const int found = find_extractor(extractor);
    if (found < 0) return refused("there is no feature extractor \"" + std::string(extractor) + "\"");
    const std::unique_ptr<VmafFeatureDictionary> taken(std::exchange(*options, nullptr));
    Feature feature{qc_metric_name(found), {}};
    if (taken != nullptr)
        for (const auto& [name, value] : known_options(found, *taken))
            feature.options += (feature.options.empty() ? "" : ":") + name + "=" + escaped(value);
    if (std::find(features_.begin(), features_.end(), feature) != features_.end()) return 0;

    ScoreRequest alone;
    alone.features_.push_back(feature);
    qc_config config{};
    config.struct_size = sizeof(config);
    alone.fill(&config);
    qc_error error{};
    if (const qc_status status = qc_check(&config, &error); status != QC_OK) return failed(status, error.text);
    if (is_closed) return refused("the feature " + feature.extractor + kTooLate);
    looks_back_ = looks_back_ || is_temporal(feature.extractor);
    features_.push_back(std::move(feature));
    return 0;
}

void ScoreRequest::fill(qc_config* config) {
    metrics_.clear(), metric_options_.clear(), feature_text_.clear(), model_text_.clear();
    for (size_t i = 0; i < models_.size(); ++i)
        model_text_ += (i > 0 ? "|" : "") + models_[i] + ":name=model" + std::to_string(i);
    size_t first = 0;
    if (models_.empty() && !features_.empty()) { // a metric has to be named, or the engine takes its default model
        metrics_ = features_[first++].extractor;
        const std::string& options = features_.front().options;
        for (size_t begin = 0; begin < options.size();) {
            size_t end = begin;
            while (end < options.size() && options[end] != ':') end += options[end] == '\\' ? 2 : 1;
            metric_options_ += (begin > 0 ? "|" : "") + metrics_ + "." + options.substr(begin, end - begin);
            begin = end + 1;
        }
    }
    for (size_t i = first; i < features_.size(); ++i)
        feature_text_ += (i > first ? "|name=" : "name=") + features_[i].extractor +
                         (features_[i].options.empty() ? "" : ":") + features_[i].options;
    const auto given = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
    config->metrics = given(metrics_);
    config->options = given(metric_options_);
    config->feature = given(feature_text_);
    config->model = given(model_text_);
}

} // namespace compat
