// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "model.hpp"

#include "log.hpp"

namespace compat {
namespace {

constexpr int64_t kMostFrames = 1 << 16; ///< of one session, which remembers them all

/// Nothing of the model's own name gets into the engine.
std::string with_name(const std::string& model) {
    return model + ":name=model";
}

qc_config config_for(const std::string& named_model) {
    qc_config config{};
    config.struct_size = sizeof(config);
    config.backend = QC_BACKEND_IMPORTED;
    config.model = named_model.c_str();
    return config;
}

} // namespace

bool Predictor::restart() {
    qc_session* session = nullptr;
    qc_error error{};
    const qc_config config = config_for(model_);
    if (const qc_status status = qc_session_create(&config, &session, &error); status != QC_OK) {
        static_cast<void>(failed(status, error.text));
        return false;
    }
    qc_session_destroy(session_);
    session_ = session;
    frames_ = 0;
    return true;
}

std::unique_ptr<Predictor> Predictor::open(const std::string& model) {
    std::unique_ptr<Predictor> predictor(new Predictor);
    predictor->model_ = with_name(model);
    if (!predictor->restart()) return nullptr;
    qc_feature feature{};
    for (int i = 0; qc_session_feature(predictor->session_, i, &feature) == QC_OK; ++i) {
        if (feature.is_model != 0)
            ++predictor->outputs_;
        else
            predictor->features_.emplace_back(feature.name);
    }
    return predictor;
}

qc_status Predictor::predict(std::span<const double> values, std::vector<double>* scores) {
    if (frames_ >= kMostFrames && !restart()) return QC_ERROR_NO_MEMORY;
    const int64_t frame = std::exchange(frames_, kMostFrames); // a frame that is left half done is the session's last
    for (size_t i = 0; i < features_.size(); ++i) {
        const qc_status status = qc_session_import(session_, 0, features_[i].c_str(), frame, values[i]);
        if (status != QC_OK) return status;
    }
    frames_ = frame + 1;
    qc_row row{};
    const qc_status status = qc_session_receive(session_, 1, &row);
    if (status != QC_OK) return status < QC_OK ? status : QC_ERROR_INTERNAL;
    scores->assign(row.value + features_.size(), row.value + features_.size() + outputs_);
    return QC_OK;
}

LoadedModel::LoadedModel(std::string source, const VmafModelConfig& config)
    : name_(config.name != nullptr ? config.name : "vmaf"), source_(std::move(source)) {
    if ((config.flags & VMAF_MODEL_FLAG_DISABLE_CLIP) != 0) source_ += ":disable_clip=true";
    if ((config.flags & VMAF_MODEL_FLAG_ENABLE_TRANSFORM) != 0) source_ += ":enable_transform=true";
}

std::string LoadedModel::text() const {
    std::string text = source_;
    for (const auto& [key, value] : options_) text += ":" + key.first + "." + key.second + "=" + escaped(value);
    return text;
}

/// The engine refuses options of an extractor that the model does not need, so an option that can do no harm tells.
bool LoadedModel::has_features_of(int extractor) const {
    const std::string option = harmless_option(extractor);
    const std::string trial = with_name(source_) + ":" + qc_metric_name(extractor) + "." + option;
    const qc_config config = config_for(trial);
    return !option.empty() && qc_check(&config, nullptr) == QC_OK;
}

void LoadedModel::overload(const char* extractor, const VmafFeatureDictionary& options) {
    const int found = find_extractor(extractor);
    const std::lock_guard lock(mutex_);
    if (found < 0 || !has_features_of(found)) return;
    for (const auto& [name, value] : known_options(found, options)) options_[{qc_metric_name(found), name}] = value;
    predictor_ = nullptr;
}

std::shared_ptr<Predictor> LoadedModel::predictor() {
    const std::lock_guard lock(mutex_);
    if (predictor_ == nullptr) predictor_ = Predictor::open(text());
    return predictor_;
}

qc_status LoadedModel::predict(Predictor& predictor, std::span<const double> values, std::vector<double>* scores) {
    const std::lock_guard lock(mutex_);
    return predictor.predict(values, scores);
}

} // namespace compat
