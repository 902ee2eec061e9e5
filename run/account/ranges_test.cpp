// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the first pictures tell of ranges, and tags, in; tags out.
#include "quality_cuda_run/ranges.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/text/messages_test_support.hpp"

namespace qc::run {
namespace {

constexpr qcr_names kThree = {{"main", "reference", "main1"}, 3};
constexpr int kUnknown = QCR_RANGE_UNKNOWN, kLimited = QCR_RANGE_LIMITED, kFull = QCR_RANGE_FULL;
constexpr int kNothing = -1;

qcr_start told(int ranges) {
    qcr_start start{};
    start.is_range_told = ranges != kNothing;
    if (ranges != kNothing) start.ranges = static_cast<qc_ranges>(ranges);
    return start;
}

TEST(Ranges, Tags) {
    const struct {
        const char* what;
        int first, second; ///< told of each rendition
        std::vector<int> tags, settled;
    } cases[] = {
        {"nothing is told", kNothing, kNothing, {kUnknown, kFull, kUnknown}, {kUnknown, kFull, kUnknown}},
        {"nobody tags anything", QC_RANGES_LIMITED, kNothing, {0, 0, 0}, {kLimited, kFull, kUnknown}},
        {"the other way round", QC_RANGES_FULL, kNothing, {0, 0, 0}, {kFull, kLimited, kUnknown}},
        {"the reference is tagged", QC_RANGES_LIMITED, kNothing, {0, kFull, 0}, {kLimited, kFull, kUnknown}},
        {"the distorted video is", QC_RANGES_LIMITED, kNothing, {kLimited, 0, 0}, {kLimited, kFull, kUnknown}},
        {"a tag says otherwise", QC_RANGES_LIMITED, kNothing, {0, kLimited, 0}, {kUnknown, kLimited, kUnknown}},
        {"one says otherwise, one not", QC_RANGES_FULL, kNothing, {kLimited, 0, 0}, {kLimited, kUnknown, kUnknown}},
        {"tags say so", QC_RANGES_FULL, kNothing, {kFull, kLimited, 0}, {kFull, kLimited, kUnknown}},
        {"the same", QC_RANGES_SAME, kNothing, {0, kFull, 0}, {kFull, kFull, kUnknown}},
        {"the same, by the other tag", QC_RANGES_SAME, kNothing, {kLimited, 0, 0}, {kLimited, kLimited, kUnknown}},
        {"the same, whatever it is", QC_RANGES_SAME, kNothing, {0, 0, 0}, {0, 0, 0}},
        {"the same, tagged otherwise", QC_RANGES_SAME, kNothing, {kLimited, kFull, 0}, {kLimited, kFull, 0}},
        {"a second one that differs", QC_RANGES_SAME, QC_RANGES_LIMITED, {0, 0, 0}, {kFull, kFull, kLimited}},
        {"two that do not fit", QC_RANGES_FULL, QC_RANGES_LIMITED, {0, 0, 0}, {kFull, kLimited, kUnknown}},
    };
    for (const auto& of : cases) {
        SCOPED_TRACE(of.what);
        const qcr_start start[] = {told(of.first), told(of.second)};
        std::vector<int> tags = of.tags;
        Messages messages;
        const qcr_sink sink = messages.sink();
        qc_error error{};
        EXPECT_EQ(qcr_settle_ranges(&kThree, 2, start, tags.data(), 0, &sink, &error), QC_OK);
        EXPECT_EQ(tags, of.settled);
        size_t changed = 0;
        for (size_t i = 0; i < tags.size(); ++i) changed += tags[i] != of.tags[i] ? 1 : 0;
        const Lines said = messages.take();
        EXPECT_EQ(said.size(), changed);
        const bool differs = of.first > QC_RANGES_SAME || of.second > QC_RANGES_SAME;
        for (const std::string& line : said) EXPECT_EQ(line.substr(0, 1), differs ? "I" : "V");
    }
}

TEST(Ranges, Sentences) {
    const qcr_start start[] = {told(QC_RANGES_LIMITED), told(kNothing)};
    int tags[] = {0, 0, 0};
    Messages messages;
    const qcr_sink sink = messages.sink();
    qc_error error{};
    EXPECT_EQ(qcr_settle_ranges(&kThree, 2, start, tags, 1, &sink, &error), QC_ERROR_INVALID);
    EXPECT_STREQ(error.text,
                 "input 0 (main) has limited range and the reference full range, by what the first pictures "
                 "show, and not both are tagged (range=error); put setparams=range=limited before input 0 "
                 "(main) and setparams=range=full before input 1 (reference)");
    EXPECT_EQ(tags[0], kUnknown);
    EXPECT_EQ(qcr_settle_ranges(&kThree, 2, start, tags, 0, &sink, &error), QC_OK);
    EXPECT_EQ(messages.take(),
              (Lines{"I range=auto: input 0 (main) counts as of limited range, by what the first pictures show",
                     "I range=auto: input 1 (reference) counts as of full range, by what the first pictures show"}));
    EXPECT_EQ(qcr_settle_ranges(&kThree, 2, start, tags, 1, &sink, &error), QC_OK) << "both are tagged now";
}

} // namespace
} // namespace qc::run
