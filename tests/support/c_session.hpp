// SPDX-License-Identifier: BSD-2-Clause-Patent
// A session as a program has it: through the C API alone.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "quality_cuda_run/engine.h"
#include "tests/support/runs.hpp"

namespace qc::test {

inline qc_config cpu_config(const char* metrics, const char* layout = "yuv420p", int width = 96, int height = 64) {
    return config_for(layout_named(layout), width, height, metrics, QC_BACKEND_CPU);
}

/// What is said of a configuration before its pictures are known.
inline qc_status check_options(const qc_config* config, qc_error* error) {
    qc_request* request = nullptr;
    const qc_status status = qc_request_create(config, &request, error);
    EXPECT_EQ(status == QC_OK, request != nullptr);
    qc_request_destroy(request);
    return status;
}

/// 0 for a configuration that is wrong, too.
inline int accepts_rgb(const qc_config* config) {
    qc_request* request = nullptr;
    static_cast<void>(qc_request_create(config, &request, nullptr));
    const int accepts = qc_request_accepts_rgb(request);
    qc_request_destroy(request);
    return accepts;
}

/// A session through the C API, with the pictures to feed it.
class Scoring {
public:
    explicit Scoring(const qc_config& config, int frames = 4) : stream_(make_stream(config, Content::kNoise, frames)) {
        qc_error error{};
        EXPECT_EQ(qc_session_create(&config, &session_, &error), QC_OK) << error.text;
        EXPECT_STREQ(error.text, "");
    }
    ~Scoring() { qc_session_destroy(session_); }
    Scoring(const Scoring&) = delete;
    Scoring& operator=(const Scoring&) = delete;

    qc_session* get() const { return session_; }
    std::string error() const { return qc_session_error(session_); }
    qc_picture reference(size_t frame) const { return stream_.reference[frame].view(); }
    std::vector<qc_picture> distorted(size_t frame) const {
        std::vector<qc_picture> pictures;
        for (const auto& rendition : stream_.distorted) pictures.push_back(rendition[frame].view());
        return pictures;
    }
    qc_status submit(size_t frame) { return submit(reference(frame), distorted(frame)); }
    qc_status submit(const qc_picture& reference, const std::vector<qc_picture>& distorted) {
        const qc_frame frame = frame_of(
            reference, distorted, [](void* calls) { ++*static_cast<int*>(calls); }, &releases_);
        return qc_session_submit(session_, &frame);
    }
    qc_status submit_without(int rendition, size_t frame) {
        std::vector<qc_picture> pictures = distorted(frame);
        pictures[static_cast<size_t>(rendition)] = qc_picture{};
        return submit(reference(frame), pictures);
    }
    qc_status receive(int wait = 1) { return qc_session_receive(session_, wait, &row_); }
    void run(size_t frames) {
        for (size_t f = 0; f < frames; ++f) ASSERT_EQ(submit(f), QC_OK) << error();
        ASSERT_EQ(qc_session_flush(session_), QC_OK);
    }
    const qc_row& row() const { return row_; }
    int releases() const { return releases_; }
    double pooled(qc_pool pool) {
        double value = -1;
        EXPECT_EQ(qc_session_pooled(session_, 0, 0, pool, &value), QC_OK) << error();
        return value;
    }

private:
    Stream stream_;
    qc_session* session_ = nullptr;
    qc_row row_{};
    int releases_ = 0;
};

} // namespace qc::test
