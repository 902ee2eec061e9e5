// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA backend without a GPU, on the stand-in driver (tests/device/stand_in.hpp): the whole of it, with the real
// kernels, in many orders; and every single call of the driver made to fail.
#include <gtest/gtest.h>

#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "plan/metric_registry.hpp"
#include "tests/device/stand_in_client.hpp"
#include "tests/support/c_session.hpp"
#include "tests/support/replaced_samples.hpp"

namespace qc::test {
namespace {

class OnStandIn : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(driver_.is_there()) << "the stand-in driver is not in LD_LIBRARY_PATH"; }
    void TearDown() override {
        if (!driver_.is_there()) return;
        EXPECT_STREQ(driver_.state().broken_rules, "");
        EXPECT_EQ(driver_.state().objects_held, 0);
        driver_.give({});
    }
    StandIn driver_;
};

/// Two renditions of other formats than the reference's, so that pictures are converted too.
qc_config config_of(const char* metrics, int width, int height) {
    qc_config config = config_for(layout_named("yuv420p10le"), width, height, metrics, QC_BACKEND_CUDA);
    config.distorted[1] = format_of(layout_named("nv12"), width, height);
    config.renditions = 2;
    config.batch = 4; // two frames
    config.slots = 2;
    return config;
}

// ---- scores ---------------------------------------------------------------------------------------------------------

class StandInScores : public OnStandIn, public testing::WithParamInterface<const MetricDescriptor*> {
protected:
    static Status check(const qc_config& config) {
        std::unique_ptr<Session> session;
        return Session::create(config, &session);
    }
};

/// Every metric, in the order of the calls and in others, against the CPU.
TEST_P(StandInScores, EqualTheCpuInAnyOrder) {
    const std::string name = unambiguous_name(*GetParam());
    qc_config config = config_of(name.c_str(), 52, 44);
    config.backend = QC_BACKEND_CPU;
    if (!check(config).ok()) {
        for (qc_format* format : {&config.reference, &config.distorted[0], &config.distorted[1]})
            format->width = format->height = 220;
    }
    const Stream stream = make_stream(config, Content::kNatural, 7);
    const RunResult cpu = run(config, stream);
    config.backend = QC_BACKEND_CUDA;
    for (const uint32_t seed : {0u, 1u, 2u}) {
        driver_.give({.seed = seed});
        expect_agreement(cpu, run(config, stream), GetParam()->backend_bound, name + ", order " + std::to_string(seed));
    }
}

INSTANTIATE_TEST_SUITE_P(Metrics, StandInScores,
                         testing::ValuesIn(registered_metrics().begin(), registered_metrics().end()),
                         [](const auto& info) { return std::string(info.param->name); });

/// Every metric that accepts one, in both sample types; a frame whose mask has no weight among them.
TEST_F(OnStandIn, MasksEqualTheCpu) {
    int compared = 0;
    for (const MetricDescriptor* metric : registered_metrics()) {
        if (!metric->accepts_weights) continue;
        for (const char* layout : {"nv12", "yuv444p16le"}) {
            const std::string name = unambiguous_name(*metric);
            const int width = std::max(91, metric->smallest.width), height = std::max(75, metric->smallest.height);
            qc_config config = config_for(layout_named(layout), width, height, name.c_str(), QC_BACKEND_CPU);
            if (config.reference.depth > metric->largest_depth) continue;
            config.weights = 1;
            config.renditions = 2;
            config.distorted[1] = config.distorted[0];
            Stream stream = make_stream(config, Content::kNatural, 3, 2);
            const auto columns = static_cast<size_t>(width), samples = columns * static_cast<size_t>(height);
            stream.masks.assign(3, std::vector<uint8_t>(samples));
            for (size_t f = 0; f < 3; f += 2)
                for (size_t i = 0; i < samples; ++i)
                    stream.masks[f][i] = static_cast<uint8_t>(i % 7 == 0 ? 0 : (37 * i + i / columns * 13 + f) % 256);
            const RunResult cpu = run(config, stream);
            config.backend = QC_BACKEND_CUDA;
            driver_.give({.seed = static_cast<uint32_t>(compared)});
            const RunResult cuda = run(config, stream);
            expect_agreement(cpu, cuda, metric->backend_bound, name);
            EXPECT_EQ(cuda.weightless, (std::vector<int64_t>{0, 3, 0})) << name;
            ++compared;
        }
    }
    EXPECT_GE(compared, 10);
}

/// Every map, of the second rendition, in memory that the pictures are copied to; frames without scores are black. The
/// rows of these wait for no score: no metric here looks at every frame, and one of them begins a batch.
TEST_F(OnStandIn, MapsEqualTheCpu) {
    for (const MetricDescriptor* metric : mapped_metrics(registered_metrics())) {
        const std::string name(metric->name);
        qc_config config = config_of("float_moment", 221, 181);
        config.maps = name.c_str();
        config.map_rendition = 1;
        config.n_subsample = 3;
        const Stream stream = make_stream(config, Content::kNatural, 5);
        for (const qc_map_layout layout : {QC_MAP_LAYOUT_GRAY, QC_MAP_LAYOUT_YUV420P, QC_MAP_LAYOUT_NV12}) {
            config.map_layout = layout;
            config.map_colours = layout == QC_MAP_LAYOUT_NV12 ? QC_MAP_COLOURS_HEAT : QC_MAP_COLOURS_GRAY;
            config.backend = QC_BACKEND_CPU;
            const RunResult cpu = run(config, stream);
            config.backend = QC_BACKEND_CUDA;
            driver_.give({.seed = static_cast<uint32_t>(layout)});
            const RunResult cuda = run(config, stream);
            ASSERT_TRUE(cpu.status.ok() && cuda.status.ok()) << cpu.status.text() << cuda.status.text();
            const bool exact = metric->backend_bound.exact();
            expect_same_maps(cpu, cuda, exact ? 0 : layout == QC_MAP_LAYOUT_NV12 ? 6 : 1, name);
        }
    }
}

/// What the watch of the contents sees is no score: no test of all metrics knows of it.
TEST_F(OnStandIn, WatchedContentsEqualTheCpu) {
    for (const auto& [width, height] : {std::pair{220, 180}, {67, 301}}) {
        qc_config config = config_of("psnr", width, height);
        config.n_subsample = 2;
        config.watch_contents = 1;
        const Stream stream = make_stream(config, Content::kNatural, 6);
        config.backend = QC_BACKEND_CPU;
        const RunResult cpu = run(config, stream);
        EXPECT_GT(cpu.accumulators[1].size(), 250U); // 2 x 128 words, and psnr's
        config.backend = QC_BACKEND_CUDA;
        for (const uint32_t seed : {0u, 1u}) {
            driver_.give({.seed = seed});
            expect_same_bits(cpu, run(config, stream), "order " + std::to_string(seed));
        }
    }
}

struct Scaled {
    const char* name;
    qc_scaling scaling;
    int width, height; ///< of what is scored; 0: the reference's
};

class StandInScaling : public OnStandIn, public testing::WithParamInterface<Scaled> {};

/// Renditions of other sizes and formats than the reference's, whose own size is scored, or none of theirs.
TEST_P(StandInScaling, EqualsTheCpu) {
    qc_config config = config_of("psnr|motion|vif", 220, 180);
    config.distorted[0] = format_of(layout_named("yuv420p"), 146, 121);
    config.distorted[1] = format_of(layout_named("p010le"), 331, 90);
    config.scaling = GetParam().scaling;
    config.scoring_width = GetParam().width;
    config.scoring_height = GetParam().height;
    const Stream stream = make_stream(config, Content::kNatural, 5);
    config.backend = QC_BACKEND_CPU;
    const RunResult cpu = run(config, stream);
    config.backend = QC_BACKEND_CUDA;
    for (const uint32_t seed : {0u, 1u}) {
        driver_.give({.seed = seed});
        expect_same_bits(cpu, run(config, stream), "order " + std::to_string(seed));
    }
}
constexpr Scaled kScaled[] = {{"Bicubic", QC_SCALING_BICUBIC, 0, 0},
                              {"BicubicToOwnSize", QC_SCALING_BICUBIC, 241, 99},
                              {"Area", QC_SCALING_AREA, 0, 0},
                              {"AreaToOwnSize", QC_SCALING_AREA, 241, 99}};
INSTANTIATE_TEST_SUITE_P(All, StandInScaling, testing::ValuesIn(kScaled),
                         [](const auto& info) { return std::string(info.param.name); });

/// Pictures come from anywhere: what no sample is counts as the largest, on its way to the GPU too.
TEST_F(OnStandIn, WordsBeyondTheLargestSample) {
    qc_config config = config_of("psnr|motion|cambi", 220, 180);
    config.distorted[1] = format_of(layout_named("yuv420p12le"), 220, 180);
    const Stream stream = make_stream(config, Content::kNoise, 2);
    ReplacedSamples sound(true), unsound(false);
    const RunResult expected = run(config, stream, std::ref(sound));
    expect_same_bits(expected, run(config, stream, std::ref(unsound)), "CUDA");
    config.backend = QC_BACKEND_CPU;
    ReplacedSamples again(false);
    expect_same_bits(expected, run(config, stream, std::ref(again)), "CPU");
}

// ---- self-test ------------------------------------------------------------------------------------------------------

class SelfTest : public OnStandIn {
protected:
    static qc_status create(qc_config config, std::string* text) {
        qc_session* session = nullptr;
        qc_error error{};
        config.selftest = 1;
        const qc_status status = qc_session_create(&config, &session, &error);
        qc_session_destroy(session);
        *text = error.text;
        return status;
    }
};

TEST_F(SelfTest, ADeviceThatComputesIsTaken) {
    std::string text;
    for (const char* metrics : {"vmaf", "psnr+ciede", "all"})
        EXPECT_EQ(create(config_of(metrics, 640, 480), &text), QC_OK) << metrics << ": " << text;
    qc_config scaled = config_of("vmaf|psnr", 640, 480);
    scaled.distorted[0].width = 2 * (scaled.distorted[1].height = 720);
    scaled.scaling = QC_SCALING_LANCZOS;
    scaled.scoring_width = scaled.scoring_height = 900;
    EXPECT_EQ(create(scaled, &text), QC_OK) << text;
    for (const char* layout : {"gray", "yuv444p", "nv12", "gbrp", "rgb24", "p010le"})
        for (const char* metric : {"ssimulacra2", "butteraugli"}) {
            qc_config config = config_for(layout_named(layout), 320, 240, metric, QC_BACKEND_AUTO);
            EXPECT_EQ(create(config, &text), QC_OK) << metric << " " << layout << ": " << text;
        }
}

TEST_F(SelfTest, ADeviceThatDoesNotComputeIsRefused) {
    driver_.give({.run_kernels = false});
    std::string text;
    for (const MetricDescriptor* metric : registered_metrics()) {
        const std::string name = unambiguous_name(*metric);
        EXPECT_EQ(create(config_of(name.c_str(), 640, 480), &text), QC_ERROR_DEVICE) << name;
        EXPECT_NE(text.find("selftest: "), std::string::npos) << text;
        EXPECT_NE(text.find("stand-in"), std::string::npos) << text;
        EXPECT_NE(text.find("backend=cpu"), std::string::npos) << text;
    }
}

TEST_F(SelfTest, TheCpuNeedsNone) {
    std::string text;
    qc_config config = config_for(layout_named("yuv420p"), 64, 64, "psnr", QC_BACKEND_CPU);
    EXPECT_EQ(create(config, &text), QC_OK) << text;
    EXPECT_EQ(driver_.state().calls, 0);
}

// ---- failures -------------------------------------------------------------------------------------------------------

/// @param released counts the calls of the frame's release
qc_status submit_frame(qc_session* session, const Stream& stream, size_t frame, int* released) {
    std::vector<qc_picture> distorted;
    for (const auto& rendition : stream.distorted) distorted.push_back(rendition[frame].view());
    const qc_frame pictures = frame_of(
        stream.reference[frame].view(), distorted, [](void* count) { ++*static_cast<int*>(count); }, released);
    return qc_session_submit(session, &pictures);
}

/// A program that scores six frames, and what came of it.
class FaultRun {
public:
    explicit FaultRun(const qc_config& config) : stream_(make_stream(config, Content::kNoise, kFrames)) {
        status_ = qc_session_create(&config, &session_, &error_);
        if (status_ == QC_OK) {
            columns_ = config.renditions * qc_session_feature_count(session_);
            score();
            error_text_ = qc_session_error(session_);
        } else {
            error_text_ = error_.text;
        }
        qc_session_destroy(session_);
    }

    qc_status status() const { return status_; }
    const std::string& error() const { return error_text_; }
    bool says(const std::string& what) const { return error_text_.find(what) != std::string::npos; }
    const std::vector<double>& values() const { return values_; } ///< of all rows received
    bool released_each_once() const {
        for (size_t f = 0; f < kFrames; ++f)
            if (released_[f] != (f < submitted_ ? 1 : 0)) return false;
        return true;
    }
    bool failure_stays() const { return failure_stays_; }

private:
    static constexpr size_t kFrames = 6;

    void score() {
        for (size_t f = 0; f < kFrames && status_ == QC_OK; ++f) {
            status_ = submit(f);
            if (status_ == QC_OK) receive(0);
        }
        if (status_ == QC_OK)
            status_ = qc_session_flush(session_);
        else if (submitted_ < kFrames)
            failure_stays_ = submit(submitted_) == status_;
        const qc_status end = receive(1);
        if (status_ == QC_OK && end != QC_END) status_ = end;
    }
    qc_status submit(size_t frame) {
        submitted_ = frame + 1;
        return submit_frame(session_, stream_, frame, &released_[frame]);
    }
    qc_status receive(int wait) {
        qc_row row{};
        qc_status status = QC_OK;
        while ((status = qc_session_receive(session_, wait, &row)) == QC_OK)
            values_.insert(values_.end(), row.value, row.value + columns_);
        return status;
    }

    Stream stream_;
    qc_session* session_ = nullptr;
    qc_error error_{};
    qc_status status_ = QC_OK;
    std::string error_text_;
    int columns_ = 0;
    std::vector<double> values_;
    int released_[kFrames] = {};
    size_t submitted_ = 0;
    bool failure_stays_ = true;
};

bool starts_with(const std::vector<double>& whole, const std::vector<double>& part) {
    return part.empty() || // which has no address to compare
           (part.size() <= whole.size() && std::memcmp(whole.data(), part.data(), part.size() * sizeof(double)) == 0);
}

bool tries_all() {
    const char* const level = std::getenv("QC_TEST_LEVEL");
    return level != nullptr && std::string(level) == "all";
}

struct Fault {
    const char* name;
    CUresult result;
    bool lost;
};
constexpr Fault kFaults[] = {{"out of memory", CUDA_ERROR_OUT_OF_MEMORY, false},
                             {"a failure that passes", CUDA_ERROR_INVALID_VALUE, false},
                             {"the device is lost", CUDA_ERROR_ILLEGAL_ADDRESS, true}};

class StandInFailures : public OnStandIn {
protected:
    /// With QC_TEST_LEVEL=all every call in each of the ways, otherwise every third call, the ways by turns.
    void fail_calls(const qc_config& config, bool run_kernels) {
        constexpr uint32_t kSeeds = 5;
        std::array<int64_t, kSeeds> calls{}; // how often a batch is asked for depends on the order
        for (uint32_t seed = 0; seed < kSeeds; ++seed) {
            driver_.give({.run_kernels = run_kernels, .seed = seed});
            const FaultRun run(config);
            ASSERT_EQ(run.status(), QC_OK) << run.error();
            calls[seed] = driver_.state().calls;
        }
        driver_.give({.run_kernels = run_kernels});
        const FaultRun whole(config);
        int cases = 0, missed = 0;
        for (int64_t call = 1; call <= *std::max_element(calls.begin(), calls.end()); ++call)
            for (size_t f = 0; f < std::size(kFaults); ++f) {
                const auto seed = static_cast<uint32_t>(call % kSeeds);
                if (call > calls[seed]) continue;
                if (!tries_all() && (call % 3 != 0 || static_cast<size_t>(call / 3) % std::size(kFaults) != f))
                    continue;
                const Fault& fault = kFaults[f];
                driver_.give({call, fault.result, fault.lost, run_kernels, seed});
                const FaultRun run(config);
                ++cases;
                if (driver_.state().failed_call == nullptr) { // time decides how often the last batch is asked for
                    expect_no_failure(run, whole);
                    ++missed;
                } else {
                    expect_clean_end(run, whole, fault, call);
                }
                if (HasFailure()) return;
            }
        EXPECT_LE(missed, cases / 10);
        std::printf("%d cases, %lld calls\n", cases, static_cast<long long>(calls[0]));
    }

    static void expect_no_failure(const FaultRun& run, const FaultRun& whole) {
        EXPECT_EQ(run.status(), QC_OK) << run.error();
        EXPECT_EQ(run.values().size(), whole.values().size());
        EXPECT_TRUE(starts_with(whole.values(), run.values())) << "other scores";
    }

    void expect_clean_end(const FaultRun& run, const FaultRun& whole, const Fault& fault, int64_t call) {
        const stand_in::State state = driver_.state();
        ASSERT_NE(state.failed_call, nullptr);
        const std::string failed = state.failed_call;
        SCOPED_TRACE(std::string(fault.name) + " at call " + std::to_string(call) + ", " + failed + ": " + run.error());
        ASSERT_TRUE(run.released_each_once());
        ASSERT_TRUE(run.failure_stays());
        ASSERT_TRUE(starts_with(whole.values(), run.values())) << "other scores";
        ASSERT_STREQ(state.broken_rules, "");
        ASSERT_LE(state.objects_held, !fault.lost && gives_back(failed) ? 1 : 0);
        if (run.status() == QC_OK) {
            ASSERT_EQ(run.values().size(), whole.values().size()) << "scores are missing, and nothing is said";
        } else {
            // Without a context it is the next call that fails.
            const bool without_context = failed == "cuCtxPushCurrent" && !fault.lost;
            const bool out_of_memory = fault.result == CUDA_ERROR_OUT_OF_MEMORY && !without_context;
            ASSERT_EQ(run.status(), out_of_memory ? QC_ERROR_NO_MEMORY : QC_ERROR_DEVICE);
            ASSERT_TRUE(run.says(without_context ? "(CUDA error 201)"
                                 : fault.lost    ? "(CUDA error 700)"
                                                 : failed + " failed: "));
            ASSERT_TRUE(run.says(out_of_memory ? "out of memory" : "backend=cpu"));
        }
        driver_.give({}); // forgets what a failed call kept
    }
};

TEST_F(StandInFailures, EveryCallOfAllMetrics) {
    fail_calls(config_of("all", 220, 220), false);
}

TEST_F(StandInFailures, CallsAmidRealKernels) {
    fail_calls(config_of("psnr+float_psnr+motion+float_moment", 40, 36), true);
}

// ---- going on -------------------------------------------------------------------------------------------------------

struct Row {
    std::vector<double> value;
    bool present = false;
};

/// Scores a stream, goes on with the CPU backend where the GPU fails, and remembers where that was.
class ResumedRun {
public:
    ResumedRun(const qc_config& config, const Stream& stream, size_t first = 0) : stream_(stream) {
        released_.resize(stream_.reference.size());
        status_ = qc_session_create(&config, &session_, nullptr);
        if (status_ != QC_OK) return;
        columns_ = static_cast<size_t>(config.renditions) * static_cast<size_t>(qc_session_feature_count(session_));
        for (size_t f = first; f < stream_.reference.size() && status_ == QC_OK; ++f) {
            status_ = submit(f);
            if (status_ != QC_OK && resume(f)) status_ = taken_in(f - first) ? QC_OK : submit(f);
            if (status_ == QC_OK) receive(f + 1, 0);
        }
        if (status_ == QC_OK) status_ = qc_session_flush(session_);
        receive(stream_.reference.size(), 1);
        description_ = qc_session_description(session_);
        qc_session_destroy(session_);
    }

    qc_status status() const { return status_; }
    bool resumed() const { return resumed_; }
    size_t gap_end() const { return gap_end_; } ///< first frame that the CPU backend was given
    const std::vector<Row>& rows() const { return rows_; }
    const std::string& description() const { return description_; }
    bool released_each_once() const {
        return std::all_of(released_.begin(), released_.end(), [](int count) { return count == 1; });
    }

private:
    qc_status submit(size_t frame) {
        released_[frame] = 0; // of the submission that counts
        return submit_frame(session_, stream_, frame, &released_[frame]);
    }
    bool taken_in(size_t frame) const {
        qc_stats stats{};
        stats.struct_size = sizeof(stats);
        EXPECT_EQ(qc_session_stats(session_, &stats), QC_OK);
        return stats.frames_submitted == static_cast<int64_t>(frame) + 1;
    }
    bool resume(size_t frame) {
        if (qc_session_continue_on_cpu(session_) != QC_OK) return false;
        EXPECT_FALSE(resumed_) << "the CPU backend failed";
        resumed_ = true;
        gap_end_ = taken_in(frame) ? frame + 1 : frame;
        return true;
    }
    void receive(size_t next, int wait) {
        qc_row row{};
        for (;;) {
            const qc_status status = qc_session_receive(session_, wait, &row);
            if (status == QC_OK) {
                EXPECT_EQ(row.frame, static_cast<int64_t>(rows_.size()));
                rows_.push_back({{row.value, row.value + columns_}, row.present[0] != 0});
            } else if (status >= 0 || !resume(next - 1)) {
                return;
            }
        }
    }

    const Stream& stream_;
    qc_session* session_ = nullptr;
    qc_status status_ = QC_OK;
    size_t columns_ = 0, gap_end_ = 0;
    bool resumed_ = false;
    std::vector<Row> rows_;
    std::vector<int> released_;
    std::string description_;
};

void expect_same(const Row& row, const Row& expected) {
    ASSERT_EQ(row.present, expected.present);
    ASSERT_EQ(std::memcmp(row.value.data(), expected.value.data(), row.value.size() * sizeof(double)), 0);
}

/// Whatever call of the driver fails: frames before it keep their scores, those under way have none, and those behind
/// it are scored as a stream that begins there.
TEST_F(StandInFailures, GoesOnWithTheCpu) {
    qc_config config = config_of("psnr+motion+xpsnr+float_moment", 40, 36);
    config.frame_rate = 25;
    const Stream stream = make_stream(config, Content::kNoise, 8);
    driver_.give({});
    const ResumedRun whole(config, stream);
    ASSERT_EQ(whole.status(), QC_OK);
    ASSERT_EQ(whole.rows().size(), 8U);
    const int64_t calls = driver_.state().calls;
    std::vector<std::vector<Row>> from(9); // the CPU's rows of the stream's rest
    driver_.give({});
    config.backend = QC_BACKEND_CPU;
    for (size_t first = 0; first < 8; ++first) from[first] = ResumedRun(config, stream, first).rows();
    config.backend = QC_BACKEND_CUDA;
    int resumed = 0;
    for (int64_t call = 1; call <= calls; call += tries_all() ? 1 : 5) {
        driver_.give({call, call % 2 == 0 ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_OUT_OF_MEMORY, call % 2 == 0});
        const ResumedRun run(config, stream);
        SCOPED_TRACE("call " + std::to_string(call) + " of " + std::to_string(calls));
        ASSERT_STREQ(driver_.state().broken_rules, "");
        driver_.give({});
        if (!run.resumed()) continue; // nothing was missing, or no session was there yet, or the end was
        ++resumed;
        ASSERT_EQ(run.status(), QC_OK);
        ASSERT_TRUE(run.released_each_once());
        ASSERT_EQ(run.rows().size(), 8U);
        ASSERT_NE(run.description().find("; from frame " + std::to_string(run.gap_end()) + " on: CPU"),
                  std::string::npos)
            << run.description();
        size_t f = 0;
        for (; f < run.gap_end() && run.rows()[f].present; ++f)
            if (f + 1 < run.gap_end() && run.rows()[f + 1].present) expect_same(run.rows()[f], whole.rows()[f]);
        for (; f < run.gap_end(); ++f) ASSERT_FALSE(run.rows()[f].present) << f;
        for (; f < 8; ++f) expect_same(run.rows()[f], from[run.gap_end()][f - run.gap_end()]);
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(resumed, tries_all() ? 50 : 10);
}

} // namespace
} // namespace qc::test
