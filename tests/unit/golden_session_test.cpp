// SPDX-License-Identifier: BSD-2-Clause-Patent
// VMAF v1 whole, from the golden clips' samples to the models' scores, on the CPU backend.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "models/builtin_models.hpp"
#include "plan/metric_registry.hpp"
#include "tests/golden/golden_scores.hpp"
#include "tests/support/runs.hpp"

namespace qc::test {
namespace {

/// All scores of the session's models, by name and frame; empty with the session's refusal in `status`.
std::map<std::string, std::vector<double>> score(const golden::Clip& clip, const std::string& models, Status* status) {
    std::map<std::string, std::vector<double>> scores;
    qc_config config{};
    config.struct_size = sizeof config;
    config.reference = config.distorted[0] = clip.format();
    config.model = models.c_str();
    config.backend = QC_BACKEND_CPU;
    config.n_threads = 2;
    std::unique_ptr<Session> session;
    *status = Session::create(config, &session);
    if (!status->ok()) return scores;
    const golden::ClipPictures pictures(clip);
    for (size_t frame = 0; frame < pictures.reference().size() && status->ok(); ++frame) {
        const qc_picture picture = golden::engine_view(pictures.distorted()[frame]);
        *status = session->submit(test::frame_of(golden::engine_view(pictures.reference()[frame]), {picture}));
    }
    if (status->ok()) *status = session->flush();
    qc_row row{};
    while (status->ok() && session->receive(true, &row) == QC_OK) {
        for (size_t i = 0; i < session->plan().columns.size(); ++i)
            if (session->plan().columns[i].is_model) scores[session->plan().columns[i].name].push_back(row.value[i]);
    }
    return scores;
}

/// Those that a golden run has scores of, each under its own name.
std::string built_in_models(const golden::Json& metrics) {
    std::string models;
    for (const std::string_view name : builtin_model_names())
        if (metrics.contains(std::string(name)))
            models += (models.empty() ? "" : "|") + std::string("version=") + std::string(name) +
                      ":name=" + std::string(name);
    return models;
}

/// Scores a clip with models whose names in the golden run are theirs. Clips that are refused are left out, and told.
void compare_models(const golden::Clip& clip, const golden::Json& metrics, const std::string& models, double tolerance,
                    golden::Tally* tally) {
    Status status;
    const auto scores = score(clip, models, &status);
    if (!status.ok() && status.code() == QC_ERROR_INVALID) {
        std::printf("%s: refused: %s\n", clip.name.c_str(), status.text().c_str());
        return;
    }
    ASSERT_TRUE(status.ok()) << clip.name << ": " << status.text();
    for (const auto& [name, values] : scores) {
        ASSERT_EQ(values.size(), static_cast<size_t>(clip.frames)) << clip.name << " " << name;
        const golden::Json& expected = golden::frames_of(metrics.at(name));
        for (size_t frame = 0; frame < values.size(); ++frame)
            tally->compare(values[frame], golden::value_of(expected.at(frame)), tolerance,
                           clip.name + " " + name + " frame " + std::to_string(frame));
    }
}

bool is_registered(std::string_view name) {
    const auto registry = registered_metrics();
    return std::any_of(registry.begin(), registry.end(), [&](const auto* metric) { return metric->name == name; });
}

TEST(GoldenSession, Version1Models) {
    if (const char* reason = golden::missing_clips()) GTEST_SKIP() << reason;
    ASSERT_TRUE(is_registered("cambi"));
    golden::Tally tally;
    for (const golden::Clip& clip : golden::clips()) {
        const golden::Json runs = clip.runs();
        const golden::Json& metrics = golden::member(golden::member(runs, "models_v1"), "metrics");
        const std::string models = built_in_models(metrics);
        if (models.empty() || models.find("vmaf_v1") == std::string::npos) continue;
        compare_models(clip, metrics, models, 1e-3, &tally);
        if (HasFatalFailure()) return;
    }
    tally.print("models");
    EXPECT_GT(tally.compared(), 1000);
}

/// Models over floating-point features. Their features are within 1e-6; a score moves by at most about 100 times that.
TEST(GoldenSession, FloatModels) {
    if (const char* reason = golden::missing_clips()) GTEST_SKIP() << reason;
    for (const char* metric : {"float_adm", "float_motion", "float_vif"}) ASSERT_TRUE(is_registered(metric)) << metric;
    golden::Tally tally;
    for (const golden::Clip& clip : golden::clips()) {
        if (std::min(clip.width, clip.height) < 17) continue; // libvmaf reads beyond its bands, we refuse
        const golden::Json runs = clip.runs();
        const golden::Json& metrics = golden::member(golden::member(runs, "models_float"), "metrics");
        const std::string models = built_in_models(metrics);
        if (models.empty()) continue;
        compare_models(clip, metrics, models, 1e-4, &tally);
        if (HasFatalFailure()) return;
    }
    tally.print("models");
    EXPECT_GT(tally.compared(), 1000);
}

} // namespace
} // namespace qc::test
