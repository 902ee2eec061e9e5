// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA backend without a GPU, on the stand-in driver (tests/device/stand_in.hpp): the whole of it, with the real
// kernels, in many orders; and every single call of the driver made to fail.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "plan/metric_registry.hpp"
#include "tests/device/stand_in.hpp"
#include "tests/support/c_session.hpp"

namespace qc::test {
namespace {

/// The driver that the engine loads, as the test speaks to it.
class StandIn {
public:
    StandIn() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) return;
        orders_ = reinterpret_cast<stand_in::GiveOrders>(dlsym(library_, stand_in::kGiveOrders));
        state_ = reinterpret_cast<stand_in::GetState>(dlsym(library_, stand_in::kState));
    }
    bool is_there() const { return orders_ != nullptr && state_ != nullptr; }
    void give(const stand_in::Orders& orders) const { orders_(&orders); }
    stand_in::State state() const { return state_(); }

private:
    void* library_;
    stand_in::GiveOrders orders_ = nullptr;
    stand_in::GetState state_ = nullptr;
};

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
    for (const char* layout : {"gray", "yuv444p", "nv12", "gbrp", "rgb24", "p010le"}) {
        qc_config config = config_for(layout_named(layout), 320, 240, "ssimulacra2", QC_BACKEND_AUTO);
        EXPECT_EQ(create(config, &text), QC_OK) << layout << ": " << text;
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
        const qc_picture reference = stream_.reference[frame].view();
        std::vector<qc_picture> distorted;
        for (const auto& rendition : stream_.distorted) distorted.push_back(rendition[frame].view());
        const qc_status status = qc_session_submit(
            session_, &reference, distorted.data(), [](void* count) { ++*static_cast<int*>(count); },
            &released_[frame]);
        submitted_ = frame + 1;
        return status;
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
    return part.size() <= whole.size() && std::memcmp(whole.data(), part.data(), part.size() * sizeof(double)) == 0;
}

bool gives_back(const std::string& call) {
    for (const char* word : {"Free", "Destroy", "Unload", "Release", "Pop"})
        if (call.find(word) != std::string::npos) return true;
    return false;
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
    /// Every call, in one of the ways by turns; with QC_TEST_LEVEL=all in each of them.
    void fail_calls(const qc_config& config, bool run_kernels) {
        driver_.give({.run_kernels = run_kernels});
        const FaultRun whole(config);
        ASSERT_EQ(whole.status(), QC_OK) << whole.error();
        const int64_t calls = driver_.state().calls;
        const char* const level = std::getenv("QC_TEST_LEVEL");
        const bool all = level != nullptr && std::string(level) == "all";
        int cases = 0;
        for (int64_t call = 1; call <= calls; ++call)
            for (size_t f = 0; f < std::size(kFaults); ++f) {
                if (!all && static_cast<size_t>(call) % std::size(kFaults) != f) continue;
                const Fault& fault = kFaults[f];
                driver_.give({call, fault.result, fault.lost, run_kernels, static_cast<uint32_t>(call % 5)});
                const FaultRun run(config);
                expect_clean_end(run, whole, fault, call);
                if (HasFatalFailure()) return;
                ++cases;
            }
        std::printf("%d cases, %lld calls\n", cases, static_cast<long long>(calls));
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

} // namespace
} // namespace qc::test
