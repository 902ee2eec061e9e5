// SPDX-License-Identifier: BSD-2-Clause-Patent
// The C API's promises on the CPU backend: stats lines and logs, failures, machines in need.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "quality_cuda.h"
#include "tests/support/c_session.hpp"
#include "tests/support/emulator.hpp"
#ifdef QC_WITH_CUDA
#include "cuda/driver.hpp"
#endif

namespace qc::test {
namespace {

/// A folder that goes with the test.
class Folder {
public:
    Folder() : path_(std::filesystem::temp_directory_path() / format("qc_c_api_%d", static_cast<int>(getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string file(const char* name) const { return (path_ / name).string(); }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

nlohmann::json read_json(const std::string& path) {
    std::ifstream file(path);
    return nlohmann::json::parse(file);
}

// ---- stats lines and logs -------------------------------------------------------------------------------------------

TEST(CApiFailure, StatsLines) {
    qc_config config = cpu_config("psnr");
    config.stats_format = QC_STATS_FORMAT_PSNR;
    config.n_subsample = 2;
    Scoring scoring(config, 2);
    scoring.run(2);
    std::string lines;
    for (int f = 0; f < 2; ++f) {
        char line[1024];
        ASSERT_EQ(scoring.receive(), QC_OK);
        ASSERT_EQ(qc_session_stats_line(scoring.get(), &scoring.row(), line, sizeof(line)), QC_OK);
        const size_t needed = std::strlen(line) + 1;
        EXPECT_EQ(qc_session_stats_line(scoring.get(), &scoring.row(), line, needed), QC_OK);
        EXPECT_EQ(qc_session_stats_line(scoring.get(), &scoring.row(), line, needed - 1), QC_ERROR_INVALID);
        EXPECT_EQ(scoring.error(), format("a line of %zu bytes does not fit into %zu", needed, needed - 1));
        lines += std::string(line) + "\n";
    }
    EXPECT_TRUE(lines.starts_with("n:1 mse_avg:")) << lines;
    EXPECT_TRUE(lines.ends_with("\n\n")) << "a frame without scores has no line: " << lines;
    config.metrics = "vif";
    qc_error error{};
    EXPECT_EQ(qc_config_check(&config, &error), QC_ERROR_INVALID);
    EXPECT_NE(std::strstr(error.text, "stats_format=psnr needs"), nullptr) << error.text;
    config.metrics = "psnr";
    config.renditions = 2;
    EXPECT_EQ(check_options(&config, &error), QC_ERROR_INVALID) << "one rendition only";

    Scoring plain(cpu_config("psnr"));
    plain.run(1);
    char line[8] = "x";
    ASSERT_EQ(plain.receive(), QC_OK);
    EXPECT_EQ(qc_session_stats_line(plain.get(), &plain.row(), line, sizeof(line)), QC_OK);
    EXPECT_STREQ(line, "");
}

TEST(CApiFailure, LogsOfARendition) {
    const Folder folder;
    const std::string path = folder.file("log.json");
    Scoring scoring(cpu_config("skeleton"));
    const qc_log_extra extra[] = {{"note", "\"a word\""}, {"list", "[1, 2]"}};
    const auto write = [&](int complete) {
        return qc_session_write_log(scoring.get(), 0, path.c_str(), QC_LOG_FORMAT_JSON, complete, extra, 2);
    };
    ASSERT_EQ(scoring.submit(0), QC_OK);
    ASSERT_EQ(write(1), QC_OK);
    EXPECT_FALSE(read_json(path)["complete"]) << "not flushed";
    ASSERT_EQ(qc_session_flush(scoring.get()), QC_OK);
    ASSERT_EQ(write(0), QC_OK);
    EXPECT_FALSE(read_json(path)["complete"]);
    ASSERT_EQ(write(1), QC_OK);
    const nlohmann::json log = read_json(path);
    EXPECT_TRUE(log["complete"]);
    EXPECT_EQ(log["note"], "a word");
    EXPECT_EQ(log["list"], nlohmann::json::parse("[1, 2]"));
    ASSERT_EQ(scoring.receive(), QC_OK);
    ASSERT_EQ(log["frames"].size(), 1u);
    EXPECT_NEAR(log["frames"][0]["metrics"]["skeleton_mad"].get<double>(), scoring.row().value[0], 5e-7);
    for (int i = 0; i < QC_LOG_FORMAT_COUNT; ++i) {
        const std::string other = folder.file(("log" + std::to_string(i)).c_str());
        EXPECT_EQ(qc_session_write_log(scoring.get(), 0, other.c_str(), static_cast<qc_log_format>(i), 1, nullptr, 0),
                  QC_OK);
        EXPECT_GT(std::filesystem::file_size(other), 0u);
    }
}

TEST(CApiFailure, LogsThatCannotBeWritten) {
    const Folder folder;
    const std::string path = folder.file("log.json");
    Scoring scoring(cpu_config("skeleton"));
    scoring.run(1);
    std::ofstream(path) << "what was there";
    const qc_log_extra wrong[] = {{"note", "not JSON"}};
    const auto write = [&](int rendition, const std::string& file, int log_format, const qc_log_extra* extra,
                           int count) {
        return qc_session_write_log(scoring.get(), rendition, file.c_str(), static_cast<qc_log_format>(log_format), 1,
                                    extra, count);
    };
    EXPECT_EQ(write(1, path, QC_LOG_FORMAT_JSON, nullptr, 0), QC_ERROR_INVALID);
    EXPECT_EQ(scoring.error(), "rendition=1: 0..0 is accepted");
    EXPECT_EQ(write(0, path, QC_LOG_FORMAT_COUNT, nullptr, 0), QC_ERROR_INVALID);
    EXPECT_EQ(write(0, path, QC_LOG_FORMAT_JSON, wrong, 1), QC_ERROR_INVALID);
    EXPECT_NE(scoring.error().find("is not JSON"), std::string::npos) << scoring.error();
    EXPECT_EQ(write(0, path, QC_LOG_FORMAT_JSON, wrong, -1), QC_ERROR_INVALID);
    EXPECT_EQ(scoring.error(), "extra_count=-1: 0 and more is accepted");
    EXPECT_EQ(write(0, path, QC_LOG_FORMAT_JSON, nullptr, 1), QC_ERROR_INVALID);
    EXPECT_EQ(write(0, folder.file("no/folder/log.json"), QC_LOG_FORMAT_JSON, nullptr, 0), QC_ERROR_IO);
    EXPECT_NE(scoring.error().find("no/folder/log.json"), std::string::npos) << scoring.error();
    const std::string marker = "the scores are in \"";
    ASSERT_NE(scoring.error().find(marker), std::string::npos) << scoring.error();
    std::string kept = scoring.error().substr(scoring.error().find(marker) + marker.size());
    kept.pop_back();
    EXPECT_EQ(read_json(kept)["frames"].size(), 1U);
    std::filesystem::remove(kept);
    std::ifstream file(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "what was there");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing is left beside it";
}

// ---- failures -------------------------------------------------------------------------------------------------------

TEST(CApiFailure, AFailureOfTheScoringStays) {
    const Folder folder;
    Scoring scoring(cpu_config("skeleton"));
    ASSERT_EQ(scoring.submit(0), QC_OK);
    ASSERT_EQ(scoring.receive(), QC_OK);
    ASSERT_EQ(scoring.submit(1), QC_OK);
    while (qc_session_scored_frames(scoring.get()) < 2) { // row 1 is computed, but not received
        const qc_frame absent = frame_of(scoring.reference(2), {});
        ASSERT_EQ(qc_session_submit(scoring.get(), &absent), QC_OK);
    }
    std::vector<qc_picture> on_device = scoring.distorted(2);
    on_device[0].memory = QC_MEMORY_CUDA; // what the CPU backend cannot read
    EXPECT_EQ(scoring.submit(scoring.reference(2), on_device), QC_ERROR_INVALID);
    const std::string reason = scoring.error();
    EXPECT_NE(reason.find("backend=cpu cannot read"), std::string::npos) << reason;
    EXPECT_EQ(scoring.releases(), 3);
    EXPECT_EQ(scoring.submit(2), QC_ERROR_INVALID) << "a good frame comes too late";
    EXPECT_EQ(scoring.error(), reason);
    EXPECT_EQ(scoring.releases(), 4);
    ASSERT_EQ(scoring.receive(), QC_OK) << "it was finished before";
    EXPECT_EQ(scoring.row().frame, 1);
    qc_status status = QC_OK;
    while ((status = scoring.receive()) == QC_OK) {
    }
    EXPECT_EQ(status, QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_break(scoring.get()), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_flush(scoring.get()), QC_ERROR_INVALID);
    EXPECT_GT(scoring.pooled(QC_POOL_MEAN), 0.0);
    const std::string path = folder.file("log.json");
    EXPECT_EQ(qc_session_write_log(scoring.get(), 0, path.c_str(), QC_LOG_FORMAT_JSON, 1, nullptr, 0), QC_OK);
    EXPECT_FALSE(read_json(path)["complete"]);
    EXPECT_EQ(read_json(path)["frames"].size(), 2u);
    // The text is that of the last call that failed, not of the first.
    EXPECT_EQ(qc_session_write_log(scoring.get(), 0, "/no/folder/log", QC_LOG_FORMAT_JSON, 1, nullptr, 0), QC_ERROR_IO);
    EXPECT_NE(scoring.error().find("/no/folder/log"), std::string::npos) << scoring.error();
    EXPECT_EQ(scoring.submit(2), QC_ERROR_INVALID);
    EXPECT_EQ(scoring.error(), reason);
}

TEST(CApiFailure, FailuresAreLoggedInTheCallersThread) {
    struct Heard {
        std::thread::id thread = std::this_thread::get_id();
        std::vector<std::string> errors;
    } heard;
    qc_config config = cpu_config("skeleton");
    config.log_opaque = &heard;
    config.log = [](void* opaque, qc_log_level level, const char* text) {
        auto& all = *static_cast<Heard*>(opaque);
        EXPECT_EQ(std::this_thread::get_id(), all.thread);
        EXPECT_EQ(std::strchr(text, '\n'), nullptr) << "one line";
        if (level == QC_LOG_ERROR) all.errors.emplace_back(text);
    };
    Scoring scoring(config);
    qc_picture picture = scoring.reference(0);
    picture.memory = QC_MEMORY_CUDA;
    EXPECT_EQ(scoring.submit(picture, scoring.distorted(0)), QC_ERROR_INVALID);
    EXPECT_EQ(heard.errors, std::vector<std::string>{scoring.error()});
}

TEST(CApiFailure, NothingOfTheConfigurationIsNeededLater) {
    std::string metrics = "psnr|skeleton", options = "psnr.enable_mse=true", model = "version=vmaf_v0.6.1";
    qc_config config = cpu_config(metrics.c_str(), "yuv420p", 192, 176);
    config.options = options.c_str();
    config.model = model.c_str();
    Scoring scoring(config);
    std::memset(&config, 0xee, sizeof(config));
    for (std::string* text : {&metrics, &options, &model}) std::fill(text->begin(), text->end(), '?');
    scoring.run(2);
    ASSERT_EQ(scoring.receive(), QC_OK);
    const Folder folder;
    const std::string path = folder.file("log.json");
    ASSERT_EQ(qc_session_write_log(scoring.get(), 0, path.c_str(), QC_LOG_FORMAT_JSON, 1, nullptr, 0), QC_OK);
    EXPECT_TRUE(read_json(path)["frames"][0]["metrics"].contains("vmaf"))
        << "`model` asks for it, whatever `metrics` says";
    EXPECT_TRUE(read_json(path)["frames"][0]["metrics"].contains("mse_y"));
}

TEST(CApiFailure, TextsFitWhateverIsGiven) {
    const std::string name = std::string(3000, 'n') + "\n";
    const qc_config config = cpu_config(name.c_str());
    struct {
        qc_error error;
        char behind = 'b';
    } memory;
    std::memset(&memory.error, 'x', sizeof(memory.error));
    EXPECT_EQ(qc_config_check(&config, &memory.error), QC_ERROR_INVALID);
    EXPECT_LT(strnlen(memory.error.text, sizeof(memory.error.text)), sizeof(memory.error.text));
    EXPECT_EQ(std::strchr(memory.error.text, '\n'), nullptr) << "one line";
    EXPECT_EQ(memory.behind, 'b');
}

// ---- statuses that need a machine in need ---------------------------------------------------------------------------

TEST(CApiFailure, CudaWithoutAGpuSaysSo) {
    if (cuda_absence().empty()) GTEST_SKIP() << "there is a GPU here";
    qc_config config = cpu_config("skeleton");
    config.backend = QC_BACKEND_CUDA;
    qc_session* session = nullptr;
    qc_error error{};
    EXPECT_EQ(qc_session_create(&config, &session, &error), QC_ERROR_NO_DEVICE);
    EXPECT_NE(std::strstr(error.text, "backend=cuda"), nullptr) << error.text;
    EXPECT_EQ(session, nullptr);
    std::vector<qc_log_level> levels;
    config.backend = QC_BACKEND_AUTO;
    config.log_opaque = &levels;
    config.log = [](void* opaque, qc_log_level level, const char* text) {
        if (std::string_view(text).starts_with("scoring on the CPU: "))
            static_cast<std::vector<qc_log_level>*>(opaque)->push_back(level);
    };
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(qc_session_create(&config, &session, &error), QC_OK);
        EXPECT_EQ(qc_session_backend(session), QC_BACKEND_CPU);
        qc_session_destroy(session);
    }
    ASSERT_EQ(levels.size(), 2U);
    EXPECT_GE(levels[0], QC_LOG_INFO) << "that is what was asked for";
    EXPECT_EQ(levels[1], QC_LOG_DEBUG) << "once for a process";
}

#ifdef QC_WITH_CUDA
TEST(CApiFailure, FailuresOfTheDriverHaveStatuses) {
    const cuda::Driver driver{}; // not even a text for the error is there
    EXPECT_TRUE(cuda::check(driver, CUDA_SUCCESS, "call").ok());
    EXPECT_EQ(cuda::check(driver, CUDA_ERROR_LAUNCH_FAILED, "call").code(), QC_ERROR_DEVICE);
    EXPECT_EQ(cuda::check(driver, CUDA_ERROR_OUT_OF_MEMORY, "call").code(), QC_ERROR_NO_MEMORY);
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Leaves the process only so much more address space.
void allow_only(size_t more_bytes) {
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + more_bytes;
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
}

/// Scores black frames of `side` x `side` samples with little memory. Ends the process: 0 if the session failed for
/// want of memory and took it as the header says.
[[noreturn]] void score_in_need(const char* metrics, int side, size_t more_bytes) {
    const size_t bytes = static_cast<size_t>(side) * static_cast<size_t>(side);
    // Pages that are only read take no memory.
    const void* const black = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (black == MAP_FAILED) std::_Exit(1);
    const qc_config config = cpu_config(metrics, "gray", side, side);
    qc_session* session = nullptr;
    if (qc_session_create(&config, &session, nullptr) != QC_OK) std::_Exit(2);
    allow_only(more_bytes);
    qc_picture picture{};
    picture.plane[0] = black;
    picture.pitch_bytes[0] = side;
    int releases = 0;
    qc_frame frame{};
    frame.reference = frame.distorted[0] = picture;
    frame.release = [](void* calls) { ++*static_cast<int*>(calls); };
    frame.opaque = &releases;
    const auto submit = [&] { return qc_session_submit(session, &frame); };
    const qc_status first = submit();
    if (first != QC_OK && first != QC_ERROR_NO_MEMORY) std::_Exit(3);
    if (qc_session_flush(session) != QC_ERROR_NO_MEMORY) std::_Exit(4);
    if (std::strcmp(qc_session_error(session), "out of memory") != 0) std::_Exit(5);
    if (submit() != QC_ERROR_NO_MEMORY || submit() != QC_ERROR_NO_MEMORY) std::_Exit(6);
    if (releases != 3) std::_Exit(7);
    qc_row received{};
    if (qc_session_receive(session, 1, &received) != QC_ERROR_NO_MEMORY) std::_Exit(8);
    qc_session_destroy(session);
    std::_Exit(0);
}

constexpr char kLimitsAreTheEmulators[] = "what the system refuses here it refuses the emulator";

TEST(CApiFailureDeathTest, WithoutMemoryTheSessionFailsAndTheProcessLives) {
    if (!emulator().empty()) GTEST_SKIP() << kLimitsAreTheEmulators;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    // No room for the session's copies of the pictures; room for them, but not for what the metric needs in its thread.
    EXPECT_EXIT(score_in_need("psnr", 32768, size_t{256} << 20), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(score_in_need("float_vif", 4096, size_t{48} << 20), testing::ExitedWithCode(0), "");
}

/// One frame on a machine that gives threads, of 8 MiB of stack each, no more than so much room. Ends the process.
[[noreturn]] void score_one_frame(size_t more_bytes, qc_status expected) {
    qc_config config = cpu_config("psnr|ssim|vif|adm");
    config.n_threads = 1024;
    const Stream stream = make_stream(config, Content::kNoise, 1);
    const qc_frame frame = frame_of(stream.reference[0].view(), {stream.distorted[0][0].view()});
    qc_session* session = nullptr;
    if (qc_session_create(&config, &session, nullptr) != QC_OK) std::_Exit(2);
    allow_only(more_bytes);
    const qc_status first = qc_session_submit(session, &frame);
    if (first != QC_OK && first != expected) std::_Exit(3);
    if (qc_session_flush(session) != expected) std::_Exit(4);
    const bool says_why = std::strstr(qc_session_error(session), "a thread cannot be started") != nullptr;
    if (says_why != (expected != QC_OK)) std::_Exit(5);
    if (qc_session_submit(session, &frame) >= 0) std::_Exit(6);
    qc_session_destroy(session);
    std::_Exit(0);
}

TEST(CApiFailureDeathTest, WithoutThreadsTheSessionFailsAndWithFewItGoesOn) {
    if (!emulator().empty()) GTEST_SKIP() << kLimitsAreTheEmulators;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(score_one_frame(size_t{4} << 20, QC_ERROR_NO_MEMORY), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(score_one_frame(size_t{96} << 20, QC_OK), testing::ExitedWithCode(0), "");
}
#endif

} // namespace
} // namespace qc::test
