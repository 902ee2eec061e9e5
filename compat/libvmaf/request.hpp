// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a context was asked to compute, in the engine's strings.
#pragma once

#include <string>
#include <vector>

#include <quality_cuda.h>

#include "model.hpp"

namespace compat {

class ScoreRequest {
public:
    /// @param is_closed nothing new may come: pictures have been read @return 0, or a failure that was said
    int add_model(LoadedModel& model, bool is_closed);
    /// @param options is taken (freed and made null) unless the name is not known
    int add_feature(const char* extractor, VmafFeatureDictionary** options, bool is_closed);

    bool is_empty() const { return models_.empty() && features_.empty(); }
    /// Whether something of it looks at the picture before.
    bool looks_back() const { return looks_back_; }
    /// Fills the fields that say what to score; they live as long as this, unchanged.
    void fill(qc_config* config);

private:
    struct Feature {
        std::string extractor, options; ///< "a=1:b=2"
        bool operator==(const Feature&) const = default;
    };
    std::vector<std::string> models_;
    std::vector<Feature> features_;
    bool looks_back_ = false;
    std::string metrics_, metric_options_, feature_text_, model_text_; ///< what fill() points to
};

} // namespace compat
