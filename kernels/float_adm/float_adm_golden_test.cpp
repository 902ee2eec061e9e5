// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point ADM against libvmaf's scores of real and made-up clips, with all options and models they were made
// with. The clips are not part of this repository; the test skips itself where they are missing (tests/golden_clip.hpp
// says where it looks).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "float_adm/float_adm.hpp"
#include "float_adm/float_adm_plan.hpp"
#include "tests/golden_stream.hpp"
#include "tests/metric_runner.hpp"

namespace qc::float_adm {
namespace {

/// Scores with other powers than 3 stand on powf(), whose last digit libvmaf takes from the C library.
constexpr double kPowerBound = 1e-6;

/// The options that a logged name ends with: "_csf_2_dlmw_0.7_ssz" after the output's alias.
test::OptionList options_of(const std::string& suffix) {
    test::OptionList list;
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
            list.emplace_back(spec.name, std::stod(value));
        }
        EXPECT_TRUE(known) << suffix;
    }
    return list;
}

/// Splits a logged name into the output's alias and the options' suffix. The longest alias counts.
std::pair<std::string, std::string> split_name(const std::string& name) {
    std::string alias;
    for (const OutputSpec& output : descriptor().outputs) {
        if (name.starts_with(output.alias) && output.alias.size() > alias.size()) alias = output.alias;
    }
    return {alias, name.substr(alias.size())};
}

struct Tally {
    int compared = 0, unequal = 0;
    double largest = 0;
};

/// Compares runs of one clip; each set of options is scored once.
class ClipComparison {
public:
    ClipComparison(const golden::Clip& clip, std::vector<HostPicture> reference, std::vector<HostPicture> distorted)
        : geometry_(golden::geometry_of(clip)), reference_(std::move(reference)), distorted_(std::move(distorted)) {}

    void compare(const golden::Json& run) {
        const std::vector<golden::Json>& unstable = run["unstable"].array;
        for (const auto& [name, metric] : run["metrics"].object) {
            if (!name.starts_with("adm") && !name.starts_with("aim")) continue;
            const std::string& wanted = name;
            if (std::any_of(unstable.begin(), unstable.end(), [&](const auto& one) { return one.string == wanted; })) {
                continue; // libvmaf read memory it never wrote
            }
            compare(name, metric.has("scalar") ? metric["scalar"].array : metric["values"].array);
        }
    }
    const Tally& exact() const { return exact_; }
    const Tally& bounded() const { return bounded_; }

private:
    void compare(const std::string& name, const std::vector<golden::Json>& values) {
        const auto [alias, suffix] = split_name(name);
        auto scores = scores_.find(suffix);
        if (scores == scores_.end()) {
            test::OptionList options = options_of(suffix);
            options.emplace_back("debug", 1);
            scores =
                scores_.emplace(suffix, test::score_stream(descriptor(), geometry_, options, reference_, distorted_))
                    .first;
        }
        const std::vector<double> actual = scores->second.values(alias);
        ASSERT_EQ(values.size(), actual.size()) << name;
        const bool cube = suffix.find("_apn_") == std::string::npos;
        for (size_t frame = 0; frame < values.size(); frame++) {
            if (values[frame].kind == golden::Json::kNull) continue; // n_subsample left it out
            compare(name + " frame " + std::to_string(frame), actual[frame], values[frame].value(), cube);
        }
    }

    void compare(const std::string& what, double value, double expected, bool cube) {
        Tally& tally = cube ? exact_ : bounded_;
        tally.compared++;
        if (value == expected || (std::isnan(value) && std::isnan(expected))) return;
        tally.unequal++;
        tally.largest = std::max(tally.largest, std::abs(value - expected));
        EXPECT_NEAR(value, expected, cube ? 0.0 : kPowerBound) << what;
    }

    FrameGeometry geometry_;
    std::vector<HostPicture> reference_, distorted_;
    std::map<std::string, test::Recorder> scores_; ///< by the options' suffix
    Tally exact_, bounded_;
};

void add(const Tally& more, Tally* total) {
    total->compared += more.compared;
    total->unequal += more.unequal;
    total->largest = std::max(total->largest, more.largest);
}

TEST(FloatAdmGolden, EveryClipEqualsLibvmaf) {
    const auto folder = golden::folder();
    if (folder.empty()) GTEST_SKIP() << "SKIPPED: the golden clips are not here (set QC_SHARED)";
    Tally exact, bounded;
    int clips = 0;
    for (const golden::Clip& clip : golden::clips(folder)) {
        if (clip.width < kMinimumSize || clip.height < kMinimumSize) continue;
        SCOPED_TRACE(clip.name);
        const std::vector<uint8_t> reference = golden::unpack(folder, clip.reference_file);
        const std::vector<uint8_t> distorted = golden::unpack(folder, clip.distorted_file);
        ClipComparison comparison(clip, golden::pictures_of(clip, reference), golden::pictures_of(clip, distorted));
        const golden::Json scores = golden::read_json(folder / "libvmaf" / (clip.name + ".json"));
        for (const auto& [name, run] : scores["runs"].object) comparison.compare(run);
        add(comparison.exact(), &exact);
        add(comparison.bounded(), &bounded);
        clips++;
    }
    std::printf("%d clips: %d scores compared, %d unequal, largest difference %g\n", clips, exact.compared,
                exact.unequal, exact.largest);
    std::printf("other powers: %d scores compared, %d unequal, largest difference %g\n", bounded.compared,
                bounded.unequal, bounded.largest);
    EXPECT_GT(exact.compared, 4000);
    EXPECT_GT(bounded.compared, 0);
}

} // namespace
} // namespace qc::float_adm
