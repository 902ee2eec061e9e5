// SPDX-License-Identifier: BSD-2-Clause-Patent
// Models: what was loaded with which wishes, and the engine's session that predicts by it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <quality_cuda.h>

#include <libvmaf/libvmaf.h>

#include "names.hpp"

namespace compat {

/// From the values of features to scores, as often as wanted.
class Predictor {
public:
    /// @param model in the engine's syntax @return null after saying why
    static std::unique_ptr<Predictor> open(const std::string& model);
    ~Predictor() { qc_session_destroy(session_); }
    Predictor(const Predictor&) = delete;
    Predictor& operator=(const Predictor&) = delete;

    /// As reports have them.
    const std::vector<std::string>& features() const { return features_; }
    /// 1, or of a collection first the model, then all others, then bagging, stddev, ci_p95_lo and ci_p95_hi.
    size_t outputs() const { return outputs_; }
    /// @param values as many as features(), @param scores outputs()
    qc_status predict(std::span<const double> values, std::vector<double>* scores);

private:
    Predictor() = default;
    bool restart();

    std::string model_;
    qc_session* session_ = nullptr;
    int64_t frames_ = 0;
    std::vector<std::string> features_;
    size_t outputs_ = 0;
};

/// What models and collections share.
class LoadedModel {
public:
    LoadedModel(std::string source, const VmafModelConfig& config);

    const std::string& name() const { return name_; }
    /// In the engine's syntax, without a name.
    std::string text() const;
    /// @param options of an extractor by its name
    void overload(const char* extractor, const VmafFeatureDictionary& options);
    /// Null after saying why: options may be wrong.
    std::shared_ptr<Predictor> predictor();
    /// What features predict. Several threads may ask. @return a failure was said
    qc_status predict(Predictor& predictor, std::span<const double> values, std::vector<double>* scores);

private:
    bool has_features_of(int extractor) const;

    const std::string name_;
    std::string source_;
    std::map<std::pair<std::string, std::string>, std::string> options_; ///< by extractor and name
    std::shared_ptr<Predictor> predictor_;                               ///< until options change
    std::mutex mutex_;
};

} // namespace compat

struct VmafModel {
    VmafModel(const std::string& source, const VmafModelConfig& config) : loaded(source, config) {}
    compat::LoadedModel loaded;
};

struct VmafModelCollection {
    VmafModelCollection(const std::string& source, const VmafModelConfig& config) : loaded(source, config) {}
    compat::LoadedModel loaded;
};
