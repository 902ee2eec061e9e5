// SPDX-License-Identifier: BSD-2-Clause-Patent
// XPSNR against the golden clips: weighted errors in every bit, scores to the last digits. Skipped where they are
// missing.
#include <gtest/gtest.h>

#include <map>

#include "metrics/xpsnr/xpsnr.hpp"
#include "metrics/xpsnr/xpsnr_plan.hpp"
#include "tests/golden/golden_scores.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::xpsnr {
namespace {

/// Compares a clip at one frame rate; `suffix` says which, in the names of the golden values.
void compare_clip(const golden::Clip& clip, const golden::ClipPictures& pictures, double frame_rate,
                  const std::string& suffix, const golden::Json& frames, golden::Tally* tally) {
    FrameGeometry geometry = clip.geometry();
    geometry.frame_rate = frame_rate;
    const BlockPlan plan = make_plan(geometry);
    const OptionValues options(descriptor().options);
    const auto scorer = create_scorer(descriptor(), geometry, options);
    const auto finaliser = create_finaliser(descriptor(), geometry, options);
    test::Recorder recorder(descriptor());
    const auto reference = pictures.reference(), distorted = pictures.distorted();
    ASSERT_GE(reference.size(), frames.size()) << clip.name;
    for (size_t f = 0; f < frames.size(); ++f) {
        HostPair pair{reference[f], distorted[f]};
        for (size_t back = 1; back <= 2 && back <= f; ++back)
            pair.reference_history[back - 1] = reference[f - back].plane[0];
        std::vector<uint64_t> words(scorer->accumulator_words());
        scorer->score(pair, words);
        finaliser->finalise(static_cast<int64_t>(f), words, recorder);
        const WeightedErrors errors = Weighting(plan).errors(words);
        const golden::Json& expected_errors = frames[f].at("wsse" + suffix);
        const golden::Json& expected_scores = frames[f].at("xpsnr" + suffix);
        ASSERT_EQ(expected_errors.size(), static_cast<size_t>(plan.planes)) << clip.name;
        for (size_t p = 0; p < expected_errors.size(); ++p) {
            const std::string what = clip.name + suffix + format(" frame %d plane %d", int(f), int(p));
            EXPECT_EQ(errors[p], static_cast<uint64_t>(expected_errors[p].get<double>())) << what;
            const char* const names[] = {"xpsnr_y", "xpsnr_u", "xpsnr_v"};
            tally->compare(recorder.scores[names[p]][static_cast<int64_t>(f)], golden::value_of(expected_scores[p]),
                           2e-14, what);
        }
    }
}

TEST(XpsnrGolden, EveryClip) {
    if (const char* reason = golden::missing_clips()) GTEST_SKIP() << reason;
    const golden::Json file = golden::read_json(golden::folder() / "xpsnr" / "clips.json");
    std::map<std::string, const golden::Json*> frames_of;
    for (const golden::Json& clip : file.at("clips")) frames_of[clip.at("clip")] = &clip.at("frames");
    size_t clips = 0;
    golden::Tally tally;
    for (const golden::Clip& clip : golden::clips()) {
        const auto found = frames_of.find(clip.name);
        if (found == frames_of.end()) continue;
        const golden::ClipPictures pictures(clip);
        ASSERT_TRUE(pictures.ok()) << clip.name;
        ++clips;
        compare_clip(clip, pictures, 25.0, "_F25", *found->second, &tally);
        compare_clip(clip, pictures, 60.0, "_F60", *found->second, &tally);
    }
    tally.print(std::to_string(clips) + " clips");
    EXPECT_EQ(clips, frames_of.size());
    EXPECT_GT(tally.compared(), 0);
}

} // namespace
} // namespace qc::xpsnr
