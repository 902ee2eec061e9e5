// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is said of alignment: a finding in, a sentence with its remedy out.
#include "run/account/alignment.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "run/text/messages_test_support.hpp"

namespace qc::run {
namespace {

constexpr qcr_names kTwo = {{"main", "reference"}, 2}, kThree = {{"main", "reference", "main1"}, 3};
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

qcr_alignment_rules rules(bool ladder = false, bool by_index = false, double rate = 25) {
    return {ladder ? &kThree : &kTwo, ladder ? 2 : 1, by_index, 0, 48, rate, nullptr, nullptr, 0, 0};
}

qc_finding finding(qc_finding_kind kind, int64_t frame, int offset = 0, int former = 0, int64_t count = 0,
                   double rate = 0) {
    return {.kind = kind,
            .offset = offset,
            .former_offset = former,
            .frame = frame,
            .count = count,
            .rate = rate,
            .is_full = 0,
            .turn = QC_TURN_NONE,
            .gain = 0,
            .level = 0,
            .error = 0,
            .correlation = 0,
            .reserved = {}};
}

qc_finding range(bool is_full) {
    qc_finding found = finding(QC_FINDING_RANGE, 12);
    found.is_full = is_full;
    found.gain = 219 / 255.0;
    found.level = 16;
    found.error = 6.3;
    return found;
}

qc_finding turned(qc_turn turn) {
    qc_finding found = finding(QC_FINDING_TURNED, 0);
    found.turn = turn;
    return found;
}

/// A finding, and how it is told.
struct Told {
    qcr_alignment_rules rules;
    int rendition;
    qc_finding finding;
    double time;
    std::string sentence;
};

void expect_sentences(const std::vector<Told>& cases) {
    for (const Told& of : cases) EXPECT_EQ(finding_sentence(of.rules, of.rendition, of.finding, of.time), of.sentence);
}

TEST(Alignment, Sentences) {
    constexpr const char* kOffset =
        " the reference from its start on: each frame is compared with another one; if that is not meant, put ";
    constexpr const char* kStep = "make it without dropping or repeating frames (-fps_mode passthrough)";
    qcr_alignment_rules automatic = rules();
    automatic.is_auto = 1;
    expect_sentences({
        {rules(), 0, finding(QC_FINDING_OFFSET, 0, 2), 0,
         std::string("the distorted video is 2 frames behind") + kOffset +
             "setpts=PTS+0.080000/TB before input 1 (reference), or use align=auto"},
        {automatic, 0, finding(QC_FINDING_OFFSET, 0, -1), 0,
         std::string("the distorted video is 1 frame ahead of") + kOffset +
             "setpts=PTS-0.040000/TB before input 1 (reference)"},
        {rules(true), 1, finding(QC_FINDING_OFFSET, 0, 2), 0,
         std::string("rendition 1 is 2 frames behind") + kOffset +
             "setpts=PTS-0.080000/TB before input 2 (main1), or use align=auto"},
        {rules(false, true), 0, finding(QC_FINDING_OFFSET, 0, 3), 0,
         std::string("the distorted video is 3 frames behind") + kOffset +
             "trim=start_frame=3 before input 0 (main), or use align=auto"},
        {rules(false, true), 0, finding(QC_FINDING_OFFSET, 0, -3), 0,
         std::string("the distorted video is 3 frames ahead of") + kOffset +
             "trim=start_frame=3 before input 1 (reference), or use align=auto"},
        {rules(false, false, 0), 0, finding(QC_FINDING_OFFSET, 0, 1), 0,
         std::string("the distorted video is 1 frame behind") + kOffset +
             "setpts before input 1 (reference), or use align=auto"},
        {rules(), 0, finding(QC_FINDING_SEGMENT, 0, -50), 0,
         "the distorted video shows what the reference does from frame 50 (2.000 s) on, so each frame is compared with "
         "another one: put trim=start=2.000000,setpts=PTS-2.000000/TB before input 1 (reference)"},
        {rules(), 0, finding(QC_FINDING_SEGMENT, 0, 120), 0,
         "the reference shows what the distorted video does from frame 120 (4.800 s) on, so each frame is compared "
         "with "
         "another one: put trim=start=4.800000,setpts=PTS-4.800000/TB before input 0 (main)"},
        {rules(true), 1, finding(QC_FINDING_SEGMENT, 0, -50), 0,
         "rendition 1 shows what the reference does from frame 50 (2.000 s) on, so each frame is compared with another "
         "one: put setpts=PTS+2.000000/TB before input 2 (main1)"},
        {rules(false, true), 0, finding(QC_FINDING_SEGMENT, 0, -50), 0,
         "the distorted video shows what the reference does from frame 50 on, so each frame is compared with another "
         "one: put trim=start_frame=50 before input 1 (reference)"},
        {rules(), 0, finding(QC_FINDING_STEP, 100, 1), 4,
         std::string(
             "from 4.000 s (frame 100) on the distorted video has 1 frame too many, and is 1 behind the reference; ") +
             kStep +
             ", or compare that part on its own: trim=start=4.000000 before input 0 (main), and setpts=PTS+0.040000/TB "
             "before "
             "input 1 (reference)"},
        {rules(), 0, finding(QC_FINDING_STEP, 100, 0, 2), 4,
         std::string("from 4.000 s (frame 100) on the distorted video has 2 frames too few, and is 0 apart from the "
                     "reference; ") +
             kStep},
        {rules(true), 1, finding(QC_FINDING_STEP, 100, -1), kUnknown,
         std::string("from frame 100 on rendition 1 has 1 frame too few, and is 1 ahead of the reference; ") + kStep},
    });
}

TEST(Alignment, SentencesOfRatesAndRepeats) {
    expect_sentences({
        {rules(), 0, finding(QC_FINDING_RATE, 50, 0, 0, 0, 0.9599), 2,
         "the distorted video runs at another rate than the reference: from 2.000 s (frame 50) on one of its frames "
         "takes 0.9599 of "
         "the reference's; give both inputs the rate of their pictures (-r or -framerate before -i), or put "
         "setpts=PTS/0.960000 "
         "before input 1 (reference)"},
        {rules(true), 1, finding(QC_FINDING_RATE, 50, 0, 0, 0, 1.1), 2,
         "rendition 1 runs at another rate than the reference: from 2.000 s (frame 50) on one of its frames takes "
         "1.1000 of "
         "the reference's; give both inputs the rate of their pictures (-r or -framerate before -i), or put "
         "setpts=PTS*1.100000 "
         "before input 2 (main1)"},
        {rules(false, true), 0, finding(QC_FINDING_RATE, 50, 0, 0, 0, 2), 2,
         "the distorted video runs at another rate than the reference: from 2.000 s (frame 50) on one of its frames "
         "takes 2.0000 of "
         "the reference's; give both inputs the rate of their pictures (-r or -framerate before -i) and pair by time "
         "(sync=nearest)"},
        {rules(), 0, finding(QC_FINDING_REPEATS, 7), 0.28,
         "the distorted video repeats pictures while the reference moves, first at 0.280 s (frame 7): such frames are "
         "scored as they "
         "are; make it without repeating frames (-fps_mode passthrough), or put mpdecimate before input 0 (main), "
         "which takes most of "
         "them out"},
        {rules(), 0, finding(QC_FINDING_FROZEN_END, 90, 0, 0, 10), 3.6,
         "the distorted video ends with 10 repeated pictures, from 3.600 s (frame 90) on, while the reference moves: "
         "these frames are "
         "scored as they are; put trim=end=3.600000 before input 0 (main) to leave them out"},
        {rules(), 0, finding(QC_FINDING_FROZEN_END, 90, 0, 0, 1), kUnknown,
         "the distorted video ends with 1 repeated picture, from frame 90 on, while the reference moves: these frames "
         "are scored as "
         "they are"},
        {rules(), 0, finding(static_cast<qc_finding_kind>(99), 0), 0, ""},
    });
}

TEST(Alignment, SentencesOfContents) {
    expect_sentences({
        {rules(), 0, range(false), 0.48,
         "the distorted video has limited range and the reference full range, by what the pictures show: its luma is "
         "16.0 + 0.859 times the reference's, an error of 6.3 codes in 255, by which alone PSNR cannot pass 32.1 dB; "
         "put "
         "scale=in_range=limited:out_range=full before input 0 (main)"},
        {rules(true), 1, range(true), 0.48,
         "rendition 1 has full range and the reference limited range, by what the pictures show: its luma is "
         "16.0 + 0.859 times the reference's, an error of 6.3 codes in 255, by which alone PSNR cannot pass 32.1 dB; "
         "put "
         "scale=in_range=full:out_range=limited before input 2 (main1)"},
        {rules(), 0, finding(QC_FINDING_APART, 12), 0.48,
         "the distorted video and the reference show nothing in common from 0.480 s (frame 12) on, with any offset of "
         "up to 30 frames (correlation 0.00): the scores compare different pictures; check what the inputs are and "
         "where they begin, and name their streams: [0:v:0][1:v:0]quality_cuda takes the first file's for the "
         "distorted video, the second's for the reference"},
    });
}

TEST(Alignment, Turns) {
    const struct {
        qc_turn turn;
        const char *how, *filter;
    } cases[] = {
        {QC_TURN_MIRROR, "mirrored, left for right", "hflip"},
        {QC_TURN_FLIP, "upside down, above for below", "vflip"},
        {QC_TURN_HALF, "turned by 180 degrees", "hflip,vflip"},
        {QC_TURN_CLOCKWISE, "turned by 90 degrees counterclockwise", "transpose=1"},
        {QC_TURN_COUNTERCLOCKWISE, "turned by 90 degrees clockwise", "transpose=2"},
        {QC_TURN_TRANSPOSE, "turned by 90 degrees and mirrored", "transpose=0"},
        {QC_TURN_TRANSVERSE, "turned by 90 degrees and mirrored", "transpose=3"},
    };
    for (const auto& of : cases)
        EXPECT_EQ(finding_sentence(rules(), 0, turned(of.turn), 0),
                  std::string("the distorted video shows the reference's pictures ") + of.how +
                      ", from 0.000 s (frame 0) on; put " + of.filter + " before input 0 (main)");
}

TEST(Alignment, Beginnings) {
    const struct {
        qcr_alignment_rules rules;
        int rendition;
        qcr_start start;
        const char* sentence;
    } cases[] = {
        {rules(),
         0,
         {0, 0, kUnknown, 0, {}},
         "the distorted video: its first 48 pairs do not tell beyond doubt which offset it has from the reference, "
         "nothing is moved"},
        {rules(), 0, {1, 0, 0, 0, {}}, "the distorted video begins with the reference, nothing is moved"},
        {rules(),
         0,
         {1, 2, 0.08, 0, {}},
         "the distorted video is 2 frames (0.080000 s) behind the reference from its start on: input 1 (reference) "
         "counts as 0.080000 s later"},
        {rules(),
         0,
         {1, -1, -0.04, 0, {}},
         "the distorted video is 1 frame (0.040000 s) ahead of the reference from its start on: input 1 (reference) "
         "counts as 0.040000 s "
         "earlier"},
        {rules(true),
         1,
         {1, 2, 0.08, 0, {}},
         "rendition 1 is 2 frames (0.080000 s) behind the reference from its start on: input 2 (main1) counts as "
         "0.080000 s earlier"},
        {rules(false, true),
         0,
         {1, -3, kUnknown, 0, {}},
         "the distorted video is 3 frames ahead of the reference from its start on: its frame 0 meets the reference's "
         "frame 3"},
    };
    for (const auto& of : cases) {
        Messages messages;
        qcr_alignment alignment{};
        alignment.start[of.rendition] = of.start;
        const qcr_sink sink = messages.sink();
        qcr_say_start(&alignment, &of.rules, of.rendition, &sink);
        EXPECT_EQ(messages.take(), Lines{std::string("I align=auto: ") + of.sentence});
    }
}

TEST(Alignment, NothingIsFoundWithoutASession) {
    qcr_alignment alignment{};
    qcr_alignment_rules automatic = rules();
    Messages messages;
    const qcr_sink sink = messages.sink();
    automatic.is_auto = 1;
    alignment.start[0] = {1, 2, 0.08, 0, {}};
    qcr_note_pair(&alignment, 0, 0.5);
    qcr_say_findings(&alignment, &automatic, nullptr, 1, 1, &sink);
    EXPECT_EQ(messages.take(), Lines{});
    EXPECT_EQ(alignment_json(alignment, automatic, nullptr, 0),
              "{\"auto\": {\"pairs\": 48, \"offset\": 2, \"seconds\": 0.080000}, \"watched\": 0, \"findings\": []}");
    EXPECT_EQ(alignment_json(alignment, rules(), nullptr, 0), "{\"watched\": 0, \"findings\": []}");
    alignment.start[0].is_range_told = 1;
    alignment.start[0].ranges = QC_RANGES_FULL;
    EXPECT_EQ(alignment_json(alignment, rules(), nullptr, 0),
              "{\"ranges\": \"full\", \"watched\": 0, \"findings\": []}");
}

} // namespace
} // namespace qc::run
