// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/models.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace qc::cli {

namespace {

constexpr const char* kUnknown = "model not known";

std::string apart(const std::string& score, const std::string& model) {
    return score + " (" + (model.empty() ? kUnknown : model) + ")";
}

void rename_key(const std::string& from, const std::string& to, Json* object) {
    if (!object->is_object()) return;
    Json renamed = Json::object();
    for (const auto& [key, value] : object->items()) renamed[key == from ? to : key] = value;
    *object = std::move(renamed);
}

void rename(const std::string& from, const std::string& to, ScoreLog* log) {
    for (Scores& each : log->scores)
        if (each.name == from) each.name = to;
    if (log->head.contains("pooled_metrics")) rename_key(from, to, &log->head["pooled_metrics"]);
    if (!member(log->head, "models").is_array()) return;
    for (Json& each : log->head["models"])
        if (text_of(each, "name") == from) each["name"] = to;
}

} // namespace

void tell_models_apart(std::vector<Encode>* encodes, std::vector<std::string>* notes) {
    std::map<std::string, std::set<std::string>> models; // of each score
    for (const Encode& encode : *encodes)
        for (const Scores& each : encode.log.scores)
            if (const std::string model = model_of(encode.log, each.name); !model.empty())
                models[each.name].insert(model);
    for (const auto& [score, of_score] : models) {
        if (of_score.size() < 2) continue;
        std::string all;
        for (const std::string& each : of_score) all.append(all.empty() ? "" : " and ").append(each);
        notes->push_back(std::string(score)
                             .append(" is made by different models, ")
                             .append(all)
                             .append(": these are different scores, and stand apart"));
        for (Encode& encode : *encodes)
            if (encode.log.find(score) != nullptr)
                rename(score, apart(score, model_of(encode.log, score)), &encode.log);
    }
}

} // namespace qc::cli
