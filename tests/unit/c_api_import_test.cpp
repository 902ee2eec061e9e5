// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores of features that were computed elsewhere, sentence by sentence of quality_cuda.h: models predict from them
// without pictures.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "quality_cuda.h"
#include "quality_cuda_run/engine.h"
#include "tests/support/c_session.hpp"

namespace qc::test {
namespace {

constexpr int kFrames = 5;

struct Named {
    std::string name;
    bool is_model;
    std::vector<double> values; ///< by frame
};

std::vector<Named> features_of(const qc_session* session) {
    std::vector<Named> features;
    qc_feature feature{};
    for (int i = 0; qc_session_feature(session, i, &feature) == QC_OK; ++i)
        features.push_back({feature.name, feature.is_model != 0, {}});
    return features;
}

/// What a session that sees pictures finds.
std::vector<Named> scores_of_pictures(const char* model) {
    qc_config config = cpu_config("vmaf", "yuv420p", 240, 220);
    config.model = model;
    Scoring scoring(config, kFrames);
    scoring.run(kFrames);
    std::vector<Named> features = features_of(scoring.get());
    while (scoring.receive() == QC_OK)
        for (size_t i = 0; i < features.size(); ++i) features[i].values.push_back(scoring.row().value[i]);
    return features;
}

qc_config import_config(const char* model = nullptr) {
    qc_config config{};
    config.struct_size = sizeof(config);
    config.backend = QC_BACKEND_IMPORTED;
    config.model = model;
    return config;
}

class Importing {
public:
    explicit Importing(const qc_config& config) {
        qc_error error{};
        EXPECT_EQ(qc_session_create(&config, &session_, &error), QC_OK) << error.text;
    }
    ~Importing() { qc_session_destroy(session_); }
    Importing(const Importing&) = delete;
    Importing& operator=(const Importing&) = delete;

    qc_session* get() const { return session_; }
    std::string error() const { return qc_session_error(session_); }
    qc_status import(const std::string& name, int64_t frame, double value, int rendition = 0) {
        return qc_session_import(session_, rendition, name.c_str(), frame, value);
    }
    qc_status receive() { return qc_session_receive(session_, 1, &row_); }
    const qc_row& row() const { return row_; }

private:
    qc_session* session_ = nullptr;
    qc_row row_{};
};

const Named& named(const std::vector<Named>& features, const std::string& name) {
    for (const Named& feature : features)
        if (feature.name == name) return feature;
    ADD_FAILURE() << name;
    return features.front();
}

TEST(CApiImport, AModelPredictsWithoutPictures) {
    for (const char* model : {"version=vmaf_v0.6.1", "version=vmaf_v1.0.16_3d0h", "version=vmaf_b_v0.6.3"}) {
        SCOPED_TRACE(model);
        const std::vector<Named> pictures = scores_of_pictures(model);
        Importing importing(import_config(model));
        EXPECT_EQ(qc_session_backend(importing.get()), QC_BACKEND_IMPORTED);
        const std::vector<Named> features = features_of(importing.get());
        ASSERT_FALSE(features.empty());
        for (size_t i = features.size(); i-- > 0;) // in any order of features and frames
            for (int64_t f : {3, 0, 4, 2, 1})
                if (!features[i].is_model)
                    ASSERT_EQ(importing.import(features[i].name, f,
                                               named(pictures, features[i].name).values[static_cast<size_t>(f)]),
                              QC_OK)
                        << importing.error();
        for (size_t f = 0; f < kFrames; ++f) { // before the flush: nothing is missing
            ASSERT_EQ(importing.receive(), QC_OK);
            EXPECT_EQ(importing.row().frame, static_cast<int64_t>(f));
            for (size_t i = 0; i < features.size(); ++i) {
                const double expected = named(pictures, features[i].name).values[f];
                EXPECT_EQ(std::memcmp(&expected, &importing.row().value[i], sizeof(double)), 0) << features[i].name;
            }
        }
        EXPECT_EQ(importing.receive(), QC_AGAIN);
        ASSERT_EQ(qc_session_flush(importing.get()), QC_OK);
        EXPECT_EQ(importing.receive(), QC_END);
        double mean = 0.0, sum = 0.0;
        const std::vector<double>& predicted = named(pictures, features.back().name).values;
        for (const double value : predicted) sum += value;
        ASSERT_EQ(qc_session_pooled(importing.get(), 0, static_cast<int>(features.size()) - 1, QC_POOL_MEAN, &mean),
                  QC_OK);
        EXPECT_DOUBLE_EQ(mean, sum / kFrames);
    }
}

TEST(CApiImport, FeaturesAreKnownByBothNames) {
    Importing importing(import_config());
    EXPECT_EQ(features_of(importing.get()).size(), 7U) << "what the model reads, and its prediction";
    for (const char* name : {"VMAF_integer_feature_adm2_score", "integer_motion2", "integer_vif_scale0",
                             "VMAF_integer_feature_vif_scale1_score", "integer_vif_scale2", "integer_vif_scale3"})
        EXPECT_EQ(importing.import(name, 0, 0.9), QC_OK) << importing.error();
    ASSERT_EQ(importing.receive(), QC_OK);
    EXPECT_TRUE(std::isfinite(importing.row().value[6]));
    double value = 0.0;
    EXPECT_EQ(qc_session_score(importing.get(), 0, 6, 0, &value), QC_OK);
    EXPECT_EQ(value, importing.row().value[6]);
}

TEST(CApiImport, FramesThatLackAValueHaveNoScores) {
    Importing importing(import_config());
    for (const Named& feature : features_of(importing.get()))
        for (int64_t f : {0, 1, 3})
            if (!feature.is_model && (f != 1 || feature.name != "integer_adm2"))
                ASSERT_EQ(importing.import(feature.name, f, 0.5), QC_OK);
    double value = 0.0;
    ASSERT_EQ(importing.receive(), QC_OK);
    EXPECT_EQ(importing.receive(), QC_AGAIN) << "frame 1 is waited for";
    EXPECT_EQ(qc_session_score(importing.get(), 0, 0, 3, &value), QC_AGAIN);
    ASSERT_EQ(qc_session_flush(importing.get()), QC_OK);
    for (const int64_t f : {1, 2, 3}) {
        ASSERT_EQ(importing.receive(), QC_OK);
        EXPECT_EQ(importing.row().frame, f);
        EXPECT_EQ(importing.row().present[0], f == 3 ? 1 : 0);
    }
    EXPECT_EQ(importing.receive(), QC_END);
    EXPECT_EQ(qc_session_scored_frames(importing.get()), 2);
}

TEST(CApiImport, WhatIsRefusedChangesNothing) {
    Importing importing(import_config());
    ASSERT_EQ(importing.import("integer_adm2", 0, 0.25), QC_OK);
    EXPECT_EQ(importing.import("integer_adm2", 0, 0.5), QC_ERROR_INVALID);
    EXPECT_EQ(importing.error(), "integer_adm2 of frame 0 is there already");
    EXPECT_EQ(importing.import("psnr_y", 0, 0.5), QC_ERROR_INVALID);
    EXPECT_EQ(importing.error(),
              "no model reads \"psnr_y\", they read integer_adm2, integer_motion2, integer_vif_scale0, "
              "integer_vif_scale1, integer_vif_scale2, integer_vif_scale3");
    EXPECT_EQ(importing.import("vmaf", 0, 0.5), QC_ERROR_INVALID) << "predictions are the models'";
    EXPECT_EQ(importing.import("integer_adm2", -1, 0.5), QC_ERROR_INVALID);
    EXPECT_EQ(importing.import("integer_adm2", int64_t{1} << 21, 0.5), QC_ERROR_INVALID);
    EXPECT_EQ(importing.error(), "frame=2097152: 0..1048576 is accepted");
    EXPECT_EQ(importing.import("integer_adm2", 1, 0.5, 1), QC_ERROR_INVALID);
    EXPECT_EQ(importing.import("integer_adm2", 1, 0.5, -1), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_import(importing.get(), 0, nullptr, 1, 0.5), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_import(nullptr, 0, "integer_adm2", 1, 0.5), QC_ERROR_INVALID);

    int releases = 0;
    qc_frame frame{};
    frame.release = [](void* calls) { ++*static_cast<int*>(calls); };
    frame.opaque = &releases;
    EXPECT_EQ(qc_session_submit(importing.get(), &frame), QC_ERROR_INVALID);
    EXPECT_EQ(importing.error(), "the backend that is called imported takes scores, no pictures");
    EXPECT_EQ(releases, 1);
    EXPECT_EQ(qc_session_submit_measured(importing.get(), 1, nullptr, 0), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_break(importing.get()), QC_OK);

    for (const Named& feature : features_of(importing.get()))
        if (!feature.is_model && feature.name != "integer_adm2")
            ASSERT_EQ(importing.import(feature.name, 0, 0.5), QC_OK);
    ASSERT_EQ(importing.receive(), QC_OK);
    EXPECT_EQ(importing.row().value[0], 0.25) << "the value that was there stays";
    EXPECT_EQ(importing.import("integer_adm2", 0, 0.5), QC_ERROR_INVALID);
    EXPECT_EQ(importing.error(), "integer_adm2 of frame 0 is there already");
    ASSERT_EQ(qc_session_flush(importing.get()), QC_OK);
    EXPECT_EQ(importing.import("integer_adm2", 1, 0.5), QC_ERROR_INVALID);
    EXPECT_EQ(importing.error(), "a score was imported after the flush");

    Scoring pictures(cpu_config("psnr"));
    EXPECT_EQ(qc_session_import(pictures.get(), 0, "psnr_y", 0, 40.0), QC_ERROR_INVALID);
    EXPECT_EQ(pictures.error(), "scores are imported by sessions of the backend that is called imported");
}

TEST(CApiImport, SuchASessionTakesModelsOnly) {
    const auto refused = [](auto&& change) {
        qc_config config = import_config();
        change(config);
        qc_session* session = nullptr;
        qc_error error{};
        EXPECT_EQ(qc_session_create(&config, &session, &error), QC_ERROR_INVALID);
        EXPECT_EQ(qc_config_check(&config, nullptr), QC_ERROR_INVALID);
        return std::string(error.text).find("predicts by models only") != std::string::npos;
    };
    EXPECT_TRUE(refused([](qc_config& config) { config.metrics = "vmaf|psnr"; }));
    EXPECT_TRUE(refused([](qc_config& config) { config.feature = "name=psnr"; }));
    EXPECT_TRUE(refused([](qc_config& config) { config.maps = "difference"; }));
    EXPECT_TRUE(refused([](qc_config& config) { config.watch_contents = 1; }));
    EXPECT_TRUE(refused([](qc_config& config) { config.weights = 1; }));
}

TEST(CApiImport, RenditionsAndSubsamplingAreAsEver) {
    qc_config config = import_config("version=vmaf_v0.6.1|version=vmaf_v0.6.1neg:name=neg");
    config.renditions = 2;
    config.n_subsample = 2;
    Importing importing(config);
    for (const Named& feature : features_of(importing.get()))
        for (int rendition = 0; rendition < 2; ++rendition)
            for (int64_t f = 0; f < 3; ++f)
                if (!feature.is_model)
                    ASSERT_EQ(importing.import(feature.name, f, rendition == 0 ? 0.5 : 0.75, rendition), QC_OK)
                        << importing.error();
    const size_t features = features_of(importing.get()).size();
    for (int64_t f = 0; f < 3; ++f) {
        ASSERT_EQ(importing.receive(), QC_OK) << f;
        EXPECT_EQ(importing.row().present[0], f != 1);
        if (f != 1) {
            EXPECT_EQ(importing.row().value[0], 0.5);
            EXPECT_EQ(importing.row().value[features], 0.75);
        }
    }
}

TEST(CApiImport, AutoGoesByTheSizeThatIsGiven) {
    const auto model_for = [](int width, int height, double rate) {
        std::string note;
        qc_config config = import_config("auto");
        config.reference.width = width;
        config.reference.height = height;
        config.frame_rate = rate;
        config.log = [](void* text, qc_log_level, const char* line) { *static_cast<std::string*>(text) += line; };
        config.log_opaque = &note;
        const Importing importing(config);
        return note;
    };
    EXPECT_NE(model_for(0, 0, 0.0).find("for 1920x1080"), std::string::npos);
    EXPECT_NE(model_for(3840, 2160, 60.0).find("_2160 for 3840x2160"), std::string::npos);
}

TEST(CApiImport, TheLogIsThatOfAnySession) {
    const std::string path =
        (std::filesystem::temp_directory_path() / format("qc_import_%d.json", static_cast<int>(getpid()))).string();
    Importing importing(import_config());
    for (const Named& feature : features_of(importing.get()))
        if (!feature.is_model) ASSERT_EQ(importing.import(feature.name, 0, 0.5), QC_OK);
    ASSERT_EQ(qc_session_flush(importing.get()), QC_OK);
    EXPECT_EQ(qc_session_write_log(importing.get(), 0, path.c_str(), QC_LOG_FORMAT_JSON, 1, nullptr, 0), QC_OK)
        << importing.error();
    EXPECT_GT(std::filesystem::file_size(path), 100U);
    std::filesystem::remove(path);
}

} // namespace
} // namespace qc::test
