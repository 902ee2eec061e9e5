// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sessions of small pictures on the CPU backend, and a GPU that there is not.
#include "quality_cuda_run/session.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/text/messages_test_support.hpp"

namespace qc::run {
namespace {

constexpr int kNoSuchDevice = 1000;

/// PSNR of gray pictures.
class Session : public ::testing::Test {
protected:
    Session() {
        config_.struct_size = sizeof(config_);
        config_.metrics = "psnr";
        config_.backend = QC_BACKEND_CPU;
        config_.n_subsample = 1;
        config_.n_threads = 1;
    }
    ~Session() override {
        qcr_close_scoring(&scoring_);
        qc_request_destroy(request_);
    }

    qc_status open(int renditions = 1) {
        const qcr_sink sink = said_.sink();
        EXPECT_EQ(qc_format_from_name("gray", 32, 32, &config_.reference), QC_OK);
        config_.renditions = renditions;
        for (int k = 0; k < renditions; k++) config_.distorted[k] = config_.reference;
        EXPECT_EQ(qc_request_create(&config_, &request_, &error_), QC_OK) << error_.text;
        return qcr_open_scoring(&scoring_, request_, &config_, &rules_, &sink, &error_);
    }

    qc_config config_{};
    qc_request* request_ = nullptr;
    qcr_scoring_rules rules_{"prefix.", 0, 1, 0, 0};
    qcr_scoring scoring_{};
    qc_error error_{};
    Messages said_;
};

TEST_F(Session, NamesOfScores) {
    ASSERT_EQ(open(3), QC_OK) << error_.text;
    ASSERT_EQ(scoring_.features, 1);
    const char* const kNames[] = {"psnr_y", "1.psnr_y", "2.psnr_y"};
    for (int k = 0; k < 3; k++) {
        EXPECT_STREQ(scoring_.names[k], kNames[k]);
        EXPECT_EQ(scoring_.keys[k], std::string("prefix.") + kNames[k]);
    }
    EXPECT_EQ(qcr_frames_taken(&scoring_), 0);
}

TEST_F(Session, CanBeClosedWithoutHavingBeenOpened) {
    qcr_close_scoring(&scoring_);
    EXPECT_EQ(scoring_.session, nullptr);
}

TEST_F(Session, AGpuThatThereIsNot) {
    config_.backend = QC_BACKEND_CUDA;
    config_.device = kNoSuchDevice;
    EXPECT_EQ(open(), QC_ERROR_NO_DEVICE);
    EXPECT_STRNE(error_.text, "");
    EXPECT_EQ(scoring_.session, nullptr);
    EXPECT_EQ(scoring_.left_gpu, 0);
    EXPECT_EQ(said_.all, Lines{});
}

TEST_F(Session, TheCpuBackendGoesOnWithoutAGpu) {
    config_.backend = QC_BACKEND_CUDA;
    config_.device = kNoSuchDevice;
    rules_.may_leave_gpu = 1;
    ASSERT_EQ(open(), QC_OK) << error_.text;
    EXPECT_EQ(qc_session_backend(scoring_.session), QC_BACKEND_CPU);
    EXPECT_EQ(scoring_.left_gpu, 1);
    ASSERT_EQ(said_.all.size(), 2U);
    EXPECT_EQ(said_.all[0], std::string("W scoring on the GPU failed: ") + scoring_.gpu_failure +
                                "; on_error=cpu: the CPU backend goes on");
}

TEST_F(Session, AnyBackendWillDoForALog) {
    config_.backend = QC_BACKEND_CUDA;
    config_.device = kNoSuchDevice;
    rules_.is_for_log = 1;
    ASSERT_EQ(open(), QC_OK) << error_.text;
    EXPECT_EQ(scoring_.left_gpu, 0); // it is nothing that failed
}

TEST_F(Session, WithoutAFailureThereIsNothingToRecoverFrom) {
    rules_.may_leave_gpu = 1;
    ASSERT_EQ(open(), QC_OK) << error_.text;
    const qcr_sink sink = said_.sink();
    said_.take();
    EXPECT_EQ(qcr_recover_scoring(&scoring_, QC_ERROR_IO, &rules_, &sink, &error_), QC_ERROR_IO);
    EXPECT_EQ(scoring_.left_gpu, 0);
    EXPECT_EQ(said_.all, Lines{});
}

TEST(SessionDepth, OfTheCpuBackend) {
    static const struct {
        int wanted, threads, depth, most;
    } kCases[] = {{0, 1, 8, 2}, {0, 10, 20, 20}, {0, 100, 64, 64}, {3, 1, 3, 2}, {3, 10, 3, 3}, {1024, 1, 1024, 2}};
    for (const auto& of : kCases) {
        qc_config config{};
        config.struct_size = sizeof(config);
        config.metrics = "psnr";
        config.backend = QC_BACKEND_CPU;
        config.renditions = config.n_subsample = config.n_threads = 1;
        ASSERT_EQ(qc_format_from_name("gray", 32, 32, &config.reference), QC_OK);
        config.distorted[0] = config.reference;
        qc_request* request = nullptr;
        qc_error error{};
        ASSERT_EQ(qc_request_create(&config, &request, &error), QC_OK) << error.text;
        const qcr_scoring_rules rules = {"", of.wanted, of.threads, 0, 0};
        Messages said;
        const qcr_sink sink = said.sink();
        qcr_scoring scoring{};
        EXPECT_EQ(qcr_open_scoring(&scoring, request, &config, &rules, &sink, &error), QC_OK) << error.text;
        EXPECT_EQ(scoring.depth, of.depth);
        EXPECT_EQ(scoring.most_under_way, of.most);
        EXPECT_TRUE(said.has("; up to " + std::to_string(of.depth) + " distorted frames are held"));
        qcr_close_scoring(&scoring);
        qc_request_destroy(request);
    }
}

TEST(SessionStatus, WhatTheGpuIsToBlameFor) {
    static const struct {
        qc_status status;
        int is_of_device;
    } kCases[] = {{QC_OK, 0},           {QC_ERROR_INVALID, 0},   {QC_ERROR_UNSUPPORTED, 0}, {QC_ERROR_NO_DEVICE, 1},
                  {QC_ERROR_DEVICE, 1}, {QC_ERROR_NO_MEMORY, 1}, {QC_ERROR_IO, 0},          {QC_ERROR_INTERNAL, 0}};
    for (const auto& of : kCases) EXPECT_EQ(qcr_is_of_device(of.status), of.is_of_device) << of.status;
}

TEST_F(Session, AWatchOfTheFirstPictures) {
    ASSERT_EQ(open(), QC_OK) << error_.text;
    qc_session* watch = nullptr;
    config_.backend = QC_BACKEND_CUDA; // which is not worth it for pictures in memory
    ASSERT_EQ(qcr_open_watch(request_, &config_, 0, &watch, &error_), QC_OK) << error_.text;
    int offset = 0;
    EXPECT_EQ(qc_session_backend(watch), QC_BACKEND_CPU);
    EXPECT_EQ(qc_session_start_offset(watch, 0, &offset), QC_AGAIN);
    qc_session_destroy(watch);
}

} // namespace
} // namespace qc::run
