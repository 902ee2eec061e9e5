// SPDX-License-Identifier: BSD-2-Clause-Patent
// The SpEED kernels without a GPU: every format and size against the CPU reference. Test code only.
#pragma once

#include "families/speed/speed_kernels.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::speed {

/// What planes show.
enum class Content { kTexture, kNoise, kFlat, kOneFlat };

/// A picture as a surface on the device (semi-planar chroma, samples shifted, padding of all ones) and as the CPU
/// backend sees it.
struct EmulatedPicture {
    std::vector<uint8_t> surface[3];
    std::vector<uint16_t> wide[3];
    std::vector<uint8_t> narrow[3];
    DevicePicture device{};
    HostPicture host;

    EmulatedPicture(const FrameGeometry& g, Content content, bool distorted, int frame, int shift) {
        const size_t bytes = g.sample_bytes();
        for (int p = 0; p < g.plane_count(); ++p) {
            const int width = g.plane_width(p), height = g.plane_height(p), step = p == 0 ? 1 : 2;
            const size_t pitch = static_cast<size_t>(width * step + 3) * bytes;
            const size_t interleave = p == 2 ? bytes : 0;
            surface[p].assign(pitch * height + interleave, 0xff);
            wide[p].resize(static_cast<size_t>(width) * height);
            narrow[p].resize(wide[p].size());
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x) {
                    const unsigned sample = sample_of(content, x, y, frame, p, g.depth, distorted);
                    const size_t i = static_cast<size_t>(y) * width + x;
                    wide[p][i] = static_cast<uint16_t>(sample);
                    narrow[p][i] = static_cast<uint8_t>(sample);
                    const auto container = static_cast<uint16_t>(sample << shift);
                    std::memcpy(&surface[p][y * pitch + x * step * bytes + interleave], &container, bytes);
                }
            device.plane[p] = {surface[p].data() + interleave, static_cast<uint32_t>(pitch),
                               static_cast<uint16_t>(step), static_cast<uint16_t>(shift)};
            host.plane[p] = {bytes == 1 ? static_cast<const void*>(narrow[p].data()) : wide[p].data(),
                             {static_cast<ptrdiff_t>(width * bytes)},
                             width,
                             height};
        }
    }

    static unsigned sample_of(Content content, int x, int y, int frame, int plane, int depth, bool distorted) {
        if (content == Content::kFlat || (content == Content::kOneFlat && distorted)) return 77u << (depth - 8);
        if (content == Content::kNoise)
            return test::synthetic_hash(x, y, frame, plane, distorted) & ((1u << depth) - 1);
        // Structure as large as the blocks, which the smoothing leaves.
        const unsigned coarse = test::synthetic_hash(x / 24, y / 24, frame, plane, 9) % 97;
        const unsigned fine = distorted ? test::synthetic_distorted(x, y, frame, plane, 8)
                                        : test::synthetic_reference(x, y, frame, plane, 8);
        return ((coarse + fine * (distorted ? 5 : 6) / 10) << (depth - 8)) & ((1u << depth) - 1);
    }
};

/// Runs pairs through the emulated kernels and expects the CPU's words.
inline void expect_emulation_equals_cpu(const MetricDescriptor& metric,
                                        const std::vector<test::EmulatedKernel>& kernels, const FrameGeometry& geometry,
                                        const OptionValues& options, Content content, int shift, int count,
                                        bool* any_score = nullptr) {
    const Status status = validate(metric, geometry, options);
    ASSERT_TRUE(status.ok()) << status.text();
    const auto instance = create_scorer(metric, geometry, options);
    const size_t words_per_pair = instance->accumulator_words();

    std::vector<EmulatedPicture> pictures; // reference and distorted of each frame
    for (int frame = 0; frame < count; ++frame)
        for (const bool distorted : {false, true}) pictures.emplace_back(geometry, content, distorted, frame, shift);
    std::vector<DevicePair> pairs(static_cast<size_t>(count));
    std::vector<uint64_t> expected(words_per_pair * static_cast<size_t>(count));
    for (int frame = 0; frame < count; ++frame) {
        HostPair host{pictures[2 * frame].host, pictures[2 * frame + 1].host};
        DevicePair& pair = pairs[static_cast<size_t>(frame)];
        pair = {};
        pair.reference = pictures[2 * frame].device;
        pair.distorted = pictures[2 * frame + 1].device;
        pair.output = static_cast<uint32_t>(count - 1 - frame);
        if (frame > 0) {
            pair.reference_history[0] = pictures[2 * frame - 2].device.plane[0];
            pair.distorted_history[0] = pictures[2 * frame - 1].device.plane[0];
            host.reference_history[0] = pictures[2 * frame - 2].host.plane[0];
            host.distorted_history[0] = pictures[2 * frame - 1].host.plane[0];
        }
        instance->score(host, std::span(expected).subspan(pair.output * words_per_pair, words_per_pair));
    }
    for (const uint64_t word : expected)
        if (any_score != nullptr && word > 1) *any_score = true;

    test::EmulatedProgram program(kernels, 0);
    ASSERT_TRUE(instance->prepare(program).ok());
    DeviceBatch batch;
    batch.pairs = pairs.data();
    batch.count = count;
    for (const bool descending : {false, true}) {
        test::EmulatedQueue queue(descending);
        EXPECT_EQ(test::emulate_batch(*instance, batch, queue), expected)
            << geometry.width << "x" << geometry.height << ", " << geometry.depth << " bits";
    }
}

inline FrameGeometry geometry_of(int width, int height, qc_chroma chroma, int depth) {
    return test::synthetic_geometry({"", width, height, chroma, depth, 1, 0, 0});
}

/// Sets an option by its alias.
inline void set_option(OptionValues* options, std::string_view alias, double value) {
    for (size_t i = 0; i < options->specs().size(); ++i)
        if (options->specs()[i].alias == alias) return options->set(i, value);
    ADD_FAILURE() << "no option " << alias;
}

/// What is tested of both SpEED metrics. `least`: pairs of a batch that a score takes.
struct Emulation {
    const MetricDescriptor& descriptor;
    std::vector<test::EmulatedKernel> kernels;
    int least;

    void expect_equal(const FrameGeometry& geometry, const OptionValues& options, Content content, int shift, int count,
                      bool* any_score = nullptr) const {
        expect_emulation_equals_cpu(descriptor, kernels, geometry, options, content, shift, count, any_score);
    }
    OptionValues defaults() const { return OptionValues(descriptor.options); }

    void expect_every_format_equal() const {
        for (const Content content : {Content::kTexture, Content::kNoise, Content::kFlat, Content::kOneFlat}) {
            bool scored = false;
            expect_equal(geometry_of(340, 406, QC_CHROMA_420, 8), defaults(), content, 0, 2, &scored);
            expect_equal(geometry_of(417, 179, QC_CHROMA_422, 10), defaults(), content, 6, least, &scored);
            expect_equal(geometry_of(175, 261, QC_CHROMA_444, 12), defaults(), content, 4, least, &scored);
            expect_equal(geometry_of(250, 170, QC_CHROMA_444, 16), defaults(), content, 0, 3, &scored);
            EXPECT_EQ(scored, content == Content::kTexture || content == Content::kNoise);
        }
    }
    /// Every size of the smoothing kernel, every factor and method of resizing.
    void expect_every_scale_equal(const FrameGeometry& geometry) const {
        for (const double kernel : {0.5, 1.5, 2.0, 360.0 / 97, 4.0 / 3}) {
            OptionValues options = defaults();
            set_option(&options, "ks", kernel);
            expect_equal(geometry, options, Content::kTexture, 0, least);
        }
        for (const double factor : {0.5, 0.97, 1.3})
            for (int method = 0; method < 4; ++method) {
                OptionValues options = defaults();
                set_option(&options, "ps", factor);
                set_option(&options, "psm", method);
                expect_equal(geometry, options, Content::kTexture, 0, least);
            }
    }
    void expect_small_sizes_equal() const {
        for (int size = 80; size < 176; size += 5) {
            expect_equal(geometry_of(size, 255 - size, QC_CHROMA_444, 8), defaults(), Content::kNoise, 0, least);
            expect_equal(geometry_of(size, size, QC_CHROMA_444, 10), defaults(), Content::kTexture, 0, least);
        }
    }
};

} // namespace qc::speed
