// SPDX-License-Identifier: BSD-2-Clause-Patent
// Feature scores of the golden files (17 digits) through plan, table and models: what comes out must be the golden
// files' model scores and pooled values, to the last bit.
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fake_metrics.hpp"
#include "models/builtin_models.hpp"
#include "models/model_json.hpp"
#include "plan/score_plan.hpp"
#include "scores/score_table.hpp"
#include "tests/golden/golden_scores.hpp"
#include "tests/support/plans.hpp"

namespace qc::test {
namespace {

using golden::Json;
using golden::same_value;

struct Tally {
    int64_t values = 0, pooled = 0;
    int clips = 0;
};

/// Scores of one golden run, under one of the names "values" (vector code) and "scalar" (plain code).
class GoldenRun {
public:
    GoldenRun(const Json& run, int64_t frames, std::string variant)
        : metrics_(run.at("metrics")), frames_(frames), variant_(std::move(variant)) {}

    int64_t frames() const { return frames_; }
    bool has(const std::string& name) const { return metrics_.contains(name); }
    bool has_variant(const std::string& name) const { return has(name) && metrics_.at(name).contains(variant_); }
    double value(const std::string& name, int64_t frame) const {
        const Json& metric = metrics_.at(name);
        return golden::value_of(metric.contains(variant_) ? metric.at(variant_).at(size_t(frame))
                                                          : metric.at("values").at(size_t(frame)));
    }
    double pooled(const std::string& name, const char* method) const {
        return golden::value_of(metrics_.at(name).at("pooled").at(method));
    }

private:
    const Json& metrics_;
    int64_t frames_;
    std::string variant_;
};

void feed(const ScorePlan& plan, const GoldenRun& run, ScoreTable* table) {
    for (int64_t frame = 0; frame < run.frames(); ++frame) {
        table->begin_frame(frame, true);
        for (size_t i = 0; i < plan.instances.size(); ++i) {
            const std::vector<int>& columns = plan.instances[i].column;
            for (size_t output = 0; output < columns.size(); ++output) {
                if (columns[output] < 0) continue;
                const std::string& name = plan.columns[size_t(columns[output])].name;
                table->put(frame, int(i), int(output), run.value(name, frame));
            }
        }
    }
    table->close();
}

void compare_pooled(const ScorePlan& plan, const GoldenRun& run, const ScoreTable& table, const std::string& where,
                    Tally* tally) {
    constexpr std::pair<qc_pool, const char*> kMethods[] = {
        {QC_POOL_MIN, "min"}, {QC_POOL_MAX, "max"}, {QC_POOL_MEAN, "mean"}, {QC_POOL_HARMONIC_MEAN, "harmonic_mean"}};
    for (size_t column = 0; column < plan.columns.size(); ++column) {
        if (!run.has(plan.columns[column].name)) continue;
        for (const auto& [pool, method] : kMethods) {
            double value = 0.0;
            ASSERT_TRUE(table.pooled(int(column), pool, &value).ok());
            const double wanted = run.pooled(plan.columns[column].name, method);
            EXPECT_TRUE(same_value(value, wanted))
                << where << " " << plan.columns[column].name << " " << method << ": " << value << ", not " << wanted;
            ++tally->pooled;
        }
    }
}

/// Every score of the plan's columns must be the run's; all models of the run must be among them.
void check_run(const std::string& models, const Json& golden, const char* run_name, const char* variant, Tally* tally,
               std::span<const MetricDescriptor* const> registry = fake_registry()) {
    const std::string where = golden.at("clip").get<std::string>() + "/" + run_name + "/" + variant;
    const GoldenRun run(golden.at("runs").at(run_name), golden.at("frames").get<int64_t>(), variant);
    qc_config config{};
    config.model = models.c_str();
    ScorePlan plan;
    const Status status = test::plan_of_config(config, registry, nullptr, &plan);
    ASSERT_TRUE(status.ok()) << status.text();

    // Debug outputs are not in these runs; models that the reference refused (or crashed on) neither.
    bool any_variant = std::string_view(variant) == "values";
    for (MetricInstance& instance : plan.instances)
        for (int& column : instance.column)
            if (column >= 0 && !run.has(plan.columns[size_t(column)].name)) column = -1;
    for (const ModelUse& use : plan.models) {
        if (!run.has(use.name)) return;
        any_variant |= run.has_variant(use.name);
    }
    if (!any_variant) return;

    std::unique_ptr<ScoreTable> table;
    ASSERT_TRUE(ScoreTable::create(plan, &table).ok());
    feed(plan, run, table.get());
    ASSERT_TRUE(table->status().ok()) << table->status().text();
    ASSERT_EQ(table->scored_frames(), run.frames()) << where;
    ++tally->clips;

    int64_t frame = 0;
    const double* values = nullptr;
    const unsigned char* present = nullptr;
    while (table->next_final(&frame, &values, &present)) {
        for (const ModelUse& use : plan.models) {
            for (int column : use.outputs) {
                const std::string& name = plan.columns[size_t(column)].name;
                const double wanted = run.value(name, frame);
                EXPECT_TRUE(same_value(values[column], wanted))
                    << where << " frame " << frame << " " << name << ": off by " << values[column] - wanted;
                ++tally->values;
            }
        }
    }
    if (std::string_view(variant) != "values") return; // golden pooled values belong to "values"
    compare_pooled(plan, run, *table, where, tally);
}

template <typename Check>
void for_each_golden(const std::filesystem::path& shared, const char* run_name, Check check) {
    for (const auto& entry : std::filesystem::directory_iterator(shared / "golden" / "libvmaf")) {
        const Json golden = Json::parse(std::ifstream(entry.path()));
        if (golden.at("runs").contains(run_name)) check(golden);
    }
}

void report(const char* what, const Tally& tally) {
    std::printf("%s: %d runs, %lld frame values, %lld pooled values\n", what, tally.clips,
                static_cast<long long>(tally.values), static_cast<long long>(tally.pooled));
}

class GoldenModels : public testing::Test {
protected:
    void SetUp() override {
        if (const char* reason = golden::missing()) GTEST_SKIP() << reason;
        shared_ = golden::shared_folder();
    }
    std::filesystem::path shared_;
};

TEST_F(GoldenModels, BuiltIn) {
    // The first unnamed model would be "vmaf", so it gets its name here.
    const char* models = "version=vmaf_v0.6.1:name=vmaf_v0.6.1|version=vmaf_v0.6.1neg:name=vmaf_v0.6.1neg|"
                         "version=vmaf_4k_v0.6.1:name=vmaf_4k_v0.6.1|version=vmaf_4k_v0.6.1neg:name=vmaf_4k_v0.6.1neg|"
                         "version=vmaf_b_v0.6.3:name=vmaf_b_v0.6.3";
    Tally tally;
    for_each_golden(shared_, "models_v0", [&](const Json& golden) {
        check_run(models, golden, "models_v0", "values", &tally);
        check_run(models, golden, "models_v0", "scalar", &tally);
    });
    report("built-in models", tally);
    EXPECT_GT(tally.values, 5000);
    EXPECT_GT(tally.pooled, 10000);
}

TEST_F(GoldenModels, BuiltInWithFlags) {
    Tally tally;
    for_each_golden(shared_, "models_flags", [&](const Json& golden) {
        check_run("version=vmaf_v0.6.1:name=vmaf_v0.6.1+enable_transform:enable_transform=true|"
                  "version=vmaf_v0.6.1:name=vmaf_v0.6.1+disable_clip:disable_clip=true|"
                  "version=vmaf_v0.6.1:name=vmaf_v0.6.1+disable_transform:disable_transform=true|"
                  "version=vmaf_v0.6.1neg:name=vmaf_v0.6.1neg+enable_transform:enable_transform=true",
                  golden, "models_flags", "values", &tally);
    });
    report("flags", tally);
    EXPECT_GT(tally.values, 500);
}

/// neg is the plain model with two options: reached through the model string as well.
TEST_F(GoldenModels, OptionOverrides) {
    Tally tally;
    for_each_golden(shared_, "models_v0", [&](const Json& golden) {
        check_run("version=vmaf_v0.6.1:name=vmaf_v0.6.1neg:vif.vif_enhn_gain_limit=1.0:adm.adm_enhn_gain_limit=1",
                  golden, "models_v0", "values", &tally);
    });
    report("overrides", tally);
    EXPECT_GT(tally.values, 100);
}

TEST_F(GoldenModels, FilesOfTheFloatFamily) {
    const std::string folder = (shared_ / "models").string();
    std::string models;
    for (const char* name :
         {"vmaf_float_v0.6.1", "vmaf_float_v0.6.1neg", "vmaf_float_4k_v0.6.1", "vmaf_float_b_v0.6.3"})
        models += (models.empty() ? "path=" : "|path=") + folder + "/" + name + ".json:name=" + name;
    Tally tally;
    for_each_golden(shared_, "models_float",
                    [&](const Json& golden) { check_run(models, golden, "models_float", "values", &tally); });
    report("float models", tally);
    EXPECT_GT(tally.values, 5000);
}

/// Files of the models that are built in say the same as what is built in.
TEST_F(GoldenModels, FilesOfTheIntegerFamily) {
    const std::string folder = (shared_ / "models").string();
    std::string models;
    for (const char* name : {"vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_4k_v0.6.1", "vmaf_4k_v0.6.1neg", "vmaf_b_v0.6.3"})
        models += (models.empty() ? "path=" : "|path=") + folder + "/" + name + ".json:name=" + name;
    Tally tally;
    for_each_golden(shared_, "models_v0",
                    [&](const Json& golden) { check_run(models, golden, "models_v0", "values", &tally); });
    report("integer model files", tally);
    EXPECT_GT(tally.values, 5000);
}

/// v1 built in, each alone: on some clips the reference refused some of them.
TEST_F(GoldenModels, BuiltInVersion1) {
    Tally tally;
    int models = 0;
    for (const std::string_view builtin : builtin_model_names()) {
        if (!builtin.starts_with("vmaf_v1.")) continue;
        const std::string name(builtin);
        ++models;
        for_each_golden(shared_, "models_v1", [&](const Json& golden) {
            check_run("version=" + name + ":name=" + name, golden, "models_v1", "values", &tally, fake_registry_v1());
        });
    }
    report("built-in v1 models", tally);
    EXPECT_EQ(models, 8);
    EXPECT_GT(tally.values, 1000);
    EXPECT_GT(tally.pooled, 5000);
}

TEST_F(GoldenModels, Version1WithFlags) {
    Tally tally;
    for_each_golden(shared_, "models_flags", [&](const Json& golden) {
        for (const char* flag : {"disable_transform", "enable_transform", "disable_clip"}) {
            const std::string flagged = std::string("vmaf_v1.0.16_3d0h+") + flag;
            check_run("version=vmaf_v1.0.16_3d0h:name=" + flagged + ":" + flag + "=true", golden, "models_flags",
                      "values", &tally, fake_registry_v1());
        }
    });
    report("v1 flags", tally);
    EXPECT_GT(tally.values, 100);
}

/// v1: polynomial transform, chroma correction. Straight through the model; the metrics come later.
TEST_F(GoldenModels, FilesOfVersion1) {
    const std::string cambi = "cambi_hrs_1080_cmxv_17_vlt_0.06";
    const std::string speed = "speed_chroma_uv_mxv_45_nnf_0.1_", speed_end = "snn_0.19_wvm_5";
    const std::string adm = "integer_adm3_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02";
    struct Case {
        const char* viewing;
        std::string speed, adm;
    };
    const Case cases[] = {{"3d0h", speed + speed_end, adm},
                          {"3d0h_2160", speed + "ps_0.5_psm_bilinear_" + speed_end, adm + "_rdh_2160"},
                          {"5d0h", speed + "ps_0.6_psm_bilinear_" + speed_end, adm + "_nvd_5"},
                          {"1d5h_2160", speed + speed_end, adm + "_nvd_1.5_rdh_2160"}};
    Tally tally;
    for (const char* rate : {"", "hfr_"}) {
        const std::string motion = std::string("integer_motion3_") + (*rate != '\0' ? "mffw_mmxv_18_mma" : "mmxv_18");
        for (const Case& each : cases) {
            const std::string name = std::string("vmaf_v1.0.16_") + rate + each.viewing;
            std::shared_ptr<const Model> model;
            const Status status = load_model_file((shared_ / "models" / (name + ".json")).string(), &model);
            ASSERT_TRUE(status.ok()) << status.text();
            for_each_golden(shared_, "models_v1", [&](const Json& golden) {
                const GoldenRun run(golden.at("runs").at("models_v1"), golden.at("frames").get<int64_t>(), "values");
                if (!run.has(name)) return;
                ++tally.clips;
                for (int64_t frame = 0; frame < run.frames(); ++frame) {
                    const double features[] = {run.value(cambi, frame), run.value(each.speed, frame),
                                               run.value(each.adm, frame), run.value(motion, frame)};
                    double score = 0.0;
                    model->evaluate(features, {&score, 1});
                    EXPECT_TRUE(same_value(score, run.value(name, frame))) << golden.at("clip") << " " << name;
                    ++tally.values;
                }
            });
        }
    }
    report("v1 models", tally);
    EXPECT_GT(tally.values, 1000);
}

} // namespace
} // namespace qc::test
