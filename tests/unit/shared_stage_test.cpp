// SPDX-License-Identifier: BSD-2-Clause-Patent
// Stages that metrics share (MetricDescriptor::stage). A name that promises too much would give wrong scores without a
// word, so what the names promise is held against what the metrics compute, option by option.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plan/metric_registry.hpp"
#include "tests/support/runs.hpp"

namespace qc::test {
namespace {

/// One metric with at most one option off its default, computed in a session of its own.
struct SoloRun {
    std::string what, stage;
    const MetricDescriptor* metric = nullptr;
    std::vector<std::vector<uint64_t>> accumulators; ///< by frame
};

std::vector<std::string> values_to_try(const OptionSpec& spec) {
    if (auto words = words_to_try(spec)) return *words;
    return {format("%g", spec.minimum), format("%g", std::min(spec.maximum, spec.minimum + 2))};
}

/// Accumulators of metrics that have no stage are nobody else's business: such a run has none.
SoloRun solo_run(const MetricDescriptor& metric, const char* layout, const std::string& option) {
    const std::string name(metric.name);
    qc_config config = config_for(layout_named(layout), 98, 66, name.c_str(), QC_BACKEND_CPU);
    config.options = option.c_str();
    config.frame_rate = 25;
    SoloRun result{name + " " + option, "", &metric, {}};
    std::unique_ptr<Session> session;
    if (!Session::create(config, &session).ok()) return result; // refused: some values or layouts are
    result.stage = session->plan().instances[0].stage;
    if (!result.stage.empty())
        result.accumulators = run(config, make_stream(config, Content::kNatural, 4)).accumulators;
    return result;
}

std::vector<SoloRun> runs_with_a_stage(const char* layout) {
    std::vector<SoloRun> runs;
    const auto add = [&](const MetricDescriptor& metric, const std::string& option) {
        SoloRun run = solo_run(metric, layout, option);
        if (!run.stage.empty()) runs.push_back(std::move(run));
    };
    for (const MetricDescriptor* metric : registered_metrics()) {
        if (metric->stage == nullptr) continue;
        add(*metric, "");
        for (const OptionSpec& spec : metric->options)
            for (const std::string& value : values_to_try(spec))
                add(*metric, std::string(metric->name) + "." + std::string(spec.name) + "=" + value);
    }
    return runs;
}

TEST(SharedStage, EqualNamesMeanEqualAccumulators) {
    for (const char* layout : {"yuv420p", "gray", "yuv444p10le", "yuv420p12le", "yuv420p16le", "nv12"}) {
        const std::vector<SoloRun> runs = runs_with_a_stage(layout);
        ASSERT_FALSE(runs.empty()) << layout;
        int compared = 0;
        for (const SoloRun& longer : runs)
            for (const SoloRun& shorter : runs) {
                if (&longer == &shorter) continue;
                const bool equal = longer.stage == shorter.stage;
                if (!equal && !longer.stage.starts_with(shorter.stage + "+")) continue;
                ++compared;
                const std::string what = std::string(layout) + ": " + longer.what + " for " + shorter.what;
                EXPECT_EQ(longer.metric->scope, shorter.metric->scope) << what;
                EXPECT_EQ(longer.metric->history, shorter.metric->history) << what;
                EXPECT_EQ(longer.metric->distorted_history, shorter.metric->distorted_history) << what;
                ASSERT_EQ(longer.accumulators.size(), shorter.accumulators.size()) << what;
                for (size_t f = 0; f < longer.accumulators.size(); ++f) {
                    std::vector<uint64_t> words = longer.accumulators[f];
                    if (!equal) {
                        ASSERT_GT(words.size(), shorter.accumulators[f].size()) << what;
                        words.resize(shorter.accumulators[f].size());
                    }
                    EXPECT_EQ(words, shorter.accumulators[f]) << what << ", frame " << f;
                }
            }
        EXPECT_GT(compared, 0) << layout;
    }
}

/// Scores by name, and which frames have them.
std::map<std::string, std::vector<double>> scores_of(const RunResult& result) {
    std::map<std::string, std::vector<double>> scores;
    EXPECT_TRUE(result.status.ok()) << result.status.text();
    for (size_t row = 0; row < result.values.size(); ++row)
        for (size_t cell = 0; cell < result.values[row].size(); ++cell) {
            const size_t rendition = cell / result.names.size();
            const std::string name = result.names[cell % result.names.size()] + format(" %d", int(rendition));
            scores[name].push_back(result.present[row][cell] != 0 ? result.values[row][cell] : -1234.5);
        }
    return scores;
}

struct Request {
    const char *metrics, *feature = nullptr, *options = nullptr;
};

/// Scores requests together and one by one. @return words per frame and rendition of the session of all
size_t expect_scores_as_alone(const Request& together, const std::vector<Request>& alone, const char* layout,
                              int n_subsample, int renditions) {
    const auto config_of = [&](const Request& request) {
        qc_config config = config_for(layout_named(layout), 96, 64, request.metrics, QC_BACKEND_CPU);
        config.feature = request.feature;
        config.options = request.options;
        config.n_subsample = n_subsample;
        config.renditions = renditions;
        for (int r = 1; r < renditions; ++r) config.distorted[r] = config.distorted[0];
        return config;
    };
    const Stream stream = make_stream(config_of(together), Content::kNatural, 7);
    const RunResult result = run(config_of(together), stream);
    const auto scores = scores_of(result);
    std::set<std::string> found;
    for (const Request& request : alone)
        for (const auto& [name, values] : scores_of(run(config_of(request), stream))) {
            const auto at = scores.find(name);
            EXPECT_NE(at, scores.end()) << name;
            if (at == scores.end()) continue;
            EXPECT_EQ(at->second, values) << name << " " << layout << " n_subsample " << n_subsample;
            found.insert(name);
        }
    EXPECT_EQ(found.size(), scores.size());
    return result.accumulators.empty() ? 0 : result.accumulators[0].size() / static_cast<size_t>(renditions);
}

TEST(SharedStage, PsnrAndFloatPsnrSumErrorsOnce) {
    const struct {
        const char *layout, *options;
        size_t words;
    } cases[] = {
        {"yuv420p", nullptr, 3},
        {"yuv420p", "psnr.enable_mse=true|psnr.min_sse=0.5", 3},
        {"yuv420p", "psnr.enable_chroma=false", 1},
        {"gray", nullptr, 1},
        {"p010le", nullptr, 3},
        {"yuv420p12le", "psnr.reduced_hbd_peak=true", 3},
        {"yuv420p16le", nullptr, 4}, // float_psnr rounds squares there
    };
    for (const auto& c : cases)
        for (const char* metrics : {"psnr+float_psnr", "float_psnr+psnr"})
            for (const int n_subsample : {1, 3})
                for (const int renditions : {1, 2}) {
                    const size_t words = expect_scores_as_alone({metrics, nullptr, c.options},
                                                                {{"psnr", nullptr, c.options}, {"float_psnr"}},
                                                                c.layout, n_subsample, renditions);
                    EXPECT_EQ(words, c.words) << c.layout << " " << metrics;
                }
}

TEST(SharedStage, MotionsOfOneWindowAreComputedOnce) {
    const std::vector<std::string> options = {"motion_blend_factor=0.5:motion_blend_offset=2",
                                              "motion_fps_weight=0.5",
                                              "motion_max_val=3",
                                              "motion_moving_average=true",
                                              "motion_five_frame_window=true",
                                              "motion_five_frame_window=true:motion_max_val=2",
                                              "motion_force_zero=true"};
    std::string all;
    std::vector<std::string> features;
    for (const std::string& option : options) {
        features.push_back("name=motion:" + option);
        all += (all.empty() ? "" : "|") + features.back();
    }
    // Without metrics VMAF would be scored; float_psnr stands in, with a word of its own.
    std::vector<Request> alone{{"motion"}, {"float_psnr"}};
    for (const std::string& feature : features) alone.push_back({"float_psnr", feature.c_str()});
    for (const char* layout : {"yuv420p", "p010le"})
        for (const int n_subsample : {1, 3}) {
            const size_t words =
                expect_scores_as_alone({"motion+float_psnr", all.c_str()}, alone, layout, n_subsample, 1);
            EXPECT_EQ(words, 1u + 3u) << "one frame apart, two frames apart, and nothing";
        }
}

TEST(SharedStage, AdmsThatDifferInWeightsAreComputedOnce) {
    const std::vector<std::string> features = {"name=adm:adm_dlm_weight=0.7",
                                               "name=adm:adm_min_val=0.5:adm_noise_weight=0.02",
                                               "name=adm:adm_csf_scale=2", // of another adm_csf_mode
                                               "name=adm:adm_enhn_gain_limit=1:adm_dlm_weight=0.7",
                                               "name=adm:adm_enhn_gain_limit=1",
                                               "name=adm:adm_csf_mode=2"};
    std::string all;
    std::vector<Request> alone{{"adm"}, {"float_psnr"}};
    for (const std::string& feature : features) {
        all += (all.empty() ? "" : "|") + feature;
        alone.push_back({"float_psnr", feature.c_str()});
    }
    for (const char* layout : {"yuv420p", "p010le"})
        for (const int renditions : {1, 2}) {
            const size_t words = expect_scores_as_alone({"adm+float_psnr", all.c_str()}, alone, layout, 1, renditions);
            EXPECT_EQ(words, 1u + 3u * 36u) << "the usual sums, those of another gain, those of another sensitivity";
        }
}

} // namespace
} // namespace qc::test
