// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "models/model_json.hpp"
#include "tests/golden/golden.hpp"

#include <cmath>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fake_metrics.hpp"

namespace qc::test {
namespace {

constexpr char kSvm[] = "svm_type nu_svr\\nkernel_type rbf\\ngamma 0.5\\nnr_class 2\\ntotal_sv 2\\nrho -1.5\\nSV\\n"
                        "2 1:1 2:0.5 \\n-1 2:0.25 \\n";

/// A model of two features; each part can be replaced to spoil it.
struct ModelText {
    std::string type = R"("LIBSVMNUSVR")";
    std::string norm = R"("norm_type": "linear_rescale", "slopes": [0.5, 2.0, 1], "intercepts": [0.25, -1, 0.0])";
    std::string names = R"(["first_score", "second_score"])";
    std::string more = R"("score_clip": [0.0, 100.0])";
    std::string svm = kSvm;

    std::string dict() const {
        return R"({"param_dict": {"C": 4.0, "clip": null}, "model_dict": {"model_type": )" + type + ", " + norm +
               ", \"feature_names\": " + names + ", \"feature_dict\": {\"a\": [[\"b\"]]}" +
               (more.empty() ? "" : ", " + more) + ", \"model\": \"" + svm + "\"}}";
    }
};

Status parse(const std::string& json, std::shared_ptr<const Model>* model) {
    return parse_model_json(json, "m.json", model);
}
std::shared_ptr<const Model> parse_good(const std::string& json) {
    std::shared_ptr<const Model> model;
    const Status status = parse(json, &model);
    EXPECT_TRUE(status.ok()) << status.text();
    return model;
}
std::string error_of(const std::string& json) {
    std::shared_ptr<const Model> model;
    const Status status = parse(json, &model);
    EXPECT_FALSE(status.ok()) << json;
    EXPECT_EQ(model, nullptr);
    return status.text();
}

TEST(ModelJson, PredictsAsComputedByHand) {
    const auto model = parse_good(ModelText().dict());
    ASSERT_EQ(model->features().size(), 2U);
    EXPECT_EQ(model->features()[0].name, "first_score");
    EXPECT_FALSE(model->is_collection());
    const double features[] = {0.75, 0.5}; // normalised: 0.5, 0.5
    const double first = 2.0 * std::exp(-0.5 * 0.25);
    const double second = -1.0 * std::exp(-0.5 * (0.25 + 0.0625)); // the missing index is 0
    double score = 0.0;
    model->evaluate(features, {&score, 1});
    EXPECT_EQ(score, (first + second + 1.5 - 0.25) / 0.5);
}

TEST(ModelJson, WithoutNormalisationAndClip) {
    ModelText text;
    text.norm = R"("norm_type": "none")";
    text.more = "";
    const auto model = parse_good(text.dict());
    EXPECT_FALSE(model->members()[0].rescale);
    EXPECT_FALSE(model->members()[0].clip_enabled);
}

TEST(ModelJson, OptionsKeepLibvmafsText) {
    ModelText text;
    text.more = R"("feature_opts_dicts": [{"a": 1.0, "b": 0.06, "c": 17}, {"d": true, "e": "bilinear", "f": 1e400}])";
    EXPECT_NE(error_of(text.dict()), "");
    text.more =
        R"("feature_opts_dicts": [{"a": 1.0, "b": 1.23456789, "c": 17, "d": -0.5}, {"e": true, "f": "bilinear"}])";
    const auto model = parse_good(text.dict());
    const auto& first = model->features()[0].options;
    ASSERT_EQ(first.size(), 4U);
    EXPECT_EQ(first[0].text, "1");
    EXPECT_EQ(first[1].text, "1.23457");
    EXPECT_EQ(first[2].text, "17");
    EXPECT_EQ(first[3].text, "-0.5");
    EXPECT_EQ(model->features()[1].options[0].text, "true");
    EXPECT_EQ(model->features()[1].options[1].text, "bilinear");
}

TEST(ModelJson, Transform) {
    ModelText text;
    text.more = R"("score_transform": {"p1": 2.0, "out_gte_in": "true", "out_lte_in": "no", "other": [1]})";
    const auto disabled = parse_good(text.dict());
    const Predictor& off = disabled->members()[0];
    ASSERT_TRUE(off.transform);
    EXPECT_FALSE(off.transform_enabled);
    EXPECT_TRUE(off.transform->out_gte_in);
    EXPECT_FALSE(off.transform->out_lte_in);
    EXPECT_FALSE(off.transform->p0);
    EXPECT_EQ(off.transform->p1, 2.0);
    text.more = R"("score_transform": {"enabled": true, "knots": [[0, 1], [2.5, 1], [3, 4]]})";
    const auto model = parse_good(text.dict());
    EXPECT_TRUE(model->members()[0].transform_enabled);
    EXPECT_EQ(model->members()[0].transform->knots.size(), 3U);
}

TEST(ModelJson, Collection) {
    const ModelText text;
    const std::string dict = text.dict();
    const auto model = parse_good("{\"note\": 1, \"0\": " + dict + ", \"1\": " + dict + ", \"2\": " + dict + "}");
    EXPECT_EQ(model->members().size(), 3U);
    EXPECT_EQ(model->output_names("m"), (std::vector<std::string>{"m", "m_0001", "m_0002", "m_bagging", "m_stddev",
                                                                  "m_ci_p95_lo", "m_ci_p95_hi"}));
    EXPECT_EQ(error_of("{\"0\": " + dict + "}"),
              "model file \"m.json\": a collection needs a member \"1\" beside \"0\"");
    ModelText other;
    other.names = R"(["first_score", "third_score"])";
    EXPECT_EQ(error_of("{\"0\": " + dict + ", \"1\": " + other.dict() + "}"),
              "model file \"m.json\": member \"1\": its features differ from those of member \"0\"");
    EXPECT_EQ(error_of("{\"0\": " + dict + ", \"1\": {}}"),
              "model file \"m.json\": member \"1\": \"model_dict\" must be an object");
}

TEST(ModelJson, ErrorsSayWhatIsWrong) {
    const auto spoiled = [](auto change) {
        ModelText text;
        change(text);
        return error_of(text.dict());
    };
    const std::string start = "model file \"m.json\": ";
    EXPECT_EQ(error_of(""), start + "not valid JSON, near byte 1");
    EXPECT_EQ(error_of("[]"), start + "a model file must hold a JSON object");
    EXPECT_EQ(error_of("{}"), start + "neither a model (\"model_dict\") nor a collection (\"0\", \"1\", ...)");
    EXPECT_EQ(error_of(std::string(100, '[')), start + "nested deeper than 16 levels");
    EXPECT_EQ(error_of("{\"model_dict\": 3}"), start + "\"model_dict\" must be an object");
    EXPECT_EQ(spoiled([](ModelText& t) { t.type = "\"RANDOMFOREST\""; }),
              start + "\"model_type\" is \"RANDOMFOREST\", known are LIBSVMNUSVR, BOOTSTRAP_LIBSVMNUSVR and "
                      "RESIDUEBOOTSTRAP_LIBSVMNUSVR");
    EXPECT_EQ(spoiled([](ModelText& t) { t.type = "null"; }), start + "\"model_type\" must be a string");
    EXPECT_EQ(spoiled([](ModelText& t) { t.norm = "\"norm_type\": \"log\""; }),
              start + "\"norm_type\" is \"log\", known are \"linear_rescale\" and \"none\"");
    EXPECT_EQ(spoiled([](ModelText& t) { t.norm = "\"norm_type\": \"linear_rescale\""; }),
              start + "\"slopes\" is missing");
    EXPECT_EQ(spoiled([](ModelText& t) {
                  t.norm = R"("norm_type": "linear_rescale", "slopes": [1, 2], "intercepts": [1, 2, 3])";
              }),
              start + "\"slopes\" must be an array of 3 numbers");
    EXPECT_EQ(spoiled([](ModelText& t) {
                  t.norm = R"("norm_type": "linear_rescale", "slopes": [1, 2, "3"], "intercepts": [1, 2, 3])";
              }),
              start + "\"slopes\"[2] must be a number");
    EXPECT_EQ(spoiled([](ModelText& t) {
                  t.norm = R"("norm_type": "linear_rescale", "slopes": [0, 2, 3], "intercepts": [1, 2, 3])";
              }),
              start + "\"slopes\"[0] must not be 0");
    EXPECT_EQ(spoiled([](ModelText& t) { t.names = "[]"; }),
              start + "\"feature_names\" must be an array of 1 to 64 strings");
    EXPECT_EQ(spoiled([](ModelText& t) { t.names = "[\"a\", 1]"; }),
              start + "\"feature_names\" must hold strings only");
    EXPECT_EQ(spoiled([](ModelText& t) { t.more = "\"score_clip\": null"; }),
              start + "\"score_clip\" must be an array of 2 numbers");
    EXPECT_EQ(spoiled([](ModelText& t) { t.more = "\"score_clip\": [2, 1]"; }),
              start + "\"score_clip\" must give the smaller bound first");
    EXPECT_EQ(spoiled([](ModelText& t) { t.more = "\"feature_opts_dicts\": [{}]"; }),
              start + "\"feature_opts_dicts\" must be an array of 2 objects, one per feature");
    EXPECT_EQ(spoiled([](ModelText& t) { t.more = "\"feature_opts_dicts\": [{\"a\": [1]}, {}]"; }),
              start + "option \"a\" in \"feature_opts_dicts\" must be a number, true, false or a string");
    EXPECT_EQ(spoiled([](ModelText& t) { t.more = "\"score_transform\": {\"p0\": null}"; }),
              start + "\"p0\" in \"score_transform\" must be a number");
    EXPECT_EQ(spoiled([](ModelText& t) { t.more = "\"score_transform\": {\"out_gte_in\": true}"; }),
              start + "\"out_gte_in\" in \"score_transform\" must be the string \"true\" or left out");
    EXPECT_EQ(spoiled([](ModelText& t) { t.more = "\"score_transform\": {\"knots\": [[0, 1], [0, 2]]}"; }),
              start + "\"knots\" in \"score_transform\" must rise in x and must not fall in y");
    EXPECT_EQ(spoiled([](ModelText& t) { t.more = "\"score_transform\": {\"knots\": null}"; }),
              start + "\"knots\" in \"score_transform\" must be an array of at most 10 [x, y] pairs");
    EXPECT_EQ(spoiled([](ModelText& t) { t.more = "\"chroma_correction_parameter\": 120"; }),
              start + "\"chroma_correction_parameter\" needs a speed_chroma feature");
    EXPECT_EQ(spoiled([](ModelText& t) { t.svm = "svm_type c_svc\\nSV\\n"; }),
              start + "support vector text: \"svm_type c_svc\" is not accepted, only nu_svr is known");
    EXPECT_EQ(spoiled([](ModelText& t) { t.svm = "svm_type nu_svr\\nSV\\n"; }),
              start + "support vector text: svm_type, kernel_type, gamma, rho and total_sv must come before \"SV\"");
    EXPECT_EQ(spoiled([](ModelText& t) { t.svm += "1 1:1\\n"; }),
              start + "support vector text: more than the 2 vectors of total_sv");
    EXPECT_EQ(spoiled([](ModelText& t) { t.svm.resize(t.svm.rfind("-1")); }),
              start + "support vector text: 1 vectors, total_sv says 2");
    EXPECT_EQ(spoiled([](ModelText& t) { t.svm.replace(t.svm.rfind("2:0.25"), 6, "3:0.25"); }),
              start + "support vector 2: \"3:0.25\" is not understood");
    EXPECT_EQ(spoiled([](ModelText& t) { t.svm.replace(t.svm.rfind("2:0.25"), 6, "2:nan"); }),
              start + "support vector 2: \"2:nan\" is not understood");
}

TEST(ModelJson, FilesThatCannotBeRead) {
    std::shared_ptr<const Model> model;
    Status status = load_model_file("/nowhere/model.json", &model);
    EXPECT_EQ(status.code(), QC_ERROR_IO);
    EXPECT_EQ(status.text(), "cannot read model file \"/nowhere/model.json\": No such file or directory");
    const TemporaryFolder folder;
    status = load_model_file(folder.path().string(), &model);
    EXPECT_EQ(status.code(), QC_ERROR_IO);
    status = load_model_file("/dev/zero", &model);
    EXPECT_EQ(status.text(), "cannot read model file \"/dev/zero\": it is larger than 16 MiB");
}

TEST(ModelJson, PickledModelsAreNamed) {
    const TemporaryFolder folder;
    std::ofstream(folder.file("old.pkl")) << "(dp0\nS'model_dict'\np1\n";
    std::shared_ptr<const Model> model;
    for (const char* name : {"old.pkl", "missing.pkl", "missing.pkl.model"}) {
        const Status status = load_model_file(folder.file(name), &model);
        EXPECT_NE(status.text().find("pickled models of libvmaf before version 2 are not read"), std::string::npos);
        const std::string stem = std::string(name).substr(0, std::string(name).find('.'));
        EXPECT_NE(status.text().find("\"" + folder.file((stem + ".json").c_str()) + "\", or a built-in"),
                  std::string::npos)
            << status.text();
    }
    std::ofstream(folder.file("json.pkl")) << ModelText().dict();
    EXPECT_TRUE(load_model_file(folder.file("json.pkl"), &model).ok()) << "what it is called is its own affair";
}

TEST(ModelJson, FileRoundTrip) {
    const TemporaryFolder folder;
    std::ofstream(folder.file("m.json")) << ModelText().dict();
    std::shared_ptr<const Model> model;
    const Status status = load_model_file(folder.file("m.json"), &model);
    EXPECT_TRUE(status.ok()) << status.text();
}

/// Whatever the bytes: a model that can be evaluated, or one line that names the file.
void check_survives(const std::string& json) {
    std::shared_ptr<const Model> model;
    const Status status = parse(json, &model);
    if (status.ok()) {
        std::vector<double> features(model->features().size(), 0.5), outputs(model->output_count());
        model->evaluate(features, outputs);
        return;
    }
    EXPECT_TRUE(status.text().starts_with("model file \"m.json\": ")) << status.text();
    EXPECT_EQ(status.text().find('\n'), std::string::npos) << status.text();
    EXPECT_LT(status.text().size(), 1000U);
}

std::string rich_model() {
    ModelText text;
    text.names = R"(["speed_chroma_score", "adm3_score"])";
    text.more =
        R"("score_clip": [0, 100], "chroma_correction_parameter": 120.0, "feature_opts_dicts": [{"a": 1.5}, {}],)"
        R"( "score_transform": {"p0": 1, "p1": 2, "p2": 3e-2, "knots": [[0, 1], [2, 3]], "enabled": true,)"
        R"( "out_lte_in": "true"})";
    return "{\"0\": " + text.dict() + ", \"1\": " + text.dict() + "}";
}

TEST(ModelJson, TruncatedAnywhere) {
    const std::string whole = rich_model();
    ASSERT_NE(parse_good(whole), nullptr);
    for (size_t size = 0; size < whole.size(); ++size) {
        check_survives(whole.substr(0, size));
        EXPECT_NE(error_of(whole.substr(0, size)), "");
    }
}

TEST(ModelJson, MutatedBytes) {
    const std::string whole = rich_model();
    std::mt19937 random(20240229);
    constexpr std::string_view kInteresting = "\"{}[],:0123456789.-+eE\\n tfu\x00\x80\xff";
    for (int round = 0; round < 20000; ++round) {
        std::string json = whole;
        const unsigned changes = 1 + random() % 4;
        for (unsigned i = 0; i < changes; ++i) {
            const size_t at = random() % json.size();
            switch (random() % 4) {
            case 0:
                json[at] = static_cast<char>(random() % 256);
                break;
            case 1:
                json[at] = kInteresting[random() % kInteresting.size()];
                break;
            case 2:
                json.erase(at, 1 + random() % 8);
                break;
            default:
                json.insert(at, json.substr(random() % json.size(), random() % 16));
            }
            if (json.empty()) json = "x";
        }
        check_survives(json);
    }
}

/// The same on a published file, cut and spoiled at random places.
TEST(ModelJson, SpoiledPublishedFile) {
    if (const char* reason = golden::missing()) GTEST_SKIP() << reason;
    std::ifstream file(golden::shared_folder() / "models" / "vmaf_v0.6.1neg.json");
    const std::string whole((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    ASSERT_NE(parse_good(whole), nullptr);
    std::mt19937 random(20240301);
    for (int round = 0; round < 1000; ++round) {
        std::string json = whole;
        json[random() % json.size()] = static_cast<char>(random() % 128);
        check_survives(json);
        check_survives(whole.substr(0, random() % whole.size()));
    }
}

} // namespace
} // namespace qc::test
