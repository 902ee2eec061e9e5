// SPDX-License-Identifier: BSD-2-Clause-Patent
// Windows: frames with their times in, pooled scores out.
#include "run/live/window.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace qc::run {
namespace {

struct Closed {
    int64_t start, end;
    int frames, scored;
    WindowScore first; ///< of the first column
};

/// Windows of a stream whose frames have one score each; NaN for none.
class Stream {
public:
    explicit Stream(int64_t length) : window_(length) {}

    void add(int64_t time, double value) {
        const unsigned char present = 1;
        if (window_.closes(time)) close();
        window_.add(time, std::isnan(value) ? nullptr : &value, &present, 1);
    }

    void close() {
        closed_.push_back({window_.start(), window_.end(), window_.frames(), window_.scored(), window_.pool(0)});
        window_.clear();
    }

    std::vector<Closed> finish() {
        if (window_.is_open()) close();
        return closed_;
    }

private:
    Window window_;
    std::vector<Closed> closed_;
};

std::vector<int64_t> starts(const std::vector<Closed>& windows) {
    std::vector<int64_t> all;
    for (const Closed& window : windows) all.push_back(window.start);
    return all;
}

TEST(Windows, AreHalfOpen) {
    Stream stream(1000);
    for (int64_t time : {0, 999, 1000, 1999, 2000}) stream.add(time, static_cast<double>(time));
    const std::vector<Closed> windows = stream.finish();
    EXPECT_EQ(starts(windows), (std::vector<int64_t>{0, 1000, 2000}));
    EXPECT_EQ(windows[0].frames, 2);
    EXPECT_EQ(windows[0].end, 1000);
    EXPECT_EQ(windows[0].first.mean, 499.5);
    EXPECT_EQ(windows[2].first.mean, 2000);
}

TEST(Windows, BeginWithTheFirstFrame) {
    Stream stream(1000);
    for (int64_t time : {700, 1699, 1700, 5000}) stream.add(time, 1);
    EXPECT_EQ(starts(stream.finish()), (std::vector<int64_t>{700, 1700, 4700}));
}

TEST(Windows, BeginAnewWhereTimeJumpsBack) {
    Stream stream(1000);
    for (int64_t time : {5000, 5500, 6100, 6050, 20, 1019, 1020}) stream.add(time, 1);
    EXPECT_EQ(starts(stream.finish()), (std::vector<int64_t>{5000, 6000, 20, 1020}));
}

TEST(Windows, MayBeginBelowZero) {
    Stream stream(1000);
    for (int64_t time : {-1500, -501, -500, 499}) stream.add(time, 1);
    EXPECT_EQ(starts(stream.finish()), (std::vector<int64_t>{-1500, -500}));
}

TEST(Windows, CountFramesWithoutScores) {
    Stream stream(1000);
    stream.add(0, NAN);
    stream.add(10, 5);
    stream.add(20, NAN);
    stream.add(1000, NAN);
    const std::vector<Closed> windows = stream.finish();
    EXPECT_EQ(windows[0].frames, 3);
    EXPECT_EQ(windows[0].scored, 1);
    EXPECT_EQ(windows[0].first.count, 1);
    EXPECT_EQ(windows[1].scored, 0);
    EXPECT_EQ(windows[1].first.count, 0);
    EXPECT_TRUE(std::isnan(windows[1].first.mean));
}

TEST(Windows, PoolAsTheEngineDoes) {
    Stream stream(1 << 30);
    std::vector<double> values(200);
    std::iota(values.begin(), values.end(), 1);
    for (size_t i = 0; i < values.size(); ++i) stream.add(static_cast<int64_t>(i), values[i * 7 % values.size()]);
    const WindowScore score = stream.finish()[0].first;
    EXPECT_EQ(score.count, 200);
    EXPECT_EQ(score.min, 1);
    EXPECT_EQ(score.mean, 100.5);
    EXPECT_DOUBLE_EQ(score.p5, 10.95); // rank 9.95 of 0 to 199
}

TEST(Windows, PoolInfinities) {
    Stream stream(1000);
    stream.add(0, INFINITY);
    stream.add(1, INFINITY);
    const WindowScore score = stream.finish()[0].first;
    EXPECT_EQ(score.p5, INFINITY);
    EXPECT_EQ(score.min, INFINITY);
}

TEST(Windows, OneThatIsNoNumberIsInAllStatistics) {
    Window window(1000);
    const unsigned char present = 1;
    for (const double value : {1.0, std::nan(""), 3.0}) window.add(0, &value, &present, 1);
    const WindowScore score = window.pool(0);
    EXPECT_EQ(score.count, 3);
    for (const double statistic : {score.mean, score.min, score.p5}) EXPECT_TRUE(std::isnan(statistic));
}

TEST(Windows, KeepColumnsApart) {
    Window window(1 << 30);
    window.add(0, nullptr, nullptr, 0);
    EXPECT_EQ(window.columns(), 0U);
    for (int i = 0; i < 1000; ++i) {
        const double value[2] = {static_cast<double>(i), -1};
        const unsigned char present[2] = {static_cast<unsigned char>(i % 2), 1};
        window.add(i, value, present, 2);
    }
    EXPECT_EQ(window.columns(), 2U);
    EXPECT_EQ(window.pool(0).count, 500);
    EXPECT_EQ(window.pool(0).mean, 500);
    EXPECT_EQ(window.pool(1).count, 1000);
    EXPECT_EQ(window.pool(1).mean, -1);
    EXPECT_EQ(window.pool(2).count, 0);
    window.clear();
    EXPECT_EQ(window.pool(1).count, 0);
}

TEST(Windows, AreBounded) {
    Stream stream(1000);
    for (int i = 0; i < 2 * Window::kMostFrames + 1; ++i) stream.add(0, 1);
    const std::vector<Closed> windows = stream.finish();
    ASSERT_EQ(windows.size(), 3U);
    EXPECT_EQ(windows[0].frames, Window::kMostFrames);
    EXPECT_EQ(windows[2].frames, 1);
}

} // namespace
} // namespace qc::run
