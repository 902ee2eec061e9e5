// SPDX-License-Identifier: BSD-2-Clause-Patent
// Any calls in any order on two sessions of the CPU backend. A character of the input is a call (see run()), so that a
// seed reads like a session: "ssssfrrrrl".
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>

#include <nlohmann/json.hpp>

#include "quality_cuda_run/engine.h"
#include "tests/fuzz/exact_picture.hpp"
#include "tests/fuzz/scratch.hpp"

namespace {

using qc::fuzz::ExactPicture;
using qc::fuzz::Input;

constexpr const char* kMetrics[] = {"psnr", "motion|psnr", "vmaf", "float_moment", "motion_v2|ssim", "speed_temporal"};

const std::string& log_path() {
    static const std::string path = qc::fuzz::scratch("session");
    return path;
}

/// A session, and what is known of it by the calls that it answered.
class Driven {
public:
    explicit Driven(Input& input) {
        config_.struct_size = sizeof(config_);
        config_.backend = QC_BACKEND_CPU;
        config_.metrics = kMetrics[input.choose(std::size(kMetrics))];
        config_.n_threads = 1 + input.choose(2);
        config_.slots = input.choose(4);
        config_.renditions = 1 + input.choose(2);
        config_.n_subsample = input.choose(4);
        config_.stats_format = static_cast<qc_stats_format>(input.rarely(4) ? 1 : 0);
        config_.reference.width = 48;
        config_.reference.height = 40;
        config_.reference.chroma = QC_CHROMA_420;
        config_.reference.depth = config_.reference.container_bits = 8;
        for (qc_format& distorted : config_.distorted) distorted = config_.reference;
        picture_.emplace(config_.reference, input);
        static_cast<void>(qc_session_create(&config_, &session_, nullptr));
    }
    ~Driven() {
        qc_session_destroy(session_);
        QC_FUZZ_CHECK(released_ == handed_over_, "every picture is released once");
    }
    Driven(const Driven&) = delete;
    Driven& operator=(const Driven&) = delete;

    void submit(bool with_reference, bool with_distorted) {
        qc_frame frame{};
        if (with_distorted) std::fill_n(frame.distorted, std::clamp(config_.renditions, 1, 3), picture_->view());
        if (with_reference) frame.reference = picture_->view();
        frame.release = [](void* count) { ++*static_cast<int64_t*>(count); };
        frame.opaque = &released_;
        ++handed_over_;
        const qc_status status = qc_session_submit(session_, &frame);
        check(status);
        QC_FUZZ_CHECK(released_ == handed_over_, "pictures in host memory are free when the call returns");
        QC_FUZZ_CHECK(status != QC_OK || (with_reference && !flushed_ && session_ != nullptr));
        submitted_ += status == QC_OK ? 1 : 0;
    }

    void receive(int wait) {
        qc_row row{};
        const qc_status status = qc_session_receive(session_, wait, &row);
        check(status);
        if (status == QC_OK) {
            QC_FUZZ_CHECK(row.frame == received_++, "rows leave in order");
            char line[1024];
            check(qc_session_stats_line(session_, &row, line, sizeof(line)));
        }
        QC_FUZZ_CHECK(received_ <= submitted_);
        QC_FUZZ_CHECK(status != QC_END || (flushed_ && received_ >= std::min(submitted_, kept_)),
                      "a row for every frame");
    }

    void flush() {
        check(qc_session_flush(session_));
        flushed_ = session_ != nullptr;
    }

    void pause() { check(qc_session_break(session_)); }

    void truncate(Input& input) {
        const int64_t frames = input.rarely(4) ? input.any<int64_t>() : input.choose(16);
        const qc_status status = qc_session_truncate(session_, frames);
        check(status);
        if (status != QC_OK) return;
        QC_FUZZ_CHECK(flushed_ && frames >= 0 && qc_session_scored_frames(session_) <= frames);
        kept_ = std::min(kept_, frames);
    }

    void go_on() {
        const qc_status status = qc_session_continue_on_cpu(session_);
        check(status);
        QC_FUZZ_CHECK(status != QC_OK, "no GPU has failed");
    }

    void write_log(Input& input) {
        const qc_log_extra extra[] = {{"note", "[1, \"two\"]"}, {"none", nullptr}};
        const int rendition = input.choose(3), format = input.choose(QC_LOG_FORMAT_COUNT + 1), count = input.choose(3);
        const qc_status status = qc_session_write_log(session_, rendition, log_path().c_str(),
                                                      static_cast<qc_log_format>(format), 1, extra, count);
        check(status);
        if (status != QC_OK) return;
        QC_FUZZ_CHECK(rendition < config_.renditions && format < QC_LOG_FORMAT_COUNT);
        if (format == QC_LOG_FORMAT_JSON) {
            const auto log = nlohmann::json::parse(std::ifstream(log_path()), nullptr, false);
            QC_FUZZ_CHECK(log.is_object() && log.at("complete") == flushed_);
        }
        std::filesystem::remove(log_path());
    }

    void ask(Input& input) {
        const int rendition = input.choose(4) - 1, index = input.choose(64) - 1;
        double value = 0.0;
        const char* name = nullptr;
        qc_feature feature{};
        qc_stats stats{};
        stats.struct_size = input.rarely(4) ? input.any<size_t>() % (sizeof(stats) + 1) : sizeof(stats);
        check(qc_session_pooled(session_, rendition, index, static_cast<qc_pool>(input.choose(12)), &value));
        check(qc_session_pooled_between(session_, rendition, index, QC_POOL_P10, index - 2, index + 2, &value));
        check(qc_session_score(session_, rendition, 0, index, &value));
        check(qc_session_import(session_, rendition, "integer_adm2", index, value));
        check(qc_session_aggregate(session_, rendition, index, &name, &value));
        check(qc_session_stream_score(session_, rendition, index, &name, &value));
        check(qc_session_feature(session_, index, &feature));
        check(qc_session_stats(session_, &stats));
        QC_FUZZ_CHECK(qc_session_scored_frames(session_) <= submitted_);
        static_cast<void>(qc_session_description(session_));
        qc_session_collect(session_);
    }

    void ask_for_nothing() {
        if (session_ == nullptr) return;
        QC_FUZZ_CHECK(qc_session_receive(session_, 0, nullptr) == QC_ERROR_INVALID);
        QC_FUZZ_CHECK(qc_session_submit(session_, nullptr) == QC_ERROR_INVALID);
        QC_FUZZ_CHECK(qc_session_stats(session_, nullptr) == QC_ERROR_INVALID);
        QC_FUZZ_CHECK(qc_session_write_log(session_, 0, nullptr, QC_LOG_FORMAT_JSON, 1, nullptr, 0) < 0);
    }

private:
    void check(qc_status status) const {
        QC_FUZZ_CHECK(status != QC_ERROR_INTERNAL && status >= QC_ERROR_INTERNAL && status <= QC_END);
        if (session_ == nullptr)
            QC_FUZZ_CHECK(status == QC_ERROR_INVALID);
        else if (status < 0)
            QC_FUZZ_CHECK(qc::fuzz::is_one_line(qc_session_error(session_)), qc_session_error(session_));
    }

    qc_config config_{};
    std::optional<ExactPicture> picture_;
    qc_session* session_ = nullptr; ///< null where the configuration was refused
    int64_t handed_over_ = 0, released_ = 0, submitted_ = 0, received_ = 0;
    int64_t kept_ = std::numeric_limits<int64_t>::max(); ///< by truncate()
    bool flushed_ = false;
};

void run(Driven& session, char call, Input& input) {
    switch (call) {
    case 's':
        return session.submit(true, true);
    case 'n':
        return session.submit(true, false);
    case 'm':
        return session.submit(false, true);
    case 'r':
        return session.receive(0);
    case 'w':
        return session.receive(1);
    case 'f':
        return session.flush();
    case 'b':
        return session.pause();
    case 't':
        return session.truncate(input);
    case 'c':
        return session.go_on();
    case 'l':
        return session.write_log(input);
    case '0':
        return session.ask_for_nothing();
    default:
        return session.ask(input);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    constexpr int kMostCalls = 100;
    Input input(data, size);
    std::array<std::unique_ptr<Driven>, 2> sessions;
    size_t current = 0;
    for (int call = 0; call < kMostCalls && !input.empty(); ++call) {
        const char what = static_cast<char>(input.byte());
        if (what == 'x') current = 1 - current;
        if (what == 'd') sessions[current].reset();
        if (what == 'x' || what == 'd') continue;
        if (sessions[current] == nullptr) sessions[current] = std::make_unique<Driven>(input);
        run(*sessions[current], what, input);
    }
    return 0;
}
