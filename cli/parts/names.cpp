// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which scores a run will have: found out by scoring a small picture.
#include <algorithm>
#include <vector>

#include <quality_cuda.h>

#include "parts/commands.hpp"
#include "parts/test_picture.hpp"

namespace qc::cli {

namespace {

const char* text_or_null(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
}

/// Points into the wish. @return whether there can be such a session
bool configure(const Wish& wish, qc_config* config) {
    *config = test_config();
    config->metrics = text_or_null(wish.metrics);
    config->model = text_or_null(wish.model);
    config->feature = text_or_null(wish.feature);
    config->options = text_or_null(wish.opts);
    config->skip_unsupported = 1;
    return config->renditions > 0;
}

/// The scores of frames. @return false: the library refuses
bool add_pooled(const qc_config& config, std::vector<std::string>* names) {
    qc_error error{};
    qc_session* session = nullptr;
    if (qc_session_create(&config, &session, &error) != QC_OK) return false;
    qc_feature feature{};
    for (int i = 0; qc_session_feature(session, i, &feature) == QC_OK; ++i) names->emplace_back(feature.name);
    qc_session_destroy(session);
    return true;
}

/// Metrics that were asked for by --metrics and --feature.
std::vector<std::string> metrics_of(const Wish& wish) {
    std::vector<std::string> metrics;
    const auto add = [&](const std::string& text, const char* separators, const std::string& before) {
        for (size_t at = 0, end = 0; at < text.size(); at = end + 1) {
            end = std::min(text.find_first_of(separators, at), text.size());
            const std::string piece = text.substr(at, end - at);
            if (piece.size() > before.size() && piece.starts_with(before))
                metrics.push_back(piece.substr(before.size()));
        }
    };
    add(wish.metrics, "+|", "");
    add(wish.feature, "|:", "name=");
    return metrics;
}

} // namespace

AskedScores asked_scores(const Wish& wish, bool shows_all) {
    AskedScores asked;
    asked.all = shows_all;
    std::string metrics;
    for (const std::string& each : metrics_of(wish)) {
        asked.all = asked.all || each == "all";
        if (each != "vmaf") metrics += (metrics.empty() ? "" : "+") + each;
    }
    if (asked.all || metrics.empty()) return asked;
    Wish without_models = wish; // nobody asked for their features
    without_models.metrics = metrics;
    without_models.model.clear();
    qc_config config{};
    asked.all = !configure(without_models, &config) || !add_pooled(config, &asked.names);
    return asked;
}

std::vector<std::string> AskedScores::of(const Json& log) const {
    std::vector<std::string> shown;
    const Json& pooled = member(log, "pooled_metrics");
    const auto add = [&](const std::string& name) {
        if (pooled.contains(name) && std::find(shown.begin(), shown.end(), name) == shown.end()) shown.push_back(name);
    };
    const Json& models = member(log, "models");
    if (models.is_array())
        for (const Json& model : models) add(text_of(model, "name"));
    for (const std::string& name : names) add(name);
    if (all && pooled.is_object())
        for (const auto& [name, pools] : pooled.items()) add(name);
    return shown;
}

Names names_of_scores(const Wish& wish) {
    Names names;
    qc_config config{};
    if (!configure(wish, &config)) return names;
    const TestPair pair;
    qc_error error{};
    if (!add_pooled(config, &names.pooled)) return names; // the run will say why
    qc_scores* scores = nullptr;
    if (qc_score(&config, &pair.frame, &scores, &error) != QC_OK) return {};
    const char* name = nullptr;
    for (int i = static_cast<int>(names.pooled.size()); (name = qc_scores_name(scores, i)) != nullptr; ++i)
        names.whole.emplace_back(name);
    qc_scores_destroy(scores);
    return names;
}

} // namespace qc::cli
