// SPDX-License-Identifier: BSD-2-Clause-Patent
// What metrics that see colours are run on in an emulation: pictures of every sampling, depth and layout. Test code
// only.
#pragma once

#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "tests/device/emulated_device.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::test {

enum class Layout { kPlanar, kSemiPlanar, kPacked3, kPacked4 };
enum class Sampling { kGrey, k420, k422, k444, kRgb };

struct ColourCase {
    int width, height;
    Sampling sampling;
    int depth = 8, shift = 0;
    Layout reference = Layout::kPlanar, distorted = Layout::kPlanar;
    WordList words{};
    int count = 1;
    int pitch_extra = 0; ///< samples; odd numbers keep rows from being aligned
    bool hard = false;   ///< noise and flat blocks of extreme values instead of mild structure
};

inline std::ostream& operator<<(std::ostream& stream, const ColourCase& c) {
    constexpr const char* kSamplings[] = {"grey", "4:2:0", "4:2:2", "4:4:4", "RGB"};
    constexpr const char* kLayouts[] = {"planar", "semi-planar", "packed 3", "packed 4"};
    stream << c.width << "x" << c.height << " " << kSamplings[static_cast<int>(c.sampling)] << " " << c.depth
           << " bits << " << c.shift << ", " << kLayouts[static_cast<int>(c.reference)] << " and "
           << kLayouts[static_cast<int>(c.distorted)] << ", " << c.count << " pairs, pitch + " << c.pitch_extra
           << (c.hard ? ", hard" : "");
    for (const auto& [option, word] : c.words) stream << " " << option << "=" << word;
    return stream;
}

inline FrameGeometry geometry_of(const ColourCase& c) {
    constexpr qc_chroma kChromas[] = {QC_CHROMA_400, QC_CHROMA_420, QC_CHROMA_422, QC_CHROMA_444, QC_CHROMA_444};
    FrameGeometry geometry = geometry_of(c.width, c.height, c.depth, kChromas[static_cast<int>(c.sampling)]);
    geometry.rgb = c.sampling == Sampling::kRgb;
    return geometry;
}

inline EmulatedPicture make_picture(const ColourCase& c, Layout layout, int frame, bool distorted) {
    const auto sample_at = [&](int plane, int x, int y) {
        // Flat blocks of extremes are out of gamut.
        return c.hard ? synthetic_blocks(x, y, frame, plane, c.depth, distorted, FlatBlocks::kExtremes)
                      : synthetic_sample(x, y, frame, plane, c.depth, distorted);
    };
    return {SamplePicture(geometry_of(c), sample_at),
            {.semi_planar = layout == Layout::kSemiPlanar,
             .shift = c.shift,
             .padding = static_cast<size_t>(c.pitch_extra),
             .pixel_step = layout == Layout::kPacked3   ? 3
                           : layout == Layout::kPacked4 ? 4
                                                        : 0}};
}

/// Reference and distorted picture of each pair, as EmulatedPairs takes them.
inline std::vector<EmulatedPicture> make_pictures(const ColourCase& c) {
    std::vector<EmulatedPicture> pictures;
    for (int i = 0; i < c.count; ++i) {
        pictures.push_back(make_picture(c, c.reference, i, false));
        pictures.push_back(make_picture(c, c.distorted, i, true));
    }
    return pictures;
}

inline std::vector<ColourCase> every_layout_and_depth() {
    return {
        {177, 121, Sampling::k420},
        {178, 122, Sampling::k420, 8, 0, Layout::kSemiPlanar, Layout::kPlanar, {}, 1, 14},
        {160, 128, Sampling::k420, 8, 0, Layout::kSemiPlanar, Layout::kSemiPlanar, {}, 1, 0, true},
        {177, 121, Sampling::k420, 10, 6, Layout::kSemiPlanar, Layout::kSemiPlanar, {}, 1, 1},
        {130, 115, Sampling::k420, 12, 4, Layout::kSemiPlanar, Layout::kSemiPlanar, {}, 1, 2},
        {131, 116, Sampling::k420, 16, 0, Layout::kPlanar, Layout::kSemiPlanar},
        {177, 121, Sampling::k422},
        {144, 114, Sampling::k422, 10, 0, Layout::kPlanar, Layout::kPlanar, {}, 1, 4},
        {145, 113, Sampling::k422, 12, 0, Layout::kSemiPlanar, Layout::kPlanar, {}, 1, 0, true},
        {177, 121, Sampling::k444},
        {128, 120, Sampling::k444, 10, 6, Layout::kPlanar, Layout::kPlanar, {}, 1, 3},
        {129, 119, Sampling::k444, 16, 0, Layout::kPlanar, Layout::kPlanar, {}, 1, 0, true},
        {177, 121, Sampling::kGrey},
        {130, 116, Sampling::kGrey, 12, 4},
        {177, 121, Sampling::kRgb},
        {177, 121, Sampling::kRgb, 8, 0, Layout::kPacked3, Layout::kPacked4},
        {128, 114, Sampling::kRgb, 8, 0, Layout::kPacked4, Layout::kPlanar, {}, 1, 0, true},
        {133, 117, Sampling::kRgb, 10},
        {132, 116, Sampling::kRgb, 12, 0, Layout::kPacked3, Layout::kPacked3},
        {129, 115, Sampling::kRgb, 16, 0, Layout::kPacked3, Layout::kPlanar, {}, 1, 0, true},
    };
}

/// Each with pictures of two sizes, those of the small one hard.
class OptionCases {
public:
    OptionCases(int width, int height, int small_width, int small_height)
        : width_(width), height_(height), small_width_(small_width), small_height_(small_height) {}

    void operator()(const WordList& words, Sampling sampling, int depth = 8) {
        ColourCase c{width_, height_, sampling, depth};
        c.words = words;
        cases.push_back(c);
        c.width = small_width_;
        c.height = small_height_;
        c.hard = true;
        cases.push_back(c);
    }

    std::vector<ColourCase> cases;

private:
    int width_, height_, small_width_, small_height_;
};

/// Words of the options of light (families/linear_light), and what they depend on.
inline void add_light_options(OptionCases* cases) {
    for (const auto* location : {"left", "center", "topleft", "top"})
        for (const auto* chroma : {"catmullrom", "bilinear", "nearest"}) {
            (*cases)({{"chroma_loc", location}, {"chroma", chroma}}, Sampling::k420, 8);
            (*cases)({{"chroma_loc", location}, {"chroma", chroma}}, Sampling::k422, 10);
        }
    for (const auto* transfer : {"bt1886", "srgb", "bt709oetf", "gamma22", "gamma28", "linear", "pq", "hlg"}) {
        (*cases)({{"transfer", transfer}}, Sampling::k420, 10);
        (*cases)({{"transfer", transfer}, {"primaries", "bt2020"}, {"matrix", "bt2020nc"}}, Sampling::k444, 12);
        (*cases)({{"transfer", transfer}}, Sampling::kRgb, 8);
    }
    for (const auto* primaries : {"bt709", "bt470bg", "smpte170m", "smpte240m", "bt2020", "p3"})
        (*cases)({{"primaries", primaries}, {"range", "full"}}, Sampling::k422, 8);
}

/// From 8 x 8 on, every height and some widths, then sides around the sizes of blocks with other sides.
/// @param step_of (height) to the distance of widths @param start_of (height) to the first one
template <typename StartOf, typename StepOf>
std::vector<ColourCase> sizes_from_8(const StartOf& start_of, const StepOf& step_of, std::initializer_list<int> sides,
                                     std::initializer_list<int> others) {
    std::vector<ColourCase> cases;
    for (int height = 8; height <= 40; ++height)
        for (int width = start_of(height); width <= 40; width += step_of(height))
            cases.push_back({width, height, static_cast<Sampling>((width + height) % 5), width % 2 ? 8 : 10});
    for (const int side : sides)
        for (const int other : others) {
            cases.push_back({side, other, Sampling::k420});
            cases.push_back({other, side, Sampling::k420, 10});
        }
    return cases;
}

/// A reference and a picture to compare with it, in unlike layouts.
inline std::vector<EmulatedPicture> planar_and_semi_planar(const ColourCase& c, int frame, bool is_distorted) {
    return {make_picture(c, Layout::kPlanar, frame, false), make_picture(c, Layout::kSemiPlanar, frame, is_distorted)};
}

/// Draws the maps of a case's pairs, and compares them with the CPU's.
inline void expect_maps_near_cpu(const MetricDescriptor& descriptor, const std::vector<EmulatedKernel>& kernels,
                                 const ColourCase& c, const MapTolerance& tolerance) {
    SCOPED_TRACE(testing::Message() << c);
    const FrameGeometry geometry = geometry_of(c);
    const OptionValues options = written_options(descriptor, c.words);
    for (const bool descending : {false, true}) {
        const auto metric = create_scorer(descriptor, geometry, options);
        metric->draw_maps();
        EmulatedProgram program(kernels);
        ASSERT_TRUE(metric->prepare(program).ok());
        const std::vector<EmulatedPicture> pictures = make_pictures(c);
        expect_emulated_maps_equal_cpu(*metric, descriptor.map->shape(geometry, options), EmulatedPairs(pictures),
                                       descending, tolerance);
    }
}

/// Pairs of which some share their reference, in another order than their rows of accumulators.
class MixedBatch {
public:
    explicit MixedBatch(const ColourCase& c) : pairs(5) {
        for (const int i : {0, 1}) references_.push_back(make_picture(c, c.reference, i, false));
        for (const int i : {0, 1, 2, 3, 4}) renditions_.push_back(make_picture(c, c.distorted, i, true));
        for (size_t i = 0; i < pairs.size(); ++i) {
            pairs[i].reference = references_[i < 2 ? 0 : 1].device();
            pairs[i].distorted = renditions_[i].device();
            pairs[i].output = static_cast<uint32_t>((i + 2) % 5);
        }
    }

    std::vector<DevicePair> pairs;

private:
    std::vector<EmulatedPicture> references_, renditions_;
};

/// A pair's words are the same alone and anywhere in a batch, and where pairs share their reference.
/// @param emulate (pairs, descending) to the words of all rows
template <typename Emulate>
void expect_batches_keep_bits(const ColourCase& c, size_t words_of_a_pair, const Emulate& emulate) {
    const MixedBatch batch(c);
    const std::vector<uint64_t> together = emulate(batch.pairs, false);
    EXPECT_EQ(together, emulate(batch.pairs, true));
    for (DevicePair pair : batch.pairs) {
        const auto row = std::span(together).subspan(size_t{pair.output} * words_of_a_pair, words_of_a_pair);
        pair.output = 0;
        const std::vector<uint64_t> alone = emulate(std::vector<DevicePair>{pair}, true);
        EXPECT_TRUE(std::equal(alone.begin(), alone.end(), row.begin()));
    }
}

/// The kernels that a metric asks for.
inline std::vector<std::string> kernels_of(Scorer& scorer) {
    class NotingProgram final : public DeviceProgram {
    public:
        Status find(const char* name, size_t, Kernel*) override {
            names.emplace_back(name);
            return {};
        }
        Status upload(const void*, size_t, const void**) override { return {}; }
        std::vector<std::string> names;
    };
    NotingProgram program;
    EXPECT_TRUE(scorer.prepare(program).ok());
    return program.names;
}

} // namespace qc::test
