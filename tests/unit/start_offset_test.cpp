// SPDX-License-Identifier: BSD-2-Clause-Patent
// The offset that a video begins with, on made-up signatures: what is told, and what is not.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "alignment/start_offset.hpp"
#include "tests/support/signatures.hpp"

namespace qc {
namespace {

using namespace test;

constexpr int kNothing = 99;

int told(const StartOffset& start) {
    return start.offset().value_or(kNothing);
}

int start_of(const Video& reference, const Video& distorted) {
    StartOffset start;
    for (size_t n = 0; n < std::min(reference.size(), distorted.size()); ++n)
        start.add(static_cast<int64_t>(n), Signature(reference[n]), Signature(distorted[n]));
    start.finish();
    return told(start);
}

/// Distorted frame n shows reference frame n - offset.
int start_with_offset(int offset, float noise, int frames = 60, double speed = 1.0) {
    const Video all = moving(frames + 100, speed);
    const auto part = [&](int first) { return Video(all.begin() + first, all.begin() + first + frames); };
    return start_of(part(50), noisy(part(50 - offset), noise));
}

// ---- what is told ---------------------------------------------------------------------------------------------------

TEST(StartOffset, EachOffset) {
    for (const float noise : {0.0F, 0.3F, 2.0F})
        for (int offset = -30; offset <= 30; ++offset) EXPECT_EQ(start_with_offset(offset, noise), offset) << noise;
}

TEST(StartOffset, SlowAndFastMotion) {
    for (const double speed : {0.5, 2.0, 5.0})
        for (const int offset : {-30, -5, -1, 0, 1, 5, 30})
            EXPECT_EQ(start_with_offset(offset, 0.3F, 60, speed), offset) << speed;
}

/// What follows is not looked at, and what is missing is no reason to doubt.
TEST(StartOffset, FewFrames) {
    EXPECT_EQ(start_with_offset(-5, 0.3F, 20), -5);
    EXPECT_EQ(start_with_offset(30, 0.3F, 48), 30);
    EXPECT_EQ(start_with_offset(0, 0.3F, 12), 0);
    for (const int offset : {-12, -1, 1, 12}) EXPECT_EQ(start_with_offset(offset, 0.3F, 9), kNothing);
    EXPECT_EQ(start_of({}, {}), kNothing);
    StartOffset start;
    const Video all = moving(60);
    for (int64_t n = 0; n < 60; ++n)
        if (n % 7 != 3)
            start.add(n + 100, Signature(all[static_cast<size_t>(n)]),
                      Signature(all[static_cast<size_t>(std::max<int64_t>(n - 4, 0))]));
    EXPECT_EQ(told(start), 4);
}

/// That nothing is to be moved is known at once; anything else waits for all that there is to be seen.
TEST(StartOffset, WhenItIsDecided) {
    const Video all = moving(100);
    for (const int offset : {0, 3}) {
        StartOffset start;
        int64_t n = 0;
        for (; !start.is_decided(); ++n) {
            EXPECT_EQ(told(start), kNothing);
            start.add(n, Signature(all[static_cast<size_t>(n + 10)]),
                      Signature(all[static_cast<size_t>(n + 10 - offset)]));
        }
        EXPECT_EQ(told(start), offset);
        if (offset == 0)
            EXPECT_LT(n, 16);
        else
            EXPECT_EQ(n, StartOffset::kFrames);
        start.add(n, Signature(all[0]), Signature(all[50]));
        start.finish();
        EXPECT_EQ(told(start), offset);
    }
}

// ---- what is not ----------------------------------------------------------------------------------------------------

void expect_nothing(const std::string& name, const std::function<Luma(int)>& frame) {
    for (const int offset : {-30, -5, -1, 0, 1, 5, 30})
        for (const float noise : {0.0F, 0.3F, 3.0F})
            for (const unsigned seed : {1U, 2U, 3U}) {
                const Video reference = video(60, [&](int n) { return frame(n + 30); });
                const Video distorted = video(60, [&](int n) { return frame(n + 30 - offset); });
                const int found = start_of(reference, noisy(distorted, noise, seed));
                EXPECT_TRUE(found == kNothing || found == offset)
                    << name << ": " << found << " for " << offset << ", noise " << noise << ", seed " << seed;
            }
}

void expect_unmoved(const std::string& name, const Video& reference, const Video& distorted) {
    for (const size_t frames : {5U, 12U, 30U, 48U, 90U})
        for (const float noise : {0.0F, 0.3F, 3.0F})
            for (const unsigned seed : {1U, 2U, 3U}) {
                const auto some = static_cast<int64_t>(std::min({frames, reference.size(), distorted.size()}));
                const int found = start_of(Video(reference.begin(), reference.begin() + some),
                                           noisy(Video(distorted.begin(), distorted.begin() + some), noise, seed));
                EXPECT_TRUE(found == kNothing || found == 0)
                    << name << ": " << found << ", " << some << " frames, noise " << noise << ", seed " << seed;
            }
}

void expect_unmoved(const std::string& name, const std::function<Luma(int)>& frame) {
    const Video made = video(90, frame);
    expect_unmoved(name, made, made);
}

TEST(NoStartOffset, StillsBlackAndNoise) {
    expect_unmoved("still", [](int) { return scene(3); });
    expect_unmoved("black", [](int) { return Luma{}; });
    const Video black = video(90, [](int) { return Luma{}; });
    expect_unmoved("noise", noisy(black, 20.0F, 7), noisy(black, 20.0F, 8));
    expect_unmoved("moves, then stands", [](int n) { return scene(std::min(n, 20)); });
    expect_unmoved("stands, then moves", [](int n) { return scene(std::max(n, 35)); });
    EXPECT_EQ(start_of(video(60, [](int) { return scene(3); }), video(60, [](int) { return scene(3); })), kNothing);
}

TEST(NoStartOffset, FadesAndCuts) {
    expect_unmoved("fade", [](int n) { return faded(scene(n), std::clamp(n / 40.0, 0.0, 1.0)); });
    expect_nothing("still that fades", [](int n) { return faded(scene(5), std::clamp((80 - n) / 80.0, 0.0, 1.0)); });
    const auto after_cuts = [](int n, int length) {
        const int cuts = n / length;
        return cuts * 1000.0;
    };
    expect_nothing("stills with cuts", [=](int n) { return scene(after_cuts(n, 25)); });
    expect_nothing("cuts", [=](int n) { return scene(n + after_cuts(n, 15)); });
    expect_unmoved("flashes", [](int n) { return faded(scene(n), n % 9 == 0 ? 2.0 : 1.0); });
}

/// Which of the offsets a period apart it is nobody knows.
TEST(NoStartOffset, Loops) {
    for (const int period : {2, 3, 12, 25, 30}) {
        const auto loop = [=](int first) { return video(60, [=](int n) { return scene((n + first) % period * 4); }); };
        for (const int first : {1, 5, 13, 20})
            if (first % period != 0)
                EXPECT_EQ(start_of(loop(0), noisy(loop(first), 0.3F)), kNothing) << period << first;
        expect_unmoved("loop of " + std::to_string(period), [=](int n) { return scene(n % period * 4); });
    }
}

TEST(NoStartOffset, StepsRatesAndOtherContents) {
    const Video reference = moving(120);
    for (const double rate : {0.4, 0.5, 0.8, 1.25, 1.5, 2.0})
        expect_unmoved("rate " + std::to_string(rate), reference,
                       video(55, [&](int n) { return reference[static_cast<size_t>(n * rate)]; }));
    Video steps(reference.begin() + 5, reference.end());
    steps.erase(steps.begin() + 20);
    EXPECT_EQ(start_of(reference, noisy(steps, 0.3F)), kNothing);
    const auto other = [](int n) {
        Luma luma = scene(5000.0 + n * 1.37);
        for (size_t i = 0; i < luma.size(); i += 2) luma[i] = 240 - luma[i];
        return luma;
    };
    expect_unmoved("another scene", reference, video(120, other));
}

/// One that is next to the range is not the last one within.
TEST(NoStartOffset, BeyondTheRange) {
    for (const int offset : {31, 32, 33, 40, -31, -32, -33, -40})
        for (const float noise : {0.0F, 0.3F}) EXPECT_EQ(start_with_offset(offset, noise), kNothing) << offset;
}

} // namespace
} // namespace qc
