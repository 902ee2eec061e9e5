// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <gtest/gtest.h>

#include "families/speed/speed_frozen.hpp"
#include "metrics/speed_temporal/speed_temporal.hpp"

namespace qc::speed_temporal {
namespace {

struct Frozen {
    int clip;
    const char* suffix;
    double scores[3];
};
constexpr Frozen kFrozen[] = {
    {0, "", {0.0, 22.89370346069336, 22.054853439331055}},
    {0, "_urd", {0.0, 30.470539093017578, 27.169300079345703}},
    {0, "_ks_2_ps_1.1_psm_bilinear", {0.0, 15.427716255187988, 18.99114990234375}},
    {1, "", {0.0, 17.30310821533203, 18.203004837036133}},
    {1, "_urd", {0.0, 21.96442222595215, 23.12249755859375}},
    {1, "_ks_2_ps_1.1_psm_bilinear", {0.0, 11.69732666015625, 15.275463104248047}},
};

TEST(SpeedTemporal, FrozenScores) {
    for (const Frozen& frozen : kFrozen) {
        const auto scores = speed::score_synthetic(descriptor(), speed::kFrozenClips[frozen.clip], frozen.suffix);
        for (int frame = 0; frame < 3; ++frame)
            EXPECT_EQ(scores.values("speed_temporal").at(static_cast<size_t>(frame)), frozen.scores[frame])
                << frozen.clip << " " << frozen.suffix << " frame " << frame;
    }
}

/// The limit is part of the name and of nothing else, as in libvmaf.
TEST(SpeedTemporal, LimitHasNoEffect) {
    const auto scores = speed::score_synthetic(descriptor(), speed::kFrozenClips[0], "_mxv_5");
    EXPECT_EQ(scores.values("speed_temporal").at(1), kFrozen[0].scores[1]);
}

TEST(SpeedTemporal, ScoresNothingWithoutBothEarlierPictures) {
    const test::SyntheticClip& clip = speed::kFrozenClips[1];
    const FrameGeometry geometry = test::synthetic_geometry(clip);
    const auto metric = create_scorer(descriptor(), geometry, OptionValues(descriptor().options));
    const test::SyntheticPicture before(clip, false, 0), reference(clip, false, 1), distorted(clip, true, 1);
    HostPair pair{reference.view(), distorted.view()};
    std::vector<uint64_t> words(metric->accumulator_words());
    metric->score(pair, words);
    EXPECT_EQ(words, std::vector<uint64_t>(words.size()));
    pair.reference_history[0] = before.view().plane[0];
    metric->score(pair, words);
    EXPECT_EQ(words, std::vector<uint64_t>(words.size()));
    pair.distorted_history[0] = before.view().plane[0];
    metric->score(pair, words);
    EXPECT_NE(words[0], 0u);
}

TEST(SpeedTemporal, RefusesSmallPictures) {
    const auto validated = [](int width, int height, const char* suffix) {
        OptionValues options(descriptor().options);
        EXPECT_TRUE(golden::read_suffix(descriptor(), suffix, &options));
        return validate(descriptor(), test::synthetic_geometry({"", width, height, QC_CHROMA_400, 8, 1, 0, 0}),
                        options);
    };
    EXPECT_TRUE(validated(80, 80, "").ok());
    speed::expect_refusal(validated(79, 80, ""), {"speed_temporal", "79x80", "80x80"});
    speed::expect_refusal(validated(100, 100, "_ps_0.5"), {"100x100", "at least 159x159"});
}

} // namespace
} // namespace qc::speed_temporal
