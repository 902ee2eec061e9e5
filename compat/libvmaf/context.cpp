// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "context.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "log.hpp"

namespace compat {
namespace {

Wish wish_of(const VmafConfiguration& config) {
    const char* const given = std::getenv("QUALITY_CUDA_BACKEND"); // NOLINT(concurrency-mt-unsafe)
    const std::string_view word = given != nullptr ? given : "";
    if (word == "cpu") return Wish::kCpu;
    if (word == "cuda") return Wish::kCuda;
    if (!word.empty() && word != "auto")
        say(VMAF_LOG_LEVEL_WARNING,
            "QUALITY_CUDA_BACKEND=" + std::string(word) + ": it takes auto, cpu or cuda; auto is taken");
    return config.gpumask != 0 ? Wish::kCpu : Wish::kAuto;
}

} // namespace

std::vector<std::string> collection_names(const std::string& name, size_t outputs) {
    constexpr size_t kSummaries = 4;
    std::vector<std::string> names{name};
    for (size_t i = 1; i + kSummaries < outputs; ++i) {
        const std::string number = std::to_string(i);
        std::string& member = names.emplace_back(name);
        member.append("_").append(4 - std::min<size_t>(number.size(), 4), '0').append(number);
    }
    for (const char* summary : {"_bagging", "_stddev", "_ci_p95_lo", "_ci_p95_hi"}) names.push_back(name + summary);
    return names;
}

} // namespace compat

using compat::LoadedModel;

VmafContext::VmafContext(const VmafConfiguration& config)
    : scoring(config, compat::wish_of(config), scores), every(std::max(config.n_subsample, 1u)) {}

std::optional<double> VmafContext::feature(const std::string& name, unsigned index) {
    if (const std::optional<double> score = scores.find(name, index)) return score;
    scoring.reach(request, index);
    return scores.find(name, index);
}

int VmafContext::predict(LoadedModel& model, unsigned index, std::vector<double>* predicted) {
    const std::shared_ptr<compat::Predictor> predictor = model.predictor();
    if (predictor == nullptr) return -EINVAL;
    std::vector<double> values;
    for (const std::string& name : predictor->features()) {
        const std::optional<double> value = feature(name, index);
        if (!value) return compat::refused("no feature '" + name + "' at index " + std::to_string(index));
        values.push_back(*value);
    }
    const qc_status status = model.predict(*predictor, values, predicted);
    return status == QC_OK ? 0 : compat::failed(status, "the model " + model.name() + " does not predict");
}

int VmafContext::score(LoadedModel& model, unsigned index, double* score) {
    std::optional<double> value = scores.find(model.name(), index);
    if (!value) {
        std::vector<double> predicted;
        if (const int error = predict(model, index, &predicted); error != 0) return error;
        scores.add(model.name(), index, predicted.front());
        value = predicted.front();
    }
    *score = *value;
    return 0;
}

int VmafContext::score(VmafModelCollection& collection, unsigned index, VmafModelCollectionScore* score) {
    std::vector<double> predicted;
    if (const int error = predict(collection.loaded, index, &predicted); error != 0) return error;
    const std::vector<std::string> names = compat::collection_names(collection.loaded.name(), predicted.size());
    for (size_t i = 1; i < predicted.size(); ++i)
        if (!scores.add(names[i], index, predicted[i]))
            return compat::refused(names[i] + " of index " + std::to_string(index) + " is there already");
    const double* const summary = &predicted[predicted.size() - 4];
    *score = {VMAF_MODEL_COLLECTION_SCORE_BOOTSTRAP, {summary[0], summary[1], {{summary[2], summary[3]}}}};
    return 0;
}

int VmafContext::pooled(const std::string& name, VmafPoolingMethod method, unsigned low, unsigned high, double* score) {
    const std::optional<double> value = scores.pooled(name, method, low, high, every);
    if (!value)
        return compat::refused("'" + name + "' has not a score at each index from " + std::to_string(low) + " to " +
                               std::to_string(high));
    *score = *value;
    return 0;
}
