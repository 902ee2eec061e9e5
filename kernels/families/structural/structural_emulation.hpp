// SPDX-License-Identifier: BSD-2-Clause-Patent
// The structural similarity kernels without a GPU, against the CPU reference. Test code only.
#pragma once

#include "tests/device/emulated_device.hpp"

namespace qc::structural {

/// What pictures show. Edges: black and white without anything between, which makes the low-pass filter overshoot.
enum class Content { kTexture, kNoise, kEdges, kBlack, kFlat };

inline uint32_t sample_of(Content content, int x, int y, int frame, int depth, bool distorted) {
    const uint32_t peak = (1u << depth) - 1;
    switch (content) {
    case Content::kNoise:
        return test::synthetic_noise(x, y, frame, 0, depth, distorted);
    case Content::kEdges:
        return test::synthetic_hash(x / 7, y / 5, frame, 0, distorted ? x % 3 == 0 : 0) % 3 == 0 ? peak : 0;
    case Content::kBlack:
        return 0;
    case Content::kFlat:
        return distorted ? peak : peak / 3;
    default:
        return test::synthetic_sample(x, y, frame, 0, depth, distorted);
    }
}

inline test::SamplePicture make_picture(Content content, const FrameGeometry& geometry, int frame, bool distorted,
                                        int padding = 0) {
    const auto sample_at = [&](int x, int y) { return sample_of(content, x, y, frame, geometry.depth, distorted); };
    return {geometry, sample_at, padding};
}

struct EmulationCase {
    int width, height, depth, shift, count;
    Content content = Content::kTexture;
    int pitch_step = 1; ///< by how much the pitch grows from pair to pair: 4 keeps rows aligned for wide loads
};

inline std::ostream& operator<<(std::ostream& stream, const EmulationCase& c) {
    return stream << c.width << "x" << c.height << ", " << c.depth << " bits << " << c.shift << ", " << c.count
                  << " pairs, content " << static_cast<int>(c.content);
}

/// The device's accumulators have to equal the CPU reference's in every bit.
inline void expect_emulation_equals_cpu(const MetricDescriptor& descriptor, std::vector<test::EmulatedKernel> kernels,
                                        const EmulationCase& c, const OptionValues& options, bool descending) {
    SCOPED_TRACE(testing::Message() << c);
    const FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
    ASSERT_TRUE(validate(descriptor, geometry, options).ok());
    const auto metric = create_scorer(descriptor, geometry, options);
    test::EmulatedProgram program(std::move(kernels), 0);
    ASSERT_TRUE(metric->prepare(program).ok());
    EXPECT_EQ(program.uploads(), 0u);

    std::vector<test::EmulatedPicture> lumas;
    for (int i = 0; i < c.count; ++i)
        for (const bool distorted : {false, true}) {
            const int aligned = c.pitch_step == 4 ? (c.width + 3) / 4 * 4 : c.width;
            const int padding = aligned + (distorted ? 3 * i : i) * c.pitch_step - c.width;
            lumas.emplace_back(make_picture(c.content, geometry, i, distorted, padding),
                               test::SurfaceLayout{.shift = c.shift, .padding = static_cast<size_t>(padding)});
        }
    test::expect_emulation_equals_cpu(*metric, lumas, descending);
}

} // namespace qc::structural
