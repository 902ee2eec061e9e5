// SPDX-License-Identifier: BSD-2-Clause-Patent
// The watch of the contents on made-up signatures: what it finds, and what it leaves alone.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "alignment/watch.hpp"
#include "tests/support/signatures.hpp"

namespace qc {
namespace {

using namespace test;

std::vector<qc_finding> findings(const Video& reference, const Video& distorted) {
    AlignmentWatch watch(true);
    for (size_t n = 0; n < std::min(reference.size(), distorted.size()); ++n)
        watch.add(static_cast<int64_t>(n), Signature(reference[n]), Signature(distorted[n]));
    watch.finish();
    return watch.findings();
}

std::string text_of(const std::vector<qc_finding>& all) {
    static const char* const kinds[] = {"", "offset", "step", "rate", "repeats", "frozen", "range", "apart", "turned"};
    std::string text;
    for (const qc_finding& finding : all) {
        text += (text.empty() ? "" : ", ") + std::string(kinds[finding.kind]) + " " + std::to_string(finding.frame);
        if (finding.kind == QC_FINDING_OFFSET || finding.kind == QC_FINDING_STEP)
            text += ": " + std::to_string(finding.former_offset) + " to " + std::to_string(finding.offset);
        if (finding.kind == QC_FINDING_RANGE) text += finding.is_full != 0 ? " full" : " limited";
        if (finding.kind == QC_FINDING_TURNED) text += " turn " + std::to_string(finding.turn);
        if (finding.count != 0) text += " x" + std::to_string(finding.count);
    }
    return text;
}

std::string found(const Video& reference, const Video& distorted) {
    return text_of(findings(reference, distorted));
}

/// Distorted frame n shows reference frame n - offset.
std::string found_with_offset(int offset, float noise, int frames = 150) {
    const Video all = moving(frames + 60);
    const Video reference(all.begin() + 30, all.begin() + 30 + frames);
    const Video distorted(all.begin() + 30 - offset, all.begin() + 30 - offset + frames);
    return found(reference, noisy(distorted, noise));
}

// ---- what is found --------------------------------------------------------------------------------------------------

TEST(Alignment, ConstantOffsets) {
    for (const float noise : {0.0F, 0.3F, 2.0F})
        for (const int offset : {1, 2, 5, 17, 30, -1, -2, -7, -30})
            EXPECT_EQ(found_with_offset(offset, noise), "offset 0: 0 to " + std::to_string(offset)) << noise;
}

/// Too far away to be measured, and too short to be sure.
TEST(Alignment, OffsetsBeyondTheRange) {
    const Video all = moving(300);
    EXPECT_EQ(found(Video(all.begin(), all.begin() + 150), Video(all.begin() + 45, all.begin() + 195)), "");
    EXPECT_EQ(found_with_offset(5, 0.3F, 8), "");
}

TEST(Alignment, DroppedAndDuplicatedFrames) {
    for (const float noise : {0.0F, 0.5F}) {
        const Video reference = moving(250);
        Video distorted = reference;
        distorted.erase(distorted.begin() + 100);
        EXPECT_EQ(found(reference, noisy(distorted, noise)), "step 100: 0 to -1");
        distorted = reference;
        distorted.insert(distorted.begin() + 100, distorted[100]);
        // The copy itself fits both offsets.
        const std::string step = found(reference, noisy(distorted, noise));
        EXPECT_TRUE(step == "step 100: 0 to 1" || step == "step 101: 0 to 1") << step;
        distorted.erase(distorted.begin() + 180);
        EXPECT_NE(found(reference, noisy(distorted, noise)).find("1 to 0"), std::string::npos);
    }
}

TEST(Alignment, RepeatedFrames) {
    const Video reference = moving(200);
    Video distorted = noisy(reference, 0.3F);
    for (const size_t n : {60U, 90U, 91U}) distorted[n] = distorted[n - 1];
    EXPECT_EQ(found(reference, distorted), "repeats 60 x3");
    for (size_t n = 190; n < 200; ++n) distorted[n] = distorted[n - 1];
    EXPECT_EQ(found(reference, distorted), "repeats 60 x3, frozen 190 x10");
}

TEST(Alignment, RepeatedLastFrame) {
    const Video reference = moving(120);
    Video distorted = noisy(reference, 0.3F);
    distorted[119] = distorted[118];
    EXPECT_EQ(found(reference, distorted), "frozen 119 x1");
}

TEST(Alignment, WrongRates) {
    for (const double rate : {25 / 24.0, 24 / 25.0, 1.2, 1 / 1.2, 1.25, 0.8, 1.5, 2.0, 0.5, 2.5, 0.4}) {
        const Video reference = moving(400);
        const Video distorted = video(static_cast<int>(390 / std::max(rate, 1.0)),
                                      [&](int n) { return reference[static_cast<size_t>(n * rate)]; });
        const auto all = findings(reference, noisy(distorted, 0.3F));
        ASSERT_EQ(all.size(), 1U) << rate << ": " << text_of(all);
        EXPECT_EQ(all[0].kind, QC_FINDING_RATE) << rate;
        EXPECT_NEAR(all[0].rate, rate, 0.03 * rate);
        EXPECT_LT(all[0].frame, 40) << rate;
    }
}

/// Where nobody looks on, and where the next part goes another way.
TEST(Alignment, Pauses) {
    AlignmentWatch watch;
    const Video all = moving(400);
    const auto add = [&](int64_t first, int64_t last, int offset) {
        for (int64_t n = first; n < last; ++n)
            watch.add(n, Signature(all[static_cast<size_t>(n)]), Signature(all[static_cast<size_t>(n - offset)]));
    };
    add(40, 140, 3);
    watch.pause();
    EXPECT_EQ(text_of(watch.findings()), "offset 40: 0 to 3");
    add(140, 240, 3); // the same is not said again
    add(260, 380, 0); // a gap in the numbers is a pause too
    watch.finish();
    EXPECT_EQ(text_of(watch.findings()), "offset 40: 0 to 3, step 260: 3 to 0");
    EXPECT_EQ(watch.frames(), 320);
}

TEST(Alignment, FindingsEnd) {
    const Video reference = moving(9000, 1.7);
    Video distorted = reference;
    for (size_t n = 8900; n > 200; n -= 120) {
        if (n / 120 % 2 == 0)
            distorted.erase(distorted.begin() + static_cast<int64_t>(n));
        else
            distorted.insert(distorted.begin() + static_cast<int64_t>(n), distorted[n]);
    }
    EXPECT_EQ(findings(reference, distorted).size(), size_t{OffsetCourse::kMostFindings});
}

// ---- what is shown at all ------------------------------------------------------------------------------------------

Video other_scene(int frames) {
    return video(frames, [](int n) {
        Luma luma = scene(5000.0 + n * 1.37);
        for (size_t i = 0; i < luma.size(); i += 2) luma[i] = 240 - luma[i];
        return luma;
    });
}

TEST(Contents, NothingInCommon) {
    for (const float noise : {0.0F, 0.3F, 3.0F})
        for (const int frames : {5, 20, 45, 90, 250})
            EXPECT_EQ(found(moving(frames), noisy(other_scene(frames), noise)), "apart 0") << frames;
    const Video still = video(60, [](int) { return scene(3); });
    EXPECT_EQ(found(still, video(60, [](int) { return other_scene(1)[0]; })), "apart 0");
    Video late(30, Luma{});
    for (const Luma& luma : other_scene(60)) late.push_back(luma);
    EXPECT_EQ(found(moving(90), late), "apart 30");
}

/// What both have by chance is no sign that they are the same.
TEST(Contents, LightAboveAndDarkBelow) {
    const auto lit = [](const Video& video) {
        Video made = video;
        for (Luma& luma : made)
            for (size_t i = 0; i < luma.size(); ++i)
                luma[i] += 5.0F * static_cast<float>(kSignatureRows - static_cast<int>(i) / kSignatureColumns);
        return made;
    };
    EXPECT_EQ(found(lit(moving(90)), lit(other_scene(90))), "apart 0");
    EXPECT_EQ(found(lit(moving(90)), noisy(lit(moving(90)), 3.0F)), "");
}

Luma turned(const Luma& luma, const std::function<int(int, int)>& source) {
    Luma made;
    for (int row = 0; row < kSignatureRows; ++row)
        for (int column = 0; column < kSignatureColumns; ++column)
            made[static_cast<size_t>(row * kSignatureColumns + column)] =
                luma[static_cast<size_t>(source(row, column))];
    return made;
}

/// How pictures are turned, and what turns them back.
TEST(Contents, TurnedAndMirrored) {
    const struct {
        qc_turn back;
        std::function<int(int, int)> source;
    } cases[] = {
        {QC_TURN_MIRROR, [](int row, int column) { return row * 8 + 7 - column; }},
        {QC_TURN_FLIP, [](int row, int column) { return (7 - row) * 8 + column; }},
        {QC_TURN_HALF, [](int row, int column) { return (7 - row) * 8 + 7 - column; }},
        {QC_TURN_TRANSPOSE, [](int row, int column) { return column * 8 + row; }},
        {QC_TURN_COUNTERCLOCKWISE, [](int row, int column) { return (7 - column) * 8 + row; }}, // this is clockwise
        {QC_TURN_CLOCKWISE, [](int row, int column) { return column * 8 + 7 - row; }},
        {QC_TURN_TRANSVERSE, [](int row, int column) { return (7 - column) * 8 + 7 - row; }},
    };
    for (const int frames : {1, 30, 90}) {
        const Video reference = moving(frames);
        for (const auto& [back, source] : cases) {
            const Video distorted =
                video(frames, [&, &how = source](int n) { return turned(reference[static_cast<size_t>(n)], how); });
            const std::string text = found(reference, noisy(distorted, 2.0F));
            EXPECT_EQ(text, "turned 0 turn " + std::to_string(back)) << frames;
        }
    }
}

Video graded(Video made, const std::function<double(double)>& curve) {
    for (Luma& luma : made)
        for (float& value : luma) value = static_cast<float>(curve(value));
    return made;
}

double to_limited(double value) {
    return 16 + value * 219 / 255;
}
double to_full(double value) {
    return (value - 16) * 255 / 219;
}

TEST(Contents, Ranges) {
    for (const float noise : {0.0F, 0.3F, 1.0F})
        for (const int frames : {1, 30, 100}) {
            EXPECT_EQ(found(moving(frames), noisy(graded(moving(frames), to_limited), noise)), "range 0 limited")
                << frames << " " << noise;
            EXPECT_EQ(found(moving(frames), noisy(graded(moving(frames), to_full), noise)), "range 0 full")
                << frames << " " << noise;
        }
    const qc_finding range = findings(moving(30), graded(moving(30), to_limited))[0];
    EXPECT_NEAR(range.gain, 219 / 255.0, 1e-4);
    EXPECT_NEAR(range.level, 16, 0.01);
    EXPECT_NEAR(range.error, 3.9, 0.1);
    Video late(60, Luma{});
    for (const Luma& luma : moving(40)) late.push_back(luma);
    EXPECT_EQ(found(late, noisy(graded(late, to_limited), 0.3F)), "range 60 limited");
}

/// With an offset too: the range is judged by what belongs together.
TEST(Contents, RangesWithAnOffset) {
    const Video all = moving(200);
    const Video reference(all.begin(), all.begin() + 150), distorted(all.begin() + 5, all.begin() + 155);
    EXPECT_EQ(found(reference, noisy(graded(distorted, to_limited), 0.3F)), "range 0 limited, offset 0: 0 to -5");
}

/// What is near to another range, and is none.
TEST(Contents, GradesAreNoRange) {
    const std::function<double(double)> grades[] = {
        [](double x) { return x + 10; },
        [](double x) { return x - 6; },
        [](double x) { return 0.9 * x + 12.8; },
        [](double x) { return 0.82 * x + 20; },
        [](double x) { return 1.1 * x - 12; },
        [](double x) { return 0.859 * x; },
        [](double x) { return 0.859 * x + 22; },
        [](double x) { return 255 * std::pow(x / 255, 0.9); },
        [](double x) { return 255 * std::pow(x / 255, 1.1); },
        [](double x) { return 255 * std::pow(x / 255, 1 / 1.2); },
        [](double x) { return 127.5 + 100 * std::tanh((x - 127.5) / 100); },
    };
    for (size_t k = 0; k < std::size(grades); ++k)
        for (const float noise : {0.0F, 1.0F})
            EXPECT_EQ(found(moving(100), noisy(graded(moving(100), grades[k]), noise)), "") << k << " " << noise;
    const Video fades = video(100, [](int n) { return faded(scene(n), 0.5 + 0.005 * n); });
    EXPECT_EQ(found(moving(100), fades), "");
    const Video flat = graded(moving(100), [](double x) { return 113 + (x - 113) / 10; });
    EXPECT_EQ(found(flat, noisy(graded(flat, to_limited), 0.3F)), "");
}

// ---- what is none ---------------------------------------------------------------------------------------------------

void expect_quiet(const std::string& name, const Video& reference, const Video& distorted) {
    for (const int frames : {5, 20, 45, 90, 250}) {
        const auto some = std::min(reference.size(), static_cast<size_t>(frames));
        for (const float noise : {0.0F, 0.3F, 3.0F})
            for (const unsigned seed : {1U, 2U, 3U})
                EXPECT_EQ(
                    found(Video(reference.begin(), reference.begin() + static_cast<int64_t>(some)),
                          noisy(Video(distorted.begin(), distorted.begin() + static_cast<int64_t>(some)), noise, seed)),
                    "")
                    << name << ", " << some << " frames, noise " << noise << ", seed " << seed;
    }
}

void expect_quiet(const std::string& name, const Video& reference) {
    expect_quiet(name, reference, reference);
}

TEST(NoAlignmentAlarm, Motion) {
    for (const double speed : {0.01, 0.1, 1.0, 5.0}) expect_quiet("speed " + std::to_string(speed), moving(250, speed));
}

TEST(NoAlignmentAlarm, StillsBlackAndNoise) {
    expect_quiet("still", video(250, [](int) { return scene(3); }));
    expect_quiet("black", video(250, [](int) { return Luma{}; }));
    expect_quiet("noise", noisy(video(250, [](int) { return Luma{}; }), 20.0F, 7),
                 noisy(video(250, [](int) { return Luma{}; }), 20.0F, 8));
    expect_quiet("moves, then stands", video(250, [](int n) { return scene(std::min(n, 60)); }));
    expect_quiet("stands, then moves", video(250, [](int n) { return scene(std::max(n, 120)); }));
}

TEST(NoAlignmentAlarm, FadesFlashesAndLevels) {
    const auto fade = [&](int n) { return faded(scene(n), std::clamp(std::min(n, 200 - n) / 80.0, 0.0, 1.0)); };
    expect_quiet("fade", video(250, fade));
    expect_quiet("still that fades", video(250, [&](int n) { return faded(scene(5), std::max(0, 200 - n) / 200.0); }));
    expect_quiet("brighter", video(250, fade), video(250, [&](int n) {
                     Luma luma = fade(n);
                     for (float& value : luma) value = value * 1.17F + 12.0F;
                     return luma;
                 }));
    expect_quiet("flashes", video(250, [&](int n) { return faded(scene(n), n % 9 == 0 ? 2.0 : 1.0); }));
}

TEST(NoAlignmentAlarm, CutsAndRepeatedMotion) {
    expect_quiet("cuts", video(250, [](int n) { return scene(n + n / 20 * 1000.0); }));
    expect_quiet("stills with cuts", video(250, [](int n) { return scene(n / 25 * 1000.0); }));
    for (const int period : {2, 3, 12, 30})
        expect_quiet("loop of " + std::to_string(period), video(250, [&](int n) { return scene(n % period * 4); }));
    expect_quiet("twos", video(250, [](int n) { return scene(n / 2 * 2); }));
    expect_quiet("pulldown", video(250, [](int n) { return scene(n * 4 / 5); }));
}

/// A loop says no more than what of it is missing: which of the offsets a period apart it is nobody knows.
TEST(NoAlignmentAlarm, LoopsThatAreOff) {
    const auto loop = [](int first) { return video(200, [=](int n) { return scene((n + first) % 10 * 4); }); };
    EXPECT_EQ(found(loop(0), noisy(loop(3), 0.3F)), "");
}

} // namespace
} // namespace qc
