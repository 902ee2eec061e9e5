// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2 on the CPU without golden files: every small size against a second implementation that does nothing
// clever, colours, options, refusals, hostile pictures.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "metrics/ssimulacra2/ssimulacra2.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::ssimulacra2 {
namespace {

using test::SyntheticClip;
using test::SyntheticPicture;
using Words = std::vector<std::pair<std::string_view, std::string_view>>;

test::OptionList list_of(const Words& words) {
    test::OptionList list;
    for (const auto& [option, word] : words)
        for (const OptionSpec& spec : descriptor().options) {
            if (spec.name != option) continue;
            const auto found = std::find(spec.choices.begin(), spec.choices.end(), word);
            EXPECT_NE(found, spec.choices.end()) << option << " has no choice " << word;
            list.emplace_back(option, static_cast<double>(found - spec.choices.begin()));
        }
    EXPECT_EQ(list.size(), words.size());
    return list;
}

test::Recorder run(const FrameGeometry& geometry, const test::OptionList& list, const HostPicture& reference,
                   const HostPicture& distorted) {
    const std::vector<HostPicture> first{reference}, second{distorted};
    return test::score_stream(descriptor(), geometry, list, first, second);
}

double score_of(const FrameGeometry& geometry, const Words& words, const HostPicture& reference,
                const HostPicture& distorted) {
    return run(geometry, list_of(words), reference, distorted).values("ssimulacra2").at(0);
}

SyntheticClip clip_of(int width, int height, qc_chroma chroma, int depth) {
    return {"", width, height, chroma, depth, 1, 0, 0};
}

/// A synthetic pair and its score under options and tags.
struct Pair {
    Pair(int width, int height, qc_chroma chroma = QC_CHROMA_420, int depth = 8)
        : geometry(test::synthetic_geometry(clip_of(width, height, chroma, depth))),
          reference(clip_of(width, height, chroma, depth), false, 0),
          distorted(clip_of(width, height, chroma, depth), true, 0) {}

    double score(const Words& words = {}) const {
        return score_of(geometry, words, reference.view(), distorted.view());
    }

    FrameGeometry geometry;
    SyntheticPicture reference, distorted;
};

ColourTags tags(int matrix, int range, int primaries, int transfer, int location) {
    return {matrix, range, primaries, transfer, location};
}

Status validate(const FrameGeometry& geometry, const Words& words = {}) {
    return validate(descriptor(), geometry, test::options_of(descriptor(), list_of(words)));
}

Plan plan_of(const FrameGeometry& geometry, const Words& words = {}) {
    Plan plan{};
    const Status status = plan_for(geometry, test::options_of(descriptor(), list_of(words)), &plan);
    EXPECT_TRUE(status.ok()) << status.text();
    return plan;
}

std::unique_ptr<Scorer> scorer_of(const FrameGeometry& geometry, const Words& words = {}) {
    return create_scorer(descriptor(), geometry, test::options_of(descriptor(), list_of(words)));
}

std::string convention(const Scorer& scorer, std::string_view key) {
    for (const Convention& each : scorer.conventions())
        if (each.key == key) return each.value;
    return "";
}

/// Whether one of the warnings has all of these words in it.
bool warns(const Scorer& scorer, std::initializer_list<const char*> words) {
    const auto has_all = [&](const std::string& line) {
        return std::all_of(words.begin(), words.end(),
                           [&](const char* word) { return line.find(word) != std::string::npos; });
    };
    const std::vector<std::string> lines = scorer.warnings();
    return std::any_of(lines.begin(), lines.end(), has_all);
}

// ---- the slow twin --------------------------------------------------------------------------------------------------

using Image = std::vector<std::vector<double>>; ///< [y][x]

Image make_image(int width, int height) {
    return Image(static_cast<size_t>(height), std::vector<double>(static_cast<size_t>(width)));
}
int width_of(const Image& image) {
    return static_cast<int>(image[0].size());
}
int height_of(const Image& image) {
    return static_cast<int>(image.size());
}
double clamped(const Image& image, int x, int y) {
    return image[static_cast<size_t>(std::clamp(y, 0, height_of(image) - 1))]
                [static_cast<size_t>(std::clamp(x, 0, width_of(image) - 1))];
}

/// Catmull-Rom at a position between the samples.
double interpolate(const Image& image, double x, double y) {
    const auto weights = [](double t) {
        return std::array<double, 4>{(-t + 2 * t * t - t * t * t) / 2, (2 - 5 * t * t + 3 * t * t * t) / 2,
                                     (t + 4 * t * t - 3 * t * t * t) / 2, (-t * t + t * t * t) / 2};
    };
    const int kx = static_cast<int>(std::floor(x)), ky = static_cast<int>(std::floor(y));
    const auto wx = weights(x - kx), wy = weights(y - ky);
    double sum = 0;
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i)
            sum += wx[static_cast<size_t>(i)] * wy[static_cast<size_t>(j)] * clamped(image, kx - 1 + i, ky - 1 + j);
    return sum;
}

/// Limited range, BT.709, BT.1886, chroma to the left.
std::array<Image, 3> slow_linear(const SyntheticClip& clip, bool distorted) {
    const double step = 1 << (clip.depth - 8);
    Image planes[3];
    for (int p = 0; p < clip.plane_count(); ++p) {
        planes[p] = make_image(clip.plane_width(p), clip.plane_height(p));
        for (int y = 0; y < clip.plane_height(p); ++y)
            for (int x = 0; x < clip.plane_width(p); ++x) {
                const uint32_t code = distorted ? test::synthetic_distorted(x, y, 0, p, clip.depth)
                                                : test::synthetic_reference(x, y, 0, p, clip.depth);
                planes[p][static_cast<size_t>(y)][static_cast<size_t>(x)] =
                    (code / step - (p == 0 ? 16 : 128)) / (p == 0 ? 219 : 224);
            }
    }
    std::array<Image, 3> rgb;
    rgb.fill(make_image(clip.width, clip.height));
    for (int y = 0; y < clip.height; ++y)
        for (int x = 0; x < clip.width; ++x) {
            double cb = 0, cr = 0;
            if (clip.plane_count() > 1) {
                const bool halved_x = clip.plane_width(1) != clip.width, halved_y = clip.plane_height(1) != clip.height;
                const double px = halved_x ? x / 2.0 : x, py = halved_y ? (y - 0.5) / 2 : y;
                cb = interpolate(planes[1], px, py);
                cr = interpolate(planes[2], px, py);
            }
            const double luma = planes[0][static_cast<size_t>(y)][static_cast<size_t>(x)];
            const double values[3] = {luma + 1.5748 * cr,
                                      luma - 2 * 0.0722 * 0.9278 / 0.7152 * cb - 2 * 0.2126 * 0.7874 / 0.7152 * cr,
                                      luma + 1.8556 * cb};
            for (size_t c = 0; c < 3; ++c)
                rgb[c][static_cast<size_t>(y)][static_cast<size_t>(x)] = std::pow(std::clamp(values[c], 0.0, 1.0), 2.4);
        }
    return rgb;
}

std::array<Image, 3> slow_xyb(const std::array<Image, 3>& rgb) {
    std::array<Image, 3> xyb = rgb;
    for (size_t y = 0; y < rgb[0].size(); ++y)
        for (size_t x = 0; x < rgb[0][0].size(); ++x) {
            const double r = rgb[0][y][x], g = rgb[1][y][x], b = rgb[2][y][x], bias = 0.0037930732552754493;
            const double l = std::cbrt(0.30 * r + 0.622 * g + 0.078 * b + bias) - std::cbrt(bias);
            const double m = std::cbrt(0.23 * r + 0.692 * g + 0.078 * b + bias) - std::cbrt(bias);
            const double s =
                std::cbrt(0.24342268924547819 * r + 0.20476744424496821 * g + 0.5518098665095536 * b + bias) -
                std::cbrt(bias);
            xyb[0][y][x] = 14 * (l - m) / 2 + 0.42;
            xyb[1][y][x] = (l + m) / 2 + 0.01;
            xyb[2][y][x] = s - (l + m) / 2 + 0.55;
        }
    return xyb;
}

/// Blurred product of two images, zeros outside, in two dimensions at once.
double slow_blur(const Image& a, const Image* b, int x, int y) {
    constexpr double kTaps[] = {0.26462110548819867, 0.21292859201042225, 0.10933537277746033, 0.03601111465836436,
                                0.009414367809653698};
    double sum = 0;
    for (int j = std::max(-4, -y); j <= 4 && y + j < height_of(a); ++j)
        for (int i = std::max(-4, -x); i <= 4 && x + i < width_of(a); ++i) {
            const auto row = static_cast<size_t>(y + j), column = static_cast<size_t>(x + i);
            sum += kTaps[std::abs(i)] * kTaps[std::abs(j)] * a[row][column] * (b == nullptr ? 1 : (*b)[row][column]);
        }
    return sum;
}

/// The six norms of one channel of one level, from the published formula with five blurs.
std::array<double, 6> slow_norms(const Image& a, const Image& d) {
    std::array<double, 6> sums{};
    for (int y = 0; y < height_of(a); ++y)
        for (int x = 0; x < width_of(a); ++x) {
            const double mu1 = slow_blur(a, nullptr, x, y), mu2 = slow_blur(d, nullptr, x, y);
            const double s11 = slow_blur(a, &a, x, y), s22 = slow_blur(d, &d, x, y), s12 = slow_blur(a, &d, x, y);
            const double structure =
                std::max(0.0, 1 - (1 - (mu1 - mu2) * (mu1 - mu2)) * (2 * (s12 - mu1 * mu2) + 9e-4) /
                                      ((s11 - mu1 * mu1) + (s22 - mu2 * mu2) + 9e-4));
            const double va = a[static_cast<size_t>(y)][static_cast<size_t>(x)];
            const double vd = d[static_cast<size_t>(y)][static_cast<size_t>(x)];
            const double edge = (1 + std::abs(vd - mu2)) / (1 + std::abs(va - mu1)) - 1;
            const double maps[3] = {structure, std::max(0.0, edge), std::max(0.0, -edge)};
            for (size_t t = 0; t < 3; ++t) {
                sums[t] += maps[t];
                sums[3 + t] += std::pow(maps[t], 4);
            }
        }
    const double count = static_cast<double>(width_of(a)) * height_of(a);
    for (size_t t = 0; t < 3; ++t) {
        sums[t] /= count;
        sums[3 + t] = std::pow(sums[3 + t] / count, 0.25);
    }
    return sums;
}

Image slow_half(const Image& image) {
    Image half = make_image((width_of(image) + 1) / 2, (height_of(image) + 1) / 2);
    for (int y = 0; y < height_of(half); ++y)
        for (int x = 0; x < width_of(half); ++x)
            half[static_cast<size_t>(y)][static_cast<size_t>(x)] =
                (clamped(image, 2 * x, 2 * y) + clamped(image, 2 * x + 1, 2 * y) + clamped(image, 2 * x, 2 * y + 1) +
                 clamped(image, 2 * x + 1, 2 * y + 1)) /
                4;
    return half;
}

double slow_score(const SyntheticClip& clip) {
    auto reference = slow_linear(clip, false), distorted = slow_linear(clip, true);
    std::vector<double> by_channel[3];
    for (int level = 0; level < 6; ++level) {
        if (level > 0) {
            if (std::min(width_of(reference[0]), height_of(reference[0])) < 8) break;
            for (size_t c = 0; c < 3; ++c) {
                reference[c] = slow_half(reference[c]);
                distorted[c] = slow_half(distorted[c]);
            }
        }
        const auto a = slow_xyb(reference), d = slow_xyb(distorted);
        for (size_t c = 0; c < 3; ++c)
            for (const double norm : slow_norms(a[c], d[c])) by_channel[c].push_back(norm);
    }
    double sum = 0;
    size_t i = 0;
    for (const auto& norms : by_channel)
        for (const double norm : norms) sum += kWeights[i++] * norm;
    sum *= 0.9562382616834844;
    sum = 2.326765642916932 * sum - 0.020884521182843837 * sum * sum + 6.248496625763138e-05 * sum * sum * sum;
    return sum > 0 ? 100 - 10 * std::pow(sum, 0.6276336467831387) : 100;
}

const Words kSlowTwinColours{{"matrix", "bt709"}, {"range", "limited"}, {"transfer", "bt1886"}, {"chroma_loc", "left"}};

TEST(Ssimulacra2, EqualsTheSlowTwinAtAllSmallSizes) {
    const int sides[] = {8, 9, 10, 13, 15, 16, 17, 24, 31, 33, 57, 65, 112, 113, 130};
    int count = 0;
    for (size_t i = 0; i < std::size(sides); ++i)
        for (const size_t j : {i, (i + 1) % std::size(sides), (i + 7) % std::size(sides)}) {
            if (sides[i] * sides[j] > 9000) continue;
            const qc_chroma chroma = static_cast<qc_chroma>((i + j) % 4);
            const int depth = std::array{8, 10, 12, 16}[(i + 2 * j) % 4];
            const Pair pair(sides[i], sides[j], chroma, depth);
            EXPECT_NEAR(pair.score(kSlowTwinColours), slow_score(clip_of(sides[i], sides[j], chroma, depth)), 1e-8)
                << sides[i] << "x" << sides[j] << " chroma " << chroma << " depth " << depth;
            ++count;
        }
    EXPECT_GT(count, 30);
    const Pair square(130, 130);
    EXPECT_NEAR(square.score(kSlowTwinColours), slow_score(clip_of(130, 130, QC_CHROMA_420, 8)), 1e-8);
}

TEST(Ssimulacra2, IdenticalPicturesScoreExactly100) {
    for (int width = 8; width <= 130; width += 7)
        for (int height = 8; height <= 130; height += 11) {
            const Pair pair(width, height, static_cast<qc_chroma>(width % 4), height % 2 == 0 ? 8 : 10);
            EXPECT_EQ(score_of(pair.geometry, {}, pair.distorted.view(), pair.distorted.view()), 100.0)
                << width << "x" << height;
        }
}

TEST(Ssimulacra2, OrderOfTheInputsMatters) {
    const Pair pair(64, 64);
    const double swapped = score_of(pair.geometry, {}, pair.distorted.view(), pair.reference.view());
    EXPECT_GT(std::abs(swapped - pair.score()), 0.01);
}

// ---- plan -----------------------------------------------------------------------------------------------------------

TEST(Ssimulacra2Plan, LevelsFollowTheSize) {
    const auto levels = [](int width, int height, const Words& words = {}) {
        return plan_of(Pair(width, height).geometry, words).levels;
    };
    EXPECT_EQ(levels(8, 8), 2);
    EXPECT_EQ(levels(61, 45), 4);
    EXPECT_EQ(levels(112, 300), 5);
    EXPECT_EQ(levels(113, 113), 6);
    EXPECT_EQ(levels(8, 8, {{"preset", "vship"}}), 6);
    EXPECT_EQ(levels(8, 8, {{"preset", "vmaf-fork"}}), 1);
    EXPECT_EQ(levels(224, 300, {{"preset", "vmaf-fork"}}), 5);
    EXPECT_EQ(levels(225, 225, {{"preset", "vmaf-fork"}}), 6);
    const Plan plan = plan_of(Pair(135, 117).geometry);
    EXPECT_EQ(plan.level[1].width, 68);
    EXPECT_EQ(plan.level[1].height, 59);
    EXPECT_EQ(plan.level[5].width, 5);
}

int needed_terms(const Plan& plan) {
    int count = 0;
    for (const auto& level : plan.needed)
        for (const uint8_t terms : level) count += __builtin_popcount(terms);
    return count;
}

TEST(Ssimulacra2Plan, OnlyTermsWithWeightsAreNeeded) {
    const FrameGeometry geometry = Pair(128, 128).geometry;
    EXPECT_EQ(needed_terms(plan_of(geometry)), 52);
    EXPECT_EQ(needed_terms(plan_of(geometry, {{"prune", "1"}})), 25);
    EXPECT_EQ(needed_terms(plan_of(geometry, {{"subscores", "norms"}})), 108);
    EXPECT_EQ(needed_terms(plan_of(geometry, {{"preset", "vship"}})), 25);
    EXPECT_EQ(needed_terms(plan_of(geometry, {{"preset", "vship"}, {"prune", "0"}})), 52);
    const Plan plan = plan_of(geometry);
    EXPECT_EQ(plan.needed[0][kX], 1 << term_index(kFirst, kArtifact) | 1 << term_index(kFourth, kArtifact));
    EXPECT_EQ(plan.needed[5][kY], 0);
    EXPECT_EQ(plan.needed[4][kB], 0x3f);
}

TEST(Ssimulacra2Plan, SmallPicturesUseTheWeightsConsecutively) {
    const Plan plan = plan_of(Pair(61, 45).geometry);
    for (int c = 0; c < kChannels; ++c)
        for (int level = 0; level < 4; ++level)
            for (int term = 0; term < kTerms; ++term)
                EXPECT_EQ((plan.needed[level][c] >> term & 1) != 0, kWeights[c * 24 + level * 6 + term] != 0.0);
}

TEST(Ssimulacra2Plan, KernelsHaveMassOne) {
    for (const char* kernel : {"cosine9", "gauss17"}) {
        const BlurKernel<double> blur = plan_of(Pair(64, 64).geometry, {{"kernel", kernel}}).blur;
        double sum = blur.tap[0], moment = 0;
        for (int i = 1; i <= kMaxRadius; ++i) {
            sum += 2 * blur.tap[i];
            moment += 2 * blur.tap[i] * i * i;
        }
        EXPECT_NEAR(sum, 1.0, 1e-15) << kernel;
        EXPECT_NEAR(moment, 2.25, 1e-3) << kernel;
        float single = to_single(blur).tap[0];
        for (int i = 1; i <= kMaxRadius; ++i) single += 2 * to_single(blur).tap[i];
        EXPECT_NEAR(single, 1.0f, 2e-7f) << kernel;
    }
    EXPECT_EQ(plan_of(Pair(64, 64).geometry, {{"border", "renorm"}}).blur.renormalise, 1);
    EXPECT_EQ(plan_of(Pair(64, 64).geometry).blur.radius, 4);
}

// ---- colour ---------------------------------------------------------------------------------------------------------

/// R'G'B' of one pixel's codes.
std::array<double, 3> rgb_of(const ColourConversion<double>& conversion, std::array<double, 3> codes) {
    std::array<double, 3> rgb{};
    for (size_t i = 0; i < 3; ++i)
        for (size_t p = 0; p < 3; ++p) rgb[i] += conversion.matrix[i][p] * (codes[p] - conversion.origin[p]);
    return rgb;
}

void expect_rgb(const FrameGeometry& geometry, const Words& words, std::array<double, 3> codes,
                std::array<double, 3> expected) {
    const auto actual = rgb_of(plan_of(geometry, words).reference, codes);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(actual[i], expected[i], 2e-3) << "component " << i;
}

TEST(Ssimulacra2Colour, MatricesReproduceKnownCodes) {
    FrameGeometry geometry = Pair(64, 64).geometry;
    // Pure red and white in 8-bit video; codes rounded, so within 1/255.
    expect_rgb(geometry, {{"matrix", "bt709"}}, {63, 102, 240}, {1.003, 0.002, -0.001});
    expect_rgb(geometry, {{"matrix", "bt709"}}, {235, 128, 128}, {1, 1, 1});
    expect_rgb(geometry, {{"matrix", "bt601"}}, {81, 90, 240}, {0.998, -0.001, -0.003});
    expect_rgb(geometry, {{"matrix", "bt601"}, {"range", "full"}}, {76, 85, 255}, {0.9964, 0.0007, -0.0008});
    geometry = Pair(64, 64, QC_CHROMA_420, 10).geometry;
    expect_rgb(geometry, {{"matrix", "bt709"}}, {940, 512, 512}, {1, 1, 1});
    expect_rgb(geometry, {{"matrix", "bt2020nc"}}, {64, 512, 512}, {0, 0, 0});
    expect_rgb(geometry, {{"matrix", "smpte240m"}, {"range", "full"}}, {1023, 512, 512}, {1, 1, 1});
    expect_rgb(geometry, {{"matrix", "fcc"}}, {64 + 876 * 0.30, 512 - 896 * 0.30 / 1.78, 512 + 896 * 0.5}, {1, 0, 0});
}

TEST(Ssimulacra2Colour, RgbPlanesComeInTheOrderGreenBlueRed) {
    FrameGeometry geometry = Pair(64, 64, QC_CHROMA_444).geometry;
    geometry.rgb = true;
    expect_rgb(geometry, {}, {255, 0, 51}, {0.2, 1.0, 0.0});
    expect_rgb(geometry, {{"range", "limited"}}, {235, 16, 16}, {0.0, 1.0, 0.0});
    EXPECT_EQ(plan_of(geometry).reference.transfer, Transfer::kSrgb);
}

/// An option gives what the same tag on both inputs gives.
TEST(Ssimulacra2Colour, OptionsAndTagsMeanTheSame) {
    struct Case {
        const char *option, *word;
        ColourTags tags;
    };
    const ColourTags base = tags(1, 1, 1, 1, 1);
    const Case cases[] = {
        {"matrix", "bt601", tags(6, 1, 1, 1, 1)},      {"matrix", "bt470bg", tags(5, 1, 1, 1, 1)},
        {"matrix", "smpte240m", tags(7, 1, 1, 1, 1)},  {"matrix", "fcc", tags(4, 1, 1, 1, 1)},
        {"matrix", "bt2020nc", tags(9, 1, 1, 1, 1)},   {"range", "full", tags(1, 2, 1, 1, 1)},
        {"primaries", "bt470bg", tags(1, 1, 5, 1, 1)}, {"primaries", "smpte170m", tags(1, 1, 6, 1, 1)},
        {"primaries", "bt2020", tags(1, 1, 9, 1, 1)},  {"primaries", "p3", tags(1, 1, 12, 1, 1)},
        {"transfer", "srgb", tags(1, 1, 1, 13, 1)},    {"transfer", "gamma22", tags(1, 1, 1, 4, 1)},
        {"transfer", "gamma28", tags(1, 1, 1, 5, 1)},  {"transfer", "linear", tags(1, 1, 1, 8, 1)},
        {"transfer", "pq", tags(1, 1, 1, 16, 1)},      {"transfer", "hlg", tags(1, 1, 1, 18, 1)},
        {"chroma_loc", "center", tags(1, 1, 1, 1, 2)}, {"chroma_loc", "topleft", tags(1, 1, 1, 1, 3)},
        {"chroma_loc", "top", tags(1, 1, 1, 1, 4)},
    };
    Pair pair(65, 49);
    pair.geometry.reference_colour = pair.geometry.distorted_colour = base;
    const double without = pair.score();
    for (const Case& each : cases) {
        pair.geometry.reference_colour = pair.geometry.distorted_colour = base;
        const double by_option = pair.score({{each.option, each.word}});
        EXPECT_GT(std::abs(by_option - without), 1e-4) << each.option << " " << each.word;
        pair.geometry.reference_colour = pair.geometry.distorted_colour = each.tags;
        EXPECT_EQ(pair.score(), by_option) << each.option << " " << each.word;
        pair.geometry.distorted_colour = {};
        EXPECT_EQ(pair.score(), by_option) << "one-sided " << each.option << " " << each.word;
    }
}

/// Chroma location and filter: only where chroma is subsampled.
TEST(Ssimulacra2Colour, ChromaIsUpsampledOnlyWhereItIsSmaller) {
    const Pair full(40, 40, QC_CHROMA_444), half(40, 40, QC_CHROMA_422);
    EXPECT_EQ(full.score({{"chroma", "nearest"}}), full.score({{"chroma_loc", "center"}}));
    EXPECT_NE(half.score({{"chroma", "nearest"}}), half.score());
    EXPECT_NE(half.score({{"chroma", "bilinear"}}), half.score());
    EXPECT_EQ(half.score({{"chroma_loc", "topleft"}}), half.score({{"chroma_loc", "left"}}));
    EXPECT_NE(half.score({{"chroma_loc", "center"}}), half.score({{"chroma_loc", "left"}}));
    EXPECT_EQ(half.score({{"chroma", "nearest"}, {"chroma_loc", "center"}}), half.score({{"chroma", "nearest"}}));
}

class GreyPicture {
public:
    GreyPicture(int width, int height, double value)
        : width_(width), samples_(static_cast<size_t>(width) * static_cast<size_t>(height),
                                  static_cast<uint16_t>(std::lround(65535 * value))),
          height_(height) {}
    HostPicture view() const {
        HostPicture picture;
        picture.plane[0] = {samples_.data(), {2 * width_}, width_, height_};
        return picture;
    }

private:
    int width_;
    std::vector<uint16_t> samples_;
    int height_;
};

/// Full-range grey of 16 bits, one input in each transfer function: where both stand for the same light, they agree.
TEST(Ssimulacra2Colour, TransferFunctionsReproduceKnownPoints) {
    struct Case {
        int tag;
        double value, light;
    };
    const Case cases[] = {
        {13, 0.5, 0.2140411},
        {13, 0.04, 0.04 / 12.92},
        {1, 0.5, 0.1894646},
        {4, 0.5, 0.2176376},
        {5, 0.5, 0.1435873},
        {16, 0.5080784, 100.0 / 255.0},
        {16, 0.25, 5.1 / 255.0 * 1.0145},
        {18, 0.75, 203.1 / 255.0},
        {18, 0.5, 50.7 / 255.0},
        {14, 0.25, 0.0358968},
    };
    FrameGeometry geometry = Pair(40, 40, QC_CHROMA_400, 16).geometry;
    geometry.reference_colour = tags(0, 2, 1, 8, 0); // linear
    for (const Case& each : cases) {
        geometry.distorted_colour = tags(0, 2, 1, each.tag, 0);
        const GreyPicture light(40, 40, each.light), coded(40, 40, each.value), off(40, 40, each.value + 0.02);
        const double agreeing = score_of(geometry, {}, light.view(), coded.view());
        EXPECT_GT(agreeing, 99.0) << each.tag << " " << each.value;
        EXPECT_LT(score_of(geometry, {}, light.view(), off.view()), agreeing - 0.5) << each.tag << " " << each.value;
    }
    // The camera curve has no tag of its own.
    geometry.reference_colour = geometry.distorted_colour = {};
    EXPECT_EQ(plan_of(geometry, {{"transfer", "bt709oetf"}}).reference.transfer, Transfer::kBt709);
}

TEST(Ssimulacra2Colour, ReferenceWhiteScalesPqAndHlgOnly) {
    Pair pair(64, 48, QC_CHROMA_420, 10);
    const auto with_white = [&](const char* transfer, double white) {
        test::OptionList list = list_of({{"transfer", transfer}});
        list.emplace_back("ref_white", white);
        return run(pair.geometry, list, pair.reference.view(), pair.distorted.view()).values("ssimulacra2").at(0);
    };
    EXPECT_NE(with_white("pq", 203.0), with_white("pq", 255.0));
    EXPECT_NE(with_white("hlg", 203.0), with_white("hlg", 255.0));
    EXPECT_EQ(with_white("bt1886", 203.0), with_white("bt1886", 255.0));
}

TEST(Ssimulacra2Colour, DefaultsFollowTheSize) {
    const auto matrix_of = [](int width, int height, const Words& words = {}) {
        return convention(*scorer_of(Pair(width, height).geometry, words), "matrix");
    };
    EXPECT_EQ(matrix_of(1280, 16), "bt709 (assumed)");
    EXPECT_EQ(matrix_of(16, 578), "bt709 (assumed)");
    EXPECT_EQ(matrix_of(16, 576), "bt470bg (assumed)");
    EXPECT_EQ(matrix_of(640, 480), "smpte170m (assumed)");
    EXPECT_EQ(matrix_of(640, 480, {{"preset", "vmaf-fork"}}), "bt709 (of the preset)");
    EXPECT_EQ(matrix_of(640, 650, {{"preset", "vship"}}), "bt470bg (of the preset)");
    EXPECT_EQ(matrix_of(640, 652, {{"preset", "vship"}}), "bt709 (of the preset)");
    EXPECT_EQ(matrix_of(640, 480, {{"matrix", "fcc"}}), "fcc (set)");
}

TEST(Ssimulacra2Colour, PrimariesAndTransferFollowTheMatrix) {
    FrameGeometry geometry = Pair(64, 64).geometry;
    geometry.reference_colour.matrix = 9;
    EXPECT_EQ(convention(*scorer_of(geometry), "primaries"), "bt2020 (assumed)");
    EXPECT_EQ(convention(*scorer_of(geometry), "transfer"), "bt1886 (assumed)");
    EXPECT_EQ(convention(*scorer_of(geometry, {{"preset", "vship"}}), "transfer"), "pq (of the preset)");
    geometry.reference_colour = tags(6, 1, 6, 6, 1);
    EXPECT_EQ(convention(*scorer_of(geometry), "transfer"),
              "reference bt1886 (tagged), distorted bt1886 (as the reference)");
    EXPECT_NE(convention(*scorer_of(geometry, {{"preset", "vship"}}), "transfer").find("gamma28"), std::string::npos);
}

// ---- what is said ---------------------------------------------------------------------------------------------------

TEST(Ssimulacra2Notes, UntaggedInputsAreToldOnce) {
    const auto metric = scorer_of(Pair(64, 64).geometry);
    EXPECT_EQ(metric->warnings().size(), 1u);
    EXPECT_TRUE(warns(*metric, {"assumed", "matrix smpte170m", "range limited", "transfer function bt1886"}));
    FrameGeometry tagged = Pair(64, 64).geometry;
    tagged.reference_colour = tagged.distorted_colour = tags(1, 1, 1, 1, 1);
    EXPECT_TRUE(scorer_of(tagged)->warnings().empty());
    EXPECT_EQ(convention(*scorer_of(tagged), "range"), "limited (tagged)");
}

TEST(Ssimulacra2Notes, OneSidedTagsServeBoth) {
    FrameGeometry geometry = Pair(64, 64).geometry;
    geometry.reference_colour = tags(1, 1, 1, 1, 1);
    const auto metric = scorer_of(geometry);
    EXPECT_EQ(metric->warnings().size(), 1u);
    EXPECT_TRUE(warns(*metric, {"distorted input is not fully tagged", "matrix bt709"}));
    EXPECT_EQ(convention(*metric, "matrix"), "reference bt709 (tagged), distorted bt709 (as the reference)");
}

TEST(Ssimulacra2Notes, DifferentTagsAreHonouredWithAWarning) {
    Pair pair(64, 64);
    pair.geometry.reference_colour = tags(1, 1, 1, 1, 1);
    pair.geometry.distorted_colour = tags(1, 2, 1, 1, 1);
    const auto metric = scorer_of(pair.geometry);
    EXPECT_TRUE(warns(*metric, {"differ in range", "reference limited (tagged)", "distorted full (tagged)"}));
    const double honoured = pair.score(), alike = pair.score({{"range", "limited"}});
    EXPECT_LT(honoured, alike - 1.0);
    EXPECT_TRUE(std::isfinite(honoured));
}

TEST(Ssimulacra2Notes, HdrIsUncalibrated) {
    const auto metric = scorer_of(Pair(64, 64, QC_CHROMA_420, 10).geometry, {{"transfer", "pq"}});
    EXPECT_TRUE(warns(*metric, {"PQ or HLG", "uncalibrated"}));
    EXPECT_EQ(convention(*metric, "ref_white"), "255 cd/m2, uncalibrated");
}

TEST(Ssimulacra2Notes, OptionsWithoutEffectAreTold) {
    FrameGeometry geometry = Pair(64, 64, QC_CHROMA_444).geometry;
    EXPECT_TRUE(warns(*scorer_of(geometry, {{"chroma_loc", "top"}}), {"chroma_loc has no effect"}));
    geometry.rgb = true;
    EXPECT_TRUE(warns(*scorer_of(geometry, {{"matrix", "bt709"}}), {"matrix has no effect on RGB"}));
    EXPECT_EQ(convention(*scorer_of(geometry), "matrix"), "");
    EXPECT_EQ(convention(*scorer_of(geometry), "transfer"), "srgb (assumed)");
}

// ---- refusals -------------------------------------------------------------------------------------------------------

TEST(Ssimulacra2Refusals, SmallPictures) {
    FrameGeometry geometry = Pair(8, 8).geometry;
    EXPECT_TRUE(validate(geometry).ok());
    geometry.width = 7;
    EXPECT_EQ(validate(geometry).text(), "ssimulacra2 needs pictures of at least 8x8, these are 7x8");
}

TEST(Ssimulacra2Refusals, TagsWithoutAMeaningHere) {
    struct Case {
        int ColourTags::*tag;
        int code;
        const char *text, *option, *word;
    };
    const Case cases[] = {
        {&ColourTags::transfer, 17, "unsupported transfer function", "transfer", "gamma28"},
        {&ColourTags::transfer, 9, "unsupported transfer function", "transfer", "pq"},
        {&ColourTags::matrix, 8, "unsupported matrix", "matrix", "bt709"},
        {&ColourTags::matrix, 14, "unsupported matrix", "matrix", "bt2020nc"},
        {&ColourTags::primaries, 10, "unsupported primaries", "primaries", "p3"},
        {&ColourTags::chroma_location, 6, "unsupported chroma location", "chroma_loc", "top"},
    };
    for (const Case& each : cases) {
        FrameGeometry geometry = Pair(64, 64).geometry;
        geometry.distorted_colour.*each.tag = each.code;
        const Status status = validate(geometry);
        EXPECT_EQ(status.code(), QC_ERROR_UNSUPPORTED) << each.option;
        EXPECT_NE(status.text().find(each.text), std::string::npos) << status.text();
        EXPECT_NE(status.text().find("distorted"), std::string::npos) << status.text();
        EXPECT_NE(status.text().find(each.word), std::string::npos) << status.text();
        EXPECT_TRUE(validate(geometry, {{each.option, each.word}}).ok()) << each.option;
    }
    FrameGeometry rgb = Pair(64, 64, QC_CHROMA_444).geometry;
    rgb.rgb = true;
    rgb.distorted_colour.matrix = 8; // of no consequence in RGB
    EXPECT_TRUE(validate(rgb).ok());
}

// ---- options --------------------------------------------------------------------------------------------------------

TEST(Ssimulacra2Options, EachChangesTheScore) {
    const Pair pair(131, 121);
    const double base = pair.score();
    for (const Words& words : {Words{{"kernel", "gauss17"}}, Words{{"border", "renorm"}}, Words{{"gamut", "extend"}},
                               Words{{"gamut", "floor"}}, Words{{"chroma", "nearest"}}, Words{{"chroma", "bilinear"}},
                               Words{{"transfer", "bt709oetf"}}, Words{{"prune", "1"}}})
        EXPECT_NE(pair.score(words), base) << words[0].first << " " << words[0].second;
    EXPECT_NEAR(pair.score({{"prune", "1"}}), base, 2e-3);
    for (const Words& words : {Words{{"kernel", "cosine9"}}, Words{{"border", "zero"}}, Words{{"gamut", "clip"}},
                               Words{{"chroma", "catmullrom"}}, Words{{"prune", "0"}}, Words{{"preset", "default"}}})
        EXPECT_EQ(pair.score(words), base) << words[0].first << " " << words[0].second;
}

TEST(Ssimulacra2Options, PresetsAreCombinationsThatOptionsOverride) {
    Pair pair(131, 121);
    pair.geometry.reference_colour = pair.geometry.distorted_colour = tags(1, 1, 1, 1, 1);
    EXPECT_EQ(pair.score({{"preset", "vship"}}),
              pair.score({{"kernel", "gauss17"}, {"border", "renorm"}, {"gamut", "extend"}, {"prune", "1"}}));
    EXPECT_EQ(
        pair.score({{"preset", "vship"}, {"kernel", "cosine9"}, {"border", "zero"}, {"gamut", "clip"}, {"prune", "0"}}),
        pair.score());
    EXPECT_NE(pair.score({{"preset", "rs"}}), pair.score({{"preset", "vmaf-fork"}}));
    // Codes within the range of video: the preset rs differs in chroma and in what exceeds 1 only.
    EXPECT_NEAR(pair.score({{"preset", "rs"}}), pair.score({{"chroma", "nearest"}, {"gamut", "floor"}}), 0.5);
}

TEST(Ssimulacra2Options, SubscoresAddUp) {
    const Pair pair(131, 121);
    const test::Recorder levels =
        run(pair.geometry, list_of({{"subscores", "levels"}}), pair.reference.view(), pair.distorted.view());
    double sum = 0;
    for (int level = 0; level < 6; ++level) {
        const double part = levels.values("ssimulacra2_level" + std::to_string(level)).at(0);
        EXPECT_GE(part, 0.0);
        sum += part;
    }
    const double error =
        2.326765642916932 * sum - 0.020884521182843837 * sum * sum + 6.248496625763138e-05 * sum * sum * sum;
    EXPECT_NEAR(100 - 10 * std::pow(error, 0.6276336467831387), pair.score(), 1e-9);

    const test::Recorder norms =
        run(pair.geometry, list_of({{"subscores", "norms"}}), pair.reference.view(), pair.distorted.view());
    EXPECT_EQ(norms.scores.size(), 109u);
    EXPECT_EQ(norms.values("ssimulacra2").at(0), pair.score());
    const Pair tiny(8, 8); // two levels
    EXPECT_EQ(run(tiny.geometry, list_of({{"subscores", "norms"}}), tiny.reference.view(), tiny.distorted.view())
                  .scores.size(),
              37u);
}

// ---- hostile pictures -----------------------------------------------------------------------------------------------

struct FlatPicture {
    FlatPicture(const FrameGeometry& geometry, std::array<int, 3> codes) : geometry_(geometry) {
        for (int p = 0; p < geometry.plane_count(); ++p)
            planes_[p].assign(static_cast<size_t>(geometry.stored_width(p) * geometry.stored_height(p)),
                              static_cast<uint8_t>(codes[static_cast<size_t>(p)]));
    }
    HostPicture view() const {
        HostPicture picture;
        for (int p = 0; p < geometry_.plane_count(); ++p)
            picture.plane[p] = {
                planes_[p].data(), {geometry_.stored_width(p)}, geometry_.plane_width(p), geometry_.plane_height(p)};
        return picture;
    }
    FrameGeometry geometry_;
    std::vector<uint8_t> planes_[3];
};

TEST(Ssimulacra2Hostile, FlatPictures) {
    const FrameGeometry geometry = Pair(67, 51).geometry;
    const std::array<int, 3> colours[] = {{16, 128, 128}, {235, 128, 128}, {0, 0, 0},   {255, 255, 255},
                                          {81, 90, 240},  {41, 240, 110},  {0, 255, 0}, {255, 0, 255}};
    for (const Words& words : {Words{}, Words{{"preset", "vship"}}, Words{{"preset", "rs"}},
                               Words{{"preset", "vmaf-fork"}}, Words{{"gamut", "extend"}, {"transfer", "pq"}},
                               Words{{"gamut", "extend"}, {"transfer", "hlg"}, {"primaries", "bt2020"}}})
        for (const auto& first : colours)
            for (const auto& second : colours) {
                const FlatPicture a(geometry, first), b(geometry, second);
                const double score = score_of(geometry, words, a.view(), b.view());
                EXPECT_TRUE(std::isfinite(score));
                if (&first == &second)
                    EXPECT_EQ(score, 100.0);
                else
                    EXPECT_LE(score, 100.0);
            }
    const FlatPicture black(geometry, colours[0]), white(geometry, colours[1]), red(geometry, colours[4]);
    // Flat against flat is mild: there are no edges to lose, and the structural term sees the border only.
    EXPECT_LT(score_of(geometry, {}, black.view(), white.view()), 30.0);
    EXPECT_LT(score_of(geometry, {}, black.view(), red.view()), 50.0);
    // Codes beyond black and white are clipped: no difference is left.
    EXPECT_EQ(score_of(geometry, {}, FlatPicture(geometry, {0, 128, 128}).view(), black.view()), 100.0);
    EXPECT_LT(score_of(geometry, {{"gamut", "extend"}}, FlatPicture(geometry, {0, 128, 128}).view(), black.view()),
              100.0);
}

/// The brightest blue of 16-bit codes lies beyond the pole of PQ's curve.
TEST(Ssimulacra2Hostile, PqBeyondItsPeak) {
    const FrameGeometry geometry = Pair(40, 40, QC_CHROMA_444, 16).geometry;
    const std::vector<uint16_t> peak(40 * 40, 65535), neutral(40 * 40, 32768);
    HostPicture blue, white;
    for (int p = 0; p < 3; ++p) {
        blue.plane[p] = {(p == 2 ? neutral : peak).data(), {80}, 40, 40};
        white.plane[p] = {(p == 0 ? peak : neutral).data(), {80}, 40, 40};
    }
    for (const char* transfer : {"pq", "hlg", "bt1886"}) {
        const Words words{{"gamut", "extend"}, {"transfer", transfer}, {"primaries", "bt2020"}};
        const double score = score_of(geometry, words, white, blue);
        EXPECT_TRUE(std::isfinite(score)) << transfer;
        EXPECT_LT(score, 95.0) << transfer;
    }
}

/// Noise in one plane only.
TEST(Ssimulacra2Hostile, ChromaAloneCounts) {
    const Pair pair(64, 64);
    for (const int changed : {1, 2}) {
        HostPicture mixed = pair.reference.view();
        mixed.plane[changed] = pair.distorted.view().plane[changed];
        const double score = score_of(pair.geometry, {}, pair.reference.view(), mixed);
        EXPECT_LT(score, 99.0) << changed;
        EXPECT_GT(score, pair.score()) << changed;
    }
}

TEST(Ssimulacra2Hostile, GreyIsColourWithNeutralChroma) {
    const Pair grey(60, 52, QC_CHROMA_400), colour(60, 52, QC_CHROMA_420);
    const std::vector<uint8_t> neutral(60 * 52, 128);
    HostPicture pictures[2] = {colour.reference.view(), colour.distorted.view()};
    for (HostPicture& picture : pictures)
        for (int p = 1; p < 3; ++p) picture.plane[p].data = neutral.data();
    EXPECT_NEAR(grey.score(), score_of(colour.geometry, {}, pictures[0], pictures[1]), 1e-10);
    EXPECT_EQ(convention(*scorer_of(grey.geometry), "matrix"), "");
}

/// What a session does with an 8-bit input beside one of 10 bits.
TEST(Ssimulacra2Hostile, LiftedSamplesScoreTheSame) {
    const SyntheticClip clip = clip_of(50, 38, QC_CHROMA_420, 8);
    const Pair pair(50, 38);
    FrameGeometry geometry = pair.geometry;
    geometry.depth = 10;
    geometry.sample = SampleType::kU16;
    std::vector<uint16_t> planes[2][3];
    HostPicture pictures[2];
    for (int i = 0; i < 2; ++i)
        for (int p = 0; p < 3; ++p) {
            for (int y = 0; y < clip.plane_height(p); ++y)
                for (int x = 0; x < clip.plane_width(p); ++x) {
                    const uint32_t code =
                        i == 0 ? test::synthetic_reference(x, y, 0, p, 8) : test::synthetic_distorted(x, y, 0, p, 8);
                    planes[i][p].push_back(static_cast<uint16_t>(code << 2));
                }
            pictures[i].plane[p] = {
                planes[i][p].data(), {2 * clip.plane_width(p)}, geometry.plane_width(p), geometry.plane_height(p)};
        }
    EXPECT_NEAR(score_of(geometry, {}, pictures[0], pictures[1]), pair.score(), 1e-9);
}

// ---- frozen scores --------------------------------------------------------------------------------------------------

/// Of the first frames, with BT.709; every layout and depth.
TEST(Ssimulacra2, FrozenScores) {
    const double expected[] = {5.3941244911848685, 47.465099798689167, 48.437298808367402, 51.57833369868171,
                               21.318762024321401};
    size_t i = 0;
    for (const SyntheticClip& clip : test::kSyntheticClips) {
        const SyntheticPicture reference(clip, false, 0), distorted(clip, true, 0);
        EXPECT_NEAR(score_of(test::synthetic_geometry(clip), kSlowTwinColours, reference.view(), distorted.view()),
                    expected[i], 1e-8)
            << clip.name;
        ++i;
    }
}

} // namespace
} // namespace qc::ssimulacra2
