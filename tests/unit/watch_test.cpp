// SPDX-License-Identifier: BSD-2-Clause-Patent
// The watch of the contents in a session, through the C API: what it finds, and what it leaves as it is.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/c_session.hpp"

namespace qc::test {
namespace {

/// Something that moves everywhere; picture `time` of a video.
TestPicture picture(const qc_format& format, int time) {
    return TestPicture(format, [&](int channel, int x, int y) {
        const double u = 8.0 * x / format.width, v = 8.0 * y / format.height;
        const double code = 120 + 60 * std::sin(0.9 * u + 0.31 * time) * std::cos(0.5 * v - 0.173 * time) +
                            40 * std::sin(0.7 * v + 1.3 * u + 0.13 * time);
        return channel == 0 ? static_cast<uint32_t>(code * (1 << (format.depth - 8))) : 128U;
    });
}

struct Watched {
    std::vector<std::string> findings; ///< of each rendition
    std::vector<int64_t> frames;
    std::vector<double> scores;
    std::vector<std::string> messages;
    std::vector<std::string> starts; ///< of each rendition: what its first frames tell, after how many of them
};

/// Notes what has just been told.
void note_starts(const qc_session* session, int frames, std::vector<std::string>* starts) {
    for (size_t r = 0; r < starts->size(); ++r) {
        int offset = 99;
        const qc_status status = qc_session_start_offset(session, static_cast<int>(r), &offset);
        if (!(*starts)[r].empty() || status == QC_AGAIN) continue;
        (*starts)[r] = (status == QC_OK ? std::to_string(offset) : "nothing") + " after " + std::to_string(frames);
    }
}

std::string text_of(const qc_finding& finding) {
    return "kind " + std::to_string(finding.kind) + " frame " + std::to_string(finding.frame) + " offset " +
           std::to_string(finding.offset) + ";";
}

/// Renditions that show what the reference does so many frames before.
Watched watch(qc_config config, const std::vector<int>& offsets, int frames = 80, int64_t pause = -1) {
    Watched result;
    result.starts.resize(offsets.size());
    config.renditions = static_cast<int>(offsets.size());
    config.log = [](void* opaque, qc_log_level, const char* text) {
        static_cast<std::vector<std::string>*>(opaque)->emplace_back(text);
    };
    config.log_opaque = &result.messages;
    qc_session* session = nullptr;
    qc_error error{};
    EXPECT_EQ(qc_session_create(&config, &session, &error), QC_OK) << error.text;
    const auto receive = [&] {
        qc_row row{};
        while (qc_session_receive(session, 1, &row) == QC_OK)
            result.scores.insert(result.scores.end(), row.value,
                                 row.value + config.renditions * qc_session_feature_count(session));
    };
    for (int n = 0; n < frames; ++n) {
        if (n == pause) EXPECT_EQ(qc_session_break(session), QC_OK);
        const TestPicture reference = picture(config.reference, n);
        std::vector<TestPicture> distorted;
        std::vector<qc_picture> views;
        for (size_t r = 0; r < offsets.size(); ++r)
            views.push_back(distorted.emplace_back(picture(config.distorted[r], n - offsets[r])).view());
        const qc_frame frame = frame_of(reference.view(), views);
        EXPECT_EQ(qc_session_submit(session, &frame), QC_OK);
        receive();
        note_starts(session, n + 1, &result.starts);
    }
    EXPECT_EQ(qc_session_flush(session), QC_OK);
    receive();
    note_starts(session, frames, &result.starts);
    for (int r = 0; r < config.renditions; ++r) {
        qc_finding finding{};
        std::string text;
        for (int i = 0; qc_session_finding(session, r, i, &finding) == QC_OK; ++i) text += text_of(finding);
        result.findings.push_back(text);
        result.frames.push_back(qc_session_watched_frames(session, r));
    }
    qc_finding finding{};
    EXPECT_EQ(qc_session_finding(session, config.renditions, 0, &finding), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_finding(session, 0, -1, &finding), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_finding(session, 0, 0, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_watched_frames(session, config.renditions), 0);
    int offset = 0;
    EXPECT_EQ(qc_session_start_offset(session, config.renditions, &offset), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_start_offset(session, 0, nullptr), QC_ERROR_INVALID);
    qc_session_destroy(session);
    return result;
}

qc_config watching(const char* metrics = "psnr") {
    qc_config config = cpu_config(metrics);
    config.watch_contents = 1;
    return config;
}

TEST(Watch, EachRenditionHasItsFindings) {
    qc_config config = watching();
    config.distorted[1] = config.distorted[2] = config.reference;
    config.distorted[1].width = 48;
    config.distorted[2].depth = 10;
    config.distorted[2].container_bits = 16;
    config.scaling = QC_SCALING_AREA;
    const Watched result = watch(config, {0, 4, -6});
    EXPECT_EQ(result.findings, (std::vector<std::string>{"", "kind 1 frame 0 offset 4;", "kind 1 frame 0 offset -6;"}));
    EXPECT_EQ(result.frames, (std::vector<int64_t>{80, 80, 80}));
}

/// Every pair is looked at, whatever is scored.
TEST(Watch, SubsampledRuns) {
    qc_config config = watching();
    config.n_subsample = 7;
    EXPECT_EQ(watch(config, {3}).findings[0], "kind 1 frame 0 offset 3;");
}

TEST(Watch, Pauses) {
    EXPECT_EQ(watch(watching(), {3}, 120, 60).findings[0], "kind 1 frame 0 offset 3;");
    EXPECT_EQ(watch(watching("vmaf"), {0}, 60, 20).findings[0], "");
}

/// The first frames tell it, also where nothing else is done.
TEST(Watch, Starts) {
    for (const int how : {1, 2}) {
        qc_config config = watching("vmaf");
        config.watch_contents = how;
        config.distorted[1] = config.distorted[2] = config.reference;
        const Watched result = watch(config, {0, 4, -6}, 60);
        EXPECT_EQ(result.starts[0].substr(0, 8), "0 after ");
        EXPECT_LT(std::stoi(result.starts[0].substr(8)), 20);
        EXPECT_EQ(result.starts[1], "4 after 48");
        EXPECT_EQ(result.starts[2], "-6 after 48");
        EXPECT_EQ(result.scores.empty(), how == 2);
        EXPECT_EQ(result.frames, (std::vector<int64_t>{60, 60, 60}));
        EXPECT_EQ(watch(config, {4}, 30).starts[0], "4 after 30");
        EXPECT_EQ(watch(config, {4}, 60, 25).starts[0], "4 after 26");
        EXPECT_EQ(watch(config, {4}, 9).starts[0], "nothing after 9");
    }
    qc_config config = watching();
    config.watch_contents = 0;
    EXPECT_EQ(watch(config, {4}, 5).starts[0], "nothing after 1");
}

TEST(Watch, ChangesNoScore) {
    for (const char* metrics : {"psnr", "vmaf|float_ssim"}) {
        qc_config config = watching(metrics);
        const std::vector<double> watched = watch(config, {2}, 20).scores;
        config.watch_contents = 0;
        const Watched other = watch(config, {2}, 20);
        EXPECT_EQ(watched, other.scores) << metrics;
        EXPECT_EQ(other.findings[0], "");
        EXPECT_EQ(other.frames[0], 0);
    }
}

TEST(Watch, PicturesThatAreTooSmall) {
    qc_config config = cpu_config("float_moment", "yuv420p", 7, 20);
    config.watch_contents = 1;
    const Watched result = watch(config, {2}, 40);
    EXPECT_EQ(result.frames[0], 0);
    EXPECT_EQ(result.findings[0], "");
    ASSERT_FALSE(result.messages.empty());
    EXPECT_EQ(result.messages[0].find("the contents of the pictures are not watched: "), 0U) << result.messages[0];
    config.watch_contents = 2;
    qc_session* session = nullptr;
    qc_error error{};
    EXPECT_EQ(qc_session_create(&config, &session, &error), QC_ERROR_UNSUPPORTED);
    EXPECT_EQ(std::string(error.text).find("the contents cannot be watched: "), 0U) << error.text;
}

} // namespace
} // namespace qc::test
