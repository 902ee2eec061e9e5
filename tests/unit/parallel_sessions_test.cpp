// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sessions side by side: different sessions are independent, whatever threads they have. ThreadSanitizer runs this too.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/support/runs.hpp"

namespace qc::test {
namespace {

constexpr int kSessions = 3, kFrames = 5;

qc_config config_of(int session) {
    constexpr const char* kLayouts[] = {"yuv420p", "yuv444p10le", "nv12"};
    qc_config config = config_for(layout_named(kLayouts[session % 3]), 192, 176, "all", QC_BACKEND_CPU);
    config.frame_rate = 25.0;
    config.skip_unsupported = 1;
    config.renditions = 1 + session % 2;
    config.distorted[1] = config.distorted[0];
    config.n_threads = 2 + session;
    return config;
}

TEST(ParallelSessions, ScoreAsAlone) {
    std::vector<RunResult> together(kSessions);
    std::vector<Stream> streams;
    for (int i = 0; i < kSessions; ++i) streams.push_back(make_stream(config_of(i), Content::kNatural, kFrames));
    std::vector<std::thread> threads;
    for (int i = 0; i < kSessions; ++i)
        threads.emplace_back([&, i] { together[size_t(i)] = run(config_of(i), streams[size_t(i)]); });
    for (std::thread& thread : threads) thread.join();
    // Only now: what a process sets up once was set up by sessions side by side.
    for (int i = 0; i < kSessions; ++i)
        expect_same_bits(run(config_of(i), streams[size_t(i)]), together[size_t(i)], "session " + std::to_string(i));
}

TEST(ParallelSessions, OneRequestForAll) {
    qc_config config = config_for(layout_named("yuv420p"), 96, 64, "vmaf|psnr", QC_BACKEND_CPU);
    qc_request* request = nullptr;
    ASSERT_EQ(qc_request_create(&config, &request, nullptr), QC_OK);
    std::vector<std::thread> threads;
    std::vector<qc_status> statuses(kSessions, QC_ERROR_INTERNAL);
    for (int i = 0; i < kSessions; ++i)
        threads.emplace_back([&, i] {
            qc_session* session = nullptr;
            statuses[size_t(i)] = qc_request_open(request, &config, &session, nullptr);
            qc_session_destroy(session);
        });
    for (std::thread& thread : threads) thread.join();
    qc_request_destroy(request);
    for (const qc_status status : statuses) EXPECT_EQ(status, QC_OK);
}

} // namespace
} // namespace qc::test
