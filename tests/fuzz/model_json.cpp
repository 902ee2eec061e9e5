// SPDX-License-Identifier: BSD-2-Clause-Patent
// Model files of anybody: refused with one line, or a model that can be used within the limits that it promises.
#include "models/model_json.hpp"

#include <vector>

#include "tests/fuzz/input.hpp"

namespace {

void use(const qc::Model& model) {
    const size_t features = model.features().size(), members = model.members().size();
    QC_FUZZ_CHECK(features >= 1 && features <= qc::kMaxModelFeatures);
    QC_FUZZ_CHECK(members >= 1 && members <= qc::kMaxModelMembers);
    QC_FUZZ_CHECK(model.output_names("vmaf").size() == model.output_count());
    std::vector<double> outputs(model.output_count());
    for (const double score : {0.0, 0.75, 1e300}) {
        const std::vector<double> scores(features, score);
        model.evaluate(scores, outputs);
    }
    if (const auto range = model.score_range()) QC_FUZZ_CHECK(range->first <= range->second);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::shared_ptr<const qc::Model> model;
    const qc::Status status = qc::parse_model_json(text, "model.json", &model);
    QC_FUZZ_CHECK(status.ok() == (model != nullptr));
    if (!status.ok()) {
        QC_FUZZ_CHECK(status.code() == QC_ERROR_INVALID, status.text());
        QC_FUZZ_CHECK(qc::fuzz::is_one_line(status.text()), status.text());
        return 0;
    }
    use(*model);
    use(*model->with_flags({.enable_transform = true, .disable_clip = true}));
    return 0;
}
