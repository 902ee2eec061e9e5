// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sessions on a machine in need: every single allocation, and every start of a thread, fails in turn, from creation to
// destruction. Nothing aborts, hangs or leaks; the session fails with one status and keeps what was scored; every
// frame's release is called once.
//
// At the level "all" (QC_TEST_LEVEL) every allocation of every session fails, otherwise those of large sessions are
// sampled. The number of cases is in the test's properties.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <new>
#include <system_error>
#include <thread>

#include "cpu/thread_pool.hpp"
#include "quality_cuda.h"
#include "tests/support/c_session.hpp"
#include "tests/support/shortage.hpp"
#ifdef QC_WITH_CUDA
#include "cuda/row_copier.hpp"
#include "tests/device/stand_in_client.hpp"
#endif

namespace qc::test {
namespace {

using Extent = Shortage::Extent;

constexpr int kMostFrames = 4, kMostRows = 16;

// ---- watching -------------------------------------------------------------------------------------------------------

char case_text[256] = "no case\n"; ///< what runs, for those who cannot allocate

void tell_case() {
    static_cast<void>(!write(STDERR_FILENO, case_text, std::strlen(case_text)));
}

/// Has the case named if it crashes, throws where nothing may, or takes longer than any can.
class Watch {
public:
    Watch() {
        std::set_terminate([] {
            tell_case();
            std::abort();
        });
        for (const int signal : kSignals)
            std::signal(signal, [](int) {
                tell_case();
                std::abort();
            });
    }
    ~Watch() {
        alarm(0);
        for (const int signal : kSignals) std::signal(signal, SIG_DFL);
    }
    static void begin_case(const std::string& text) {
        constexpr unsigned kSeconds = 120;
        std::snprintf(case_text, sizeof(case_text), "in the middle of: %s\n", text.c_str());
        alarm(kSeconds);
    }

private:
    static constexpr std::array<int, 3> kSignals = {SIGALRM, SIGSEGV, SIGBUS};
};

size_t entries_of(const std::filesystem::path& folder) {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

size_t threads_now() {
    return entries_of("/proc/self/task");
}

/// Threads of a process that runs none of its own but the first. ThreadSanitizer adds one with the first that is
/// started.
size_t count_threads_at_start() {
    std::filesystem::path listed;
    std::thread([&listed] { listed = "/proc/self/task/" + std::to_string(gettid()); }).join();
    while (std::filesystem::exists(listed)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return threads_now();
}

const size_t threads_at_start = count_threads_at_start();

/// A thread that was joined is listed for a moment more: the system clears away behind it.
void expect_no_more_threads() {
    for (int wait = 0; wait < 1000 && threads_now() != threads_at_start; ++wait)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(threads_now(), threads_at_start);
}

/// What a session must leave as it was.
struct Held {
    int64_t blocks = live_blocks();
    size_t files = entries_of("/proc/self/fd");
};

// ---- one session ----------------------------------------------------------------------------------------------------

/// A session, how often it is called and with what.
struct Scene {
    qc_config config;
    Stream stream;
    std::filesystem::path folder;

    Scene(const qc_config& asked, int frames, const std::filesystem::path& logs)
        : config(asked), stream(make_stream(config, Content::kNoise, frames)), folder(logs) {}
    size_t frames() const { return stream.reference.size(); }
};

/// What came of one run; filled without taking memory.
struct Record {
    qc_status create = QC_OK, failure = QC_OK; ///< failure: the first of the scoring
    bool one_failure = true;                   ///< all later calls said the same
    qc_error error{};
    std::array<int, 2 * kMostFrames> releases{};
    int submitted = 0, rows = 0, columns = 0;
    int64_t scored = 0, requests = 0;
    bool rows_in_order = true;
    std::array<std::array<double, 512>, kMostRows> values{};
    std::array<std::array<unsigned char, 512>, kMostRows> present{};
    qc_status log = QC_OK, log_later = QC_OK, pooled_later = QC_OK;
    bool refused = false;

    /// Notes the status of a call that scores.
    qc_status note(qc_status status) {
        if (failure != QC_OK) one_failure = one_failure && status == failure;
        if (status < 0 && failure == QC_OK) failure = status;
        return status;
    }
};

class Session {
public:
    Session(const Scene& scene, Record& record) : scene_(scene), record_(record) {}

    void create() {
        qc_request* request = nullptr;
        record_.create = qc_request_create(&scene_.config, &request, &record_.error);
        if (record_.create == QC_OK) record_.create = qc_request_check(request, &scene_.config, &record_.error);
        if (record_.create == QC_OK)
            record_.create = qc_request_open(request, &scene_.config, &session_, &record_.error);
        qc_request_destroy(request);
        if (session_ != nullptr)
            record_.columns = qc_session_feature_count(session_) * std::max(scene_.config.renditions, 1);
    }
    void submit(size_t frame) {
        qc_frame pictures{};
        pictures.reference = scene_.stream.reference[frame].view();
        for (size_t r = 0; r < scene_.stream.distorted.size(); ++r)
            pictures.distorted[r] = scene_.stream.distorted[r][frame].view();
        pictures.release = [](void* count) { ++*static_cast<int*>(count); };
        pictures.opaque = &record_.releases[static_cast<size_t>(record_.submitted++)];
        record_.note(qc_session_submit(session_, &pictures));
    }
    void receive(int wait) {
        for (qc_row row{};;) {
            const qc_status status = qc_session_receive(session_, wait, &row);
            if (status < 0) { // rows that were finished come before the failure
                record_.note(status);
                return;
            }
            if (status != QC_OK) return;
            char line[1024];
            static_cast<void>(qc_session_stats_line(session_, &row, line, sizeof(line)));
            const auto at = static_cast<size_t>(record_.rows);
            record_.rows_in_order = record_.rows_in_order && row.frame == record_.rows++;
            std::copy_n(row.value, record_.columns, record_.values[at].begin());
            std::copy_n(row.present, record_.columns, record_.present[at].begin());
        }
    }
    void score() {
        for (size_t f = 0; f < scene_.frames(); ++f) {
            submit(f);
            if (f == 1) record_.note(qc_session_break(session_));
            receive(f == 2);
            double value = 0;
            static_cast<void>(qc_session_pooled(session_, 0, 0, QC_POOL_P50, &value));
            static_cast<void>(qc_session_pooled_between(session_, 0, 0, QC_POOL_P50, 0, 2, &value));
            // What a wait for the frame cannot do ends the scoring; what a look at it cannot does not.
            static_cast<void>(qc_session_score(session_, 0, 0, f == 2 ? 2 : 0, &value));
            qc_session_collect(session_);
        }
        record_.note(qc_session_flush(session_));
        receive(1);
    }
    qc_status write_logs() {
        qc_status status = QC_OK;
        for (const qc_log_format format :
             {QC_LOG_FORMAT_CSV, QC_LOG_FORMAT_XML, QC_LOG_FORMAT_SUB, QC_LOG_FORMAT_JSON}) {
            const qc_log_extra extra{"end", "\"the end\""};
            const qc_status written = qc_session_write_log(session_, 0, log_.c_str(), format, 1, &extra, 1);
            if (status == QC_OK) status = written;
        }
        return status;
    }
    /// There is memory again: a failure stays, and so does what was scored.
    void look_again() {
        if (record_.failure != QC_OK) {
            for (size_t f = 0; f < 2; ++f) submit(f);
            record_.note(qc_session_break(session_));
            record_.note(qc_session_flush(session_));
        }
        receive(1);
        record_.scored = qc_session_scored_frames(session_);
        double value = 0;
        if (record_.scored > 0) record_.pooled_later = qc_session_pooled(session_, 0, 0, QC_POOL_P50, &value);
        record_.log_later = write_logs();
    }
    void destroy() { qc_session_destroy(session_); }
    bool exists() const { return session_ != nullptr; }
    const qc_session* get() const { return session_; }
    std::string log_path() const { return log_; }
    void run_short(Shortage& shortage) {
        create();
        if (exists()) {
            score();
            record_.log = write_logs();
        }
        record_.refused = shortage.refused();
    }

private:
    const Scene& scene_;
    Record& record_;
    const std::string log_ = (scene_.folder / "log").string();
    qc_session* session_ = nullptr;
};

bool says_complete(const std::string& path) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.find("\"complete\": true") != std::string::npos;
}

/// @param destroy_short whether the session is destroyed while the resource is short, or after a look at what it kept
Record run(const Scene& scene, Resource resource, int64_t nth, Extent extent, bool destroy_short) {
    Record record;
    Session session(scene, record);
    Shortage shortage(resource, nth, extent);
    session.run_short(shortage);
    if (destroy_short) session.destroy();
    shortage.end();
    record.refused = shortage.refused();
    record.requests = shortage.requests();
    if (destroy_short || !session.exists()) return record;
    session.look_again();
    EXPECT_EQ(says_complete(session.log_path()), record.failure == QC_OK);
    if (record.failure != QC_OK) {
        EXPECT_STREQ(qc_session_error(session.get()),
                     resource == Resource::kMemory ? "out of memory" : qc_session_error(session.get()));
    }
    session.destroy();
    return record;
}

void expect_rows(const Record& expected, const Record& found) {
    EXPECT_TRUE(found.rows_in_order);
    ASSERT_LE(found.rows, expected.rows);
    for (int row = 0; row < found.rows; ++row) {
        const auto at = static_cast<size_t>(row);
        const auto count = static_cast<size_t>(expected.columns);
        EXPECT_EQ(std::memcmp(expected.values[at].data(), found.values[at].data(), count * sizeof(double)), 0) << row;
        EXPECT_EQ(std::memcmp(expected.present[at].data(), found.present[at].data(), count), 0) << row;
    }
}

void expect_clean(const Record& expected, const Record& found, int renditions, bool looked_again) {
    EXPECT_TRUE(found.create == QC_OK || found.create == QC_ERROR_NO_MEMORY)
        << found.create << ": " << found.error.text;
    if (found.create != QC_OK) {
        EXPECT_STRNE(found.error.text, "");
        EXPECT_EQ(std::strchr(found.error.text, '\n'), nullptr) << found.error.text;
        return;
    }
    EXPECT_TRUE(found.failure == QC_OK || found.failure == QC_ERROR_NO_MEMORY) << found.failure;
    EXPECT_TRUE(found.one_failure) << "another status came after the failure";
    EXPECT_TRUE(found.log == QC_OK || found.log == QC_ERROR_NO_MEMORY) << found.log;
    EXPECT_EQ(found.log_later, QC_OK);
    EXPECT_EQ(found.pooled_later, QC_OK);
    for (int frame = 0; frame < found.submitted; ++frame)
        EXPECT_EQ(found.releases[static_cast<size_t>(frame)], 1) << "releases of frame " << frame;
    expect_rows(expected, found);
    if (found.failure == QC_OK) {
        EXPECT_EQ(found.rows, expected.rows);
    }
    if (!looked_again) return;
    EXPECT_GE(found.scored, found.rows);
    EXPECT_LE(found.scored, found.rows + (renditions > 1 ? 1 : 0)) << "of a frame all of whose renditions were reached";
}

/// A folder for logs that goes with the test.
class Folder {
public:
    Folder() : path_(std::filesystem::temp_directory_path() / format("qc_shortage_%d", static_cast<int>(getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

// ---- all cases of a session -----------------------------------------------------------------------------------------

bool every_case() {
    const char* const level = std::getenv("QC_TEST_LEVEL");
    return level != nullptr && std::strcmp(level, "all") == 0;
}

struct Cases {
    const char* name;
    qc_config config;
    Resource resource = Resource::kMemory;
    int frames = kMostFrames;
    int64_t samples = 0; ///< of a large session: requests that are refused below the level "all"; 0: every one always
};

struct Way {
    Extent extent;
    bool destroy_short;
};
constexpr std::array<Way, 3> kWays{{{Extent::kOnce, false}, {Extent::kForGood, false}, {Extent::kForGood, true}}};

/// One run in need, held against one in plenty. @return whether a request was refused
bool run_case(const Scene& scene, const Cases& cases, const Record& expected, int64_t nth, const Way& way) {
    const std::string text =
        format("%s, request %lld, %s%s", cases.name, static_cast<long long>(nth),
               way.extent == Extent::kOnce ? "once" : "for good", way.destroy_short ? ", to the end" : "");
    SCOPED_TRACE(text);
    Watch::begin_case(text);
    const Held before;
    const Record found = run(scene, cases.resource, nth, way.extent, way.destroy_short);
    const Held after;
    EXPECT_EQ(after.blocks, before.blocks);
    expect_no_more_threads();
    EXPECT_EQ(after.files, before.files);
    EXPECT_LE(entries_of(scene.folder), 1u) << "the log, and nothing beside it";
    expect_clean(expected, found, cases.config.renditions, !way.destroy_short);
    return found.refused;
}

/// Refuses the nth request for ever larger n, until a run needs fewer. The ways to refuse take turns; at the level
/// "all" small sessions try each.
void run_all(const Cases& cases) {
    const Folder folder;
    const Scene scene(cases.config, cases.frames, folder.path());
    const Watch watch;
    static_cast<void>(run(scene, cases.resource, 0, Extent::kOnce, false)); // what is made once per process
    const Record expected = run(scene, cases.resource, 0, Extent::kOnce, false);
    ASSERT_EQ(expected.create, QC_OK) << expected.error.text;
    ASSERT_EQ(expected.failure, QC_OK);
    ASSERT_EQ(expected.rows, cases.frames);
    ASSERT_LE(static_cast<size_t>(expected.columns), expected.values[0].size());
    const int64_t step =
        cases.samples == 0 || every_case() ? 1 : std::max<int64_t>(expected.requests / cases.samples, 1);
    int ran = 0;
    int64_t nth = 1;
    for (bool refused = true; refused; nth += step) {
        refused = false;
        for (size_t w = 0; w < kWays.size(); ++w) {
            const bool its_turn = w == static_cast<size_t>(nth / step) % kWays.size();
            if (!its_turn && (!every_case() || cases.samples != 0)) continue;
            const bool was_refused = run_case(scene, cases, expected, nth, kWays[w]);
            refused = refused || was_refused;
            ran += was_refused ? 1 : 0;
            if (testing::Test::HasFailure()) return;
        }
    }
    std::cout << cases.name << ": " << ran << " cases, every " << step << " of " << expected.requests << " requests"
              << std::endl;
    testing::Test::RecordProperty("cases", ran);
}

qc_config config_of(const char* metrics, int threads, const char* layout = "yuv420p", int width = 96, int height = 64) {
    qc_config config = cpu_config(metrics, layout, width, height);
    config.n_threads = threads;
    return config;
}

TEST(Shortage, OfMemoryInASmallSession) {
    run_all({"skeleton and psnr, 1 thread", config_of("skeleton|psnr", 1)});
}

TEST(Shortage, OfMemoryWithThreadsRenditionsAndHistory) {
    qc_config config = config_of("psnr|motion|speed_temporal", 3, "yuv420p10le", 230, 170);
    config.renditions = 2;
    config.distorted[1] = config.distorted[0];
    run_all({.name = "two renditions, 3 threads", .config = config, .samples = 200});
}

TEST(Shortage, OfMemoryWithModels) {
    qc_config config = config_of("vmaf|psnr", 2, "nv12", 176, 144);
    config.model = "version=vmaf_v0.6.1|version=vmaf_b_v0.6.3:name=spread";
    run_all({.name = "models", .config = config, .frames = 2, .samples = 100});
}

/// Pairs that are under way when one lacks memory go on, and borrow what it had.
TEST(Shortage, OfMemoryInRowsThatAreKept) {
    run_all({.name = "rows that are kept", .config = config_of("cambi|adm|vif", 2, "gray", 216, 176)});
}

TEST(Shortage, OfMemoryWithEveryMetric) {
    qc_config config = config_of("all", 2, "yuv444p", 216, 176);
    run_all({.name = "every metric", .config = config, .frames = 2, .samples = 300});
}

#ifdef QC_WITH_CUDA
/// The CUDA backend on the driver that is not there, which itself lacks nothing.
class CudaShortage : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(driver_.is_there()) << "the stand-in driver is not in LD_LIBRARY_PATH";
        exempt_where(driver_.calls_under_way());
    }
    void TearDown() override {
        exempt_where(nullptr);
        if (!driver_.is_there()) return;
        EXPECT_STREQ(driver_.state().broken_rules, "");
        EXPECT_EQ(driver_.state().objects_held, 0);
        driver_.give({});
    }
    static qc_config on_cuda(qc_config config) {
        config.backend = QC_BACKEND_CUDA;
        config.batch = 2 * config.renditions;
        config.slots = 2;
        return config;
    }
    StandIn driver_;
};

TEST_F(CudaShortage, OfMemoryInASmallSession) {
    qc_config config = on_cuda(config_of("psnr|motion", 2, "yuv420p", 40, 36));
    config.distorted[0] = format_of(layout_named("nv12"), 40, 36);
    run_all({.name = "psnr and motion on CUDA", .config = config, .samples = 150});
}

TEST_F(CudaShortage, OfMemoryWithEveryMetric) {
    driver_.give({.run_kernels = false}); // time and again
    qc_config config = on_cuda(config_of("all", 2, "yuv420p10le", 216, 176));
    run_all({.name = "every metric on CUDA", .config = config, .frames = 2, .samples = 60});
}

TEST_F(CudaShortage, OfThreads) {
    const qc_config config = on_cuda(config_of("psnr", 4, "yuv420p", 40, 36));
    run_all({.name = "4 threads for CUDA", .config = config, .resource = Resource::kThreads});
}
#endif

TEST(Shortage, OfThreads) {
    run_all({.name = "5 threads", .config = config_of("psnr", 5), .resource = Resource::kThreads});
}

// ---- threads beside sessions ----------------------------------------------------------------------------------------

/// A pool that gets no first thread says so; with fewer than it may have, it runs everything.
void expect_tasks_without_a_thread(int nth) {
    std::atomic<int> ran = 0;
    int refused = 0;
    {
        cpu::ThreadPool pool(4);
        const Shortage shortage(Resource::kThreads, nth, Extent::kOnce);
        for (int task = 0; task < 8; ++task) {
            try {
                pool.add([&ran] { ++ran; });
            } catch (const std::system_error&) {
                ++refused;
            }
        }
    }
    EXPECT_EQ(refused, nth == 1 ? 1 : 0) << nth;
    EXPECT_EQ(ran, 8 - refused) << nth;
}

TEST(Shortage, ThreadsThatRunAreEndedBeforeTheFailureGoesOn) {
    for (int nth = 1; nth <= 4; ++nth) {
        expect_tasks_without_a_thread(nth);
        expect_no_more_threads();
#ifdef QC_WITH_CUDA
        {
            const Shortage shortage(Resource::kThreads, nth, Extent::kOnce);
            EXPECT_THROW(cuda::RowCopier(5), std::system_error) << nth; // one of five is the caller's
        }
        expect_no_more_threads();
#endif
    }
}

#ifdef QC_WITH_CUDA
/// A copy that has no memory has not begun: nobody touches the rows after it.
TEST(Shortage, OfMemoryInARowCopier) {
    constexpr size_t kBytes = size_t{1} << 20;
    const std::vector<char> source(kBytes, 'x');
    std::vector<char> target(kBytes, '-');
    const cuda::RowCopy rows{source.data(), target.data(), 1 << 10, 1 << 10, 1 << 10, 1 << 10};
    cuda::RowCopier copier(3);
    int failures = 0;
    for (bool refused = true; refused; ++failures) {
        std::fill(target.begin(), target.end(), '-');
        const Shortage shortage(Resource::kMemory, failures + 1, Extent::kOnce);
        try {
            copier.copy({&rows, 1});
        } catch (const std::bad_alloc&) {
        }
        refused = shortage.refused();
        std::this_thread::sleep_for(std::chrono::milliseconds(2)); // time for helpers to do what they must not
        EXPECT_EQ(std::count(target.begin(), target.end(), refused ? '-' : 'x'), static_cast<ptrdiff_t>(kBytes));
    }
    EXPECT_EQ(failures, 2) << "the list of pieces is all it takes";
}
#endif

} // namespace
} // namespace qc::test
