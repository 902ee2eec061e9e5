// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames that other sessions measured: what a session makes of their words is what it makes of their pictures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "tests/support/c_session.hpp"

namespace qc::test {
namespace {

constexpr size_t kFrames = 12;

using Words = std::vector<std::vector<uint64_t>>; ///< by frame

void keep(void* opaque, int64_t frame, const uint64_t* words, int64_t count) {
    auto& kept = *static_cast<Words*>(opaque);
    EXPECT_EQ(static_cast<size_t>(frame), kept.size());
    kept.emplace_back(words, words + count);
}

/// The log of a rendition except for its rate.
std::string log_of(qc_session* session, int rendition) {
    const std::string path = ::testing::TempDir() + "recorded_" + std::to_string(getpid()) + ".json";
    EXPECT_EQ(qc_session_write_log(session, rendition, path.c_str(), QC_LOG_FORMAT_JSON, 1, nullptr, 0), QC_OK);
    std::ifstream file(path);
    std::string text, line;
    while (std::getline(file, line))
        if (line.find("\"fps\"") == std::string::npos) text += line + "\n";
    std::remove(path.c_str());
    return text;
}

/// Scores frames first..last - 1, with a pause before frame `pause`.
Words measure(qc_config config, size_t first, size_t last, size_t pause, std::vector<std::string>* logs = nullptr) {
    Words words;
    config.n_subsample = logs != nullptr ? config.n_subsample : 1;
    Scoring scoring(config, kFrames);
    EXPECT_EQ(qc_session_on_measured(scoring.get(), keep, &words), QC_OK);
    for (size_t n = first; n < last; ++n) {
        if (n == pause) EXPECT_EQ(qc_session_break(scoring.get()), QC_OK);
        EXPECT_EQ(scoring.submit(n), QC_OK) << scoring.error();
    }
    EXPECT_EQ(qc_session_flush(scoring.get()), QC_OK);
    for (int r = 0; logs != nullptr && r < config.renditions; ++r) logs->push_back(log_of(scoring.get(), r));
    return words;
}

std::vector<std::string> replay(qc_config config, const Words& words, size_t pause) {
    config.backend = QC_BACKEND_RECORDED;
    qc_session* session = nullptr;
    qc_error error{};
    EXPECT_EQ(qc_session_create(&config, &session, &error), QC_OK) << error.text;
    EXPECT_EQ(qc_session_backend(session), QC_BACKEND_RECORDED);
    const uint32_t all = (1U << config.renditions) - 1;
    for (size_t n = 0; n < words.size(); ++n) {
        if (n == pause) EXPECT_EQ(qc_session_break(session), QC_OK);
        EXPECT_EQ(qc_session_submit_measured(session, all, words[n].data(), static_cast<int64_t>(words[n].size())),
                  QC_OK);
    }
    EXPECT_EQ(qc_session_flush(session), QC_OK);
    std::vector<std::string> logs;
    for (int r = 0; r < config.renditions; ++r) logs.push_back(log_of(session, r));
    qc_session_destroy(session);
    return logs;
}

qc_config everything(int renditions) {
    qc_config config = cpu_config("all", "yuv420p", 192, 192);
    config.renditions = renditions;
    for (int r = 1; r < renditions; ++r) config.distorted[r] = config.distorted[0];
    config.skip_unsupported = 1;
    config.watch_contents = 1;
    config.frame_rate = 25;
    return config;
}

/// The second part sees what the metrics look back at, and no more.
void expect_two_parts_to_be_one_run(const qc_config& config) {
    std::vector<std::string> logs;
    const Words whole = measure(config, 0, kFrames, kFrames, &logs);
    Scoring asked(config, 1);
    const size_t lead = std::min<size_t>(7, static_cast<size_t>(qc_session_history(asked.get())));
    ASSERT_GT(lead, 0U);
    Words words = measure(config, 0, 7, kFrames);
    const Words rest = measure(config, 7 - lead, kFrames, kFrames);
    words.insert(words.end(), rest.begin() + static_cast<std::ptrdiff_t>(lead), rest.end());
    EXPECT_EQ(words, whole);
    EXPECT_EQ(replay(config, words, kFrames), logs);
}

TEST(Recorded, TwoPartsAreOneRun) {
    expect_two_parts_to_be_one_run(everything(2));
}

/// Metrics of luma and chroma see what RGB becomes, others RGB.
TEST(Recorded, PartsOfPicturesThatAreSeenInTwoWays) {
    for (const char* distorted : {"gbrp", "yuv420p"}) {
        qc_config config = cpu_config("vmaf|psnr|ssimulacra2", "gbrp", 64, 64);
        config.distorted[0] = format_of(layout_named(distorted), 64, 64);
        config.watch_contents = 1;
        expect_two_parts_to_be_one_run(config);
    }
}

TEST(Recorded, ASecondPartWithoutItsLeadDiffers) {
    const qc_config config = everything(1);
    const Words whole = measure(config, 0, kFrames, kFrames), rest = measure(config, 7, kFrames, kFrames);
    EXPECT_NE(rest.front(), whole[7]);
}

TEST(Recorded, SubsamplingIsTheReplaysBusiness) {
    qc_config config = everything(1);
    config.n_subsample = 3;
    std::vector<std::string> logs;
    measure(config, 0, kFrames, kFrames, &logs);
    EXPECT_EQ(replay(config, measure(config, 0, kFrames, kFrames), kFrames), logs);
}

TEST(Recorded, Pauses) {
    const qc_config config = everything(1);
    std::vector<std::string> logs;
    const Words words = measure(config, 0, kFrames, 5, &logs);
    EXPECT_EQ(replay(config, words, 5), logs);
    EXPECT_EQ(measure(config, 5, kFrames, kFrames), Words(words.begin() + 5, words.end()));
}

TEST(Recorded, Refusals) {
    qc_config config = cpu_config("psnr");
    Scoring pictures(config);
    Words words;
    const uint64_t none = 0;
    EXPECT_EQ(qc_session_submit_measured(pictures.get(), 1, &none, 1), QC_ERROR_INVALID);
    EXPECT_NE(pictures.error().find("recorded"), std::string::npos);
    EXPECT_EQ(qc_session_on_measured(pictures.get(), nullptr, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(pictures.submit(0), QC_OK);
    EXPECT_EQ(qc_session_on_measured(pictures.get(), keep, &words), QC_ERROR_INVALID);

    config.backend = QC_BACKEND_RECORDED;
    Scoring recorded(config);
    const int64_t count = qc_session_measured_words(recorded.get());
    const std::vector<uint64_t> right(static_cast<size_t>(count));
    for (const int64_t wrong : {count - 1, count + 1, int64_t{0}, int64_t{-1}})
        EXPECT_EQ(qc_session_submit_measured(recorded.get(), 1, std::vector<uint64_t>(right.size() + 1).data(), wrong),
                  QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_submit_measured(recorded.get(), 2, right.data(), count), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_submit_measured(recorded.get(), 1, nullptr, count), QC_ERROR_INVALID);
    EXPECT_EQ(recorded.submit(0), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_submit_measured(recorded.get(), 1, right.data(), count), QC_OK);
    EXPECT_EQ(qc_session_flush(recorded.get()), QC_OK);
    EXPECT_EQ(qc_session_submit_measured(recorded.get(), 1, right.data(), count), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_scored_frames(recorded.get()), 1);
    EXPECT_EQ(qc_session_submit_measured(nullptr, 1, right.data(), count), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_measured_words(nullptr), 0);
    EXPECT_EQ(qc_session_history(nullptr), 0);
}

} // namespace
} // namespace qc::test
