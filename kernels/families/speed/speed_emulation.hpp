// SPDX-License-Identifier: BSD-2-Clause-Patent
// The SpEED kernels without a GPU: every format and size against the CPU reference. Test code only.
#pragma once

#include "families/speed/speed_kernels.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::speed {

/// What planes show.
enum class Content { kTexture, kNoise, kFlat, kOneFlat };

inline uint32_t sample_of(Content content, int x, int y, int frame, int plane, int depth, bool distorted) {
    if (content == Content::kFlat || (content == Content::kOneFlat && distorted)) return 77u << (depth - 8);
    if (content == Content::kNoise) return test::synthetic_noise(x, y, frame, plane, depth, distorted);
    // Structure as large as the blocks, which the smoothing leaves.
    const uint32_t coarse = test::synthetic_hash(x / 24, y / 24, frame, plane, 9) % 97;
    const uint32_t fine = test::synthetic_sample(x, y, frame, plane, 8, distorted);
    return ((coarse + fine * (distorted ? 5 : 6) / 10) << (depth - 8)) & ((1u << depth) - 1);
}

/// The pairs of one stream, semi-planar on the device.
inline std::vector<test::EmulatedPicture> make_pictures(const FrameGeometry& geometry, Content content, int shift,
                                                        int count) {
    const test::SurfaceLayout layout{.semi_planar = true, .shift = shift, .padding = 3};
    std::vector<test::EmulatedPicture> pictures;
    for (int frame = 0; frame < count; ++frame)
        for (const bool distorted : {false, true}) {
            const auto sample_at = [&](int plane, int x, int y) {
                return sample_of(content, x, y, frame, plane, geometry.depth, distorted);
            };
            pictures.emplace_back(test::SamplePicture(geometry, sample_at), layout);
        }
    return pictures;
}

/// Runs pairs through the emulated kernels and expects the CPU's words.
inline void expect_emulation_equals_cpu(const MetricDescriptor& metric,
                                        const std::vector<test::EmulatedKernel>& kernels, const FrameGeometry& geometry,
                                        const OptionValues& options, Content content, int shift, int count,
                                        bool* any_score = nullptr) {
    const Status status = validate(metric, geometry, options);
    ASSERT_TRUE(status.ok()) << status.text();
    const auto instance = create_scorer(metric, geometry, options);
    const std::vector<test::EmulatedPicture> pictures = make_pictures(geometry, content, shift, count);
    const test::EmulatedPairs pairs(pictures, 1);
    for (const uint64_t word : pairs.cpu_words(*instance))
        if (any_score != nullptr && word > 1) *any_score = true;

    SCOPED_TRACE(testing::Message() << geometry.width << "x" << geometry.height << ", " << geometry.depth << " bits");
    test::EmulatedProgram program(kernels, 0);
    ASSERT_TRUE(instance->prepare(program).ok());
    for (const bool descending : {false, true}) test::expect_emulation_equals_cpu(*instance, pairs, descending);
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
