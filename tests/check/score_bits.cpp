// SPDX-License-Identifier: BSD-2-Clause-Patent
// Prints every score of every metric over small made-up pictures with all its bits, a line each, so that the output of
// two machines can be compared. Built with the tests; arguments are names of metrics, all without any.
#include <cmath>
#include <cstdio>

#include "plan/metric_registry.hpp"
#include "tests/support/runs.hpp"

namespace {

using namespace qc::test;

constexpr int kWidth = 222, kHeight = 218, kFrames = 3; // odd once halved, and large enough for every metric
constexpr const char* kLayouts[] = {"yuv420p", "yuv444p10le", "yuv420p16le"};
constexpr Content kContents[] = {Content::kNatural, Content::kNoise, Content::kFlat};

/// @return whether anything was scored: a metric may refuse a layout
bool print_scores(const std::string& metric, const char* layout, Content content) {
    qc_config config = config_for(layout_named(layout), kWidth, kHeight, metric.c_str(), QC_BACKEND_CPU);
    config.frame_rate = 25.0;
    const RunResult result = run(config, make_stream(config, content, kFrames));
    if (!result.status.ok()) {
        std::printf("%s %s %s: %s\n", metric.c_str(), layout, name_of(content), result.status.text().c_str());
        return false;
    }
    for (size_t frame = 0; frame < result.values.size(); ++frame)
        for (size_t i = 0; i < result.names.size(); ++i) {
            const double score = result.values[frame][i];
            std::printf("%s %s %s %zu %s ", metric.c_str(), layout, name_of(content), frame, result.names[i].c_str());
            if (std::isnan(score))
                std::printf("nan\n"); // the sign of what is no number is the processor's choice
            else
                std::printf("%a\n", score);
        }
    return true;
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::string> metrics(argv + 1, argv + argc);
    if (metrics.empty()) {
        metrics.emplace_back("vmaf");
        for (const qc::MetricDescriptor* metric : qc::registered_metrics())
            metrics.push_back(unambiguous_name(*metric));
    }
    for (const std::string& metric : metrics) {
        int scored = 0;
        for (const char* layout : kLayouts)
            for (const Content content : kContents) scored += print_scores(metric, layout, content) ? 1 : 0;
        if (scored == 0) return 1;
    }
    return 0;
}
