// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer VIF against libvmaf's scores of real and made-up clips. They are not part of this repository: the test skips
// itself where they are missing (tests/golden_clip.hpp says where it looks).
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "metrics/vif/vif.hpp"
#include "tests/golden/golden_clip.hpp"

namespace qc::vif {
namespace {

/// A way of running the metric, and the ending it gives to the names.
struct Variant {
    const char* suffix;
    double gain_limit;
    bool skip_scale_0, debug;
};
constexpr Variant kVariants[] = {
    {"_egl_1", 1.0, false, false}, {"_ssclz", 100.0, true, false}, {"", 100.0, false, true}};

using Scores = std::map<std::string, std::map<int64_t, double>>; ///< log name -> frame -> value

class NamedScores : public ScoreSink {
public:
    NamedScores(std::string suffix, Scores* scores) : suffix_(std::move(suffix)), scores_(scores) {}
    void put(int64_t frame, int output, double value) override {
        (*scores_)[std::string(descriptor().outputs[output].alias) + suffix_][frame] = value;
    }

private:
    std::string suffix_;
    Scores* scores_;
};

FrameGeometry geometry_of(const golden::Clip& clip) {
    FrameGeometry geometry;
    geometry.width = clip.width;
    geometry.height = clip.height;
    geometry.depth = clip.depth;
    geometry.sample = clip.depth == 8 ? SampleType::kU8 : SampleType::kU16;
    return geometry;
}

HostPicture picture_at(const golden::Clip& clip, const std::vector<uint8_t>& file, int frame) {
    HostPicture picture;
    picture.plane[0] = {file.data() + static_cast<size_t>(frame) * clip.frame_bytes(),
                        {static_cast<ptrdiff_t>(clip.width * clip.sample_bytes())},
                        clip.width,
                        clip.height};
    return picture;
}

/// All scores of a clip, in all variants.
Scores score_clip(const std::filesystem::path& folder, const golden::Clip& clip) {
    const auto reference = golden::unpack(folder, clip.reference_file);
    const auto distorted = golden::unpack(folder, clip.distorted_file);
    Scores scores;
    if (reference.size() < clip.frames * clip.frame_bytes() || distorted.size() < clip.frames * clip.frame_bytes())
        return scores;
    for (const Variant& variant : kVariants) {
        OptionValues options(descriptor().options);
        options.set(0, variant.debug);
        options.set(1, variant.gain_limit);
        options.set(2, variant.skip_scale_0);
        const auto scorer = create_scorer(descriptor(), geometry_of(clip), options);
        const auto finaliser = create_finaliser(descriptor(), geometry_of(clip), options);
        NamedScores sink(variant.suffix, &scores);
        for (int frame = 0; frame < clip.frames; ++frame) {
            std::vector<uint64_t> words(scorer->accumulator_words());
            scorer->score(HostPair{picture_at(clip, reference, frame), picture_at(clip, distorted, frame)}, words);
            finaliser->finalise(frame, words, sink);
        }
    }
    return scores;
}

/// Compares one metric of a run, frame by frame. @return the number of values compared
int compare(const std::string& name, const golden::Json& metric, const Scores& scores) {
    const auto ours = scores.find(name);
    if (ours == scores.end()) {
        ADD_FAILURE() << "no score " << name;
        return 0;
    }
    int compared = 0;
    const auto& values = metric.has("scalar") ? metric["scalar"].array : metric["values"].array;
    for (size_t frame = 0; frame < values.size(); ++frame) {
        if (values[frame].kind == golden::Json::kNull) continue; // n_subsample left it out
        const auto value = ours->second.find(static_cast<int64_t>(frame));
        if (value == ours->second.end()) {
            ADD_FAILURE() << name << " has no frame " << frame;
            continue;
        }
        EXPECT_EQ(value->second, values[frame].value()) << name << " frame " << frame;
        ++compared;
    }
    return compared;
}

TEST(VifGolden, EveryClipEqualsLibvmaf) {
    const auto folder = golden::folder();
    if (folder.empty()) GTEST_SKIP() << "SKIPPED: the golden clips are not here (set QC_SHARED)";
    int compared = 0, clips = 0;
    for (const golden::Clip& clip : golden::clips(folder)) {
        if (!validate(descriptor(), geometry_of(clip), OptionValues(descriptor().options)).ok()) continue;
        SCOPED_TRACE(clip.name);
        const Scores scores = score_clip(folder, clip);
        ASSERT_FALSE(scores.empty()) << "cannot unpack the clip";
        const golden::Json golden = golden::read_json(folder / "libvmaf" / (clip.name + ".json"));
        for (const auto& [run, content] : golden["runs"].object)
            for (const auto& [name, metric] : content["metrics"].object)
                if (name.starts_with("integer_vif")) compared += compare(name, metric, scores);
        ++clips;
    }
    std::printf("%d scores of %d clips compared, equal in every bit\n", compared, clips);
    EXPECT_GE(compared, 4 * clips);
    EXPECT_GE(clips, 1);
}

} // namespace
} // namespace qc::vif
