// SPDX-License-Identifier: BSD-2-Clause-Patent
// ColorVideoVDP: frozen scores of small clips, options and what they refuse, frames that wait, whole sessions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "metrics/cvvdp/cvvdp_settings.hpp"
#include "metrics/cvvdp/cvvdp_temporal.hpp"
#include "metrics/cvvdp/cvvdp_test_support.hpp"
#include "quality_cuda.h"
#include "tests/support/geometry.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::cvvdp {
namespace {

FrameGeometry geometry_at(double rate, int width = 48, int height = 36, int depth = 8) {
    FrameGeometry geometry = test::geometry_of(width, height, depth, QC_CHROMA_420);
    geometry.frame_rate = rate;
    return geometry;
}

// ---- scores ---------------------------------------------------------------------------------------------------------

/// A clip that is made, and what the CPU reference said of it when it agreed with all golden cases.
struct Frozen {
    const char *display, *padding;
    double rate;
    int depth, frames;
    double jod, first, last;
};

constexpr Frozen kFrozen[] = {
    {"standard_4k", "replicate", 24, 8, 1, 7.364802091262, 141.029966248033, 141.029966248033},
    {"standard_4k", "replicate", 24, 8, 3, 5.678095776786, 141.029966248033, 136.990262654101},
    {"standard_4k", "symmetric", 24, 8, 3, 5.594637949218, 136.990430282861, 136.990430282861},
    {"standard_fhd", "replicate", 60, 8, 5, 5.198115753335, 154.403460766894, 156.499667855270},
    {"standard_hdr_pq", "replicate", 25, 10, 2, 5.400633411549, 148.078643348343, 148.575564608833},
    {"standard_hdr_hlg", "replicate", 25, 10, 2, 5.188877370368, 155.708803406525, 155.653369369252},
    {"iphone_12_pro", "symmetric", 29.97, 12, 9, 6.781963986956, 75.521166601512, 75.521166601512},
};

TEST(Cvvdp, FrozenScores) {
    for (const Frozen& frozen : kFrozen) {
        SCOPED_TRACE(testing::Message() << frozen.display << " " << frozen.padding << " " << frozen.frames);
        const FrameGeometry geometry = geometry_at(frozen.rate, 48, 36, frozen.depth);
        const Clip clip(geometry, frozen.frames);
        const OptionValues options = options_of_words({{"display", frozen.display}, {"padding", frozen.padding}});
        const ClipScore score = score_clip(geometry, options, clip.reference, clip.distorted, Cpu::kReference);
        EXPECT_NEAR(score.jod, frozen.jod, 1e-9)
            << format("{%.12f, %.12f, %.12f}", score.jod, score.frames.front(), score.frames.back());
        EXPECT_NEAR(score.frames.front(), frozen.first, 1e-8);
        EXPECT_NEAR(score.frames.back(), frozen.last, 1e-8);
        expect_equal_jod(score_clip(geometry, options, clip.reference, clip.distorted), score);
    }
}

TEST(Cvvdp, IdenticalAndFlatPicturesScoreTen) {
    const FrameGeometry geometry = geometry_at(24);
    const Clip clip(geometry, 3);
    const ClipScore same = score_clip(geometry, options_of_words({}), clip.reference, clip.reference);
    EXPECT_EQ(same.jod, 10.0);
    EXPECT_EQ(same.frames, (std::vector<double>{0.0, 0.0, 0.0}));
    const test::SamplePicture black(geometry, [](int plane, int, int) { return plane == 0 ? 16 : 128; });
    const test::SamplePicture white(geometry, [](int plane, int, int) { return plane == 0 ? 235 : 128; });
    const ClipScore flat = score_clip(geometry, options_of_words({}), std::vector{black.view(), black.view()},
                                      std::vector{white.view(), white.view()});
    EXPECT_NEAR(flat.jod, 10.0, 1e-9);
}

// ---- map ------------------------------------------------------------------------------------------------------------

std::vector<float> draw_map(const FrameGeometry& geometry, const HostPicture& reference, const HostPicture& distorted) {
    std::vector<float> values(static_cast<size_t>(geometry.width) * static_cast<size_t>(geometry.height), -1.0f);
    create_scorer(descriptor(), geometry, options_of_words({}))
        ->draw({reference, distorted}, {}, {values.data(), {geometry.width}, geometry.width, geometry.height});
    return values;
}

/// Nothing where pictures are the same, or differ in brightness alone; a speck where it is, and not far from it.
TEST(Cvvdp, MapShowsWhere) {
    const FrameGeometry geometry = geometry_at(24, 160, 96, 8);
    const auto flat = [&](int value) {
        return test::SamplePicture(geometry, [value](int plane, int, int) { return plane == 0 ? value : 128; });
    };
    const test::SamplePicture gray = flat(120), brighter = flat(200);
    const test::SamplePicture speck(geometry, [](int plane, int x, int y) {
        const bool inside = x >= 120 && x < 128 && y >= 60 && y < 68;
        return plane != 0 ? 128 : inside ? 160 : 120;
    });
    for (const float value : draw_map(geometry, gray.view(), gray.view())) EXPECT_EQ(value, 0.0f);
    for (const float value : draw_map(geometry, gray.view(), brighter.view())) EXPECT_NEAR(value, 0.0f, 1e-6f);
    const std::vector<float> values = draw_map(geometry, gray.view(), speck.view());
    const auto at = [&](int x, int y) { return values[static_cast<size_t>(y * geometry.width + x)]; };
    const auto largest = std::max_element(values.begin(), values.end()) - values.begin();
    EXPECT_NEAR(static_cast<double>(largest % geometry.width), 124, 6);
    EXPECT_NEAR(static_cast<double>(largest / geometry.width), 64, 6);
    EXPECT_GT(at(124, 64), 0.05f);
    EXPECT_LT(at(20, 20), 0.05f * at(124, 64));
}

TEST(Cvvdp, RgbIsTakenAsItIs) {
    FrameGeometry rgb = test::geometry_of(32, 32, 8, QC_CHROMA_444), yuv = rgb;
    rgb.rgb = true;
    rgb.frame_rate = yuv.frame_rate = 24;
    // Multiples of 1/73 are whole codes of limited range.
    const auto picture = [&](const FrameGeometry& geometry, bool distorted) {
        return test::SamplePicture(geometry, [=](int plane, int x, int y) {
            const int level = (x / 3 * 7 + y / 2 * 3 + (distorted && x % 5 == 0 ? 9 : 0)) % 73;
            if (geometry.rgb) return static_cast<uint32_t>(std::lround(level * 255.0 / 73));
            return static_cast<uint32_t>(plane > 0 ? 128 : 16 + 3 * level);
        });
    };
    const test::SamplePicture r = picture(rgb, false), d = picture(rgb, true);
    const test::SamplePicture yr = picture(yuv, false), yd = picture(yuv, true);
    const OptionValues options = options_of_words({});
    const double as_rgb = score_clip(rgb, options, std::vector{r.view()}, std::vector{d.view()}).jod;
    const double as_yuv = score_clip(yuv, options, std::vector{yr.view()}, std::vector{yd.view()}).jod;
    EXPECT_LT(as_rgb, 9.9);
    EXPECT_NEAR(as_rgb, as_yuv, 0.02) << "RGB's codes are rounded";
}

// ---- time -----------------------------------------------------------------------------------------------------------

TEST(Cvvdp, TapCounts) {
    const std::vector<std::pair<double, int>> expected{
        {23.976, 7}, {24, 7}, {25, 9}, {29.97, 9}, {30, 9}, {50, 15}, {60, 17}, {59.94, 17}, {120, 31}, {8, 3}, {1, 3}};
    for (const auto& [rate, taps] : expected) EXPECT_EQ(tap_count(rate), taps) << rate;
}

/// Every frame gets its value once, whatever the length of the clip; a mirrored start equals one that is written out.
TEST(Cvvdp, MirroredFrames) {
    const FrameGeometry geometry = geometry_at(24, 20, 16);
    const Clip clip(geometry, 9);
    const OptionValues symmetric = options_of_words({{"padding", "symmetric"}}), replicate = options_of_words({});
    for (size_t frames = 1; frames <= 9; ++frames) {
        const std::span reference(clip.reference.data(), frames), distorted(clip.distorted.data(), frames);
        const ClipScore mirrored = score_clip(geometry, symmetric, reference, distorted, Cpu::kReference);
        ASSERT_EQ(mirrored.frames.size(), frames);
        std::vector<HostPicture> long_reference, long_distorted;
        for (int t = -6; t < static_cast<int>(frames); ++t) {
            const auto at = static_cast<size_t>(frame_at(t, static_cast<int>(frames), true));
            long_reference.push_back(reference[at]);
            long_distorted.push_back(distorted[at]);
        }
        const ClipScore written = score_clip(geometry, replicate, long_reference, long_distorted, Cpu::kReference);
        for (size_t f = 0; f < frames; ++f)
            EXPECT_NEAR(mirrored.frames[f], written.frames[f + 6], 1e-7) << frames << " frames, frame " << f;
        expect_equal_jod(score_clip(geometry, symmetric, reference, distorted), mirrored);
    }
}

// ---- options --------------------------------------------------------------------------------------------------------

Status check(const test::WordList& words, const test::OptionList& numbers, const FrameGeometry& geometry) {
    return validate(descriptor(), geometry, options_of_words(words, numbers));
}

TEST(Cvvdp, RefusesWhatHasNoMeaning) {
    const FrameGeometry geometry = geometry_at(25);
    test::expect_refusal(check({}, {{"screen_inches", 30}, {"screen_fov", 60}}, geometry),
                         {"cvvdp", "screen_inches and screen_fov"});
    test::expect_refusal(check({}, {{"peak", 100}, {"black", 100}}, geometry), {"cvvdp", "black of 100", "less"});
    test::expect_refusal(check({}, {{"gamma", 2.4}}, geometry), {"cvvdp", "gamma=2.4", "eotf=power"});
    test::expect_refusal(check({}, {{"screen_distance", 1000}}, geometry), {"cvvdp", "pixels per degree", "1 to 1000"});
    test::expect_refusal(check({{"display", "standard_hdr_hlg"}}, {{"ambient", 0}}, geometry),
                         {"cvvdp", "ambient=0", "HLG"});
    test::expect_refusal(check({}, {}, geometry_at(600)), {"cvvdp", "600 frames per second"});
    test::expect_refusal(check({}, {}, geometry_at(25, 1, 20)), {"cvvdp", "2x2", "1x20"});
    test::expect_refusal(check({}, {{"black", -0.5}}, geometry), {"cvvdp", "black=-0.5", "0 to 100000"});
    test::expect_refusal(check({}, {{"ambient", -0.5}}, geometry), {"cvvdp", "ambient=-0.5"});
    test::expect_refusal(check({}, {{"reflectivity", -0.1}}, geometry), {"cvvdp", "reflectivity=-0.1", "0 to 1"});
    test::expect_refusal(check({}, {{"ppd", 60}, {"screen_distance", 1}}, geometry),
                         {"cvvdp", "ppd=60", "screen_distance"});
    test::expect_refusal(check({}, {{"ppd", 0.5}}, geometry), {"cvvdp", "0.5 pixels per degree", "1 to 1000"});
    EXPECT_TRUE(check({}, {{"fps", 60}}, geometry_at(600)).ok());
    EXPECT_TRUE(check({{"eotf", "power"}}, {{"gamma", 2.4}}, geometry).ok());
    EXPECT_TRUE(check({{"display", "standard_hdr_hlg"}}, {{"ambient", 0}, {"peak", 900}}, geometry).ok());
}

TEST(Cvvdp, OwnDisplays) {
    const auto settings = [](const test::WordList& words, const test::OptionList& numbers) {
        return settled<Settings>(geometry_at(25), options_of_words(words, numbers));
    };
    const Settings own = settings(
        {}, {{"screen_width", 1920}, {"screen_height", 1080}, {"screen_inches", 24}, {"screen_distance", 0.6}});
    EXPECT_NEAR(own.pixels_per_degree, 37.842503853602885, 1e-11) << "as standard_fhd";
    EXPECT_EQ(own.display, "custom, from standard_4k");
    EXPECT_NEAR(settings({}, {{"screen_width", 1440}, {"screen_height", 1600}, {"screen_fov", 110}}).pixels_per_degree,
                13.153262507309298, 1e-11)
        << "as standard_hmd";
    EXPECT_EQ(settings({}, {{"ppd", 60}}).pixels_per_degree, 60.0);
    EXPECT_EQ(settings({}, {{"peak", 400}}).black, 0.4) << "the contrast stays";
    EXPECT_EQ(settings({}, {{"contrast", 500}}).black, 0.4);
    EXPECT_EQ(settings({}, {{"contrast", 500}, {"black", 0.1}}).black, 0.1);
    EXPECT_EQ(settings({{"display", "ipad_pro_12_9"}}, {{"contrast", 1000}}).black, 0.6);
    EXPECT_EQ(settings({}, {{"ambient", 0}}).reflection, 0.0);
    EXPECT_EQ(settings({{"display", "standard_fhd"}}, {}).display, "standard_fhd");
}

TEST(Cvvdp, MatrixFollowsTheTags) {
    FrameGeometry geometry = geometry_at(25);
    geometry.reference_colour.matrix = 9;
    const Settings tagged = settled<Settings>(geometry, options_of_words({}));
    EXPECT_EQ(tagged.matrix[0], Matrix::kBt2020);
    EXPECT_EQ(tagged.matrix[1], Matrix::kBt709);
    const Settings set = settled<Settings>(geometry, options_of_words({{"matrix", "bt709"}}));
    EXPECT_EQ(set.matrix[0], Matrix::kBt709);
}

TEST(Cvvdp, TellsWhatContradictsTheDisplay) {
    FrameGeometry geometry = geometry_at(0);
    geometry.distorted_colour.transfer = 16;
    geometry.reference_colour.range = 2;
    const auto warnings = create_scorer(descriptor(), geometry, options_of_words({}))->warnings();
    ASSERT_EQ(warnings.size(), 3U);
    EXPECT_NE(warnings[0].find("frame rate is unknown"), std::string::npos);
    EXPECT_NE(warnings[1].find("reference is tagged as full range"), std::string::npos);
    EXPECT_NE(warnings[2].find("tagged PQ"), std::string::npos);
    geometry = geometry_at(24);
    geometry.distorted_colour.transfer = geometry.reference_colour.transfer = 16;
    EXPECT_TRUE(
        create_scorer(descriptor(), geometry, options_of_words({{"display", "standard_hdr_pq"}}))->warnings().empty());
}

// ---- sessions -------------------------------------------------------------------------------------------------------

qc_config config_of(const char* options, int n_subsample = 1) {
    qc_config config = test::config_for(test::layout_named("yuv420p"), 40, 32, "cvvdp", QC_BACKEND_CPU);
    config.options = options;
    config.n_subsample = n_subsample;
    config.frame_rate = 24;
    return config;
}

std::unique_ptr<Session> scored(const qc_config& config, const test::Stream& stream, size_t first, size_t end) {
    std::unique_ptr<Session> session;
    const Status created = Session::create(config, &session);
    EXPECT_TRUE(created.ok()) << created.text();
    for (size_t f = first; f < end; ++f) {
        if (std::find(stream.pauses.begin(), stream.pauses.end(), f) != stream.pauses.end()) {
            EXPECT_TRUE(session->begin_stretch().ok());
        }
        const qc_picture distorted = stream.distorted[0][f].view();
        EXPECT_TRUE(session->submit(test::frame_of(stream.reference[f].view(), {distorted})).ok());
    }
    EXPECT_TRUE(session->flush().ok());
    return session;
}

std::vector<double> frames_of(const Session& session) {
    std::vector<double> frames;
    EXPECT_TRUE(session.table(0)
                    .for_each_scored_row([&](int64_t, std::span<const double> values) {
                        frames.push_back(values[0]);
                        return Status();
                    })
                    .ok());
    return frames;
}

double jod_of_session(const Session& session) {
    const auto aggregates = session.table(0).aggregates();
    EXPECT_EQ(aggregates.size(), 1U);
    if (aggregates.empty()) return std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(aggregates[0].first, "cvvdp");
    return aggregates[0].second;
}

/// The clip's score is that of the frames that count; behind a pause frames begin anew.
TEST(Cvvdp, PausesAndEarlyEnds) {
    for (const char* options : {"", "cvvdp.padding=symmetric"}) {
        const qc_config config = config_of(options);
        test::Stream stream = test::make_stream(config, test::Content::kNatural, 9);
        const auto whole = scored(config, stream, 0, 9);
        EXPECT_EQ(frames_of(*whole).size(), 9U);
        EXPECT_EQ(jod_of_session(*whole), jod_of_frames(frames_of(*whole)));
        EXPECT_TRUE(whole->truncate(4).ok());
        EXPECT_EQ(jod_of_session(*whole), jod_of_frames(std::vector(frames_of(*whole))));
        EXPECT_EQ(frames_of(*whole).size(), 4U);

        stream.pauses = {3};
        const std::vector<double> paused = frames_of(*scored(config, stream, 0, 9));
        std::vector<double> expected = frames_of(*scored(config, stream, 0, 3));
        const std::vector<double> rest = frames_of(*scored(config, stream, 3, 9));
        expected.insert(expected.end(), rest.begin(), rest.end());
        EXPECT_EQ(paused, expected) << options;
    }
}

TEST(Cvvdp, SubsamplingKeepsTheFilters) {
    const test::Stream stream = test::make_stream(config_of(""), test::Content::kNatural, 9);
    for (const char* options : {"", "cvvdp.padding=symmetric"}) {
        const std::vector<double> all = frames_of(*scored(config_of(options), stream, 0, 9));
        EXPECT_EQ(frames_of(*scored(config_of(options, 4), stream, 0, 9)), (std::vector{all[0], all[4], all[8]}))
            << options;
    }
}

TEST(Cvvdp, ClosingLine) {
    const qc_config config = config_of("");
    const test::Stream stream = test::make_stream(config, test::Content::kNatural, 2);
    const auto session = scored(config, stream, 0, 2);
    ASSERT_EQ(session->plan().stream_scores.size(), 1U);
    EXPECT_EQ(session->plan().stream_scores[0].title, "CVVDP score");
}

} // namespace
} // namespace qc::cvvdp
