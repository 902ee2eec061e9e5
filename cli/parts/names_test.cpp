// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores that were asked for are shown, and can be gated, whatever else is scored.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include <quality_cuda.h>

#include "parts/commands.hpp"

namespace qc::cli {
namespace {

bool has_another(const std::vector<std::string>& names, const std::vector<std::string>& known) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& each) {
        return std::find(known.begin(), known.end(), each) == known.end();
    });
}

TEST(Names, OfEveryMetricBesideAnother) {
    Wish psnr;
    psnr.metrics = "psnr";
    const std::vector<std::string> of_psnr = names_of_scores(psnr).pooled;
    ASSERT_FALSE(of_psnr.empty());
    for (int i = 0; qc_metric_name(i) != nullptr; ++i) {
        const std::string name = qc_metric_name(i);
        if (name == "psnr") continue;
        Wish both;
        both.metrics = "psnr+" + name;
        EXPECT_TRUE(has_another(names_of_scores(both).pooled, of_psnr)) << name;
        const AskedScores asked = asked_scores(both, false);
        EXPECT_TRUE(asked.all || has_another(asked.names, of_psnr)) << name;
    }
}

TEST(Names, OfEveryModelBesideAMetric) {
    for (int i = 0; qc_model_name(i) != nullptr; ++i) {
        Wish wish;
        wish.metrics = "vmaf+psnr";
        wish.model = qc_model_name(i);
        const std::vector<std::string> names = names_of_scores(wish).pooled;
        EXPECT_NE(std::find(names.begin(), names.end(), "vmaf"), names.end()) << wish.model;
    }
}

} // namespace
} // namespace qc::cli
