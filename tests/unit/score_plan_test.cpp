// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "plan/score_plan.hpp"

#include <algorithm>
#include <fstream>
#include <tuple>

#include <gtest/gtest.h>

#include "fake_metrics.hpp"
#include "report/stats_line.hpp"
#include "tests/support/plans.hpp"

namespace qc::test {
namespace {

struct Wish {
    const char* metrics = nullptr;
    const char* model = nullptr;
    const char* feature = nullptr;
    const char* options = nullptr;
    int n_subsample = 0;
    int skip_unsupported = 0;
    qc_stats_format stats_format = QC_STATS_FORMAT_NONE;
    int renditions = 1;
};

Status build(const Wish& wish, ScorePlan* plan, const FrameGeometry* geometry = &kGeometry,
             std::span<const MetricDescriptor* const> registry = fake_registry()) {
    qc_config config{};
    std::tie(config.metrics, config.model, config.feature, config.options) =
        std::tie(wish.metrics, wish.model, wish.feature, wish.options);
    config.n_subsample = wish.n_subsample;
    config.skip_unsupported = wish.skip_unsupported;
    config.stats_format = wish.stats_format;
    config.renditions = wish.renditions;
    return test::plan_of_config(config, registry, geometry, plan);
}

ScorePlan plan_of(const Wish& wish, const FrameGeometry* geometry = &kGeometry) {
    ScorePlan plan;
    const Status status = build(wish, &plan, geometry);
    EXPECT_TRUE(status.ok()) << status.text();
    return plan;
}

std::string error_of(const Wish& wish, const FrameGeometry* geometry = &kGeometry) {
    ScorePlan plan;
    const Status status = build(wish, &plan, geometry);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.text().find('\n'), std::string::npos);
    return status.text();
}

std::string names(const ScorePlan& plan) {
    std::string text;
    for (const ScoreColumn& column : plan.columns) text += (text.empty() ? "" : " ") + column.name;
    return text;
}

constexpr char kAdmNames[] = "integer_adm2 integer_aim integer_adm3 integer_adm_scale0 integer_adm_scale1 "
                             "integer_adm_scale2 integer_adm_scale3";
constexpr char kMotionNames[] = "VMAF_integer_feature_motion_sad_score integer_motion2 integer_motion3";
constexpr char kVifNames[] = "integer_vif_scale0 integer_vif_scale1 integer_vif_scale2 integer_vif_scale3";

TEST(ScorePlan, DefaultIsVmaf) {
    const std::string all = std::string(kAdmNames) + " " + kMotionNames + " " + kVifNames + " vmaf";
    for (const Wish& wish : {Wish{}, Wish{.metrics = ""}, Wish{.metrics = "vmaf"}, Wish{.model = "vmaf_v0.6.1"},
                             Wish{.model = "version=vmaf_v0.6.1"}, Wish{.metrics = "vmaf+vmaf"}})
        EXPECT_EQ(names(plan_of(wish)), all);

    const ScorePlan plan = plan_of({});
    ASSERT_EQ(plan.models.size(), 1U);
    EXPECT_EQ(plan.n_subsample, 1);
    EXPECT_TRUE(plan.warnings.empty());
    const ModelUse& vmaf = plan.models[0];
    ASSERT_EQ(vmaf.inputs.size(), 6U);
    EXPECT_EQ(plan.columns[size_t(vmaf.inputs[0])].name, "integer_adm2");
    EXPECT_EQ(plan.columns[size_t(vmaf.inputs[0])].stored_name, "VMAF_integer_feature_adm2_score");
    EXPECT_EQ(plan.columns[size_t(vmaf.inputs[1])].name, "integer_motion2");
    EXPECT_EQ(plan.columns[size_t(vmaf.inputs[5])].name, "integer_vif_scale3");
    ASSERT_EQ(vmaf.outputs.size(), 1U);
    EXPECT_TRUE(plan.columns[size_t(vmaf.outputs[0])].is_model);
    EXPECT_EQ(plan.columns[7].key, "vmaf_integer_feature_motion_sad_score");
}

TEST(ScorePlan, MetricsAndFeatures) {
    EXPECT_EQ(names(plan_of({.metrics = "psnr"})), "psnr_y psnr_cb psnr_cr");
    EXPECT_EQ(names(plan_of({.metrics = " psnr | vif + psnr"})), "psnr_y psnr_cb psnr_cr " + std::string(kVifNames));
    EXPECT_EQ(names(plan_of({.metrics = "vif", .feature = "name=psnr:enable_chroma=false"})),
              "psnr_y " + std::string(kVifNames));
    EXPECT_EQ(
        names(plan_of({.metrics = "motion", .feature = "psnr:enable_chroma=false|name=vif:vif_enhn_gain_limit=1.0"})),
        "psnr_y integer_vif_scale0_egl_1 integer_vif_scale1_egl_1 integer_vif_scale2_egl_1 "
        "integer_vif_scale3_egl_1 " +
            std::string(kMotionNames));
    EXPECT_EQ(names(plan_of({.metrics = "psnr", .options = "psnr.enable_mse=true|psnr.enable_chroma=false"})),
              "psnr_y mse_y");
    EXPECT_EQ(names(plan_of({.metrics = "psnr", .model = "vmaf_v0.6.1"})).substr(0, 6), "psnr_y");
    // Without metrics there is VMAF, whatever else is asked for: commands made for libvmaf's filter mean that.
    EXPECT_EQ(names(plan_of({.feature = "name=psnr"})), "psnr_y psnr_cb psnr_cr " + names(plan_of({})));
}

TEST(ScorePlan, OutputsFollowTheGeometry) {
    FrameGeometry grey = kGeometry;
    grey.chroma_width = grey.chroma_height = 0;
    EXPECT_EQ(names(plan_of({.metrics = "psnr"}, &grey)), "psnr_y");
    // Without a size it is as for a large picture with chroma.
    EXPECT_EQ(names(plan_of({.metrics = "psnr"}, nullptr)), "psnr_y psnr_cb psnr_cr");
}

TEST(ScorePlan, InstancesAreSharedByName) {
    const ScorePlan plan = plan_of({.model = "version=vmaf_v0.6.1|version=vmaf_v0.6.1neg|version=vmaf_b_v0.6.3:name=b",
                                    .feature = "name=vif|name=vif:vif_enhn_gain_limit=1"});
    ASSERT_EQ(plan.instances.size(), 5U); // adm, motion, vif; adm and vif with their gain limited
    EXPECT_EQ(plan.models[0].name, "vmaf");
    EXPECT_EQ(plan.models[1].name, "vmaf_v0.6.1neg");
    EXPECT_EQ(plan.models[2].name, "b");
    EXPECT_EQ(plan.models[2].outputs.size(), 25U);
    EXPECT_EQ(plan.columns[size_t(plan.models[1].inputs[0])].name, "integer_adm2_egl_1");
    EXPECT_EQ(plan.models[1].inputs[1], plan.models[0].inputs[1]);
    EXPECT_EQ(plan.columns[size_t(plan.models[2].outputs[24])].name, "b_ci_p95_hi");
    EXPECT_TRUE(plan.warnings.empty());
}

TEST(ScorePlan, LaterOptionsOfASharedInstanceAreDroppedAloud) {
    const ScorePlan plan = plan_of({.metrics = "psnr", .feature = "name=psnr|name=psnr:enable_mse=true"});
    EXPECT_EQ(names(plan), "psnr_y psnr_cb psnr_cr");
    ASSERT_EQ(plan.warnings.size(), 1U);
    EXPECT_EQ(plan.warnings[0],
              "psnr's option enable_mse of feature has no effect: the metric was requested before with false");
    // The other way round nothing is lost: `metrics` comes first.
    const ScorePlan debug = plan_of({.metrics = "vmaf|adm", .options = "adm.debug=true"});
    EXPECT_NE(names(debug).find("integer_adm "), std::string::npos);
    EXPECT_EQ(debug.instances.size(), 3U);
    EXPECT_TRUE(debug.warnings.empty());
}

TEST(ScorePlan, ModelOptions) {
    const ScorePlan neg =
        plan_of({.model = "version=vmaf_v0.6.1:vif.vif_enhn_gain_limit=1.0:adm.adm_enhn_gain_limit=1"});
    EXPECT_EQ(neg.columns[size_t(neg.models[0].inputs[0])].name, "integer_adm2_egl_1");
    EXPECT_EQ(neg.columns[size_t(neg.models[0].inputs[2])].name, "integer_vif_scale0_egl_1");
    const ScorePlan phone =
        plan_of({.model = "version=vmaf_v0.6.1:name=phone:enable_transform=true:disable_clip=true"});
    EXPECT_EQ(phone.models[0].name, "phone");
    EXPECT_TRUE(phone.models[0].model->members()[0].transform_enabled);
    EXPECT_FALSE(phone.models[0].model->members()[0].clip_enabled);
    EXPECT_EQ(plan_of({.model = "vmaf_v0.6.1:disable_transform=true"}).warnings.size(), 1U);
    const ScorePlan short_neg = plan_of({.model = "neg"});
    EXPECT_EQ(short_neg.columns[size_t(short_neg.models[0].inputs[0])].name, "integer_adm2_egl_1");
    const ScorePlan short_phone = plan_of({.model = "vmaf_v0.6.1|phone"});
    EXPECT_EQ(short_phone.models[1].name, "vmaf_phone");
    EXPECT_TRUE(short_phone.models[1].model->members()[0].transform_enabled);
    EXPECT_FALSE(short_phone.models[0].model->members()[0].transform_enabled);
    EXPECT_NE(error_of({.model = "version=neg"}).find("unknown model \"neg\""), std::string::npos);
}

TEST(ScorePlan, ModelNames) {
    const auto name_of = [](const char* model, size_t index) { return plan_of({.model = model}).models[index].name; };
    EXPECT_EQ(name_of("vmaf_v0.6.1:name=a|vmaf_4k_v0.6.1", 1), "vmaf");
    EXPECT_EQ(name_of("vmaf_v0.6.1:name=vmaf|vmaf_4k_v0.6.1", 1), "vmaf_4k_v0.6.1");
    EXPECT_EQ(error_of({.model = "vmaf_v0.6.1:name=a|vmaf_4k_v0.6.1:name=a"}),
              "two models are called \"a\"; give each its own with :name=NAME");
    EXPECT_EQ(error_of({.model = "vmaf_v0.6.1|vmaf_v0.6.1|vmaf_v0.6.1"}),
              "two models are called \"vmaf_v0.6.1\"; give each its own with :name=NAME");
    EXPECT_EQ(error_of({.model = "vmaf_v0.6.1:name=integer_adm2"}),
              "two scores are called \"integer_adm2\"; give the model another name with :name=NAME");
    EXPECT_EQ(error_of({.model = "vmaf_v0.6.1:name=a b"}),
              "model \"vmaf_v0.6.1\": the name \"a b\" must consist of letters, digits and _ . + -; choose one with "
              ":name=NAME");
}

TEST(ScorePlan, ModelFiles) {
    const TemporaryFolder folder;
    const auto write =
        [&](const char* name, const char* feature, const char* options) {
            std::ofstream(folder.file(name))
                << R"({"model_dict": {"model_type": "LIBSVMNUSVR", "norm_type": "none", "feature_names": [")" << feature
                << R"("], "feature_opts_dicts": [)" << options
                << R"(], "model": "svm_type nu_svr\nkernel_type rbf\ngamma 1\ntotal_sv 1\nrho 0\nSV\n1 1:1\n"}})";
        };
    write("mine.json", "VMAF_integer_feature_adm3_score",
          R"({"adm_enhn_gain_limit": 1.2, "adm_csf_mode": 2, "no_such_option": 3})");
    const std::string path = folder.file("mine.json");
    const ScorePlan plan = plan_of({.model = path.c_str()});
    EXPECT_EQ(plan.models[0].name, "vmaf");
    EXPECT_EQ(plan.columns[size_t(plan.models[0].inputs[0])].name, "integer_adm3_csf_2_egl_1.2");
    const std::string both = "vmaf_v0.6.1|path=" + path;
    EXPECT_EQ(plan_of({.model = both.c_str()}).models[1].name, "mine");

    write("future.json", "Cambi_feature_cambi_score", "{}");
    const std::string future = folder.file("future.json");
    EXPECT_EQ(error_of({.model = future.c_str()}),
              "model: \"" + future +
                  "\": it needs \"Cambi_feature_cambi_score\", which no metric of this build computes");
    write("bad.json", "VMAF_integer_feature_adm3_score", R"({"adm_csf_mode": 9})");
    const std::string bad = folder.file("bad.json");
    EXPECT_EQ(error_of({.model = bad.c_str()}),
              "model: \"" + bad +
                  "\": option adm_csf_mode of metric adm: \"9\" is not accepted, it takes a whole number from 0 to 3");
}

TEST(ScorePlan, Version1NamesFeaturesLikeTheReference) {
    qc_config config{};
    config.model = "version=vmaf_v1.0.16_5d0h|version=vmaf_v1.0.16_hfr_1d5h_2160:cambi.enc_width=1280";
    ScorePlan plan;
    const Status status = test::plan_of_config(config, fake_registry_v1(), &kGeometry, &plan);
    ASSERT_TRUE(status.ok()) << status.text();
    const auto input = [&](size_t model, size_t feature) {
        return plan.columns[static_cast<size_t>(plan.models[model].inputs[feature])].name;
    };
    EXPECT_EQ(input(0, 0), "cambi_hrs_1080_cmxv_17_vlt_0.06");
    EXPECT_EQ(input(0, 1), "speed_chroma_uv_mxv_45_nnf_0.1_ps_0.6_psm_bilinear_snn_0.19_wvm_5");
    EXPECT_EQ(input(0, 2), "integer_adm3_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02_nvd_5");
    EXPECT_EQ(input(0, 3), "integer_motion3_mmxv_18");
    EXPECT_EQ(input(1, 0), "cambi_hrs_1080_cmxv_17_vlt_0.06_encw_1280");
    EXPECT_EQ(input(1, 1), "speed_chroma_uv_mxv_45_nnf_0.1_snn_0.19_wvm_5");
    EXPECT_EQ(input(1, 2), "integer_adm3_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02_nvd_1.5_rdh_2160");
    EXPECT_EQ(input(1, 3), "integer_motion3_mffw_mmxv_18_mma");
    EXPECT_EQ(plan.models[1].name, "vmaf_v1.0.16_hfr_1d5h_2160");
    EXPECT_EQ(plan.models[1].source, "vmaf_v1.0.16_hfr_1d5h_2160");
}

TEST(ScorePlan, AutomaticModelIsNoted) {
    const auto plan_for = [](const char* model, double rate, const FrameGeometry* geometry) {
        qc_config config{};
        config.model = model;
        FrameGeometry shape = geometry != nullptr ? *geometry : FrameGeometry{};
        shape.frame_rate = rate;
        ScorePlan plan;
        const Status status =
            test::plan_of_config(config, fake_registry_v1(), geometry != nullptr ? &shape : nullptr, &plan);
        EXPECT_TRUE(status.ok()) << status.text();
        return plan;
    };
    FrameGeometry large = kGeometry;
    large.width = 3840;
    large.height = 2160;
    ScorePlan plan = plan_for("auto", 60000.0 / 1001, &large);
    EXPECT_EQ(plan.models[0].source, "vmaf_v1.0.16_hfr_1d5h_2160");
    EXPECT_EQ(plan.models[0].name, "vmaf");
    EXPECT_EQ(plan.notes,
              std::vector<std::string>{"model=auto takes vmaf_v1.0.16_hfr_1d5h_2160 for 3840x2160 at 59.94 frames/s"});
    plan = plan_for("version=auto:name=mine:disable_clip=true", 0, &kGeometry);
    EXPECT_EQ(plan.models[0].source, "vmaf_v1.0.16_3d0h");
    EXPECT_EQ(plan.models[0].name, "mine");
    EXPECT_EQ(plan.notes, std::vector<std::string>{"model=auto takes vmaf_v1.0.16_3d0h for 320x180 at an unknown frame "
                                                   "rate (below 50 is assumed)"});
    EXPECT_TRUE(plan_for("auto", 0, nullptr).notes.empty());
}

/// As libvmaf comes to them: the models' metrics first, then what else was asked for.
TEST(ScorePlan, ReadingOrder) {
    const ScorePlan plan = plan_of({.metrics = "psnr+vif+vmaf"});
    std::string names;
    for (const size_t i : plan.reading_order) names += std::string(plan.instances[i].descriptor->name) + " ";
    EXPECT_EQ(names, "adm motion vif psnr ");
}

TEST(ScorePlan, ErrorsNameWhatIsAccepted) {
    EXPECT_EQ(error_of({.metrics = "vmaf|cambi"}), "metrics: unknown metric \"cambi\", known are vmaf, all, float_adm, "
                                                   "float_vif, float_motion, psnr, adm, motion, vif");
    EXPECT_EQ(error_of({.metrics = "VMAF|pnsr"}), "metrics: unknown metric \"VMAF\"; did you mean vmaf?");
    EXPECT_EQ(error_of({.metrics = "psnr", .options = "psnr.mse=1"}),
              "options: metric psnr has no option \"mse\": it has enable_chroma, enable_mse, enable_apsnr, min_sse");
    EXPECT_EQ(error_of({.metrics = "psnr", .options = "vif.debug=true"}),
              "options: \"vif\" is not among the metrics (psnr): ask for it too, metrics=psnr+vif");
    EXPECT_EQ(error_of({.options = "psnr.foo=1"}),
              "options: \"psnr\" is not among the metrics (vmaf): ask for it too, metrics=vmaf+psnr");
    EXPECT_EQ(error_of({.options = "pnsr.foo=1"}), "options: unknown metric \"pnsr\"; did you mean psnr?");
    EXPECT_EQ(error_of({.options = "foo.foo=1"}).substr(0, 46), "options: unknown metric \"foo\", known are vmaf,");
    EXPECT_EQ(error_of({.model = "vmaf_v0.6.1ng"}),
              "model: unknown model \"vmaf_v0.6.1ng\"; did you mean vmaf_v0.6.1neg?");
    EXPECT_EQ(error_of({.metrics = "psnr", .options = "enable_mse=true"}),
              "options: \"enable_mse\" is not of the form METRIC.OPTION");
    EXPECT_EQ(error_of({.metrics = "psnr", .options = "psnr.enable_mse"}),
              "options: \"psnr.enable_mse\" is not of the form METRIC.OPTION=VALUE");
    EXPECT_NE(error_of({.metrics = "vmaf", .options = "vmaf.debug=true"}).find("options: vmaf has none"),
              std::string::npos);
    EXPECT_EQ(error_of({.feature = "name=vif:debug=1"}), "feature \"name=vif:debug=1\": option debug of metric vif: "
                                                         "\"1\" is not accepted, it takes true or false");
    EXPECT_EQ(error_of({.feature = "name=vmaf"}),
              "feature \"name=vmaf\": unknown metric \"vmaf\", known are float_adm, "
              "float_vif, float_motion, psnr, adm, motion, vif");
    EXPECT_EQ(error_of({.feature = "debug=true"}), "feature \"debug=true\": name=METRIC is missing");
    EXPECT_EQ(error_of({.model = "version=vmaf_v0.6.1:treads=3"}),
              "model \"version=vmaf_v0.6.1:treads=3\": unknown key \"treads\", known are version, path, name, "
              "enable_transform, disable_clip and METRIC.OPTION");
    EXPECT_NE(error_of({.model = "name=foo"}).find("give either version=NAME or path=FILE"), std::string::npos);
    EXPECT_NE(error_of({.model = "version=vmaf_v0.6.1:path=/x.json"}).find("give either"), std::string::npos);
    EXPECT_NE(error_of({.model = "vmaf_v9"}).find("built in are vmaf_v0.6.1, "), std::string::npos);
    EXPECT_EQ(error_of({.model = "vmaf_v0.6.1:disable_clip=1"}),
              "model \"vmaf_v0.6.1:disable_clip=1\": disable_clip=1: it takes true or false");
    EXPECT_EQ(error_of({.model = "vmaf_v0.6.1:psnr.enable_mse=true"}),
              "model: \"vmaf_v0.6.1\": none of its features comes from the metric \"psnr\"");
    EXPECT_EQ(error_of({.model = "vmaf_v0.6.1:vif.gain=1"}),
              "model: \"vmaf_v0.6.1\": metric vif has no option \"gain\": it has debug, vif_enhn_gain_limit, "
              "vif_skip_scale0");
    EXPECT_EQ(error_of({.n_subsample = -1}), "n_subsample is -1, it must be at least 1");
}

TEST(ScorePlan, DescriptorsRefuseGeometry) {
    FrameGeometry tiny = kGeometry;
    tiny.width = 32;
    EXPECT_EQ(error_of({}, &tiny), "adm needs pictures of at least 33x33");
    EXPECT_EQ(names(plan_of({.metrics = "vif"}, &tiny)), kVifNames);
    plan_of({}, nullptr); // nothing to refuse without a size
}

TEST(ScorePlan, StagesAreComputedByTheOneThatServesAll) {
    MetricDescriptor every_frame;
    every_frame.every_frame = true;
    const MetricDescriptor some_frames;
    const MetricDescriptor *const every = &every_frame, *const some = &some_frames;
    const auto computed_by = [](const std::vector<std::pair<const MetricDescriptor*, std::string>>& list) {
        ScorePlan plan;
        for (const auto& [descriptor, stage] : list)
            plan.instances.push_back({descriptor, OptionValues(descriptor->options), {}, stage});
        std::vector<size_t> result;
        for (size_t i = 0; i < list.size(); ++i) {
            result.push_back(plan.computed_by(i));
            EXPECT_EQ(plan.computed_by(result.back()), result.back());
        }
        return result;
    };
    using Indices = std::vector<size_t>;
    EXPECT_EQ(computed_by({{some, ""}, {some, ""}}), (Indices{0, 1}));
    EXPECT_EQ(computed_by({{some, "a"}, {some, "b"}, {some, "a"}}), (Indices{0, 1, 0}));
    // More words, in either order; "ab" is another stage.
    EXPECT_EQ(computed_by({{some, "a"}, {some, "a+b"}, {some, "ab"}}), (Indices{1, 1, 2}));
    EXPECT_EQ(computed_by({{some, "a+b"}, {some, "a"}, {some, "a+b+c"}}), (Indices{2, 2, 2}));
    // More frames.
    EXPECT_EQ(computed_by({{some, "a"}, {every, "a"}, {some, "a"}}), (Indices{1, 1, 1}));
    EXPECT_EQ(computed_by({{every, "a"}, {some, "a+b"}}), (Indices{0, 1}));
    // Either of two that are no help to each other may serve the third.
    EXPECT_EQ(computed_by({{some, "a"}, {some, "a+b"}, {some, "a+c"}}), (Indices{1, 1, 2}));
}

// ---- short names, "all", skipping, lines of other tools -------------------------------------------------------------

Status refuse_small(const FrameGeometry& geometry, const OptionValues&) {
    return geometry.width < 200 ? invalid("small_ssim needs 200 columns") : Status();
}

/// A registry with short names, one of them shared, and an example.
class NamedRegistry : public testing::Test {
protected:
    NamedRegistry() {
        ssim_.name = "float_ssim";
        ssim_.short_name = "ssim";
        ssim_.options = kSsimOptions;
        ssim_.outputs = kSsimOutputs;
        ssim_.validate = refuse_small;
        chroma_.short_name = temporal_.short_name = "speed";
        temporal_.name = "speed_temporal";
        temporal_.outputs = kTemporalOutputs;
        example_.name = "example";
        example_.is_example = true;
    }

    Status build(const Wish& wish, ScorePlan* plan, const FrameGeometry* geometry = &kGeometry) {
        const MetricDescriptor* metrics[] = {&kCambi, &chroma_, &temporal_, &kAdm,    &kMotion,
                                             &kVif,   &kPsnr,   &ssim_,     &example_};
        return test::build(wish, plan, geometry, metrics);
    }
    ScorePlan plan_of(const Wish& wish, const FrameGeometry* geometry = &kGeometry) {
        ScorePlan plan;
        EXPECT_EQ(build(wish, &plan, geometry).text(), "");
        return plan;
    }
    std::string error_of(const Wish& wish, const FrameGeometry* geometry = &kGeometry) {
        ScorePlan plan;
        return build(wish, &plan, geometry).text();
    }
    static std::string metrics_of(const ScorePlan& plan) {
        std::string text;
        for (const MetricInstance& instance : plan.instances)
            text += (text.empty() ? "" : " ") + std::string(instance.descriptor->name);
        return text;
    }

    static constexpr OptionSpec kSsimOptions[] = {flag_option("enable_db", "")};
    static constexpr OutputSpec kSsimOutputs[] = {{"float_ssim", "float_ssim"}};
    static constexpr OutputSpec kTemporalOutputs[] = {{"speed_temporal", "speed_temporal"}};
    MetricDescriptor ssim_ = kVif, chroma_ = kSpeedChroma, temporal_ = kVif, example_ = kVif;
};

TEST_F(NamedRegistry, ShortNames) {
    EXPECT_EQ(metrics_of(plan_of({.metrics = "ssim"})), "float_ssim");
    EXPECT_EQ(metrics_of(plan_of({.metrics = "ssim+float_ssim"})), "float_ssim");
    EXPECT_EQ(metrics_of(plan_of({.metrics = "speed+ssim"})), "speed_chroma speed_temporal float_ssim");
    const ScorePlan plan = plan_of({.metrics = "ssim", .options = "ssim.enable_db=true"});
    EXPECT_TRUE(plan.instances[0].options.flag(0));
    EXPECT_TRUE(plan_of({.metrics = "ssim", .options = "float_ssim.enable_db=true"}).instances[0].options.flag(0));
    EXPECT_EQ(error_of({.metrics = "psnr", .options = "ssim.enable_db=true"}),
              "options: \"ssim\" is not among the metrics (psnr): ask for it too, metrics=psnr+ssim");
    // libvmaf's own syntax keeps to libvmaf's names.
    EXPECT_NE(error_of({.feature = "name=ssim"}).find("unknown metric \"ssim\""), std::string::npos);
    EXPECT_EQ(
        error_of({.metrics = "xyz"}),
        "metrics: unknown metric \"xyz\", known are vmaf, all, cambi, speed_chroma (speed), speed_temporal (speed), "
        "adm, motion, vif, psnr, float_ssim (ssim), example");
    EXPECT_EQ(error_of({.metrics = "sim"}), "metrics: unknown metric \"sim\"; did you mean ssim?");
    chroma_.short_name = "vif"; // a short name goes before another metric's name
    EXPECT_EQ(metrics_of(plan_of({.metrics = "vif"})), "speed_chroma");
    EXPECT_EQ(metrics_of(plan_of({.metrics = "psnr", .feature = "name=vif"})), "vif psnr");
}

TEST_F(NamedRegistry, AllIsEveryMetricAndBothGenerationsOfVmaf) {
    const ScorePlan plan = plan_of({.metrics = "all"});
    EXPECT_TRUE(metrics_of(plan).starts_with("cambi speed_chroma speed_temporal adm motion vif psnr float_ssim"))
        << metrics_of(plan);
    EXPECT_EQ(metrics_of(plan).find("example"), std::string::npos);
    ASSERT_EQ(plan.models.size(), 2U);
    EXPECT_EQ(plan.models[0].name, "vmaf");
    EXPECT_EQ(plan.models[0].source, "vmaf_v0.6.1");
    EXPECT_EQ(plan.models[1].name, "vmaf_v1");
    EXPECT_EQ(plan.models[1].source, "vmaf_v1.0.16_3d0h");
    EXPECT_EQ(names(plan_of({.metrics = "all+psnr+vmaf|ssim"})), names(plan));
    // The model's metrics with default options are the listed ones.
    EXPECT_EQ(plan.columns[size_t(plan.models[0].inputs[0])].name, "integer_adm2");
    const ScorePlan one = plan_of({.metrics = "all", .model = "vmaf_v0.6.1:name=mine"});
    ASSERT_EQ(one.models.size(), 1U);
    EXPECT_EQ(one.models[0].name, "mine");
}

TEST_F(NamedRegistry, UnsuitableMetricsAreLeftOutOnRequest) {
    FrameGeometry small = kGeometry;
    small.width = 190;
    EXPECT_EQ(error_of({.metrics = "ssim"}, &small), "small_ssim needs 200 columns");
    for (const char* several : {"all", "psnr+ssim"})
        EXPECT_EQ(error_of({.metrics = several}, &small),
                  "small_ssim needs 200 columns (on_unsupported=skip leaves out what these pictures do not suit)");
    const ScorePlan plan = plan_of({.metrics = "all", .skip_unsupported = 1}, &small);
    EXPECT_EQ(metrics_of(plan).find("float_ssim"), std::string::npos);
    EXPECT_EQ(plan.models.size(), 2U);
    EXPECT_EQ(plan.warnings, std::vector<std::string>{"left out: small_ssim needs 200 columns"});
    EXPECT_EQ(error_of({.metrics = "ssim", .skip_unsupported = 1}, &small),
              "on_unsupported=skip leaves no metric: small_ssim needs 200 columns");
    small.width = 32; // too small for adm too, and so for both models
    const ScorePlan smaller = plan_of({.metrics = "all", .skip_unsupported = 1}, &small);
    EXPECT_TRUE(smaller.models.empty());
    ASSERT_FALSE(smaller.warnings.empty());
    // Both models want adm, each with options of its own; one line says that it is too small for it.
    EXPECT_EQ(
        std::count(smaller.warnings.begin(), smaller.warnings.end(), "left out: adm needs pictures of at least 33x33"),
        1);
    EXPECT_EQ(smaller.warnings.back(), "left out: model \"vmaf_v1\", which needs a metric that is left out");
}

TEST_F(NamedRegistry, LinesOfOtherToolsBringTheirScores) {
    const ScorePlan plan = plan_of({.metrics = "vif+psnr", .stats_format = QC_STATS_FORMAT_PSNR});
    ASSERT_EQ(plan.stats.columns.size(), 1U); // the stand-in writes no errors of chroma
    EXPECT_EQ(plan.columns[size_t(plan.stats.columns[0])].name, "mse_y");
    EXPECT_EQ(names(plan_of({.metrics = "psnr"})).find("mse_y"), std::string::npos);
    EXPECT_EQ(
        plan_of({.feature = "name=psnr:enable_mse=true", .stats_format = QC_STATS_FORMAT_PSNR}).stats.columns.size(),
        1U);
    EXPECT_EQ(error_of({.metrics = "vif", .stats_format = QC_STATS_FORMAT_PSNR}),
              "stats_format=psnr needs the score mse_y of the metric psnr: add psnr to metrics, and leave its option "
              "enable_mse on");
    EXPECT_NE(error_of({.metrics = "psnr", .options = "psnr.enable_mse=false", .stats_format = QC_STATS_FORMAT_PSNR}),
              "");
    EXPECT_EQ(error_of({.metrics = "psnr", .stats_format = QC_STATS_FORMAT_PSNR, .renditions = 2}),
              "stats_format=psnr describes one distorted input, but there are 2 renditions");
    EXPECT_EQ(plan_of({.metrics = "ssim", .stats_format = QC_STATS_FORMAT_SSIM}).stats.columns.size(), 1U);
    EXPECT_EQ(error_of({.metrics = "psnr", .stats_format = QC_STATS_FORMAT_SSIM}),
              "stats_format=ssim needs the score float_ssim of the metric float_ssim: add float_ssim to metrics");
    EXPECT_EQ(error_of({.metrics = "ssim", .options = "ssim.enable_db=true", .stats_format = QC_STATS_FORMAT_SSIM}),
              "stats_format=ssim needs float_ssim without its option enable_db");
}

TEST_F(NamedRegistry, LinesLookLikeTheirs) {
    ScorePlan plan;
    plan.stats = {QC_STATS_FORMAT_PSNR, {0, 2, 1}};
    const double errors[] = {887.0, 468.25, 233.33};
    const unsigned char all[] = {1, 1, 1};
    FrameGeometry yuv420 = kGeometry;
    yuv420.stored_chroma_width = 160;
    yuv420.stored_chroma_height = 90;
    EXPECT_EQ(stats_line(plan, yuv420, 0, errors, all),
              "n:1 mse_avg:708.26 mse_y:887.00 mse_u:233.33 mse_v:468.25 psnr_avg:19.63 psnr_y:18.65 psnr_u:24.45 "
              "psnr_v:21.43");
    const double none[] = {0.0, 0.0, 0.0};
    EXPECT_EQ(stats_line(plan, yuv420, 41, none, all),
              "n:42 mse_avg:0.00 mse_y:0.00 mse_u:0.00 mse_v:0.00 psnr_avg:inf psnr_y:inf psnr_u:inf psnr_v:inf");
    const unsigned char some[] = {1, 0, 1};
    EXPECT_EQ(stats_line(plan, yuv420, 0, errors, some), "");
    plan.stats.columns = {0};
    FrameGeometry ten = kGeometry;
    ten.depth = 10;
    EXPECT_EQ(stats_line(plan, ten, 0, errors, all), "n:1 mse_avg:887.00 mse_y:887.00 psnr_avg:30.72 psnr_y:30.72");
    plan.stats.format = QC_STATS_FORMAT_SSIM;
    const double similar[] = {0.95}, same[] = {1.0};
    EXPECT_EQ(stats_line(plan, yuv420, 2, similar, all), "n:3 Y:0.950000 All:0.950000 (13.010300)");
    EXPECT_EQ(stats_line(plan, yuv420, 2, same, all), "n:3 Y:1.000000 All:1.000000 (inf)");
    EXPECT_EQ(parse_stats_format("psnr"), QC_STATS_FORMAT_PSNR);
    EXPECT_FALSE(parse_stats_format("PSNR"));
}

} // namespace
} // namespace qc::test
