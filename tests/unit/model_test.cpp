// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "models/model.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "models/builtin_models.hpp"

namespace qc::test {
namespace {

// Frame 0 of libvmaf's 576x324 test pair: features and scores as libvmaf 3.2.0 gives them, 17 digits. The order is the
// models': adm2, motion2, vif_scale0 .. 3.
constexpr double kPlainFeatures[] = {
    0.9620839149029907, 0.0, 0.5057119727134705, 0.8790611624717712, 0.9378732442855835, 0.9643008708953857};
constexpr double kNegFeatures[] = {0.9575028277755064, 0.0, 0.5056886076927185, 0.8764451146125793, 0.9339032173156738,
                                   0.9595170021057129};
// And frame 1, which moves.
constexpr double kMovingFeatures[] = {0.9497659148156563, 4.2143270861464766, 0.41164883971214294,
                                      0.8135404586791992, 0.8945626616477966, 0.9368787407875061};

std::shared_ptr<const Model> built_in(const char* name) {
    std::shared_ptr<const Model> model;
    const Status status = load_builtin_model(name, &model);
    EXPECT_TRUE(status.ok()) << status.text();
    return model;
}

std::vector<double> evaluate(const Model& model, std::span<const double> features) {
    std::vector<double> outputs(model.output_count());
    model.evaluate(features, outputs);
    return outputs;
}

TEST(Model, BuiltInScores) {
    EXPECT_EQ(evaluate(*built_in("vmaf_v0.6.1"), kPlainFeatures)[0], 83.85628400042145);
    EXPECT_EQ(evaluate(*built_in("vmaf_v0.6.1"), kMovingFeatures)[0], 82.63980469307762);
    EXPECT_EQ(evaluate(*built_in("vmaf_v0.6.1neg"), kNegFeatures)[0], 82.35034604485676);
    EXPECT_EQ(evaluate(*built_in("vmaf_4k_v0.6.1"), kPlainFeatures)[0], 90.11107416918722);
    EXPECT_EQ(evaluate(*built_in("vmaf_4k_v0.6.1neg"), kNegFeatures)[0], 88.93602642569734);
}

/// The same regressions over other features.
TEST(Model, BuiltInFloatModels) {
    for (const auto& [name, base] : {std::pair("vmaf_float_v0.6.1", "vmaf_v0.6.1"),
                                     {"vmaf_float_v0.6.1neg", "vmaf_v0.6.1neg"},
                                     {"vmaf_float_4k_v0.6.1", "vmaf_4k_v0.6.1"},
                                     {"vmaf_float_b_v0.6.3", "vmaf_b_v0.6.3"}}) {
        const auto model = built_in(name), integer = built_in(base);
        EXPECT_EQ(evaluate(*model, kPlainFeatures), evaluate(*integer, kPlainFeatures)) << name;
        ASSERT_EQ(model->features().size(), 6U);
        for (size_t i = 0; i < 6; ++i) {
            std::string wanted = integer->features()[i].name;
            EXPECT_EQ(model->features()[i].name, wanted.replace(wanted.find("integer_"), 8, ""));
            EXPECT_EQ(model->features()[i].options.size(), integer->features()[i].options.size());
        }
    }
}

TEST(Model, BuiltInTransform) {
    const auto model = built_in("vmaf_v0.6.1")->with_flags({.enable_transform = true, .disable_clip = false});
    EXPECT_EQ(evaluate(*model, kPlainFeatures)[0], 96.88328344813384);
    EXPECT_EQ(evaluate(*built_in("vmaf_v0.6.1"), kPlainFeatures)[0], 83.85628400042145) << "the original changed";
}

TEST(Model, BuiltInCollection) {
    const auto model = built_in("vmaf_b_v0.6.3");
    ASSERT_TRUE(model->is_collection());
    ASSERT_EQ(model->output_count(), 25U);
    const std::vector<std::string> names = model->output_names("vmaf");
    ASSERT_EQ(names.size(), 25U);
    EXPECT_EQ(names[0], "vmaf");
    EXPECT_EQ(names[1], "vmaf_0001");
    EXPECT_EQ(names[20], "vmaf_0020");
    EXPECT_EQ(names[21], "vmaf_bagging");
    EXPECT_EQ(names[22], "vmaf_stddev");
    EXPECT_EQ(names[23], "vmaf_ci_p95_lo");
    EXPECT_EQ(names[24], "vmaf_ci_p95_hi");
    const std::vector<double> scores = evaluate(*model, kPlainFeatures);
    EXPECT_EQ(scores[0], 83.17122503247003);
    EXPECT_EQ(scores[1], 84.15471302915107);
    EXPECT_EQ(scores[20], 80.48130781272103);
    EXPECT_EQ(scores[21], 82.27554105133589);
    EXPECT_EQ(scores[22], 2.302359069217159);
    EXPECT_EQ(scores[23], 78.72862857868792);
    EXPECT_EQ(scores[24], 86.20556671963547);
}

/// The kernels that members share give what each member gives alone.
TEST(Model, CollectionMembersAloneAgree) {
    const auto model = built_in("vmaf_b_v0.6.3");
    for (const auto& features : {kPlainFeatures, kNegFeatures, kMovingFeatures}) {
        const std::vector<double> scores = evaluate(*model, {features, 6});
        for (size_t k = 0; k < model->members().size(); ++k)
            EXPECT_EQ(scores[k], model->members()[k].predict({features, 6})) << k;
    }
}

TEST(Model, CollectionWhoseMembersNormaliseDifferently) {
    const auto original = built_in("vmaf_b_v0.6.3");
    std::vector<Predictor> members(original->members().begin(), original->members().end());
    members[3].slopes[1] *= 2.0;
    const std::vector<ModelFeature> features(original->features().begin(), original->features().end());
    const Model changed(features, members);
    const std::vector<double> scores = evaluate(changed, kPlainFeatures);
    const std::vector<double> before = evaluate(*original, kPlainFeatures);
    EXPECT_NE(scores[3], before[3]);
    EXPECT_EQ(scores[2], before[2]);
    EXPECT_EQ(scores[3], members[3].predict(kPlainFeatures));
}

TEST(Model, ClipKeepsNan) {
    const auto model = built_in("vmaf_v0.6.1");
    const double features[] = {NAN, 0.0, 0.5, 0.8, 0.9, 0.9};
    EXPECT_TRUE(std::isnan(evaluate(*model, features)[0]));
    for (double score : evaluate(*built_in("vmaf_b_v0.6.3"), features)) EXPECT_TRUE(std::isnan(score));
}

TEST(Model, BuiltInNames) {
    EXPECT_EQ(builtin_model_names().front(), "vmaf_v0.6.1");
    for (std::string_view name : builtin_model_names()) EXPECT_NE(built_in(std::string(name).c_str()), nullptr);
    std::shared_ptr<const Model> model;
    const Status status = load_builtin_model("vmaf_v9", &model);
    EXPECT_EQ(status.code(), QC_ERROR_INVALID);
    EXPECT_EQ(status.text(),
              "unknown model \"vmaf_v9\", built in are vmaf_v0.6.1, vmaf_v0.6.1neg, vmaf_4k_v0.6.1, vmaf_4k_v0.6.1neg, "
              "vmaf_b_v0.6.3, vmaf_float_v0.6.1, vmaf_float_v0.6.1neg, vmaf_float_4k_v0.6.1, vmaf_float_b_v0.6.3, "
              "vmaf_v1.0.16_3d0h, vmaf_v1.0.16_5d0h, vmaf_v1.0.16_3d0h_2160, vmaf_v1.0.16_1d5h_2160, "
              "vmaf_v1.0.16_hfr_3d0h, vmaf_v1.0.16_hfr_5d0h, vmaf_v1.0.16_hfr_3d0h_2160, vmaf_v1.0.16_hfr_1d5h_2160; "
              "other models are loaded with path=FILE.json");
}

TEST(Model, AutomaticChoice) {
    const auto choice = [](int width, int height, double rate) {
        return std::string(automatic_model_name(width, height, rate));
    };
    EXPECT_EQ(choice(1920, 1080, 0), "vmaf_v1.0.16_3d0h");
    EXPECT_EQ(choice(1920, 1080, 30000.0 / 1001), "vmaf_v1.0.16_3d0h");
    EXPECT_EQ(choice(1920, 1080, 49.9), "vmaf_v1.0.16_3d0h");
    EXPECT_EQ(choice(1920, 1080, 50), "vmaf_v1.0.16_hfr_3d0h");
    EXPECT_EQ(choice(1280, 720, 60000.0 / 1001), "vmaf_v1.0.16_hfr_3d0h");
    EXPECT_EQ(choice(1080, 1920, 30), "vmaf_v1.0.16_3d0h");
    EXPECT_EQ(choice(2560, 1440, 30), "vmaf_v1.0.16_3d0h");
    EXPECT_EQ(choice(3840, 2160, 24), "vmaf_v1.0.16_1d5h_2160");
    EXPECT_EQ(choice(3840, 1600, 24), "vmaf_v1.0.16_1d5h_2160");
    EXPECT_EQ(choice(2160, 3840, 24), "vmaf_v1.0.16_1d5h_2160");
    EXPECT_EQ(choice(7680, 4320, 120), "vmaf_v1.0.16_hfr_1d5h_2160");
}

TEST(Model, ScoreRange) {
    EXPECT_EQ(built_in("vmaf_v0.6.1")->score_range(), std::pair(0.0, 100.0));
    EXPECT_EQ(built_in("vmaf_v1.0.16_3d0h_2160")->score_range(), std::pair(0.0, 110.0));
    EXPECT_EQ(built_in("vmaf_v1.0.16_hfr_3d0h_2160")->score_range(), std::pair(0.0, 110.0));
    EXPECT_EQ(built_in("vmaf_v1.0.16_1d5h_2160")->score_range(), std::pair(0.0, 100.0));
    EXPECT_EQ(built_in("vmaf_v0.6.1")->with_flags({.enable_transform = false, .disable_clip = true})->score_range(),
              std::nullopt);
}

/// A chroma score of exactly 0 stands for "unknown": it is derived from adm3.
TEST(Model, ChromaCorrection) {
    const auto model = built_in("vmaf_v1.0.16_3d0h");
    const double zero[] = {0.2, 0.0, 0.95, 3.0}, derived[] = {0.2, 120.0 * (1 - 0.95), 0.95, 3.0};
    const double small[] = {0.2, 1e-9, 0.95, 3.0};
    EXPECT_NEAR(evaluate(*model, zero)[0], evaluate(*model, derived)[0], 1e-9);
    EXPECT_GT(std::abs(evaluate(*model, zero)[0] - evaluate(*model, small)[0]), 1.0);
}

TEST(Model, TransformParts) {
    ScoreTransform polynomial{.p0 = 1.0, .p1 = 2.0, .p2 = 0.5, .knots = {}};
    EXPECT_EQ(polynomial.apply(4.0), 1.0 + 8.0 + 8.0);
    polynomial.out_lte_in = true;
    EXPECT_EQ(polynomial.apply(4.0), 4.0);
    ScoreTransform only_p2{.p0 = {}, .p1 = {}, .p2 = 0.01, .knots = {}, .out_lte_in = false, .out_gte_in = true};
    EXPECT_EQ(only_p2.apply(200.0), 400.0);
    EXPECT_EQ(only_p2.apply(50.0), 50.0);
}

TEST(Model, KnotsExtendAndMeet) {
    const ScoreTransform knots{
        .p0 = {}, .p1 = {}, .p2 = {}, .knots = {{0.0, 10.0}, {10.0, 20.0}, {20.0, 20.0}, {40.0, 60.0}}};
    EXPECT_EQ(knots.apply(-5.0), 5.0);
    EXPECT_EQ(knots.apply(0.0), 10.0);
    EXPECT_EQ(knots.apply(5.0), 15.0);
    EXPECT_EQ(knots.apply(10.0), 20.0);
    EXPECT_EQ(knots.apply(15.0), 20.0);
    EXPECT_EQ(knots.apply(30.0), 40.0);
    EXPECT_EQ(knots.apply(50.0), 80.0);
    const ScoreTransform one_knot{.p0 = {}, .p1 = {}, .p2 = {}, .knots = {{0.0, 10.0}}};
    EXPECT_EQ(one_knot.apply(7.0), 7.0);
}

/// A SpEED score of exactly 0 is replaced by c (1 - adm3); any other stays.
TEST(Model, BuiltInChromaCorrection) {
    Predictor predictor;
    predictor.svm = {.gamma = 0.5, .rho = 0.0, .dimensions = 2, .coefficients = {1.0}, .vectors = {0.0, 0.0}};
    predictor.chroma_correction = 4.0;
    predictor.chroma_feature = 0;
    predictor.adm3_feature = 1;
    const double zero[] = {0.0, 0.75}, corrected[] = {1.0, 0.75};
    EXPECT_EQ(predictor.raw(zero), predictor.raw(corrected));
    const double tiny[] = {1e-300, 0.75};
    EXPECT_NE(predictor.raw(tiny), predictor.raw(corrected));
}

} // namespace
} // namespace qc::test
