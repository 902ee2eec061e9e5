// SPDX-License-Identifier: BSD-2-Clause-Patent
// Names and numbers in the text format of Prometheus.
#include "run/live/metrics.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace qc::run {
namespace {

TEST(Metrics, TheFilesNameIsALabel) {
    const struct {
        const char *path, *label;
    } cases[] = {
        {"m.prom", "m"},        {"m", "m"},         {"dir.d/m", "m"},
        {"/a/b.c.prom", "b.c"}, {".prom", ".prom"}, {"a\nb\\c\".p", "a\\nb\\\\c\\\""},
    };
    for (const auto& [path, label] : cases) {
        Metrics metrics;
        metrics.path = path;
        const std::string sample = std::string("\nquality_cuda_running{stream=\"") + label + "\"} 0\n";
        EXPECT_NE(metrics_text(metrics).find(sample), std::string::npos) << path;
    }
}

TEST(Metrics, NumbersAreWholeOrHaveSixDecimals) {
    const struct {
        double value;
        const char* text;
    } cases[] = {
        {0.0, "0"},
        {-3.0, "-3"},
        {0.5, "0.500000"},
        {1e14, "100000000000000"},
        {1e15, "1000000000000000.000000"},
        {INFINITY, "+Inf"},
        {-INFINITY, "-Inf"},
        {std::nan(""), "NaN"},
    };
    for (const auto& [value, text] : cases) {
        const std::vector<std::string> features = {"a"};
        const std::vector<WindowScore> latest = {{1, value, 1.0, 1.0}};
        Metrics metrics;
        metrics.features = features;
        metrics.latest = latest;
        const std::string sample = std::string("score_mean{stream=\"\",rendition=\"0\",score=\"a\"} ") + text + '\n';
        EXPECT_NE(metrics_text(metrics).find(sample), std::string::npos) << text;
    }
}

} // namespace
} // namespace qc::run
