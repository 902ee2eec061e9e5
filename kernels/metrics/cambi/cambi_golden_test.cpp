// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI against libvmaf's scores of real and made-up clips, with every option set they were made with. The clips are
// not part of this repository: the test looks for <repository>/../shared/golden, or golden/ in the folder that
// QC_SHARED names, and skips itself without.
#include <gtest/gtest.h>

#include <cstdio>

#include "metrics/cambi/cambi.hpp"
#include "plan/feature_name.hpp"
#include "plan/option_parser.hpp"
#include "tests/golden/golden_clip.hpp"

namespace qc::cambi {
namespace {

using golden::Clip;
using golden::Json;

/// Golden options as `item` lists them, or what is wrong with them.
Status parse_options(const Json& item, OptionValues* options) {
    for (const auto& [name, value] : item["options"].object)
        QC_RETURN_IF_ERROR(set_option(descriptor(), name, value.string, UnknownOption::kError, options));
    return {};
}

FrameGeometry geometry_of(const Clip& clip) {
    FrameGeometry geometry;
    geometry.width = clip.width;
    geometry.height = clip.height;
    geometry.depth = clip.depth;
    geometry.sample = clip.depth == 8 ? SampleType::kU8 : SampleType::kU16;
    return geometry;
}

class OutputScores : public ScoreSink {
public:
    void put(int64_t, int output, double value) override { scores_[output] = value; }
    std::map<int, double> scores_;
};

/// Both files of a clip, unpacked when first asked for.
class ClipFiles {
public:
    ClipFiles(const std::filesystem::path& folder, const Clip& clip) : folder_(folder), clip_(clip) {}

    HostPair pair(int frame) {
        if (reference_.empty()) {
            reference_ = golden::unpack(folder_, clip_.reference_file);
            distorted_ = golden::unpack(folder_, clip_.distorted_file);
        }
        HostPair pair;
        pair.reference.plane[0] = luma(reference_, frame);
        pair.distorted.plane[0] = luma(distorted_, frame);
        return pair;
    }

private:
    HostPlane luma(const std::vector<uint8_t>& file, int frame) const {
        const size_t offset = static_cast<size_t>(frame) * clip_.frame_bytes();
        EXPECT_LE(offset + clip_.frame_bytes(), file.size()) << clip_.name;
        return {file.data() + offset,
                {static_cast<ptrdiff_t>(static_cast<size_t>(clip_.width) * clip_.sample_bytes())},
                clip_.width,
                clip_.height};
    }

    const std::filesystem::path& folder_;
    const Clip& clip_;
    std::vector<uint8_t> reference_, distorted_;
};

struct Counts {
    int scores = 0, clips = 0, refusals = 0;
};

/// Runs of libvmaf whose CAMBI has other options than the default, or outputs of its own.
bool is_interesting(const std::string& run, const Json& content) {
    if (run == "default" || run == "options_cambi") return true;
    for (const Json& item : content["items"].array)
        if (item["feature"].string == "cambi" && item["options"].has("full_ref")) return true;
    return false;
}

void compare_run(const Clip& clip, ClipFiles& files, const Json& run, Counts* counts) {
    for (const Json& item : run["items"].array) {
        if (item["feature"].string != "cambi") continue;
        OptionValues options(descriptor().options);
        if (!parse_options(item, &options).ok()) continue; // refused, see below
        const std::string main_name = log_name(descriptor(), descriptor().outputs[0], options);
        const Status status = validate(descriptor(), geometry_of(clip), options);
        EXPECT_EQ(status.ok(), run["metrics"].has(main_name)) << clip.name << " " << main_name << " " << status.text();
        if (!status.ok() || !run["metrics"].has(main_name)) continue;
        const auto scorer = create_scorer(descriptor(), geometry_of(clip), options);
        const auto finaliser = create_finaliser(descriptor(), geometry_of(clip), options);
        for (int frame = 0; frame < clip.frames; ++frame) {
            if (run["metrics"][main_name]["values"].array.at(static_cast<size_t>(frame)).kind == Json::kNull) continue;
            std::vector<uint64_t> words(scorer->accumulator_words());
            scorer->score(files.pair(frame), words);
            OutputScores scores;
            finaliser->finalise(frame, words, scores);
            for (const auto& [output, score] : scores.scores_) {
                const std::string name = log_name(descriptor(), descriptor().outputs[output], options);
                const Json& expected = run["metrics"][name]["values"].array.at(static_cast<size_t>(frame));
                EXPECT_EQ(score, expected.value()) << clip.name << " " << name << " frame " << frame;
                ++counts->scores;
            }
        }
    }
}

void compare_refusals(const Clip& clip, const Json& run, Counts* counts) {
    for (const Json& item : run["refused"].array) {
        if (item["feature"].string != "cambi") continue;
        OptionValues options(descriptor().options);
        Status status = parse_options(item, &options);
        if (status.ok()) status = validate(descriptor(), geometry_of(clip), options);
        EXPECT_FALSE(status.ok()) << clip.name;
        EXPECT_EQ(status.text().find('\n'), std::string::npos);
        ++counts->refusals;
    }
}

TEST(CambiGolden, EveryClipAndOptionSetEqualsLibvmaf) {
    const std::filesystem::path folder = golden::folder();
    if (folder.empty()) GTEST_SKIP() << "SKIPPED: no golden clips beside the repository, and QC_SHARED is not set";
    Counts counts;
    for (const Clip& clip : golden::clips(folder)) {
        const Json file = golden::read_json(folder / "libvmaf" / (clip.name + ".json"));
        ClipFiles files(folder, clip);
        const int before = counts.scores;
        for (const auto& [name, run] : file["runs"].object) {
            if (!is_interesting(name, run)) continue;
            compare_run(clip, files, run, &counts);
            compare_refusals(clip, run, &counts);
        }
        if (counts.scores > before) ++counts.clips;
    }
    std::printf("%d scores of %d clips are equal in every bit, %d refusals agree\n", counts.scores, counts.clips,
                counts.refusals);
    EXPECT_GT(counts.clips, 40);
    EXPECT_GT(counts.scores, 1000);
    EXPECT_GT(counts.refusals, 10);
}

} // namespace
} // namespace qc::cambi
