// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2 on the CPU without golden files: every small size against a second implementation that does nothing
// clever, hostile pictures, frozen scores.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "metrics/ssimulacra2/ssimulacra2_test_support.hpp"
#include "tests/support/sample_picture.hpp"

namespace qc::ssimulacra2 {
namespace {

using test::SamplePicture;
using test::SyntheticClip;
using test::SyntheticPicture;

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

// ---- hostile pictures -----------------------------------------------------------------------------------------------

SamplePicture flat_picture(const FrameGeometry& geometry, const std::array<int, 3>& codes) {
    return SamplePicture(geometry, [&](int plane, int, int) { return codes[static_cast<size_t>(plane)]; });
}

TEST(Ssimulacra2Hostile, FlatPictures) {
    const FrameGeometry geometry = Pair(67, 51).geometry;
    const std::array<int, 3> colours[] = {{16, 128, 128}, {235, 128, 128}, {0, 0, 0},   {255, 255, 255},
                                          {81, 90, 240},  {41, 240, 110},  {0, 255, 0}, {255, 0, 255}};
    for (const Words& words : {Words{}, Words{{"preset", "vship"}}, Words{{"preset", "rs"}},
                               Words{{"preset", "vmaf-fork"}}, Words{{"gamut", "extend"}, {"transfer", "pq"}},
                               Words{{"gamut", "extend"}, {"transfer", "hlg"}, {"primaries", "bt2020"}}})
        for (const auto& first : colours)
            for (const auto& second : colours) {
                const SamplePicture a = flat_picture(geometry, first), b = flat_picture(geometry, second);
                const double score = score_of(geometry, words, a.view(), b.view());
                EXPECT_TRUE(std::isfinite(score));
                if (&first == &second)
                    EXPECT_EQ(score, 100.0);
                else
                    EXPECT_LE(score, 100.0);
            }
    const SamplePicture black = flat_picture(geometry, colours[0]), white = flat_picture(geometry, colours[1]),
                        red = flat_picture(geometry, colours[4]);
    // Flat against flat is mild: there are no edges to lose, and the structural term sees the border only.
    EXPECT_LT(score_of(geometry, {}, black.view(), white.view()), 30.0);
    EXPECT_LT(score_of(geometry, {}, black.view(), red.view()), 50.0);
    // Codes beyond black and white are clipped: no difference is left.
    EXPECT_EQ(score_of(geometry, {}, flat_picture(geometry, {0, 128, 128}).view(), black.view()), 100.0);
    EXPECT_LT(score_of(geometry, {{"gamut", "extend"}}, flat_picture(geometry, {0, 128, 128}).view(), black.view()),
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
