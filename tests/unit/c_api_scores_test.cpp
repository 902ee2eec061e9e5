// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores asked for, sentence by sentence of quality_cuda.h: of any frame by its number, pooled over a stretch, of one
// pair of still pictures.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "quality_cuda.h"
#include "quality_cuda_run/engine.h"
#include "tests/support/c_session.hpp"

namespace qc::test {
namespace {

bool same_bits(double a, double b) {
    return std::memcmp(&a, &b, sizeof(a)) == 0;
}

/// All rows of a session that was flushed: [frame][feature], of the first rendition.
std::vector<std::vector<double>> rows_of(Scoring& scoring) {
    std::vector<std::vector<double>> rows;
    const auto columns = static_cast<size_t>(qc_session_feature_count(scoring.get()));
    while (scoring.receive() == QC_OK) rows.emplace_back(scoring.row().value, scoring.row().value + columns);
    return rows;
}

// ---- by number ------------------------------------------------------------------------------------------------------

TEST(CApiScores, AnyFrameIsAskedForByItsNumber) {
    Scoring scoring(cpu_config("psnr|motion"), 6);
    qc_session* const session = scoring.get();
    double value = -1.0;
    EXPECT_EQ(qc_session_score(session, 0, 0, 0, &value), QC_AGAIN) << "it was not submitted yet";
    ASSERT_EQ(scoring.submit(0), QC_OK);
    EXPECT_EQ(qc_session_score(session, 0, 0, 0, &value), QC_AGAIN) << "motion2 waits for a later one";
    ASSERT_EQ(scoring.submit(1), QC_OK);
    EXPECT_EQ(qc_session_score(session, 0, 0, 0, &value), QC_OK) << "it waits for the computation";
    EXPECT_GT(value, 0.0);
    value = -1.0;
    EXPECT_EQ(qc_session_score(session, 0, 0, 1, &value), QC_AGAIN);
    EXPECT_EQ(value, -1.0);
    for (size_t f = 2; f < 6; ++f) ASSERT_EQ(scoring.submit(f), QC_OK);
    ASSERT_EQ(qc_session_flush(session), QC_OK);

    const int features = qc_session_feature_count(session);
    std::vector<std::vector<double>> before;
    for (int64_t f = 5; f >= 0; --f)
        for (int i = 0; i < features; ++i) {
            ASSERT_EQ(qc_session_score(session, 0, i, f, &value), QC_OK) << f;
            if (i == 0) before.insert(before.begin(), std::vector<double>());
            before.front().push_back(value);
        }
    const auto rows = rows_of(scoring);
    ASSERT_EQ(rows.size(), 6U);
    EXPECT_EQ(before, rows) << "whether a row was received or not";
    for (size_t f = 0; f < rows.size(); ++f) {
        ASSERT_EQ(qc_session_score(session, 0, 1, static_cast<int64_t>(f), &value), QC_OK);
        EXPECT_TRUE(same_bits(value, rows[f][1])) << "as often as it is asked for";
    }
    value = -1.0;
    EXPECT_EQ(qc_session_score(session, 0, 0, 6, &value), QC_END) << "it was never submitted";
    EXPECT_EQ(value, -1.0);
    EXPECT_EQ(qc_session_score(session, 0, 0, -1, &value), QC_ERROR_INVALID);
    EXPECT_EQ(scoring.error(), "frame=-1: 0 and more is accepted");
    EXPECT_EQ(qc_session_score(session, 1, 0, 0, &value), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_score(session, -1, 0, 0, &value), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_score(session, 0, features, 0, &value), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_score(session, 0, -1, 0, &value), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_score(session, 0, 0, 0, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_score(nullptr, 0, 0, 0, &value), QC_ERROR_INVALID);

    ASSERT_EQ(qc_session_truncate(session, 3), QC_OK);
    EXPECT_EQ(qc_session_score(session, 0, 0, 2, &value), QC_OK);
    EXPECT_EQ(qc_session_score(session, 0, 0, 3, &value), QC_END) << "it was forgotten";
}

TEST(CApiScores, FramesWithoutAScoreAreNaN) {
    qc_config config = cpu_config("ssim");
    config.n_subsample = 2;
    config.renditions = 2;
    config.distorted[1] = config.distorted[0];
    Scoring scoring(config, 4);
    for (size_t f = 0; f < 4; ++f) ASSERT_EQ(f == 2 ? scoring.submit_without(1, f) : scoring.submit(f), QC_OK);
    ASSERT_EQ(qc_session_flush(scoring.get()), QC_OK);
    for (int rendition = 0; rendition < 2; ++rendition)
        for (int64_t f = 0; f < 4; ++f) {
            double value = 0.0;
            ASSERT_EQ(qc_session_score(scoring.get(), rendition, 0, f, &value), QC_OK);
            const bool has_none = f % 2 != 0 || (f == 2 && rendition == 1);
            EXPECT_EQ(std::isnan(value), has_none) << rendition << ", frame " << f;
        }
}

TEST(CApiScores, NotFromWithinAFunctionOfTheCallers) {
    struct Inner {
        qc_session* session = nullptr;
        qc_status status = QC_OK;
    } inner;
    Scoring scoring(cpu_config("psnr"));
    inner.session = scoring.get();
    const auto release = [](void* opaque) {
        auto& in = *static_cast<Inner*>(opaque);
        double value = 0.0;
        in.status = qc_session_score(in.session, 0, 0, 0, &value);
    };
    const qc_frame frame = frame_of(scoring.reference(0), scoring.distorted(0), release, &inner);
    ASSERT_EQ(qc_session_submit(scoring.get(), &frame), QC_OK);
    EXPECT_EQ(inner.status, QC_ERROR_INVALID);
}

TEST(CApiScores, AFailureLeavesWhatWasFinished) {
    Scoring scoring(cpu_config("skeleton"));
    double value = 0.0;
    ASSERT_EQ(scoring.submit(0), QC_OK);
    ASSERT_EQ(qc_session_score(scoring.get(), 0, 0, 0, &value), QC_OK);
    std::vector<qc_picture> on_device = scoring.distorted(1);
    on_device[0].memory = QC_MEMORY_CUDA; // what the CPU backend cannot read
    ASSERT_EQ(scoring.submit(scoring.reference(1), on_device), QC_ERROR_INVALID);
    const std::string reason = scoring.error();
    EXPECT_EQ(qc_session_score(scoring.get(), 0, 0, 0, &value), QC_OK);
    EXPECT_EQ(qc_session_score(scoring.get(), 0, 0, 1, &value), QC_ERROR_INVALID);
    EXPECT_EQ(scoring.error(), reason) << "the session's failure";
    static_cast<void>(qc_session_flush(scoring.get()));
    EXPECT_EQ(qc_session_score(scoring.get(), 0, 0, 0, &value), QC_OK);
    EXPECT_EQ(qc_session_score(scoring.get(), 0, 0, 1, &value), QC_ERROR_INVALID);
}

// ---- pooled over a stretch ------------------------------------------------------------------------------------------

TEST(CApiScores, PoolingOverAStretch) {
    qc_config config = cpu_config("psnr");
    Scoring scoring(config, 7);
    ASSERT_NO_FATAL_FAILURE(scoring.run(7));
    qc_session* const session = scoring.get();
    const auto rows = rows_of(scoring);
    const auto between = [&](qc_pool pool, int64_t first, int64_t end) {
        double value = 0.0;
        EXPECT_EQ(qc_session_pooled_between(session, 0, 0, pool, first, end, &value), QC_OK) << scoring.error();
        return value;
    };
    for (int pool = 0; pool < QC_POOL_COUNT; ++pool) {
        const auto method = static_cast<qc_pool>(pool);
        const double whole = scoring.pooled(method);
        EXPECT_TRUE(same_bits(between(method, 0, 7), whole)) << qc_pool_name(method);
        EXPECT_TRUE(same_bits(between(method, 0, std::numeric_limits<int64_t>::max()), whole))
            << "beyond the last frame";
    }
    const double a = rows[2][0], b = rows[3][0], c = rows[4][0];
    EXPECT_DOUBLE_EQ(between(QC_POOL_MEAN, 2, 5), (a + b + c) / 3.0);
    EXPECT_DOUBLE_EQ(between(QC_POOL_HARMONIC_MEAN, 2, 4), 2.0 / (1.0 / (a + 1.0) + 1.0 / (b + 1.0)) - 1.0);
    EXPECT_EQ(between(QC_POOL_MIN, 2, 5), std::min({a, b, c}));
    EXPECT_EQ(between(QC_POOL_MAX, 2, 5), std::max({a, b, c}));
    EXPECT_DOUBLE_EQ(between(QC_POOL_P50, 2, 5), a + b + c - std::min({a, b, c}) - std::max({a, b, c}));
    EXPECT_EQ(between(QC_POOL_STDDEV, 3, 4), 0.0);
    EXPECT_EQ(between(QC_POOL_MEAN, 6, 7), rows[6][0]) << "end is not one of them";

    double value = -1.0;
    const auto status = [&](int rendition, int feature, qc_pool pool, int64_t first, int64_t end) {
        return qc_session_pooled_between(session, rendition, feature, pool, first, end, &value);
    };
    EXPECT_EQ(status(0, 0, QC_POOL_MEAN, 7, 9), QC_ERROR_INVALID) << "no scored frame";
    EXPECT_EQ(status(0, 0, QC_POOL_MEAN, 3, 3), QC_ERROR_INVALID);
    EXPECT_EQ(status(0, 0, QC_POOL_MEAN, -1, 3), QC_ERROR_INVALID);
    EXPECT_EQ(status(0, 0, QC_POOL_MEAN, 3, 2), QC_ERROR_INVALID);
    EXPECT_EQ(status(1, 0, QC_POOL_MEAN, 0, 3), QC_ERROR_INVALID);
    EXPECT_EQ(status(0, 99, QC_POOL_MEAN, 0, 3), QC_ERROR_INVALID);
    EXPECT_EQ(status(0, 0, QC_POOL_COUNT, 0, 3), QC_ERROR_INVALID);
    EXPECT_EQ(value, -1.0);
    EXPECT_EQ(qc_session_pooled_between(session, 0, 0, QC_POOL_MEAN, 0, 3, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_pooled_between(nullptr, 0, 0, QC_POOL_MEAN, 0, 3, &value), QC_ERROR_INVALID);
}

TEST(CApiScores, AStretchCountsItsScoredFramesOnly) {
    qc_config config = cpu_config("ssim");
    config.n_subsample = 3;
    Scoring scoring(config, 8);
    ASSERT_NO_FATAL_FAILURE(scoring.run(8));
    double third = 0.0, value = 0.0;
    ASSERT_EQ(qc_session_score(scoring.get(), 0, 0, 3, &third), QC_OK);
    ASSERT_EQ(qc_session_pooled_between(scoring.get(), 0, 0, QC_POOL_MEAN, 1, 6, &value), QC_OK);
    EXPECT_EQ(value, third);
    EXPECT_EQ(qc_session_pooled_between(scoring.get(), 0, 0, QC_POOL_MEAN, 4, 6, &value), QC_ERROR_INVALID);
    EXPECT_EQ(scoring.error(), "no frame from 4 up to 6 was scored, there is nothing to pool");
}

// ---- still pictures -------------------------------------------------------------------------------------------------

class Stills : public testing::Test {
protected:
    qc_frame frame(size_t index = 0) {
        return frame_of(
            stream_.reference[index].view(), {stream_.distorted[0][index].view()},
            [](void* calls) { ++*static_cast<int*>(calls); }, &releases_);
    }
    ~Stills() override { qc_scores_destroy(scores_); }

    qc_config config_ = cpu_config("psnr");
    Stream stream_ = make_stream(config_, Content::kNoise, 1);
    qc_scores* scores_ = nullptr;
    qc_error error_{};
    int releases_ = 0;
};

TEST_F(Stills, APairTakesOneCall) {
    config_.options = "psnr.enable_apsnr=true";
    const qc_frame pair = frame();
    ASSERT_EQ(qc_score(&config_, &pair, &scores_, &error_), QC_OK) << error_.text;
    EXPECT_STREQ(error_.text, "");
    EXPECT_EQ(releases_, 1) << "before the call returns";

    Scoring scoring(config_, 1);
    ASSERT_NO_FATAL_FAILURE(scoring.run(1));
    const auto rows = rows_of(scoring);
    const int features = qc_session_feature_count(scoring.get());
    for (int i = 0; i < features; ++i) {
        qc_feature feature{};
        ASSERT_EQ(qc_session_feature(scoring.get(), i, &feature), QC_OK);
        EXPECT_STREQ(qc_scores_name(scores_, i), feature.name);
        EXPECT_TRUE(same_bits(qc_scores_value(scores_, i), rows[0][static_cast<size_t>(i)])) << feature.name;
        double value = 0.0;
        EXPECT_EQ(qc_scores_find(scores_, feature.name, &value), QC_OK);
        EXPECT_TRUE(same_bits(value, rows[0][static_cast<size_t>(i)]));
    }
    const char* name = nullptr;
    double value = 0.0;
    ASSERT_EQ(qc_session_aggregate(scoring.get(), 0, 0, &name, &value), QC_OK);
    EXPECT_STREQ(qc_scores_name(scores_, features), name) << "then what a metric says of a whole video";
    EXPECT_TRUE(same_bits(qc_scores_value(scores_, features), value));
    EXPECT_EQ(qc_scores_name(scores_, features + 3), nullptr);
    EXPECT_EQ(qc_scores_name(scores_, -1), nullptr);
    EXPECT_TRUE(std::isnan(qc_scores_value(scores_, features + 3)));
    value = -1.0;
    EXPECT_EQ(qc_scores_find(scores_, "nonsense", &value), QC_ERROR_INVALID);
    EXPECT_EQ(value, -1.0);
    EXPECT_EQ(qc_scores_find(scores_, nullptr, &value), QC_ERROR_INVALID);
    EXPECT_EQ(qc_scores_find(scores_, "psnr_y", nullptr), QC_ERROR_INVALID);
}

TEST_F(Stills, WhatIsRefused) {
    const auto refusal = [&](const qc_config* config, const qc_frame* pair, qc_status expected) {
        const int before = releases_;
        scores_ = reinterpret_cast<qc_scores*>(this);
        error_ = {};
        EXPECT_EQ(qc_score(config, pair, &scores_, &error_), expected) << error_.text;
        EXPECT_EQ(scores_, nullptr);
        EXPECT_EQ(releases_, before + (pair != nullptr ? 1 : 0)) << "called before the call returns";
        return std::string(error_.text);
    };
    const qc_frame pair = frame();
    qc_config two = config_;
    two.renditions = 2;
    two.distorted[1] = two.distorted[0];
    EXPECT_EQ(refusal(&two, &pair, QC_ERROR_INVALID), "renditions=2: 1 for a pair of still pictures is accepted");
    qc_config unknown = config_;
    unknown.metrics = "nonsense";
    EXPECT_NE(refusal(&unknown, &pair, QC_ERROR_INVALID).find("unknown metric"), std::string::npos);
    qc_frame no_reference = pair;
    no_reference.reference = qc_picture{};
    EXPECT_EQ(refusal(&config_, &no_reference, QC_ERROR_INVALID), "a frame was submitted without its reference");
    qc_frame alone = pair;
    alone.distorted[0] = qc_picture{};
    EXPECT_EQ(refusal(&config_, &alone, QC_ERROR_INVALID), "the pair has no scores");
    EXPECT_EQ(refusal(&config_, nullptr, QC_ERROR_INVALID), "frame is a null pointer");
    EXPECT_EQ(refusal(nullptr, &pair, QC_ERROR_INVALID), "config is a null pointer");
    EXPECT_EQ(qc_score(&config_, &pair, nullptr, &error_), QC_ERROR_INVALID);
    EXPECT_STREQ(error_.text, "scores is a null pointer");
    EXPECT_EQ(qc_scores_name(nullptr, 0), nullptr);
    EXPECT_TRUE(std::isnan(qc_scores_value(nullptr, 0)));
    double value = 0.0;
    EXPECT_EQ(qc_scores_find(nullptr, "psnr_y", &value), QC_ERROR_INVALID);
    qc_scores_destroy(nullptr);
}

TEST_F(Stills, WeightsAndAMapBelongToTheFrame) {
    config_.weights = 1;
    config_.maps = "difference";
    std::vector<uint8_t> weights(96 * 64, 255), map(96 * 64, 7);
    qc_frame pair = frame();
    pair.weights.plane[0] = weights.data();
    pair.map.plane[0] = map.data();
    pair.weights.pitch_bytes[0] = pair.map.pitch_bytes[0] = 96;
    ASSERT_EQ(qc_score(&config_, &pair, &scores_, &error_), QC_OK) << error_.text;
    EXPECT_NE(map, std::vector<uint8_t>(96 * 64, 7)) << "it was painted";
    qc_scores_destroy(scores_);
    weights.assign(weights.size(), 0);
    EXPECT_EQ(qc_score(&config_, &pair, &scores_, &error_), QC_ERROR_INVALID);
    EXPECT_STREQ(error_.text, "the pair has no scores: its weights leave nothing to be scored");
}

TEST(CApi, AFrameSaysNothingThatIsNotKnown) {
    Scoring scoring(cpu_config("psnr"));
    qc_frame frame = frame_of(scoring.reference(0), scoring.distorted(0));
    frame.reserved[7] = 1;
    EXPECT_EQ(qc_session_submit(scoring.get(), &frame), QC_ERROR_INVALID);
    EXPECT_EQ(scoring.error(), "a frame's reserved words are not 0");
    frame.reserved[7] = 0;
    frame.distorted[1] = frame.distorted[0];
    EXPECT_EQ(qc_session_submit(scoring.get(), &frame), QC_ERROR_INVALID);
    EXPECT_EQ(scoring.error(), "a frame has a picture of rendition 1: 0..0 is accepted");
    frame.distorted[1] = qc_picture{};
    EXPECT_EQ(qc_session_submit(scoring.get(), &frame), QC_OK);
}

} // namespace
} // namespace qc::test
