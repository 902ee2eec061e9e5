// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the CUDA backend asks of the driver, call by call, and which pictures its kernels are given. On a stand-in for
// the driver: no GPU is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cuda/description.hpp"
#include "tests/unit/cuda_backend_scene.hpp"

namespace qc::test {
namespace {

using Calls = std::vector<std::string>;

/// One rendition in the reference's format, two frames a batch, three slots.
qc_config small_config(const char* format = "yuv420p", int renditions = 1) {
    qc_config config{};
    config.reference = flat_format(format);
    config.renditions = renditions;
    for (int r = 0; r < renditions; ++r) config.distorted[r] = flat_format(format);
    config.n_subsample = 1;
    config.batch = 2 * renditions;
    config.slots = 3;
    config.n_threads = 1;
    return config;
}

constexpr const char* kNoCalls = "\n";

/// A line each, after an empty one.
std::string text_of(const Calls& calls) {
    std::string text = "\n";
    for (const std::string& call : calls) text += call + "\n";
    return text;
}

/// Fails the test where the backend broke a rule, or kept or lost something.
void expect_tidy(Scene& scene) {
    scene.close();
    EXPECT_EQ(scene.driver().broken_rules(), Calls());
    EXPECT_EQ(scene.driver().objects_held(), 0u);
    for (size_t f = 0; f < scene.released().size(); ++f) EXPECT_EQ(scene.released()[f], 1) << "frame " << f;
}

std::set<std::string> functions_of(const Calls& calls) {
    std::set<std::string> functions;
    for (const std::string& call : calls) functions.insert(call.substr(0, call.find(' ')));
    return functions;
}

/// Takes all results that are finished, waiting for what is in flight.
std::vector<FrameResult> flush(Scene& scene) {
    std::vector<FrameResult> results;
    for (FrameResult result; scene.poll(true, &result);) results.push_back(std::move(result));
    return results;
}

// ---- calls ----------------------------------------------------------------------------------------------------------
// Streams, in the order of their making: 0 computes, 1 uploads. Events: 0 marks what a batch waits for, the others are
// behind the batch of a slot each.

TEST(CudaBackendCalls, SoftwareFramesInSteadyState) {
    Scene scene(small_config(), {Kind::kPair, Kind::kReference});
    ASSERT_TRUE(scene.create().ok());
    for (int f = 0; f < 6; ++f) ASSERT_TRUE(scene.submit(10 + f, {100 + f}).ok()); // every slot has its graph
    flush(scene);
    scene.driver().take_calls();

    ASSERT_TRUE(scene.submit(20, {120}).ok());
    EXPECT_EQ(text_of(scene.driver().take_calls()), R"(
cuMemcpyHtoDAsync 2560 bytes, stream 1
)");
    ASSERT_TRUE(scene.submit(21, {121}).ok());
    EXPECT_EQ(text_of(scene.driver().take_calls()), R"(
cuMemcpyHtoDAsync 2560 bytes, stream 1
cuEventRecord event 0, stream 1
cuStreamWaitEvent stream 0, event 0
cuGraphLaunch executable graph 0, stream 0
cuEventRecord event 1, stream 0
)");
    FrameResult result;
    ASSERT_TRUE(scene.poll(true, &result));
    EXPECT_EQ(text_of(scene.driver().take_calls()), R"(
cuEventQuery event 1
)");
    ASSERT_TRUE(scene.poll(true, &result));
    EXPECT_EQ(text_of(scene.driver().take_calls()), kNoCalls);
    expect_tidy(scene);
}

TEST(CudaBackendCalls, SurfacesInSteadyState) {
    Scene scene(small_config(), {Kind::kPair, Kind::kReference});
    ASSERT_TRUE(scene.create().ok());
    for (int f = 0; f < 6; ++f) ASSERT_TRUE(scene.submit(10 + f, {100 + f}, QC_MEMORY_CUDA).ok());
    flush(scene);
    scene.driver().take_calls();

    ASSERT_TRUE(scene.submit(20, {120}, QC_MEMORY_CUDA).ok());
    EXPECT_EQ(text_of(scene.driver().take_calls()), kNoCalls);
    ASSERT_TRUE(scene.submit(21, {121}, QC_MEMORY_CUDA).ok());
    EXPECT_EQ(text_of(scene.driver().take_calls()), R"(
cuEventRecord event 0, legacy default stream
cuStreamWaitEvent stream 0, event 0
cuGraphLaunch executable graph 0, stream 0
cuEventRecord event 1, stream 0
)");
    expect_tidy(scene);
}

/// Three renditions of each of two frames: six pairs, but two references.
TEST(CudaBackendCalls, ALaddersReferencesAreAnalysedOnce) {
    Scene scene(small_config("yuv420p", 3), {Kind::kPair, Kind::kReference});
    ASSERT_TRUE(scene.create().ok());
    ASSERT_TRUE(scene.submit(10, {100, 101, 102}).ok());
    ASSERT_TRUE(scene.submit(11, {103, 104, 105}).ok());
    const std::string calls = text_of(scene.driver().take_calls());
    EXPECT_NE(calls.find("cuGraphAddKernelNode probe_pairs 1x1x6 "), std::string::npos) << calls;
    EXPECT_NE(calls.find("cuGraphAddKernelNode probe_references 1x1x2 "), std::string::npos) << calls;
    expect_tidy(scene);
}

TEST(CudaBackendCalls, EveryProducerIsWaitedForOnce) {
    qc_config config = small_config();
    config.batch = 3;
    Scene scene(config, {Kind::kPair});
    ASSERT_TRUE(scene.create().ok());
    const std::array<void*, 2> producers = {scene.driver().make_stream("decoder"),
                                            scene.driver().make_stream("scaler")};
    scene.driver().take_calls();
    for (const size_t p : {0, 1, 0}) ASSERT_TRUE(scene.submit(10, {100}, QC_MEMORY_CUDA, producers[p]).ok());
    Calls calls = scene.driver().take_calls();
    calls.resize(5);
    EXPECT_EQ(text_of(calls), R"(
cuEventRecord event 0, decoder
cuStreamWaitEvent stream 0, event 0
cuEventRecord event 0, scaler
cuStreamWaitEvent stream 0, event 0
cuGraphCreate graph 0
)");
    expect_tidy(scene);
}

/// Metrics of few blocks share a branch of high priority, and begin; the others take turns on the next ones.
TEST(CudaBackendCalls, FirstBatchOfAShapeIsMadeAGraph) {
    qc_config config = small_config("yuv420p10");
    config.distorted[0] = flat_format("yuv420p"); // converted
    Scene scene(config, {Kind::kPair, Kind::kPairBlocks, Kind::kReference, Kind::kPair, Kind::kPairBlocks});
    ASSERT_TRUE(scene.create().ok());
    ASSERT_TRUE(scene.submit(10, {100}).ok());
    scene.driver().take_calls();
    ASSERT_TRUE(scene.submit(11, {101}).ok());
    EXPECT_EQ(text_of(scene.driver().take_calls()), R"(
cuMemcpyHtoDAsync 3584 bytes, stream 1
cuEventRecord event 0, stream 1
cuStreamWaitEvent stream 0, event 0
cuGraphCreate graph 0
cuGraphAddKernelNode qc_hand_over 1x1x1 of 256x1x1, 0 bytes, node 0
cuGraphAddKernelNode qc_convert 1x18x2 of 256x1x1, 0 bytes, node 1 behind 0
cuGraphAddKernelNode probe_pairs 1x1x2 of 32x1x1, 0 bytes, node 2 behind 1
cuGraphKernelNodeSetAttribute priority -5
cuGraphAddKernelNode probe_pairs 1x1x2 of 32x1x1, 0 bytes, node 3 behind 2
cuGraphKernelNodeSetAttribute priority -5
cuGraphAddKernelNode probe_pairs 1x1x2 of 32x1x1, 0 bytes, node 4 behind 1
cuGraphAddKernelNode probe_references 1x1x2 of 32x1x1, 0 bytes, node 5 behind 1
cuGraphAddKernelNode probe_pairs 1x1x2 of 32x1x1, 0 bytes, node 6 behind 1
cuGraphAddKernelNode qc_hand_over 1x1x1 of 256x1x1, 0 bytes, node 7 behind 1, 3, 4, 5, 6
cuGraphAddKernelNode qc_keep_history 18x1x1 of 256x1x1, 0 bytes, node 8 behind 7
cuGraphInstantiate executable graph 0
cuGraphDestroy graph 0
cuGraphLaunch executable graph 0, stream 0
cuEventRecord event 1, stream 0
)");
    EXPECT_EQ(scene.stats().kernel_launches, 9);
    expect_tidy(scene);
}

/// Nodes of a metric's pieces come behind what was before them, and not behind each other.
TEST(CudaBackendCalls, PiecesLieSideBySide) {
    Scene scene(small_config("yuv420p"), {Kind::kPairPieces, Kind::kPair});
    ASSERT_TRUE(scene.create().ok());
    ASSERT_TRUE(scene.submit(10, {100}).ok());
    scene.driver().take_calls();
    ASSERT_TRUE(scene.submit(11, {101}).ok());
    const std::string calls = text_of(scene.driver().take_calls());
    EXPECT_NE(calls.find(R"(
cuGraphAddKernelNode probe_pairs 1x1x1 of 32x1x1, 0 bytes, node 1 behind 0
cuGraphAddKernelNode probe_pairs 1x1x1 of 32x1x1, 0 bytes, node 2 behind 0
cuGraphAddKernelNode probe_pairs 1x1x2 of 32x1x1, 0 bytes, node 3 behind 1, 2
cuGraphAddKernelNode probe_pairs 1x1x2 of 32x1x1, 0 bytes, node 4 behind 0
cuGraphAddKernelNode qc_hand_over 1x1x1 of 256x1x1, 0 bytes, node 5 behind 0, 3, 4
)"),
              std::string::npos)
        << calls;
    EXPECT_EQ(scene.stats().kernel_launches, 6);
    expect_tidy(scene);
}

/// What the driver is asked for when a batch of so many frames leaves.
std::string calls_of_batch(int frames, const std::vector<Kind>& metrics) {
    qc_config config = small_config("yuv420p");
    config.batch = frames;
    Scene scene(config, metrics);
    EXPECT_TRUE(scene.create().ok());
    for (int frame = 0; frame + 1 < frames; ++frame) EXPECT_TRUE(scene.submit(10, {100}).ok());
    scene.driver().take_calls();
    EXPECT_TRUE(scene.submit(11, {101}).ok());
    std::string calls = text_of(scene.driver().take_calls());
    expect_tidy(scene);
    return calls;
}

/// Of many pairs, where enough other metrics are side by side, a metric's work is one piece.
TEST(CudaBackendCalls, PiecesOfManyPairsAreOneAmongManyMetrics) {
    const std::vector<Kind> metrics = {Kind::kPairPieces, Kind::kPair, Kind::kPair, Kind::kPair};
    const std::string whole = R"(
cuGraphAddKernelNode probe_pairs 1x1x9 of 32x1x1, 0 bytes, node 1 behind 0
cuGraphAddKernelNode probe_pairs 1x1x9 of 32x1x1, 0 bytes, node 2 behind 1
cuGraphAddKernelNode probe_pairs 1x1x9 of 32x1x1, 0 bytes, node 3 behind 0
)";
    EXPECT_NE(calls_of_batch(9, metrics).find(whole), std::string::npos);
    EXPECT_EQ(calls_of_batch(8, metrics).find("1x1x8 of 32x1x1, 0 bytes, node 1"), std::string::npos);
    EXPECT_EQ(calls_of_batch(9, {Kind::kPairPieces, Kind::kPair}).find(whole), std::string::npos);
}

/// How many of seven metrics begin at once; the last of them may be one that takes long.
TEST(CudaBackendCalls, BranchesGoByTheBatchWhereAMetricTakesLong) {
    struct Case {
        int frames, begin, begin_with_long;
    };
    for (const Case& c : {Case{2, 4, 6}, {3, 4, 4}, {8, 4, 4}, {9, 4, 2}, {16, 4, 2}})
        for (const bool takes_long : {false, true}) {
            std::vector<Kind> metrics(6, Kind::kPair);
            metrics.push_back(takes_long ? Kind::kPairPieces : Kind::kPair);
            const std::string calls = calls_of_batch(c.frames, metrics);
            int begin = 0;
            for (size_t at = calls.find("behind 0\n"); at != std::string::npos; at = calls.find("behind 0\n", at + 1))
                ++begin;
            EXPECT_EQ(begin, takes_long ? c.begin_with_long : c.begin) << c.frames << calls;
        }
}

/// Whatever the session looks like: memory is taken at creation, and with the first software frame of each slot; only
/// results come back, and nothing but events is waited for.
TEST(CudaBackendCalls, NothingElsePerFrame) {
    for (const char* layout : {"yuv420p", "nv12", "yuv420p10", "p010"})
        for (const qc_memory memory : {QC_MEMORY_HOST, QC_MEMORY_CUDA}) {
            qc_config config = small_config(layout, 2);
            config.distorted[1] = flat_format("yuv420p");
            config.batch = 6;
            Scene scene(config, {Kind::kPair, Kind::kReferenceChroma, Kind::kDistortedHistory});
            ASSERT_TRUE(scene.create().ok());
            for (int f = 0; f < 9; ++f) ASSERT_TRUE(scene.submit(10 + f, {50 + f, 100 + f}, memory).ok());
            flush(scene);
            const qc_stats before = scene.stats();
            scene.driver().set_eager(false);
            scene.driver().take_calls();
            for (int f = 0; f < 30; ++f) {
                ASSERT_TRUE(scene.submit(20 + f, {50 + f, 100 + f}, memory).ok());
                if (f % 4 == 3) scene.backend().collect();
            }
            EXPECT_EQ(flush(scene).size(), 30u);
            std::set<std::string> expected{"cuEventRecord", "cuStreamWaitEvent", "cuGraphLaunch", "cuEventQuery",
                                           "cuEventSynchronize"};
            if (memory == QC_MEMORY_HOST) expected.insert("cuMemcpyHtoDAsync");
            EXPECT_EQ(functions_of(scene.driver().take_calls()), expected) << layout;
            const qc_stats after = scene.stats();
            EXPECT_EQ(after.graph_launches - before.graph_launches, 10) << layout;
            EXPECT_EQ(after.batches - before.batches, 10) << layout;
            EXPECT_EQ(after.device_allocations, before.device_allocations) << layout;
            EXPECT_EQ(after.device_bytes, before.device_bytes) << layout;
            expect_tidy(scene);
        }
}

/// A slot whose batches have too many different shapes forgets the graphs of the first.
TEST(CudaBackendCalls, GraphsAreNotWithoutEnd) {
    qc_config config = small_config();
    config.batch = 16;
    config.slots = 1;
    Scene scene(config, {Kind::kPair, Kind::kReference});
    ASSERT_TRUE(scene.create().ok());
    ASSERT_TRUE(scene.submit(1, {50}).ok());
    flush(scene);
    const size_t held = scene.driver().objects_held();
    size_t scored = 1, most_held = held;
    for (int frames = 1; frames <= 16; ++frames)
        for (int present = 0; present <= frames; ++present) {
            for (int f = 0; f < frames; ++f) ASSERT_TRUE(scene.submit(1 + f, {f < present ? 50 + f : 0}).ok());
            for (const FrameResult& result : flush(scene)) {
                const ProbeWords words = scene.words(result, 0, 0);
                if (result.present[0]) {
                    EXPECT_EQ(words.distorted, words.reference + 49);
                }
                ++scored;
            }
            most_held = std::max(most_held, scene.driver().objects_held());
        }
    EXPECT_EQ(scored, scene.released().size());
    EXPECT_EQ(scene.stats().batches, 153);
    EXPECT_EQ(scene.stats().graph_launches, 153);
    EXPECT_EQ(most_held, held + 63);
    expect_tidy(scene);
}

TEST(CudaBackendCalls, ABatchLeavesEarlyIfTheGpuIsIdle) {
    qc_config config = small_config();
    config.batch = 3;
    config.latency_first = 1;
    Scene scene(config, {Kind::kPair});
    ASSERT_TRUE(scene.create().ok());
    scene.driver().set_eager(false);
    std::vector<int64_t> batches;
    for (int f = 0; f < 6; ++f) {
        if (f == 3) scene.driver().run();
        ASSERT_TRUE(scene.submit(10 + f, {100 + f}).ok());
        batches.push_back(scene.stats().batches);
    }
    // Frame 0 at once; 1 and 2 wait for it, and leave with 3, which finds the GPU idle; 4 and 5 wait again.
    EXPECT_EQ(batches, (std::vector<int64_t>{1, 1, 1, 2, 2, 2}));
    EXPECT_EQ(flush(scene).size(), 6u);
    expect_tidy(scene);
}

// ---- order ----------------------------------------------------------------------------------------------------------

TEST(CudaBackendOrder, AFullDeviceIsWaitedForBatchByBatch) {
    Scene scene(small_config(), {Kind::kPair});
    ASSERT_TRUE(scene.create().ok());
    scene.driver().set_eager(false);
    for (int f = 0; f < 6; ++f) ASSERT_TRUE(scene.submit(10 + f, {100 + f}, QC_MEMORY_CUDA).ok());
    EXPECT_EQ(scene.released(), (std::vector<int>{0, 0, 0, 0, 0, 0}));
    FrameResult result;
    EXPECT_FALSE(scene.poll(false, &result));
    scene.backend().collect();
    EXPECT_EQ(scene.released(), (std::vector<int>{0, 0, 0, 0, 0, 0}));
    scene.driver().take_calls();
    ASSERT_TRUE(scene.submit(16, {106}, QC_MEMORY_CUDA).ok());
    EXPECT_EQ(text_of(scene.driver().take_calls()), R"(
cuEventSynchronize event 1
)");
    EXPECT_EQ(scene.released(), (std::vector<int>{1, 1, 0, 0, 0, 0, 0}));
    scene.driver().run();
    scene.backend().collect();
    EXPECT_EQ(scene.released(), (std::vector<int>{1, 1, 1, 1, 1, 1, 0}));
    const std::vector<FrameResult> results = flush(scene);
    ASSERT_EQ(results.size(), 7u);
    for (size_t f = 0; f < results.size(); ++f) {
        EXPECT_EQ(results[f].index, static_cast<int64_t>(f));
        EXPECT_EQ(scene.words(results[f], 0, 0).distorted, 100 + f);
    }
    expect_tidy(scene);
}

/// Pictures in host memory may be overwritten as soon as submit() returns.
TEST(CudaBackendOrder, HostPicturesAreReleasedAtOnce) {
    Scene scene(small_config(), {Kind::kPair});
    ASSERT_TRUE(scene.create().ok());
    scene.driver().set_eager(false);
    ASSERT_TRUE(scene.submit(10, {100}).ok());
    EXPECT_EQ(scene.released(), (std::vector<int>{1}));
    expect_tidy(scene);
}

// ---- pictures -------------------------------------------------------------------------------------------------------

/// A scripted session: what every metric has to see of each frame, from the codes that were submitted.
class Script {
public:
    Script(Scene& scene, std::vector<Kind> kinds, int n_subsample)
        : scene_(scene), kinds_(std::move(kinds)), n_subsample_(n_subsample) {}

    void submit(int reference, const std::vector<int>& distorted, qc_memory memory) {
        ASSERT_TRUE(scene_.submit(reference, distorted, memory).ok());
        frames_.push_back({reference, distorted, frames_.empty() || forgotten_});
        forgotten_ = false;
    }
    void forget() {
        scene_.backend().forget_earlier_frames();
        forgotten_ = true;
    }
    /// Holds the next finished frames against the script.
    void expect(const std::vector<FrameResult>& results) {
        for (const FrameResult& result : results) {
            ASSERT_EQ(result.index, next_);
            ++next_;
            for (size_t m = 0; m < kinds_.size(); ++m) expect_metric(result, m);
        }
    }
    int64_t finished() const { return next_; }

private:
    struct Frame {
        int reference;
        std::vector<int> distorted;
        bool is_first; ///< has none before it
    };

    /// The frame `lag` before this one; null if there is none.
    const Frame* before(int64_t frame, int lag) const {
        for (int64_t f = frame; f > frame - lag; --f)
            if (frames_[static_cast<size_t>(f)].is_first) return nullptr;
        return &frames_[static_cast<size_t>(frame - lag)];
    }
    uint64_t reference_before(int64_t frame, int lag) const {
        const Frame* earlier = before(frame, lag);
        return earlier != nullptr ? static_cast<uint64_t>(earlier->reference) : kAbsent;
    }
    uint64_t distorted_before(int64_t frame, size_t rendition) const {
        const Frame* earlier = before(frame, 1);
        const int code = earlier != nullptr ? earlier->distorted[rendition] : 0;
        return code != 0 ? static_cast<uint64_t>(code) : kAbsent;
    }

    void expect_metric(const FrameResult& result, size_t metric) const {
        const Frame& frame = frames_[static_cast<size_t>(result.index)];
        const MetricDescriptor& descriptor = probe(kinds_[metric]);
        const bool evaluated = descriptor.every_frame || result.index % n_subsample_ == 0;
        const bool reference_only = descriptor.scope == Scope::kReference;
        uint64_t pairs = 0;
        for (size_t r = 0; r < (reference_only ? 1 : frame.distorted.size()); ++r) {
            ProbeWords expected{};
            const bool present = frame.distorted[r] != 0;
            EXPECT_EQ(result.present[r], present);
            if (evaluated && (reference_only || present)) {
                expected.reference = static_cast<uint64_t>(frame.reference);
                expected.distorted = reference_only ? kAbsent : static_cast<uint64_t>(frame.distorted[r]);
                for (int k = 0; k < 2; ++k) expected.earlier_reference[k] = reference_before(result.index, k + 1);
                expected.earlier_distorted = reference_only ? kAbsent : distorted_before(result.index, r);
                expected.earlier_chroma = reference_only ? reference_before(result.index, 1) : kAbsent;
                expected.behind_first = pairs++;
            }
            EXPECT_EQ(scene_.words(result, metric, static_cast<int>(r)), expected)
                << "frame " << result.index << ", metric " << metric << ", rendition " << r;
        }
    }

    Scene& scene_;
    std::vector<Kind> kinds_;
    int n_subsample_;
    std::vector<Frame> frames_;
    bool forgotten_ = false;
    int64_t next_ = 0;
};

/// Absent renditions, pauses, software frames and surfaces by turns, partial batches; the device as late as it may be.
void run_script(const qc_config& config) {
    const std::vector<Kind> kinds = {Kind::kPair,      Kind::kPairEveryFrame,  Kind::kPairBlocks,
                                     Kind::kReference, Kind::kReferenceChroma, Kind::kDistortedHistory};
    Scene scene(config, kinds);
    ASSERT_TRUE(scene.create().ok());
    scene.driver().set_eager(false);
    Script script(scene, kinds, config.n_subsample);
    for (int f = 0; f < 40; ++f) {
        if (f == 13 || f == 30 || f == 31) script.forget();
        std::vector<int> distorted(static_cast<size_t>(config.renditions));
        for (int r = 0; r < config.renditions; ++r)
            distorted[static_cast<size_t>(r)] = (f + 2 * r) % 7 == 3 ? 0 : 60 + 60 * r + f;
        script.submit(10 + f, distorted, f % 11 < 6 ? QC_MEMORY_HOST : QC_MEMORY_CUDA);
        if (f == 20) script.expect(flush(scene));
        for (FrameResult result; scene.poll(false, &result);) script.expect({result});
    }
    script.expect(flush(scene));
    EXPECT_EQ(script.finished(), 40);
    expect_tidy(scene);
}

TEST(CudaBackendPictures, EveryMetricSeesItsOwn) {
    for (const char* layout : {"yuv420p", "nv12", "yuv420p10", "p010"})
        for (const int renditions : {1, 3})
            for (const int frames : {1, 2, 5})
                for (const int n_subsample : {1, 3}) {
                    SCOPED_TRACE(format("%s, %d renditions, %d frames a batch, every %d", layout, renditions, frames,
                                        n_subsample));
                    qc_config config = small_config(layout, renditions);
                    config.batch = frames * renditions;
                    config.slots = 4 - frames / 2;
                    config.n_subsample = n_subsample;
                    run_script(config);
                }
}

TEST(CudaBackendPictures, PicturesOfFewerBitsAreConverted) {
    for (const char* reference : {"p010", "nv12", "yuv420p"}) {
        SCOPED_TRACE(reference);
        qc_config config = small_config("yuv420p10", 3);
        config.reference = flat_format(reference);
        config.distorted[1] = flat_format("nv12");
        config.distorted[2] = flat_format("p010");
        config.batch = 6;
        run_script(config);
    }
    SCOPED_TRACE("bitdepth");
    qc_config config = small_config("nv12", 2);
    config.bitdepth = 10;
    run_script(config);
}

// ---- failures -------------------------------------------------------------------------------------------------------

TEST(CudaBackendFailure, AtCreationEverythingIsGivenBack) {
    for (const char* function : {"cuDevicePrimaryCtxRetain", "cuStreamCreate", "cuEventCreate", "cuModuleLoadData",
                                 "cuModuleGetFunction", "cuMemAlloc", "cuMemHostAlloc"}) {
        int failures = 0;
        for (;; ++failures) {
            Scene scene(small_config(), {Kind::kPair, Kind::kReference});
            scene.driver().fail(function, failures + 1, CUDA_ERROR_OUT_OF_MEMORY);
            const Status status = scene.create();
            expect_tidy(scene);
            if (status.ok()) break;
            EXPECT_FALSE(status.text().empty());
        }
        EXPECT_GT(failures, 0) << function;
    }
}

/// Wherever the driver fails, the session says so, goes on saying so, and releases every frame once.
TEST(CudaBackendFailure, InTheMiddle) {
    for (const char* function :
         {"cuMemAlloc", "cuMemHostAlloc", "cuMemcpyHtoDAsync", "cuEventRecord", "cuStreamWaitEvent", "cuGraphCreate",
          "cuGraphAddKernelNode", "cuGraphInstantiate", "cuGraphLaunch", "cuEventQuery", "cuEventSynchronize"})
        for (const int nth : {1, 2, 3}) {
            SCOPED_TRACE(format("%s, call %d", function, nth));
            Scene scene(small_config(), {Kind::kPair, Kind::kReference});
            ASSERT_TRUE(scene.create().ok());
            scene.driver().set_eager(false);
            scene.driver().fail(function, nth, CUDA_ERROR_UNKNOWN);
            Status failure, polled;
            for (int f = 0; f < 12; ++f) {
                FrameResult result;
                const Status status = scene.submit(10 + f, {100 + f}, f % 4 < 2 ? QC_MEMORY_HOST : QC_MEMORY_CUDA);
                if (failure.ok()) failure = status;
                EXPECT_EQ(status.text(), failure.text());
                if (scene.poll(f % 3 == 2, &result, &polled)) continue; // a result from before
                if (failure.ok()) failure = polled;
                EXPECT_EQ(polled.text(), failure.text());
            }
            EXPECT_TRUE(failure.text().starts_with(std::string(function) + " failed: made to fail")) << failure.text();
            scene.backend().drain();
            expect_tidy(scene);
        }
}

/// A batch whose graph cannot be made is not begun; those before it read their pictures still.
TEST(CudaBackendFailure, BatchesUnderWayEndBeforePicturesAreReleased) {
    for (const int nth : {1, 2, 3, 4, 5}) {
        SCOPED_TRACE(format("kernel %d", nth));
        qc_config config = small_config();
        config.batch = 4;
        Scene scene(config, {Kind::kPair, Kind::kReference, Kind::kPairEveryFrame, Kind::kPairBlocks});
        ASSERT_TRUE(scene.create().ok());
        scene.driver().set_eager(false);
        for (int f = 0; f < 8; ++f) ASSERT_TRUE(scene.submit(10 + f, {100 + f}, QC_MEMORY_CUDA).ok());
        scene.driver().fail("cuGraphAddKernelNode", nth, CUDA_ERROR_UNKNOWN);
        Status status;
        for (int f = 0; f < 4; ++f) status = scene.submit(20 + f, {110 + f}, QC_MEMORY_CUDA);
        EXPECT_EQ(status.code(), QC_ERROR_DEVICE);
        EXPECT_EQ(scene.stats().graph_launches, 2);
        EXPECT_GT(scene.driver().unfinished(), 0u);
        scene.backend().drain();
        for (size_t f = 0; f < scene.released().size(); ++f) EXPECT_EQ(scene.unfinished_at_release(f), 0u) << f;
        expect_tidy(scene);
    }
}

TEST(CudaBackendFailure, ResultsFromBeforeAreHandedOut) {
    Scene scene(small_config(), {Kind::kPair});
    ASSERT_TRUE(scene.create().ok());
    ASSERT_TRUE(scene.submit(10, {100}).ok());
    ASSERT_TRUE(scene.submit(11, {101}).ok());
    FrameResult result;
    ASSERT_TRUE(scene.poll(false, &result));
    scene.driver().fail("cuMemcpyHtoDAsync", 1, CUDA_ERROR_UNKNOWN);
    EXPECT_EQ(scene.submit(12, {102}).text(), "cuMemcpyHtoDAsync failed: made to fail (CUDA error 999); the process "
                                              "has to be started again to use this GPU, or "
                                              "use backend=cpu");
    Status status;
    ASSERT_TRUE(scene.poll(true, &result, &status));
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(result.index, 1);
    EXPECT_FALSE(scene.poll(true, &result, &status));
    EXPECT_EQ(status.code(), QC_ERROR_DEVICE);
    expect_tidy(scene);
}

} // namespace
} // namespace qc::test
