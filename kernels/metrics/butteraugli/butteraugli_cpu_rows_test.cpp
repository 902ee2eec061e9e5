// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CPU backend of Butteraugli against its readable reference, and the same bits from any number of threads.
#include <gtest/gtest.h>

#include <cmath>

#include "metrics/butteraugli/butteraugli_settings.hpp"
#include "metrics/butteraugli/butteraugli_test_support.hpp"
#include "tests/support/thread_counts.hpp"

namespace qc::butteraugli {
namespace {

const char* const kNames[] = {"butteraugli",       "butteraugli_3norm", "butteraugli_norm2",
                              "butteraugli_norm3", "butteraugli_norm6", "butteraugli_norm12"};

void expect_near_reference(const Pair& pair, Words words, const std::string& what) {
    words.emplace_back("subscores", "norms");
    const test::Recorder actual = pair.scores(words), expected = pair.scores(words, Cpu::kReference);
    for (const char* name : kNames) {
        const double score = expected.values(name).at(0);
        EXPECT_NEAR(actual.values(name).at(0), score, kCpuBound * std::max(1.0, score)) << what << ", " << name;
        EXPECT_GT(score, 0.0) << what << ", " << name;
    }
}

TEST(ButteraugliCpuRows, SizesLayoutsAndDepths) {
    const int sides[] = {8, 9, 10, 13, 15, 16, 17, 24, 31, 33, 57, 65, 112, 113, 130};
    for (size_t i = 0; i < std::size(sides); ++i)
        for (const size_t j : {i, (i + 1) % std::size(sides), (i + 7) % std::size(sides)}) {
            const auto chroma = static_cast<qc_chroma>((i + j) % 4);
            const int depth = std::array{8, 10, 12, 16}[(i + 2 * j) % 4];
            expect_near_reference(Pair(sides[i], sides[j], chroma, depth), {},
                                  format("%dx%d, chroma %d, %d bits", sides[i], sides[j], chroma, depth));
        }
    expect_near_reference(Pair(300, 210), {}, "300x210");
}

TEST(ButteraugliCpuRows, Options) {
    const Pair pair(67, 45);
    for (const Words& words :
         {Words{{"intensity_target", "1"}}, Words{{"intensity_target", "250"}}, Words{{"intensity_target", "10000"}},
          Words{{"hf_asymmetry", "1"}}, Words{{"hf_asymmetry", "10"}}, Words{{"constants", "libjxl011"}},
          Words{{"gamut", "extend"}}, Words{{"gamut", "floor"}}, Words{{"transfer", "pq"}}, Words{{"transfer", "hlg"}},
          Words{{"transfer", "srgb"}}, Words{{"transfer", "linear"}}, Words{{"primaries", "p3"}}})
        expect_near_reference(pair, words, std::string(words[0].first) + "=" + std::string(words[0].second));
}

TEST(ButteraugliCpuRows, SameBitsFromAnyNumberOfThreads) {
    for (const auto& [width, height] : {std::pair{64, 150}, {37, 99}}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height);
        const Pair pair(width, height);
        const Plan plan = plan_of(pair.geometry);
        RowWorkspaces workspaces;
        test::expect_same_bits_from_any_threads(
            pair.views(), kAccumulatorWords,
            [&](const HostPair& views, auto& words) { score_cpu_rows(pair.geometry, plan, views, words, workspaces); });
    }
}

} // namespace
} // namespace qc::butteraugli
