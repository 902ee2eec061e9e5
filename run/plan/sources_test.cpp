// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where frames come from in; a refusal, or what is said of it, out.
#include "quality_cuda_run/sources.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/text/messages_test_support.hpp"

namespace qc::run {
namespace {

constexpr qcr_names kThree = {{"main", "reference", "main1"}, 3};
constexpr qcr_names kTwo = {{"main", "reference"}, 2};

struct Source {
    int input;
    const char* name;
    const char* format = "yuv420p";
    int rate = 25;
    int id = -1; ///< of the filter; -1: one of its own
};

/// Each of them is a filter of its own, unless ids say otherwise.
class Sources : public ::testing::Test {
protected:
    const qcr_sources* with(const std::vector<Source>& added) {
        static constexpr std::array<char, 16> kIds{};
        sources = {};
        size_t next = kIds.size();
        for (const Source& of : added) {
            const qcr_source_facts facts = {of.name, 64, 36, of.format, of.rate, 1};
            qcr_add_source(&sources, of.input, &kIds.at(of.id >= 0 ? static_cast<size_t>(of.id) : --next), &facts);
        }
        return &sources;
    }
    std::string refusal(const std::vector<Source>& added, qcr_source_rules rules = {&kTwo, 0, 0, 0}) {
        const qcr_sink sink = messages.sink();
        qc_error error{};
        const qc_status status = qcr_check_sources(with(added), &rules, &sink, &error);
        EXPECT_EQ(status, *error.text != '\0' ? QC_ERROR_INVALID : QC_OK);
        return error.text;
    }

    Messages messages;
    qcr_sources sources{};
};

constexpr const char* k00 = "graph 0 input from stream 0:0";
constexpr const char* k01 = "graph 0 input from stream 0:1";
constexpr const char* k10 = "graph 0 input from stream 1:0";

TEST_F(Sources, OfTwoFilesFit) {
    EXPECT_EQ(refusal({{0, k00}, {1, k10}}), "");
    EXPECT_EQ(refusal({{0, k00}, {1, "graph 0 input from stream 10:0"}}), "");
    EXPECT_EQ(messages.take(), Lines{});
}

TEST_F(Sources, TwoStreamsOfOneFileAreRefused) {
    const std::string text = "Input 0 (main) and input 1 (reference) are two streams of one file, 0:0 (64x36 yuv420p) "
                             "and 0:1 (64x36 yuv420p), a variant, a preview or a cover picture perhaps: pads without "
                             "labels get the first file's streams first; name the files' videos, "
                             "[0:V:0][1:V:0]quality_cuda, or accept it, same_file=1";
    EXPECT_EQ(refusal({{0, k00}, {1, k01}}), text);
    EXPECT_NE(refusal({{0, k00}, {1, k01, "yuvj420p", 90000}}).find(", a cover picture perhaps: "), std::string::npos);
    EXPECT_NE(refusal({{0, k00}, {1, k01, "gray10le"}}).find(" (64x36 gray10le), an alpha plane perhaps: "),
              std::string::npos);
    EXPECT_EQ(refusal({{0, k00}, {1, k01}}, {&kTwo, 0, 1, 0}), "");
    EXPECT_EQ(messages.take(), Lines{});
}

TEST_F(Sources, LibvmafsNameIsWarned) {
    EXPECT_EQ(refusal({{0, k00}, {1, k01}}, {&kTwo, 0, 0, 1}), "");
    const Lines said = messages.take();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_TRUE(said[0].starts_with("W Input 0 (main) and input 1 (reference) are two streams of one file")) << said[0];
    EXPECT_TRUE(said[0].ends_with("; name the files' videos, [0:V:0][1:V:0]libvmaf")) << said[0];
}

TEST_F(Sources, AStreamBesideItselfIsRefusedUnlessItWasSplit) {
    EXPECT_EQ(refusal({{0, k00}, {1, k00}}),
              "Input 0 (main) and input 1 (reference) are one stream, 0:0, compared with itself; name the files' "
              "videos, [0:V:0][1:V:0]quality_cuda, or accept it, same_file=1");
    EXPECT_EQ(refusal({{0, k00, "yuv420p", 25, 3}, {1, k00, "yuv420p", 25, 3}}), "");
}

TEST_F(Sources, AFilterWithTwoInputsAndTwoOutputsHasBothForEach) {
    const Source of[] = {{0, k00, "yuv420p", 25, 0},
                         {0, k10, "yuv420p", 25, 1},
                         {1, k00, "yuv420p", 25, 0},
                         {1, k10, "yuv420p", 25, 1},
                         {0, k00, "yuv420p", 25, 0}};
    EXPECT_EQ(refusal({std::begin(of), std::end(of)}), "");
    EXPECT_EQ(sources.count, 4);
}

TEST_F(Sources, RenditionsMayBeInOneFileButNotTheReferenceOrAMask) {
    constexpr const char *k11 = "graph 0 input from stream 1:1", *k20 = "graph 0 input from stream 2:0";
    const qcr_source_rules ladder = {&kThree, 0, 0, 0}, masked = {&kThree, 1, 0, 0};
    EXPECT_EQ(refusal({{0, k00}, {1, k10}, {2, k01}}, ladder), "");
    EXPECT_TRUE(refusal({{0, k00}, {1, k10}, {2, k11}}, ladder).starts_with("Input 1 (reference) and input 2 (main1)"));
    EXPECT_NE(refusal({{0, k00}, {1, k10}, {2, k11}}, ladder).find(" [0:V:0][1:V:0][2:V:0]quality_cuda=renditions=2,"),
              std::string::npos);
    const std::string of_mask = refusal({{0, k00}, {1, k10}, {2, k20}, {3, k01, "gray"}}, masked);
    EXPECT_TRUE(of_mask.starts_with("Input 0 (main) and input 3 (mask) are two streams of one file")) << of_mask;
    EXPECT_NE(of_mask.find(" [0:V:0][1:V:0][2:V:0][3:V:0]quality_cuda=renditions=2:mask=1,"), std::string::npos);
}

TEST_F(Sources, OtherNamesSayNothing) {
    for (const char* name : {"", "graph 0 input from stream ", "graph 0 input from stream dec0", "Parsed_movie_0",
                             "graph 0 input from stream 0", "graph 0 input from stream 0:", "fg:0:1"}) {
        EXPECT_EQ(refusal({{0, name}, {1, name}}), "") << name;
        EXPECT_EQ(sources.count, 0) << name;
    }
    EXPECT_EQ(refusal({{0, nullptr}}), "");
}

TEST_F(Sources, NoMoreThanThereIsRoomFor) {
    std::vector<Source> many;
    for (int input = 0; input < 2 * QCR_MOST_SOURCES; ++input) many.push_back({input, k00, "gray", 25, 0});
    EXPECT_EQ(with(many)->count, QCR_MOST_SOURCES);
}

/// Inputs that had so many frames, and are over.
std::unique_ptr<qcr_pairs, void (*)(qcr_pairs*)> ended(int distorted, int reference) {
    static std::array<qcr_counts, QC_MAX_RENDITIONS> counts;
    qcr_pairs_config config{};
    config.rules.rate = -1;
    config.renditions = 1;
    config.clock[0] = config.clock[1] = {1, 25, 0};
    config.name[0] = "main";
    config.name[1] = "reference";
    config.release = [](void* /*opaque*/, void* /*frame*/) {};
    qcr_pairs* pairs = nullptr;
    EXPECT_EQ(qcr_pairs_create(&config, counts.data(), &pairs), QC_OK);
    for (const auto& [input, frames] : {std::pair(0, distorted), std::pair(1, reference)}) {
        for (int n = 0; n < frames; ++n) {
            static int frame;
            const qcr_offer offer = {input, n, &frame, 0, 0, QCR_NO_PTS};
            qcr_pairs_offer(pairs, &offer);
        }
        qcr_pairs_end(pairs, input, 0);
    }
    return {pairs, qcr_pairs_destroy};
}

TEST_F(Sources, CoversAndSingleFramesAreNamedAtTheEnd) {
    static constexpr const char* kCover =
        "W Input 1 (reference) is stream 1:2, a single picture that is attached to "
        "its file, such as a cover; name the files' videos, [0:V:0][1:V:0]quality_cuda";
    static constexpr const char* kSingle = "W Input 1 (reference) has a single frame, main has 3: label the stream "
                                           "that is meant, e.g. [0:v:0][1:v:0]quality_cuda, or compare every frame "
                                           "with this one, eof_action=repeat";
    static constexpr struct {
        int distorted, reference, after, rate;
        const char* text;
    } kCases[] = {{3, 1, 2, 90000, kCover}, {3, 1, 0, 90000, kCover}, {1, 1, 0, 90000, kCover}, {3, 1, 2, 25, kSingle},
                  {3, 1, 0, 25, nullptr},   {1, 1, 0, 25, nullptr},   {3, 3, 0, 90000, nullptr}};
    for (const auto& of : kCases) {
        const auto pairs = ended(of.distorted, of.reference);
        const qcr_sink sink = messages.sink();
        qcr_counts counts{};
        counts.after = of.after;
        with({{0, k00}, {1, "graph 0 input from stream 1:2", "yuvj420p", of.rate}});
        const qcr_source_rules rules = {&kTwo, 0, 0, 0};
        qcr_say_single_frames(&sources, &rules, pairs.get(), &counts, &sink);
        EXPECT_EQ(messages.take(), of.text != nullptr ? Lines{of.text} : Lines{});
    }
}

} // namespace
} // namespace qc::run
