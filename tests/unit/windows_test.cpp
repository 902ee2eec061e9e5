// SPDX-License-Identifier: BSD-2-Clause-Patent
// The filter's windows, without FFmpeg: frames with their times in, pooled scores out.

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "filter/quality_cuda/windows.h"
}

namespace {

struct Closed {
    int64_t start, end;
    int frames, scored;
    QCWindowScore first; ///< of the first column
};

/// Windows of a stream whose frames have one score each; NaN for none.
class Stream {
public:
    explicit Stream(int64_t length, int columns = 1) {
        window_.length = length;
        window_.columns = columns;
    }
    ~Stream() { ff_qc_window_free(&window_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    void add(int64_t time, double value) {
        const unsigned char present = 1;
        if (ff_qc_window_closes(&window_, time)) close();
        EXPECT_EQ(ff_qc_window_add(&window_, time, std::isnan(value) ? nullptr : &value, &present), 0);
    }

    void close() {
        closed_.push_back({ff_qc_window_start(&window_), ff_qc_window_end(&window_), window_.frames, window_.scored,
                           ff_qc_window_pool(&window_, 0)});
        ff_qc_window_clear(&window_);
    }

    std::vector<Closed> finish() {
        if (window_.is_open) close();
        return closed_;
    }

    QCWindow window_ = {};

private:
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
    const QCWindowScore score = stream.finish()[0].first;
    EXPECT_EQ(score.count, 200);
    EXPECT_EQ(score.min, 1);
    EXPECT_EQ(score.mean, 100.5);
    EXPECT_DOUBLE_EQ(score.p5, 10.95); // rank 9.95 of 0 to 199
}

TEST(Windows, PoolInfinities) {
    Stream stream(1000);
    stream.add(0, INFINITY);
    stream.add(1, INFINITY);
    const QCWindowScore score = stream.finish()[0].first;
    EXPECT_EQ(score.p5, INFINITY);
    EXPECT_EQ(score.min, INFINITY);
}

TEST(Windows, KeepColumnsApart) {
    Stream stream(1 << 30, 2);
    for (int i = 0; i < 1000; ++i) {
        const double value[2] = {static_cast<double>(i), -1};
        const unsigned char present[2] = {static_cast<unsigned char>(i % 2), 1};
        EXPECT_EQ(ff_qc_window_add(&stream.window_, i, value, present), 0);
    }
    EXPECT_EQ(ff_qc_window_pool(&stream.window_, 0).count, 500);
    EXPECT_EQ(ff_qc_window_pool(&stream.window_, 0).mean, 500);
    EXPECT_EQ(ff_qc_window_pool(&stream.window_, 1).count, 1000);
    EXPECT_EQ(ff_qc_window_pool(&stream.window_, 1).mean, -1);
}

TEST(Windows, AreBounded) {
    Stream stream(1000);
    for (int i = 0; i < 2 * QC_WINDOW_FRAMES + 1; ++i) stream.add(0, 1);
    const std::vector<Closed> windows = stream.finish();
    ASSERT_EQ(windows.size(), 3U);
    EXPECT_EQ(windows[0].frames, QC_WINDOW_FRAMES);
    EXPECT_EQ(windows[2].frames, 1);
}

} // namespace
