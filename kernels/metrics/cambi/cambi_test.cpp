// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI on the CPU: frozen scores, a direct transcription of the definition, borders, refusals, heat maps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "metrics/cambi/cambi.hpp"
#include "plan/feature_name.hpp"
#include "plan/option_parser.hpp"
#include "tests/support/geometry.hpp"
#include "tests/support/sample_picture.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::cambi {
namespace {

using OptionList = std::vector<std::pair<const char*, const char*>>;

Status parse(const OptionList& list, OptionValues* options) {
    for (const auto& [name, value] : list)
        QC_RETURN_IF_ERROR(set_option(descriptor(), name, value, UnknownOption::kError, options));
    return {};
}

OptionValues options_of(const OptionList& list) {
    OptionValues options(descriptor().options);
    EXPECT_TRUE(parse(list, &options).ok());
    return options;
}

using Luma = test::SamplePicture;

class OutputScores : public ScoreSink {
public:
    void put(int64_t, int output, double value) override { scores_[output] = value; }
    std::map<int, double> scores_;
};

std::map<int, double> scores_of(const FrameGeometry& geometry, const OptionList& list, const Luma& reference,
                                const Luma& distorted, int64_t frame = 0) {
    const OptionValues options = options_of(list);
    const Status status = validate(descriptor(), geometry, options);
    EXPECT_TRUE(status.ok()) << status.text();
    if (!status.ok()) return {};
    const auto scorer = create_scorer(descriptor(), geometry, options);
    HostPair pair;
    pair.reference.plane[0] = reference.plane(0);
    pair.distorted.plane[0] = distorted.plane(0);
    std::vector<uint64_t> words(scorer->accumulator_words());
    scorer->score(pair, words);
    OutputScores scores;
    create_finaliser(descriptor(), geometry, options)->finalise(frame, words, scores);
    return scores.scores_;
}

// ---- map ------------------------------------------------------------------------------------------------------------

/// Where all pixels are pooled, and every scale has whole samples, the map's mean is the score, except for what short
/// numbers lose.
TEST(Cambi, MeanOfTheMapIsTheScore) {
    const FrameGeometry geometry = test::luma_geometry(352, 240, 8);
    const Luma picture(
        geometry, [](int x, int y) { return static_cast<uint32_t>(30 + (3 * x + 2 * y) / 24 % 150); }, 0);
    const OptionList list{{"topk", "1"}};
    const double score = scores_of(geometry, list, picture, picture)[0];
    EXPECT_GT(score, 0.5);
    const auto scorer = create_scorer(descriptor(), geometry, options_of(list));
    HostPair pair;
    pair.reference.plane[0] = pair.distorted.plane[0] = picture.plane(0);
    const MapShape shape = descriptor().map->shape(geometry, options_of(list));
    std::vector<float> values(static_cast<size_t>(shape.width) * static_cast<size_t>(shape.height), -1.0f);
    scorer->draw(pair, {}, {values.data(), {shape.width}, shape.width, shape.height});
    double sum = 0.0;
    for (const float value : values) sum += static_cast<double>(value);
    EXPECT_LE(sum / static_cast<double>(values.size()), score * (1 + 1e-5)); // short numbers are no larger
    EXPECT_GE(sum / static_cast<double>(values.size()), score * (1 - 1.0 / 128));
}

// ---- frozen scores --------------------------------------------------------------------------------------------------

/// A made-up clip of 330x242 samples: blocks of a slow ramp, texture in stripes, and a distorted side that is coarser
/// in stripes of rows. Scores below are libvmaf 3.2.0's.
int frozen_sample(int x, int y, int t, bool distorted, int depth) {
    int sample = 30 + (3 * x + 2 * y + 40 * t) / 24 % 150;
    if (x % 96 >= 64) sample += (7 * x * x + 13 * y + 3 * x * y + 5 * t) % 23 - 11;
    if (distorted) sample = y % 80 < 56 ? sample >> 1 << 1 : sample + (5 * x + 9 * y + 3 * t) % 7 - 3;
    sample = std::clamp(sample, 0, 255);
    if (depth == 8) return sample;
    return std::clamp(4 * sample + (x + y) / 16 % 3 - (distorted && x % 3 == 0 ? 1 : 0), 0, 1023);
}

struct FrozenScores {
    int depth;
    OptionList options;
    int output;
    double frames[3];
};

TEST(Cambi, FrozenScoresOfAMadeUpClip) {
    const OptionList v1{
        {"cambi_high_res_speedup", "1080"}, {"cambi_max_val", "17"}, {"cambi_vis_lum_threshold", "0.06"}};
    const OptionList steps{{"enc_bitdepth", "8"}, {"max_log_contrast", "3"}};
    const OptionList full{{"full_ref", "true"}, {"enc_width", "300"}, {"enc_height", "220"}};
    const FrozenScores cases[] = {
        {8, {}, 0, {0.22377523099947905, 0.20421889304125124, 0.20129946069709315}},
        {8, v1, 0, {0.22377523099947905, 0.20421889304125124, 0.20129946069709315}},
        {8, steps, 0, {15.207474129331015, 15.159958609424054, 15.204533973108761}},
        {8, full, 0, {0.3116432485312623, 0.31473253227952463, 0.30113420553572978}},
        {8, full, 1, {19.869301020297861, 19.843172372938369, 19.829615989301349}},
        {8, full, 2, {0, 0, 0}},
        {10, {}, 0, {0.21150193485287819, 0.19692746240449815, 0.1953141958537111}},
        {10, v1, 0, {0.21150193485287819, 0.19692746240449815, 0.1953141958537111}},
        {10, steps, 0, {1.0202511662154432, 1.1163584865300049, 0.99912003363509061}},
        {10, full, 0, {0.26968381124184171, 0.2510275205010144, 0.21898279904563797}},
        {10, full, 1, {14.875066993712032, 14.886624407550364, 14.791303996658879}},
        {10, full, 2, {0, 0, 0}},
    };
    for (const FrozenScores& c : cases)
        for (int t = 0; t < 3; ++t) {
            const FrameGeometry geometry = test::luma_geometry(330, 242, c.depth);
            const Luma reference(geometry, [&](int x, int y) { return frozen_sample(x, y, t, false, c.depth); });
            const Luma distorted(geometry, [&](int x, int y) { return frozen_sample(x, y, t, true, c.depth); });
            const auto scores = scores_of(geometry, c.options, reference, distorted);
            EXPECT_EQ(scores.at(c.output), c.frames[t])
                << format("%.17g and %.17g: ", scores.at(c.output), c.frames[t]) << c.depth << " bits, "
                << c.options.size() << " options, output " << c.output << ", frame " << t;
        }
}

// ---- the definition, word for word ----------------------------------------------------------------------------------

/// Scores a picture by counting every window sample by sample, on coordinates, with no state from pixel to pixel.
class DirectScore {
public:
    DirectScore(const Luma& luma, const FrameGeometry& geometry, const Settings& settings)
        : luma_(luma), geometry_(geometry), settings_(settings), width_(settings.distorted.width),
          height_(settings.distorted.height) {}

    /// 10-bit sample, before the mode filter.
    int sample(int x, int y) const {
        if (!settings_.anti_dither) return ten_bits(x, y);
        const int right = std::min(x + 1, width_ - 1), below = std::min(y + 1, height_ - 1);
        if (right == x && below == y) return ten_bits(x, y);
        if (right == x) return (ten_bits(x, y) + ten_bits(x, below)) >> 1;
        if (below == y) return (ten_bits(x, y) + ten_bits(right, y)) >> 1;
        return (ten_bits(x, y) + ten_bits(right, y) + ten_bits(x, below) + ten_bits(right, below)) >> 2;
    }

    bool flat(int x, int y) const {
        return (x == width_ - 1 || sample(x, y) == sample(x + 1, y)) &&
               (y == height_ - 1 || sample(x, y) == sample(x, y + 1));
    }

    /// Squares that reach beyond the picture have fewer samples.
    bool masked_in(int x, int y) const {
        int count = 0;
        for (int v = std::max(y - 3, 0); v <= std::min(y + 3, height_ - 1); ++v)
            for (int u = std::max(x - 3, 0); u <= std::min(x + 3, width_ - 1); ++u) count += flat(u, v);
        return count > settings_.distorted.mask_limit;
    }

    double score() const {
        std::vector<int> image, mask;
        int width = width_, height = height_;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                image.push_back(sample(x, y));
                mask.push_back(masked_in(x, y));
            }
        double score = 0.0;
        for (int scale = 0; scale < kScales; ++scale) {
            if (scale > 0 || settings_.half_size) {
                decimate(&image, width, height);
                decimate(&mask, width, height);
                width = (width + 1) / 2;
                height = (height + 1) / 2;
            }
            filter(&image, width, height);
            score += (16 >> scale) * pooled(image, mask, width, height);
        }
        return score / (settings_.distorted.window * settings_.distorted.window);
    }

private:
    int ten_bits(int x, int y) const {
        const auto value = static_cast<int>(luma_.at(0, settings_.distorted.columns[static_cast<size_t>(x)],
                                                     settings_.distorted.rows[static_cast<size_t>(y)]));
        const int excess = geometry_.depth - 10;
        return excess <= 0 ? value << -excess : (value + (1 << (excess - 1))) >> excess;
    }

    static void decimate(std::vector<int>* image, int width, int height) {
        std::vector<int> half;
        for (int y = 0; y < height; y += 2)
            for (int x = 0; x < width; x += 2) half.push_back((*image)[static_cast<size_t>(y * width + x)]);
        *image = half;
    }

    static int mode(int a, int b, int c) {
        if (a == b || a == c) return a;
        return b == c ? b : std::min({a, b, c});
    }

    static void filter(std::vector<int>* image, int width, int height) {
        const auto at = [&](const std::vector<int>& from, int x, int y) {
            return from[static_cast<size_t>(y * width + x)];
        };
        std::vector<int> along = *image, out = *image;
        for (int y = 0; y < height; ++y)
            for (int x = 1; x < width - 1; ++x)
                along[static_cast<size_t>(y * width + x)] =
                    mode(at(*image, x - 1, y), at(*image, x, y), at(*image, x + 1, y));
        for (int y = 1; y < height - 1; ++y)
            for (int x = 0; x < width; ++x)
                out[static_cast<size_t>(y * width + x)] =
                    mode(at(along, x, y - 1), at(along, x, y), at(along, x, y + 1));
        *image = out;
    }

    double pooled(const std::vector<int>& image, const std::vector<int>& mask, int width, int height) const {
        const int reach = settings_.distorted.window / 2, nd = settings_.differences;
        std::vector<double> values;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const int value = image[static_cast<size_t>(y * width + x)];
                float c = 0.0f;
                if (mask[static_cast<size_t>(y * width + x)] != 0) {
                    std::map<int, int> count;
                    for (int v = std::max(y - reach, 0); v <= std::min(y + reach, height - 1); ++v)
                        for (int u = std::max(x - reach, 0); u <= std::min(x + reach, width - 1); ++u)
                            if (mask[static_cast<size_t>(v * width + u)] != 0)
                                ++count[image[static_cast<size_t>(v * width + u)]];
                    static const int weight[33] = {0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8,
                                                   8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
                    for (int d = 1; d <= nd; ++d) {
                        if (value > settings_.brightest[static_cast<size_t>(d)]) continue;
                        if (value + nd + d <= settings_.dark_limit) continue;
                        const int other = std::max(count[value + d], count[value - d]);
                        c = std::max(c, static_cast<float>(weight[d] * count[value] * other) *
                                            reciprocals()[static_cast<size_t>(count[value] + other)]);
                    }
                }
                values.push_back(static_cast<double>(c));
            }
        std::sort(values.begin(), values.end(), std::greater<>());
        const auto pixels = std::max<size_t>(1, static_cast<size_t>(settings_.top_k * (width * height)));
        double sum = 0.0;
        for (size_t i = 0; i < pixels; ++i) sum += values[i];
        return sum / static_cast<double>(pixels);
    }

    const Luma& luma_;
    FrameGeometry geometry_;
    const Settings& settings_;
    int width_, height_;
};

/// Smooth areas with steps, close to all four borders, and a noisy patch.
int stepped_sample(int x, int y, int width, int height, int depth, uint32_t seed) {
    const int scale = 1 << (depth - 8);
    const uint32_t hash = test::synthetic_hash(x, y, seed, 0, 5);
    if (x > width / 2 && x < width / 2 + 12 && y > height / 3 && y < height / 2)
        return static_cast<int>(hash % 255) * scale;
    const int border = std::min({x, y, width - 1 - x, height - 1 - y});
    return (20 + (x + y + static_cast<int>(seed)) / 13 % 60 + (border < 2 ? static_cast<int>(hash % 2) : 0)) * scale;
}

TEST(Cambi, EqualsADirectTranscription) {
    const struct {
        int width, height, depth;
        OptionList options;
    } cases[] = {{217, 30, 8, {}},
                 {218, 31, 10, {}},
                 {224, 24, 8, {{"window_size", "127"}}}, // windows wider than the smallest scale
                 {216, 7, 10, {{"window_size", "127"}}},
                 {3, 219, 8, {}},
                 {1, 217, 10, {}},
                 {219, 2, 12, {}},
                 {230, 28, 16, {{"max_log_contrast", "3"}, {"topk", "0.02"}}},
                 {220, 26, 8, {{"max_log_contrast", "0"}}},
                 {220, 26, 12, {{"enc_bitdepth", "8"}, {"cambi_vis_lum_threshold", "1"}}}};
    for (const auto& c : cases) {
        const FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
        const Luma luma(geometry, [&](int x, int y) { return stepped_sample(x, y, c.width, c.height, c.depth, 3); });
        Settings settings;
        ASSERT_TRUE(settle(geometry, options_of(c.options), &settings).ok());
        const auto scores = scores_of(geometry, c.options, luma, luma);
        EXPECT_EQ(scores.at(0), DirectScore(luma, geometry, settings).score()) << c.width << "x" << c.height;
    }
}

/// The flags of flatness come from the picture's own coordinates: outside there is nothing, in particular no flat
/// samples. Flags that are made from samples which were repeated beyond the borders would count some there.
TEST(Cambi, NothingIsFlatBeyondTheBorders) {
    const FrameGeometry geometry = test::luma_geometry(216, 60, 10);
    const Luma luma(geometry, [](int, int) { return 300; });
    Settings settings;
    ASSERT_TRUE(settle(geometry, options_of({}), &settings).ok());
    const DirectScore direct(luma, geometry, settings);
    // 16 of 49 samples around a corner are inside, 4 * 7 around the middle of an edge.
    ASSERT_GT(settings.distorted.mask_limit, 6);
    ASSERT_LT(settings.distorted.mask_limit, 16);
    settings.distorted.mask_limit = 16;
    EXPECT_FALSE(direct.masked_in(0, 0));
    EXPECT_FALSE(direct.masked_in(215, 59));
    EXPECT_TRUE(direct.masked_in(1, 0));
    EXPECT_TRUE(direct.masked_in(0, 30));

    // The scores agree with limits around what corners and edges have, where any flag beyond the border shows.
    const Luma steps(geometry, [](int x, int y) { return 300 + (x < 4) + (y < 4) + (x > 211) + (y > 55) + x / 30; });
    for (int limit = 10; limit < 49; ++limit) {
        settings.distorted.mask_limit = limit;
        std::vector<uint64_t> sums(kWordsPerPicture);
        score_cpu(geometry, settings, settings.distorted, steps.plane(0), sums, {});
        double score = 0.0;
        for (int s = 0; s < kScales; ++s)
            score += (16 >> s) * (static_cast<double>(sums[static_cast<size_t>(2 * s)]) / 16777216.0 /
                                  static_cast<double>(settings.pooled_pixels(settings.distorted, s)));
        const double expected = DirectScore(steps, geometry, settings).score();
        EXPECT_EQ(score / (settings.distorted.window * settings.distorted.window), expected) << "limit " << limit;
    }
}

// ---- what follows from the options ----------------------------------------------------------------------------------

Settings settings_for(int width, int height, const OptionList& list) {
    Settings settings;
    const Status status = settle(test::luma_geometry(width, height, 8), options_of(list), &settings);
    EXPECT_TRUE(status.ok()) << status.text();
    return settings;
}

TEST(Cambi, VisibilityThresholds) {
    const int bt1886[] = {178, 305, 432, 559, 686, 813, 1023, 1023};
    const Settings settings = settings_for(640, 360, {{"max_log_contrast", "5"}});
    for (size_t d = 1; d <= 8; ++d) EXPECT_EQ(settings.brightest[d], bt1886[d - 1]) << d;
    for (size_t d = 9; d <= 32; ++d) EXPECT_EQ(settings.brightest[d], 1023) << d;
    for (const char* option : {"eotf", "cambi_eotf"}) {
        const Settings pq = settings_for(640, 360, {{option, "pq"}});
        EXPECT_EQ(pq.brightest[1], 233);
        EXPECT_EQ(pq.brightest[2], 1023);
    }
    const std::pair<const char*, int> limits[] = {{"0", 0},   {"0.06", 78}, {"0.1", 84},
                                                  {"1", 135}, {"5", 214},   {"100", 614}};
    for (const auto& [luminance, sample] : limits)
        EXPECT_EQ(settings_for(640, 360, {{"cambi_vis_lum_threshold", luminance}}).dark_limit, sample) << luminance;
}

TEST(Cambi, WindowsAndMaskLimits) {
    const struct {
        int width, height, window, half_window;
    } cases[] = {
        {640, 360, 11, 5}, {1280, 720, 21, 11}, {1920, 1080, 33, 17}, {2560, 1440, 43, 23}, {3840, 2160, 65, 33}};
    for (const auto& c : cases) {
        EXPECT_EQ(settings_for(c.width, c.height, {}).distorted.window, c.window);
        const Settings fast = settings_for(c.width, c.height, {{"cambi_high_res_speedup", "1080"}});
        EXPECT_EQ(fast.half_size, c.width >= 1920);
        EXPECT_EQ(fast.distorted.window, fast.half_size ? c.half_window : c.window);
    }
    EXPECT_EQ(settings_for(7680, 4320, {{"cambi_high_res_speedup", "2160"}}).distorted.window, 65);
    EXPECT_EQ(mask_limit(1920, 1080), 21);
    EXPECT_EQ(mask_limit(3840, 2160), 24);
}

/// 1 / i to nine digits is not always the nearest single-precision number.
TEST(Cambi, ReciprocalsAreThoseOfNineDigits) {
    int above = 0, below = 0;
    for (size_t i = 1; i < reciprocals().size(); ++i) {
        const float nearest = 1.0f / static_cast<float>(i);
        above += reciprocals()[i] == std::nextafterf(nearest, 2.0f);
        below += reciprocals()[i] == std::nextafterf(nearest, 0.0f);
        EXPECT_NEAR(reciprocals()[i], nearest, 1.2e-7f * nearest);
    }
    EXPECT_EQ(above, 14);
    EXPECT_EQ(below, 28);
    EXPECT_GT(reciprocals()[82], 1.0f / 82);
    EXPECT_LT(reciprocals()[504], 1.0f / 504);
}

TEST(Cambi, Names) {
    const OptionValues options = options_of({{"cambi_high_res_speedup", "1080"},
                                             {"cambi_vis_lum_threshold", "0.06"},
                                             {"cambi_max_val", "17"},
                                             {"full_ref", "true"},
                                             {"cambi_eotf", "pq"}});
    const auto& outputs = descriptor().outputs;
    EXPECT_EQ(log_name(descriptor(), outputs[0], options), "cambi_ceot_pq_hrs_1080_cmxv_17_vlt_0.06");
    EXPECT_EQ(log_name(descriptor(), outputs[1], options), "cambi_source");
    EXPECT_EQ(stored_name(descriptor(), outputs[2], options), "cambi_full_reference");
    EXPECT_EQ(stored_name(descriptor(), outputs[0], options_of({})), "Cambi_feature_cambi_score");
}

// ---- refusals and defects that are not copied -----------------------------------------------------------------------

std::string refusal(int width, int height, const OptionList& list) {
    OptionValues options(descriptor().options);
    Status status = parse(list, &options);
    if (status.ok()) status = validate(descriptor(), test::luma_geometry(width, height, 8), options);
    EXPECT_EQ(status.text().find('\n'), std::string::npos) << status.text();
    return status.text();
}

TEST(Cambi, RefusesWithOneLineThatNamesTheOption) {
    const auto mentions = [](const std::string& text, const char* word) {
        return text.find(word) != std::string::npos;
    };
    EXPECT_TRUE(mentions(refusal(215, 215, {}), "215x215 is too small"));
    EXPECT_EQ(refusal(216, 160, {}), "");
    EXPECT_EQ(refusal(160, 216, {}), "");
    EXPECT_TRUE(mentions(refusal(640, 360, {{"enc_width", "200"}, {"enc_height", "150"}}), "enc_width"));
    EXPECT_TRUE(mentions(refusal(640, 360, {{"src_width", "320"}, {"src_height", "400"}}), "contradict"));
    EXPECT_TRUE(mentions(refusal(7680, 4320, {}), "cambi_high_res_speedup"));
    EXPECT_EQ(refusal(7680, 4320, {{"cambi_high_res_speedup", "2160"}}), "");
    EXPECT_TRUE(mentions(refusal(3840, 2160, {{"window_size", "127"}}), "window_size"));
    EXPECT_TRUE(mentions(refusal(640, 360, {{"src_width", "7680"}, {"src_height", "4320"}}), "reference"));
    EXPECT_TRUE(mentions(refusal(640, 360, {{"eotf", "linear"}}), "bt1886 or pq"));
    EXPECT_TRUE(mentions(refusal(640, 360, {{"enc_width", "100"}}), "enc_width"));
    EXPECT_TRUE(mentions(refusal(640, 360, {{"cambi_topk", "0"}}), "cambi_topk"));
    EXPECT_TRUE(mentions(refusal(640, 360, {{"heatmaps_path", "/dev/null/maps"}}), "heatmaps_path"));
}

TEST(Cambi, EncodeSizeNeverEnlarges) {
    const Settings settings = settings_for(640, 360, {{"enc_width", "1280"}, {"enc_height", "200"}});
    EXPECT_EQ(settings.distorted.width, 640);
    EXPECT_EQ(settings.distorted.height, 360);
    EXPECT_EQ(settings_for(640, 360, {{"enc_width", "320"}}).distorted.width, 640); // without a height
}

/// libvmaf crashes: the band of values to look at is empty.
TEST(Cambi, AThresholdThatHidesEverythingGivesZero) {
    const FrameGeometry geometry = test::luma_geometry(300, 220, 8);
    const Luma luma(geometry, [](int x, int y) { return stepped_sample(x, y, 300, 220, 8, 1); });
    EXPECT_GT(scores_of(geometry, {}, luma, luma).at(0), 0.1);
    EXPECT_EQ(scores_of(geometry, {{"cambi_vis_lum_threshold", "290"}}, luma, luma).at(0), 0.0);
}

/// libvmaf puts the rows of the reference in wrong places at 10 bits when the source is wider than the picture.
TEST(Cambi, ASourceWiderThanTheScreenIsScoredAtAnyDepth) {
    const OptionList options{{"full_ref", "true"}, {"src_width", "600"}, {"src_height", "440"}};
    std::vector<double> sources;
    for (const int depth : {10, 12, 16}) {
        const FrameGeometry geometry = test::luma_geometry(300, 220, depth);
        const Luma luma(geometry,
                        [&](int x, int y) { return stepped_sample(x, y, 300, 220, 10, 1) << std::max(0, depth - 10); });
        const auto scores = scores_of(geometry, options, luma, luma);
        sources.push_back(scores.at(1));
        EXPECT_EQ(scores.at(2), std::max(0.0, scores.at(0) - scores.at(1)));
    }
    EXPECT_GT(sources[0], 0.1);
    EXPECT_EQ(sources[0], sources[1]);
    EXPECT_EQ(sources[0], sources[2]);
}

TEST(Cambi, MaximumValueClipsEveryScore) {
    const FrameGeometry geometry = test::luma_geometry(330, 242, 8);
    const Luma luma(geometry, [](int x, int y) { return frozen_sample(x, y, 0, false, 8); });
    const OptionList options{{"full_ref", "true"}, {"cambi_max_val", "2"}};
    EXPECT_EQ(scores_of(geometry, options, luma, luma).at(0), 2.0);
    EXPECT_EQ(scores_of(geometry, options, luma, luma).at(1), 2.0);
}

// ---- heat maps ------------------------------------------------------------------------------------------------------

TEST(Cambi, HeatMapsLieAtTheirFrames) {
    const std::string folder = testing::TempDir() + "/cambi_heat_maps/deeper";
    std::filesystem::remove_all(folder);
    const FrameGeometry geometry = test::luma_geometry(301, 223, 8);
    const OptionValues options = options_of({{"heatmaps_path", folder.c_str()}});
    ASSERT_TRUE(validate(descriptor(), geometry, options).ok());
    const int widths[] = {301, 151, 76, 38, 19}, heights[] = {223, 112, 56, 28, 14};
    {
        const auto scorer = create_scorer(descriptor(), geometry, options);
        const auto finaliser = create_finaliser(descriptor(), geometry, options);
        for (const int frame : {0, 2}) { // frame 1 was not evaluated
            const Luma luma(geometry, [&](int x, int y) { return stepped_sample(x, y, 301, 223, 8, 1 + frame); });
            HostPair pair;
            pair.reference.plane[0] = pair.distorted.plane[0] = luma.plane(0);
            std::vector<uint64_t> words(scorer->accumulator_words());
            scorer->score(pair, words);
            OutputScores scores;
            finaliser->finalise(frame, words, scores);
        }
    }
    for (int scale = 0; scale < kScales; ++scale) {
        const std::string name = format("cambi_heatmap_scale_%d_%dx%d_16b.gray", scale, widths[scale], heights[scale]);
        const size_t bytes = static_cast<size_t>(widths[scale]) * static_cast<size_t>(heights[scale]) * 2;
        ASSERT_EQ(std::filesystem::file_size(std::filesystem::path(folder) / name), 3 * bytes) << name;
        std::ifstream file(std::filesystem::path(folder) / name, std::ios::binary);
        std::vector<uint16_t> samples(3 * bytes / 2);
        file.read(reinterpret_cast<char*>(samples.data()), static_cast<std::streamsize>(3 * bytes));
        const auto frame_sum = [&](size_t frame) {
            uint64_t sum = 0;
            for (size_t i = 0; i < bytes / 2; ++i) sum += samples[frame * bytes / 2 + i];
            return sum;
        };
        EXPECT_GT(frame_sum(0), 0u) << name;
        EXPECT_EQ(frame_sum(1), 0u) << name;
        EXPECT_GT(frame_sum(2), 0u) << name;
    }
}

/// A folder takes the maps of one input; what cannot be written ends the session.
TEST(Cambi, HeatMapsThatCannotBeWrittenAreTrouble) {
    const std::string folder = testing::TempDir() + "/cambi_heat_maps_trouble";
    std::filesystem::remove_all(folder);
    const FrameGeometry geometry = test::luma_geometry(240, 220, 8);
    const OptionValues options = options_of({{"heatmaps_path", folder.c_str()}});
    ASSERT_TRUE(validate(descriptor(), geometry, options).ok());
    const auto first = create_finaliser(descriptor(), geometry, options),
               second = create_finaliser(descriptor(), geometry, options);
    const std::vector<uint64_t> words(create_scorer(descriptor(), geometry, options)->accumulator_words());
    OutputScores scores;
    first->finalise(0, words, scores);
    EXPECT_TRUE(first->trouble().ok());
    second->finalise(0, words, scores);
    EXPECT_NE(second->trouble().text().find("is being written already"), std::string::npos) << second->trouble().text();
    std::filesystem::remove_all(folder);
    std::ofstream(folder) << "a file where the folder was when the options were checked";
    const auto third = create_finaliser(descriptor(), geometry, options);
    third->finalise(0, words, scores);
    EXPECT_EQ(third->trouble().code(), QC_ERROR_IO);
    EXPECT_NE(third->trouble().text().find("heatmaps_path"), std::string::npos) << third->trouble().text();
    std::filesystem::remove(folder);
}

/// While options are only checked, nothing is made; what is impossible is refused nevertheless.
TEST(Cambi, CheckingTheHeatMapsFolderMakesNothing) {
    const std::string parent = testing::TempDir() + "/cambi_heat_maps_checked", folder = parent + "/deeper/still";
    std::filesystem::remove_all(parent);
    EXPECT_EQ(refusal(240, 220, {{"heatmaps_path", folder.c_str()}}), "");
    EXPECT_FALSE(std::filesystem::exists(parent));
    const OptionValues options = options_of({{"heatmaps_path", folder.c_str()}});
    const auto finaliser = create_finaliser(descriptor(), test::luma_geometry(240, 220, 8), options);
    EXPECT_FALSE(std::filesystem::exists(parent));
    std::ofstream(parent) << "a file";
    EXPECT_NE(refusal(240, 220, {{"heatmaps_path", parent.c_str()}}).find("heatmaps_path"), std::string::npos);
    EXPECT_NE(refusal(240, 220, {{"heatmaps_path", folder.c_str()}}).find("heatmaps_path"), std::string::npos);
    std::filesystem::remove(parent);
}

/// A c-value c becomes trunc(c * 65535 / floor(weight * window^2 / 4)).
TEST(Cambi, HeatOfACValue) {
    const Settings settings = settings_for(384, 288, {});
    EXPECT_EQ(settings.full_heat(), static_cast<float>(settings.distorted.window * settings.distorted.window));
    const struct {
        float c, full;
        int heat;
    } cases[] = {{0.0f, 49.0f, 0}, {0.5f, 49.0f, 668}, {49.0f, 49.0f, 65535}, {49.3f, 49.0f, 65535}, {0.0f, 0.0f, 0}};
    for (const auto& each : cases) EXPECT_EQ(heat(each.c, each.full), each.heat) << each.c << " of " << each.full;
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

TEST(Cambi, FixedPointAndKeysAreExact) {
    for (const float c : {0.5f, 0.66666669f, 1.0f, 3.25f, 1056.0f, 9503.4375f}) {
        EXPECT_EQ(static_cast<double>(to_fixed_point(c)), static_cast<double>(c) * 16777216.0);
        EXPECT_LT(key_of(c), 1u << kKeyBits);
        EXPECT_EQ(fixed_point_of_key(key_of(c)), to_fixed_point(c));
    }
    EXPECT_LT(key_of(1.0f), key_of(1.0000001f));
}

TEST(Cambi, ModeOfThree) {
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b)
            for (int c = 0; c < 4; ++c) {
                const int expected = a == b || a == c ? a : b == c ? b : std::min({a, b, c});
                EXPECT_EQ(mode_of_three(a, b, c), expected) << a << b << c;
            }
}

} // namespace
} // namespace qc::cambi
