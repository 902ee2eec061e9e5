// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM against libvmaf's scores of real and made-up clips, with all options and models they were made with. The
// clips are not part of this repository; the test skips itself where they are missing (tests/golden_clip.hpp says where
// it looks).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "adm/adm.hpp"
#include "adm/adm_test_support.hpp"
#include "tests/golden_clip.hpp"

namespace qc::adm {
namespace {

/// The options that a logged name ends with: "_csf_2_dlmw_0.7_ssz" after the output's alias.
Assignments options_of(const std::string& suffix) {
    Assignments assignments;
    std::stringstream words(suffix);
    std::string word;
    std::getline(words, word, '_'); // before the first underscore there is nothing
    while (std::getline(words, word, '_')) {
        bool known = false;
        for (const OptionSpec& spec : descriptor().options) {
            if (spec.alias != word) continue;
            known = true;
            std::string value = "1";
            if (spec.type != OptionType::kBool) std::getline(words, value, '_');
            assignments[std::string(spec.name)] = std::stod(value);
        }
        EXPECT_TRUE(known) << suffix;
    }
    return assignments;
}

/// Splits a logged name into the output's alias and the options' suffix. The longest alias counts.
std::pair<std::string, std::string> split_name(const std::string& name) {
    std::string alias;
    for (const OutputSpec& output : descriptor().outputs) {
        if (name.starts_with(output.alias) && output.alias.size() > alias.size()) alias = output.alias;
    }
    return {alias, name.substr(alias.size())};
}

/// The luma of one picture of an unpacked file.
Picture picture_at(const golden::Clip& clip, const std::vector<uint8_t>& file, int frame) {
    Picture picture(clip.width, clip.height, clip.depth);
    const size_t row_bytes = static_cast<size_t>(clip.width) * clip.sample_bytes();
    for (int y = 0; y < clip.height; y++) {
        std::memcpy(picture.bytes.data() + static_cast<size_t>(y) * picture.pitch(),
                    file.data() + clip.frame_bytes() * frame + y * row_bytes, row_bytes);
    }
    return picture;
}

std::vector<Pair> read_frames(const std::filesystem::path& folder, const golden::Clip& clip) {
    const std::vector<uint8_t> reference = golden::unpack(folder, clip.reference_file);
    const std::vector<uint8_t> distorted = golden::unpack(folder, clip.distorted_file);
    const size_t size = clip.frame_bytes() * clip.frames;
    std::vector<Pair> frames;
    if (reference.size() < size || distorted.size() < size) return frames;
    for (int n = 0; n < clip.frames; n++) {
        frames.push_back({picture_at(clip, reference, n), picture_at(clip, distorted, n)});
    }
    return frames;
}

/// Where csf mode 1 overflows, libvmaf's code paths differ, and big clips have the values of its SIMD code only.
bool is_settled(const golden::Clip& clip, const Assignments& options) {
    const auto mode = options.find("adm_csf_mode");
    const bool overflowing = mode != options.end() && static_cast<int>(mode->second) == kCsfBarten;
    return !overflowing || int64_t{clip.width} * clip.height * clip.frames <= 2000000;
}

/// Compares runs of one clip; each set of options is scored once.
class ClipComparison {
public:
    ClipComparison(const golden::Clip& clip, std::vector<Pair> frames) : clip_(clip), frames_(std::move(frames)) {}

    void compare(const golden::Json& run) {
        const std::vector<golden::Json>& unstable = run["unstable"].array;
        for (const auto& [name, metric] : run["metrics"].object) {
            if (!name.starts_with("integer_adm") && !name.starts_with("integer_aim")) continue;
            const std::string& wanted = name;
            if (std::any_of(unstable.begin(), unstable.end(), [&](const auto& one) { return one.string == wanted; })) {
                continue; // libvmaf read memory it never wrote
            }
            compare(name, metric.has("scalar") ? metric["scalar"].array : metric["values"].array);
        }
    }
    int compared() const { return compared_; }

private:
    void compare(const std::string& name, const std::vector<golden::Json>& values) {
        const auto [alias, suffix] = split_name(name);
        Assignments options = options_of(suffix);
        if (!is_settled(clip_, options)) return;
        options["debug"] = 1;
        std::vector<ScoreMap>& scores = scores_[suffix];
        if (scores.empty()) {
            for (const Pair& pair : frames_) scores.push_back(score(pair, options));
        }
        ASSERT_EQ(values.size(), scores.size()) << name;
        for (size_t frame = 0; frame < values.size(); frame++) {
            if (values[frame].kind == golden::Json::kNull) continue; // n_subsample left it out
            const double value = scores[frame].at(alias), expected = values[frame].value();
            if (std::isnan(expected))
                EXPECT_TRUE(std::isnan(value)) << name << " frame " << frame;
            else
                EXPECT_EQ(value, expected) << name << " frame " << frame;
            compared_++;
        }
    }

    const golden::Clip& clip_;
    std::vector<Pair> frames_;
    std::map<std::string, std::vector<ScoreMap>> scores_; ///< by the options' suffix
    int compared_ = 0;
};

TEST(AdmGolden, EveryClipEqualsLibvmaf) {
    const auto folder = golden::folder();
    if (folder.empty()) GTEST_SKIP() << "SKIPPED: the golden clips are not here (set QC_SHARED)";
    int compared = 0, clips = 0;
    for (const golden::Clip& clip : golden::clips(folder)) {
        if (clip.width < kMinimumSize || clip.height < kMinimumSize) continue;
        SCOPED_TRACE(clip.name);
        ClipComparison comparison(clip, read_frames(folder, clip));
        const golden::Json scores = golden::read_json(folder / "libvmaf" / (clip.name + ".json"));
        for (const auto& [name, run] : scores["runs"].object) comparison.compare(run);
        compared += comparison.compared();
        clips++;
    }
    std::printf("%d scores of %d clips compared, all must be equal in every bit\n", compared, clips);
    EXPECT_GT(compared, 10000);
}

} // namespace
} // namespace qc::adm
