// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures in host memory that the CPU backend reads where they lie: no byte beyond them, none after their release, and
// to the same scores.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "tests/support/runs.hpp"

namespace qc::test {
namespace {

/// Bytes that end where memory ends, and that nobody can read any more after take_away().
class GuardedBytes {
public:
    explicit GuardedBytes(const std::vector<uint8_t>& bytes) {
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        pages_ = (bytes.size() + page - 1) / page * page;
        memory_ = static_cast<uint8_t*>(
            mmap(nullptr, pages_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mapped_ = pages_ + page;
        begin_ = memory_ + (pages_ - bytes.size());
        std::memcpy(begin_, bytes.data(), bytes.size());
        mprotect(memory_ + pages_, page, PROT_NONE);
    }
    ~GuardedBytes() { munmap(memory_, mapped_); }
    GuardedBytes(const GuardedBytes&) = delete;
    GuardedBytes& operator=(const GuardedBytes&) = delete;

    void take_away() { mprotect(memory_, pages_, PROT_NONE); }
    const uint8_t* begin() const { return begin_; }

private:
    uint8_t *memory_ = nullptr, *begin_ = nullptr;
    size_t pages_ = 0, mapped_ = 0;
};

/// The pictures of a frame, taken away when they are released.
class HeldFrame {
public:
    qc_picture hold(const TestPicture& source) {
        qc_picture picture = source.view();
        for (int p = 0; p < source.planes(); ++p)
            picture.plane[p] = planes_.emplace_back(std::make_unique<GuardedBytes>(source.bytes(p)))->begin();
        return picture;
    }
    static void release(void* frame) {
        auto& self = *static_cast<HeldFrame*>(frame);
        ++self.releases;
        for (const auto& plane : self.planes_) plane->take_away();
    }

    int releases = 0;

private:
    std::vector<std::unique_ptr<GuardedBytes>> planes_;
};

void take_rows(Session& session, RunResult* result) {
    qc_row row{};
    while (session.receive(false, &row) == QC_OK)
        result->values.emplace_back(row.value, row.value + session.plan().columns.size());
}

struct HeldRun {
    RunResult result;
    std::vector<std::unique_ptr<HeldFrame>> frames;
    int released_by_submission = 0, released_by_end = 0;
};

HeldRun run_held(qc_config config, const Stream& stream) {
    HeldRun held;
    std::unique_ptr<Session> session;
    const auto released = [&] {
        int all = 0;
        for (const auto& frame : held.frames) all += frame->releases;
        return all;
    };
    config.hold_pictures = 1;
    EXPECT_TRUE(Session::create(config, &session).ok());
    session->on_result = [&](const FrameResult& frame) { held.result.accumulators.push_back(frame.accumulators); };
    for (size_t f = 0; f < stream.reference.size(); ++f) {
        HeldFrame& frame = *held.frames.emplace_back(std::make_unique<HeldFrame>());
        const qc_picture reference = frame.hold(stream.reference[f]), distorted = frame.hold(stream.distorted[0][f]);
        const Status status = session->submit(frame_of(reference, {distorted}, HeldFrame::release, &frame));
        EXPECT_TRUE(status.ok()) << status.text();
        held.released_by_submission += frame.releases;
        take_rows(*session, &held.result);
    }
    EXPECT_TRUE(session->flush().ok());
    take_rows(*session, &held.result);
    held.released_by_end = released();
    session.reset();
    for (const auto& frame : held.frames) EXPECT_EQ(frame->releases, 1);
    return held;
}

/// @param ranges the inputs differ in theirs: the distorted pictures are converted
void expect_same_scores(const char* layout, int width, int height, int threads, bool ranges = false) {
    qc_config config = config_for(layout_named(layout), width, height, "all", QC_BACKEND_CPU);
    config.reference.colour.range = ranges ? 1 : 0;
    config.distorted[0].colour.range = ranges ? 2 : 0;
    config.frame_rate = 25.0;
    config.skip_unsupported = 1;
    config.n_threads = threads;
    const Stream stream = make_stream(config, Content::kNatural, 5);
    const RunResult copied = run(config, stream);
    ASSERT_TRUE(copied.status.ok()) << copied.status.text();
    const HeldRun held = run_held(config, stream);
    const std::string what = std::string(layout) + " " + std::to_string(width) + "x" + std::to_string(height);
    EXPECT_EQ(held.result.accumulators, copied.accumulators) << what;
    ASSERT_EQ(held.result.values.size(), copied.values.size()) << what;
    for (size_t row = 0; row < copied.values.size(); ++row)
        EXPECT_EQ(std::memcmp(held.result.values[row].data(), copied.values[row].data(),
                              copied.values[row].size() * sizeof(double)),
                  0)
            << what << " row " << row;
}

TEST(HeldPictures, ScoreAsCopiedOnes) {
    for (const int threads : {1, 3}) {
        expect_same_scores("yuv420p", 192, 176, threads);
        expect_same_scores("yuv420p", 193, 177, threads);
        expect_same_scores("nv12", 192, 176, threads);
        expect_same_scores("p010le", 192, 176, threads);
        expect_same_scores("yuv444p16le", 209, 183, threads);
        expect_same_scores("yuv420p10le", 192, 176, threads);
        expect_same_scores("nv12", 193, 177, threads, true);
    }
}

/// Metrics that do not look back, on one thread: what a frame needs is known.
HeldRun run_psnr(const char* layout, int width, int bitdepth = 0, bool ranges = false) {
    const int height = ranges ? 1080 : 64;
    qc_config config = config_for(layout_named(layout), width, height, "psnr", QC_BACKEND_CPU);
    config.reference.colour.range = ranges ? 1 : 0;
    config.distorted[0].colour.range = ranges ? 2 : 0;
    config.n_threads = 1;
    config.slots = 2;
    config.bitdepth = bitdepth;
    return run_held(config, make_stream(config, Content::kNatural, 6));
}

TEST(HeldPictures, AreReleasedOnceTheyAreRead) {
    const HeldRun held = run_psnr("yuv420p", 96);
    EXPECT_EQ(held.released_by_end, 6) << "the last rows came after the last frames";
}

TEST(HeldPictures, AreReleasedOnceTheirPlanesAreMade) {
    EXPECT_EQ(run_psnr("yuv420p10le", 96).released_by_end, 6) << "their words may be out of range";
    EXPECT_EQ(run_psnr("yuv420p", 96, 10).released_by_end, 6) << "they are scored at another depth";
    EXPECT_EQ(run_psnr("nv12", 96).released_by_end, 6) << "chroma of both lies in one plane";
}

TEST(HeldPictures, AreConvertedByThoseWhoScoreThem) {
    const HeldRun held = run_psnr("yuv420p10le", 1920, 0, true);
    EXPECT_LT(held.released_by_submission, 6) << "whoever hands frames over has waited for each one's conversion";
    EXPECT_EQ(held.released_by_end, 6);
}

} // namespace
} // namespace qc::test
