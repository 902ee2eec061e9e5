// SPDX-License-Identifier: BSD-2-Clause-Patent
// Golden scores: JOD, frames' values and bands of the reference implementation in double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "metrics/cvvdp/cvvdp_emulation.hpp"
#include "metrics/cvvdp/cvvdp_temporal.hpp"
#include "tests/golden/golden.hpp"

namespace qc::cvvdp {
namespace {

using golden::Json;

/// What is computed once more, with the other border, and by the kernels on the host, which are slow.
constexpr int kLargestFixed = 400000, kLargestEmulated = 60000;

/// A case of golden.json with its pictures.
class Case {
public:
    explicit Case(const Json& json) : json_(json) {
        const std::string name = json.at("clip");
        for (golden::Clip& clip : golden::clips())
            if (clip.name == name) clip_ = std::move(clip);
        pictures_ = std::make_unique<golden::ClipPictures>(clip_);
        if (!pictures_->ok()) return;
        const size_t frames = json.at("frames");
        for (size_t f = 0; f < frames; ++f) {
            const size_t at = json.contains("repeat") ? 0 : f;
            reference_.push_back(pictures_->reference()[at]);
            distorted_.push_back(pictures_->distorted()[at]);
        }
    }

    FrameGeometry geometry() const {
        FrameGeometry geometry = clip_.geometry();
        geometry.frame_rate = json_.at("fps");
        geometry.reference_colour.matrix = geometry.distorted_colour.matrix = json_.at("matrix") == "2020" ? 9 : 1;
        return geometry;
    }
    OptionValues options(const char* border) const {
        const std::string display = json_.at("display");
        const char* const padding = json_.at("padding") == "symmetric" ? "symmetric" : "replicate";
        return options_of_words({{"display", display}, {"padding", padding}, {"border", border}});
    }
    std::span<const HostPicture> reference() const { return reference_; }
    std::span<const HostPicture> distorted() const { return distorted_; }
    /// Luma samples of all frames.
    int samples() const { return clip_.width * clip_.height * static_cast<int>(reference_.size()); }

private:
    const Json& json_;
    golden::Clip clip_;
    std::unique_ptr<golden::ClipPictures> pictures_;
    std::vector<HostPicture> reference_, distorted_;
};

/// The kernels, run on the host.
ClipScore emulated_score(const Case& golden_case, const OptionValues& options) {
    const FrameGeometry geometry = golden_case.geometry();
    const std::unique_ptr<Scorer> scorer = create_scorer(descriptor(), geometry, options);
    test::EmulatedProgram program(emulated_kernels());
    EXPECT_TRUE(scorer->prepare(program).ok());
    DeviceClip clip;
    for (const HostPicture& picture : golden_case.reference()) clip.reference.push_back(test::device_view(picture));
    for (const HostPicture& picture : golden_case.distorted()) clip.distorted.push_back(test::device_view(picture));
    const int depth = earlier_pairs(descriptor(), geometry, options);
    return score_words(geometry, options, emulate(*scorer, clip, depth, 4, false));
}

/// The means of bands before their weights: [channel][frame][band].
void expect_bands(const Case& golden_case, const OptionValues& options, const std::vector<uint64_t>& words,
                  const Json& bands, size_t frame) {
    const Plan plan = make_plan(golden_case.geometry(), settled<Settings>(golden_case.geometry(), options));
    for (size_t c = 0; c < bands.size(); ++c)
        for (int b = 0; b < plan.bands; ++b) {
            const LevelSize size = plan.level[static_cast<size_t>(b)];
            const auto sum =
                std::bit_cast<double>(words[static_cast<size_t>(word_of(static_cast<int>(c), b, plan.bands))]);
            const double expected = bands[c][frame][static_cast<size_t>(b)];
            EXPECT_NEAR(offset_power(sum / (static_cast<double>(size.width) * size.height), 0.5), expected,
                        1e-6 * expected + 1e-9)
                << "channel " << c << " frame " << frame << " band " << b;
        }
}

TEST(CvvdpGolden, Scores) {
    if (const char* reason = golden::missing_clips()) GTEST_SKIP() << reason;
    const Json golden_file = golden::read_json(golden::folder() / "cvvdp" / "golden.json");
    if (golden_file.is_null()) GTEST_SKIP() << "SKIPPED: no golden scores of cvvdp";
    const Json bands = golden::read_json(golden::folder() / "cvvdp" / "bands.json");
    double worst = 0.0, worst_backend = 0.0, worst_emulated = 0.0;
    int cases = 0;
    for (const Json& entry : golden_file.at("cases")) {
        const std::string name = entry.at("name");
        SCOPED_TRACE(name);
        const Case golden_case(entry);
        ASSERT_FALSE(golden_case.reference().empty());
        const OptionValues options = golden_case.options("reference");
        const auto words = words_of_clip(golden_case.geometry(), options, golden_case.reference(),
                                         golden_case.distorted(), Cpu::kReference);
        const ClipScore score = score_words(golden_case.geometry(), options, words);
        const double jod = entry.at("jod");
        EXPECT_NEAR(score.jod, jod, 1e-6);
        worst = std::max(worst, std::abs(score.jod - jod));
        ASSERT_EQ(score.frames.size(), entry.at("z").size());
        for (size_t f = 0; f < score.frames.size(); ++f) {
            const double z = entry.at("z")[f];
            EXPECT_NEAR(score.frames[f], z, 1e-6 * z + 1e-6) << "frame " << f;
        }
        const Json& of_case = golden::member(golden::member(bands, "Q"), name);
        EXPECT_FALSE(of_case.is_null());
        if (entry.at("padding") == "replicate" && !of_case.is_null())
            for (size_t f = 0; f < words.size(); ++f) expect_bands(golden_case, options, words[f], of_case, f);
        ++cases;
        const ClipScore backend =
            score_clip(golden_case.geometry(), options, golden_case.reference(), golden_case.distorted());
        EXPECT_NEAR(backend.jod, jod, 1e-6) << "backend";
        expect_equal_jod(backend, score);
        worst_backend = std::max(worst_backend, std::abs(backend.jod - jod));
        if (golden_case.samples() > kLargestFixed) continue;
        for (const Cpu cpu : {Cpu::kReference, Cpu::kBackend}) {
            const ClipScore fixed = score_clip(golden_case.geometry(), golden_case.options("fixed"),
                                               golden_case.reference(), golden_case.distorted(), cpu);
            EXPECT_NEAR(fixed.jod, entry.at("jod_border_fixed").get<double>(), 1e-6) << "border=fixed";
        }
        if (golden_case.samples() > kLargestEmulated) continue;
        const ClipScore emulated = emulated_score(golden_case, options);
        EXPECT_NEAR(emulated.jod, jod, 1e-4) << "kernels";
        worst_emulated = std::max(worst_emulated, std::abs(emulated.jod - jod));
        for (size_t f = 0; f < score.frames.size(); ++f)
            EXPECT_NEAR(emulated.frames[f], backend.frames[f], bound_of(score.frames[f])) << "kernels, frame " << f;
    }
    EXPECT_EQ(cases, 56);
    printf("%d cases, largest difference %.2g JOD, of the backend %.2g, of the kernels %.2g\n", cases, worst,
           worst_backend, worst_emulated);
}

TEST(CvvdpGolden, Displays) {
    if (const char* reason = golden::missing()) GTEST_SKIP() << reason;
    const Json file = golden::read_json(golden::folder() / "cvvdp" / "displays.json");
    if (file.is_null()) GTEST_SKIP() << "SKIPPED: no golden displays of cvvdp";
    size_t known = 0;
    for (const auto& [name, display] : file.at("displays").items()) {
        SCOPED_TRACE(name);
        const std::string word = name;
        const Settings settings = settled<Settings>(FrameGeometry{}, options_of_words({{"display", word}}));
        EXPECT_NEAR(settings.pixels_per_degree, display.at("pixels_per_degree").get<double>(), 1e-11);
        EXPECT_NEAR(settings.peak, display.at("Y_peak").get<double>(), 1e-12);
        EXPECT_NEAR(settings.black, display.at("Y_black").get<double>(), 1e-12);
        EXPECT_NEAR(settings.reflection, display.at("Y_refl").get<double>(), 1e-12);
        ++known;
    }
    EXPECT_EQ(known, std::size(kDisplays));
}

TEST(CvvdpGolden, TemporalFilters) {
    if (const char* reason = golden::missing()) GTEST_SKIP() << reason;
    const Json file = golden::read_json(golden::folder() / "cvvdp" / "temporal_filters.json");
    if (file.is_null()) GTEST_SKIP() << "SKIPPED: no golden filters of cvvdp";
    int filters = 0;
    for (const auto& [rate, golden_taps] : file.at("fps").items()) {
        const auto taps = temporal_taps(std::stod(rate));
        for (size_t c = 0; c < kChannels; ++c) {
            ASSERT_EQ(golden_taps[c].size(), taps.size()) << rate;
            for (size_t j = 0; j < taps.size(); ++j) EXPECT_NEAR(taps[j][c], golden_taps[c][j].get<double>(), 1e-14);
        }
        ++filters;
    }
    EXPECT_EQ(filters, 10);
}

} // namespace
} // namespace qc::cvvdp
