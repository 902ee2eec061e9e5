// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels, run on the host by threads that are fibers, against the CPU reference; batches and pauses, of which no
// bit may depend on.
#include <gtest/gtest.h>

#include <cmath>

#include "metrics/cvvdp/cvvdp_emulation.hpp"

namespace qc::cvvdp {
namespace {

/// A stream of pairs, as surfaces and as the CPU sees it.
class Stream {
public:
    Stream(const FrameGeometry& geometry, int frames, const test::SurfaceLayout& layout = {}) {
        for (int f = 0; f < frames; ++f)
            for (const bool distorted : {false, true})
                pictures_.emplace_back(test::SamplePicture(geometry,
                                                           [&](int plane, int x, int y) {
                                                               return test::synthetic_blocks(x, y, f, plane,
                                                                                             geometry.depth, distorted);
                                                           }),
                                       layout);
    }
    DevicePicture device(int frame, bool distorted) const { return at(frame, distorted).device(); }
    DeviceClip device() const {
        DeviceClip clip;
        for (int f = 0; f < frames(); ++f) {
            clip.reference.push_back(device(f, false));
            clip.distorted.push_back(device(f, true));
        }
        return clip;
    }
    std::vector<HostPicture> host(bool distorted) const {
        std::vector<HostPicture> list;
        for (int f = 0; f < frames(); ++f) list.push_back(at(f, distorted).host());
        return list;
    }
    int frames() const { return static_cast<int>(pictures_.size() / 2); }

private:
    const test::EmulatedPicture& at(int frame, bool distorted) const {
        return pictures_[static_cast<size_t>(2 * frame + (distorted ? 1 : 0))];
    }
    std::vector<test::EmulatedPicture> pictures_;
};

struct Emulation {
    FrameGeometry geometry;
    OptionValues options;
    std::unique_ptr<Scorer> scorer;
    int depth;

    Emulation(const FrameGeometry& of, OptionValues values, bool draws = false)
        : geometry(of), options(std::move(values)) {
        scorer = create_scorer(descriptor(), geometry, options);
        if (draws) scorer->draw_maps();
        const Status prepared = scorer->prepare(program_);
        EXPECT_TRUE(prepared.ok()) << prepared.text();
        depth = earlier_pairs(descriptor(), geometry, options);
    }

    void expect_near_cpu(const Stream& stream, int batch_frames = 3) const {
        const ClipScore cpu = score_clip(geometry, options, stream.host(false), stream.host(true));
        const auto words = emulate(*scorer, stream.device(), depth, batch_frames, false);
        const ClipScore emulated = score_words(geometry, options, words);
        ASSERT_EQ(cpu.frames.size(), emulated.frames.size());
        for (size_t f = 0; f < cpu.frames.size(); ++f)
            EXPECT_NEAR(emulated.frames[f], cpu.frames[f], bound_of(cpu.frames[f])) << "frame " << f;
        EXPECT_NEAR(emulated.jod, cpu.jod, 1e-4);
        EXPECT_EQ(words, emulate(*scorer, stream.device(), depth, batch_frames, true)) << "the other order of threads";
    }

    /// The scores are those of a session without maps, too.
    void expect_maps_near_cpu(const Stream& stream, int batch_frames, bool descending, int renditions) const {
        const Emulation plain(geometry, options);
        const auto words = emulate(*plain.scorer, stream.device(), depth, batch_frames, descending, renditions);
        // All of the scale, and what is small once more.
        for (const float scale : {255.0f, 16 * 255.0f}) {
            EmulatedMaps maps{descriptor().map->shape(geometry, options), scale};
            EXPECT_EQ(emulate(*scorer, stream.device(), depth, batch_frames, descending, renditions, &maps), words);
            expect_near_cpu(stream, maps);
        }
    }

private:
    void expect_near_cpu(const Stream& stream, const EmulatedMaps& maps) const {
        const std::vector<HostPicture> reference = stream.host(false), distorted = stream.host(true);
        std::vector<float> expected(static_cast<size_t>(geometry.width) * static_cast<size_t>(geometry.height));
        const Plane<float> values{expected.data(), {geometry.width}, geometry.width, geometry.height};
        for (size_t frame = 0; frame < reference.size(); ++frame) {
            scorer->draw({reference[frame], distorted[frame]},
                         past_of(reference, distorted, frame, static_cast<size_t>(depth)), values);
            for (size_t i = 0; i < expected.size(); ++i) {
                const float level = std::min(255.0f, expected[i] * maps.scale);
                ASSERT_NEAR(maps.frames[frame][i], level, 0.5f + maps.scale * (1e-5f + 1e-4f * expected[i]))
                    << "frame " << frame << ", " << i % static_cast<size_t>(geometry.width) << ","
                    << i / static_cast<size_t>(geometry.width);
            }
        }
    }

    test::EmulatedProgram program_{emulated_kernels()};
};

FrameGeometry geometry_of(int width, int height, int depth, qc_chroma chroma, double rate = 8.0) {
    FrameGeometry geometry = test::geometry_of(width, height, depth, chroma);
    geometry.frame_rate = rate;
    return geometry;
}

/// Around tiles, reflections and odd levels; from two pixels on.
TEST(CvvdpEmulation, Sizes) {
    const std::vector<std::pair<int, int>> sizes{{2, 2},   {3, 5},   {4, 7},   {6, 6},   {7, 13},
                                                 {17, 17}, {33, 21}, {65, 35}, {70, 64}, {131, 34}};
    for (const auto& [width, height] : sizes) {
        SCOPED_TRACE(testing::Message() << width << "x" << height);
        const Emulation emulation(geometry_of(width, height, 8, QC_CHROMA_420), options_of_words({}));
        emulation.expect_near_cpu(Stream(emulation.geometry, 2));
    }
}

TEST(CvvdpEmulation, Formats) {
    for (const qc_chroma chroma : {QC_CHROMA_400, QC_CHROMA_420, QC_CHROMA_422, QC_CHROMA_444})
        for (const auto& [depth, shift] : std::vector<std::pair<int, int>>{{8, 0}, {10, 6}, {12, 0}, {16, 0}}) {
            SCOPED_TRACE(testing::Message() << "chroma " << chroma << ", " << depth << " bits");
            const Emulation emulation(geometry_of(21, 18, depth, chroma), options_of_words({}));
            emulation.expect_near_cpu(Stream(emulation.geometry, 2, {.shift = shift, .padding = 3}));
        }
}

TEST(CvvdpEmulation, DisplaysAndBorders) {
    for (const char* display : {"standard_fhd", "standard_hdr_pq", "standard_hdr_hlg", "standard_hdr_linear",
                                "standard_hmd", "iphone_14_pro_hdr"}) {
        SCOPED_TRACE(display);
        const Emulation emulation(geometry_of(36, 27, 10, QC_CHROMA_420),
                                  options_of_words({{"display", display}, {"border", "fixed"}}));
        emulation.expect_near_cpu(Stream(emulation.geometry, 2));
    }
    const Emulation power(geometry_of(20, 20, 8, QC_CHROMA_420),
                          options_of_words({{"eotf", "power"}, {"matrix", "bt2020"}, {"primaries", "p3"}},
                                           {{"gamma", 2.4}, {"exposure", 1.5}, {"ppd", 30.0}}));
    power.expect_near_cpu(Stream(power.geometry, 2));
}

/// Filters of three, seven and nine frames; more frames than a group has.
TEST(CvvdpEmulation, Time) {
    for (const double rate : {8.0, 24.0, 30.0})
        for (const char* padding : {"replicate", "symmetric"}) {
            SCOPED_TRACE(testing::Message() << rate << " frames per second, " << padding);
            const Emulation emulation(geometry_of(12, 9, 8, QC_CHROMA_420, rate),
                                      options_of_words({{"padding", padding}}));
            emulation.expect_near_cpu(Stream(emulation.geometry, 11), 10);
            emulation.expect_near_cpu(Stream(emulation.geometry, 2), 10);
        }
}

TEST(CvvdpEmulation, MapsAreNearTheCpu) {
    for (const auto& [width, height] : {std::pair{2, 2}, {3, 5}, {7, 13}, {65, 35}, {150, 44}})
        for (const char* padding : {"replicate", "symmetric"})
            for (const bool descending : {false, true}) {
                SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << padding);
                const Emulation emulation(geometry_of(width, height, 8, QC_CHROMA_420, 16.0),
                                          options_of_words({{"padding", padding}}), true);
                emulation.expect_maps_near_cpu(Stream(emulation.geometry, 5), 3, descending, descending ? 2 : 1);
            }
}

TEST(CvvdpEmulation, SameBitsInEveryBatch) {
    for (const char* padding : {"replicate", "symmetric"}) {
        const Emulation emulation(geometry_of(20, 14, 8, QC_CHROMA_420, 25.0),
                                  options_of_words({{"padding", padding}}));
        const Stream stream(emulation.geometry, 11);
        const auto words = emulate(*emulation.scorer, stream.device(), emulation.depth, 1, false);
        for (const int frames : {2, 8, 11})
            EXPECT_EQ(words, emulate(*emulation.scorer, stream.device(), emulation.depth, frames, false)) << frames;
        EXPECT_EQ(words, emulate(*emulation.scorer, stream.device(), emulation.depth, 4, false, 3))
            << "three renditions";
    }
}

TEST(CvvdpEmulation, IdenticalPicturesDoNotDiffer) {
    const Emulation emulation(geometry_of(40, 30, 8, QC_CHROMA_420, 24.0), options_of_words({}));
    std::vector<test::EmulatedPicture> pictures;
    const Stream stream(emulation.geometry, 1);
    const auto sums = [&] {
        const DevicePicture picture = stream.device(0, false);
        const std::vector<DevicePicture> places(static_cast<size_t>(2 * (emulation.depth + 1)), picture);
        const std::vector<uint32_t> pasts{0};
        DevicePair pair{};
        pair.reference = pair.distorted = picture;
        const DeviceTimeline timeline{places.data(), pasts.data(), emulation.depth, 1, 1};
        DeviceBatch batch;
        batch.pairs = &pair;
        batch.count = 1;
        std::vector<uint64_t> words(emulation.scorer->accumulator_words());
        test::EmulatedScratch scratch(emulation.scorer->scratch_bytes(1), 0xff);
        batch.accumulators = words.data();
        batch.scratch = scratch.data();
        test::EmulatedQueue queue(false);
        EXPECT_TRUE(emulation.scorer->enqueue(batch, timeline, queue).ok());
        return words;
    }();
    const ClipScore score = score_words(emulation.geometry, emulation.options, {sums});
    EXPECT_EQ(score.frames[0], 0.0);
    EXPECT_EQ(score.jod, 10.0);
}

} // namespace
} // namespace qc::cvvdp
