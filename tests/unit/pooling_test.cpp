// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "scores/pooling.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "ranks/deviation.hpp"

namespace qc::test {
namespace {

RunningPool pool_of(std::initializer_list<double> scores) {
    RunningPool pool;
    for (double score : scores) pool.add(score);
    return pool;
}

TEST(Pooling, Running) {
    const RunningPool pool = pool_of({3.0, 1.0, 7.0});
    EXPECT_EQ(pool.count(), 3);
    EXPECT_EQ(pool.minimum(), 1.0);
    EXPECT_EQ(pool.maximum(), 7.0);
    EXPECT_EQ(pool.mean(), 11.0 / 3.0);
    EXPECT_EQ(pool.harmonic_mean(), 3.0 / (1.0 / 4.0 + 1.0 / 2.0 + 1.0 / 8.0) - 1.0);
}

/// Example of libvmaf's own log (two frames of the 576x324 pair).
TEST(Pooling, HarmonicMeanOfMotion) {
    EXPECT_NEAR(pool_of({0.0, 4.579442}).harmonic_mean(), 0.696023, 5e-7);
}

TEST(Pooling, InfiniteScores) {
    const RunningPool pool = pool_of({1.0, INFINITY});
    EXPECT_EQ(pool.mean(), INFINITY);
    EXPECT_EQ(pool.maximum(), INFINITY);
    EXPECT_EQ(pool.minimum(), 1.0);
    EXPECT_EQ(pool.harmonic_mean(), 3.0);
}

TEST(Pooling, PercentilesAreLinearBetweenRanks) {
    std::vector<double> scores;
    for (int i = 100; i >= 0; --i) scores.push_back((i * 37) % 101);
    for (const double percent : {50.0, 1.0, 10.0, 5.0}) // reordered by one, it serves the next
        EXPECT_EQ(percentile_of(scores, percent), percent);
    double four[] = {40.0, 10.0, 80.0, 20.0};
    EXPECT_DOUBLE_EQ(percentile_of(four, 50.0), 30.0);
    EXPECT_DOUBLE_EQ(percentile_of(four, 10.0), 13.0);
    EXPECT_EQ(percentile_of(four, 100.0), 80.0);
    double one[] = {5.0};
    EXPECT_EQ(percentile_of(one, 10.0), 5.0);
    double infinite[] = {INFINITY, INFINITY, INFINITY};
    EXPECT_EQ(percentile_of(infinite, 10.0), INFINITY);
    // Logs show all digits where scores lie close together: both neighbours are weighted, and no other rounding will
    // do.
    double close[] = {1.1, 0.3, 0.7};
    EXPECT_EQ(percentile_of(close, 5.0), 0.34);
    double closer[] = {1.0000003316654982, 1.0000001650989967};
    EXPECT_EQ(percentile_of(closer, 10.0), 1.000000181755647);
}

TEST(Pooling, DeviationIsOfThePopulation) {
    const double scores[] = {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0};
    EXPECT_EQ(Deviation(scores).standard, 2.0);
    const double one[] = {5.0};
    EXPECT_EQ(Deviation(one).standard, 0.0);
}

TEST(Pooling, Names) {
    for (int i = 0; i < QC_POOL_COUNT; ++i) {
        const qc_pool pool = static_cast<qc_pool>(i);
        ASSERT_NE(pool_name(pool), nullptr);
        EXPECT_EQ(parse_pool(pool_name(pool)), pool);
        EXPECT_EQ(is_running_pool(pool), !percentile_percent(pool).has_value() && pool != QC_POOL_STDDEV);
    }
    for (const char* text : {"", "harmonic", "mean ", "Mean", "p2", "harmonic_mean2"}) EXPECT_FALSE(parse_pool(text));
    EXPECT_EQ(pool_name(QC_POOL_COUNT), nullptr);
}

} // namespace
} // namespace qc::test
