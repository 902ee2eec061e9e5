// SPDX-License-Identifier: BSD-2-Clause-Patent
// The maker of the tests' pictures: what kernels read of a surface is the picture, whatever the layout.
#include "tests/support/sample_picture.hpp"

#include <gtest/gtest.h>

#include "tests/support/geometry.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::test {
namespace {

const std::vector<SurfaceLayout> kLayouts = {
    {.name = "tight"},
    {.name = "padded, off by one", .offset = 1, .padding = 3},
    {.name = "aligned", .alignment = 64},
    {.name = "every other luma sample", .padding = 2, .luma_step = 2},
    {.name = "semi-planar", .semi_planar = true, .padding = 1},
    {.name = "semi-planar, aligned", .semi_planar = true, .offset = 2, .alignment = 32},
    {.name = "packed 3", .padding = 1, .pixel_step = 3},
    {.name = "packed 4", .offset = 4, .alignment = 16, .pixel_step = 4},
};

const uint8_t* address_of(const DevicePlane& plane, int x, int y, size_t sample_bytes) {
    return static_cast<const uint8_t*>(plane.data) + static_cast<size_t>(y) * plane.pitch_bytes +
           static_cast<size_t>(x * plane.step) * sample_bytes;
}

uint16_t container_at(const DevicePlane& plane, int x, int y, size_t sample_bytes) {
    uint16_t container = 0;
    std::memcpy(&container, address_of(plane, x, y, sample_bytes), sample_bytes);
    return container;
}

/// @param rubbish bits that were seen below samples
void expect_plane_read(const SamplePicture& picture, const Surface& surface, int p, unsigned* rubbish) {
    const FrameGeometry& geometry = picture.geometry();
    const DevicePlane plane = surface.device().plane[p];
    for (int y = 0; y < geometry.stored_height(p); ++y)
        for (int x = 0; x < geometry.stored_width(p); ++x) {
            const uint16_t container = container_at(plane, x, y, geometry.sample_bytes());
            ASSERT_EQ(container >> plane.shift, picture.at(p, x, y)) << "plane " << p << " at " << x << "," << y;
            *rubbish |= container & ((1u << plane.shift) - 1);
        }
}

void expect_surface_read(const SamplePicture& picture, const SurfaceLayout& layout) {
    SCOPED_TRACE(testing::Message() << layout.name << ", shift " << layout.shift << ", " << picture.geometry().depth
                                    << " bits");
    const FrameGeometry& geometry = picture.geometry();
    const Surface surface(picture, layout);
    unsigned rubbish = 0;
    for (int p = 0; p < geometry.plane_count(); ++p) {
        expect_plane_read(picture, surface, p, &rubbish);
        const DevicePlane plane = surface.device().plane[p];
        EXPECT_EQ(plane.pitch_bytes % layout.alignment, 0u);
        // Memory ends with what shares the last sample's place: itself, the other sample of a pair, the packed pixel.
        const uint8_t* const last =
            address_of(plane, geometry.stored_width(p) - 1, geometry.stored_height(p) - 1, geometry.sample_bytes());
        const int behind = layout.pixel_step > 0 ? layout.pixel_step - (2 - p) : layout.semi_planar && p == 1 ? 2 : 1;
        const std::span<const uint8_t> memory = surface.memory(p);
        EXPECT_EQ(last + static_cast<size_t>(behind) * geometry.sample_bytes(), memory.data() + memory.size());
    }
    EXPECT_EQ(rubbish, (1u << layout.shift) - 1) << "every bit below the samples has been set somewhere";
}

TEST(SamplePicture, SurfacesHoldThePictureInEveryLayout) {
    for (const qc_chroma chroma : {QC_CHROMA_400, QC_CHROMA_420, QC_CHROMA_422, QC_CHROMA_444})
        for (const int depth : {8, 10, 12, 16}) {
            const auto noise = [&](int p, int x, int y) { return synthetic_noise(x, y, 1, p, depth, false); };
            const SamplePicture picture(geometry_of(37, 15, depth, chroma), noise, 5);
            for (SurfaceLayout layout : kLayouts) {
                if (layout.pixel_step > 0 && chroma != QC_CHROMA_444) continue;
                for (const int shift : {0, 16 - depth}) {
                    layout.shift = depth == 8 ? 0 : shift;
                    expect_surface_read(picture, layout);
                }
            }
        }
}

/// What pads the rows is neither black nor a sample of the picture.
TEST(SamplePicture, ViewsEndWithThePicture) {
    const SamplePicture picture(
        geometry_of(5, 3, 8, QC_CHROMA_420), [](int p, int x, int y) { return p + x + y; }, 2);
    const HostPicture view = picture.view();
    EXPECT_EQ(view.plane[1].width, 2) << "metrics see chroma rounded down";
    EXPECT_EQ(picture.geometry().stored_width(1), 3);
    EXPECT_EQ(view.plane[0].as<uint8_t>().at(4, 2), 6);
    EXPECT_EQ(static_cast<const uint8_t*>(view.plane[0].data)[5], 0xad);
    EXPECT_EQ(view.plane[0].pitch.bytes, 7);
    EXPECT_EQ(view.plane[1].pitch.bytes, 5);
}

TEST(SyntheticBlocks, HaveFlatOnesNoiseAndStructure) {
    int flat = 0, extreme = 0, textured = 0;
    for (int y = 0; y < 320; y += 16)
        for (int x = 0; x < 480; x += 24) {
            const auto code = [&](int u, FlatBlocks kind) { return synthetic_blocks(x + u, y, 0, 0, 8, false, kind); };
            bool even = true, clip = true;
            for (int u = 0; u < 24; ++u) {
                even = even && code(u, FlatBlocks::kAnyCode) == code(0, FlatBlocks::kAnyCode);
                clip = clip && code(u, FlatBlocks::kAnyCode) == synthetic_reference(x + u, y, 0, 0, 8);
            }
            flat += even ? 1 : 0;
            textured += clip ? 1 : 0;
            const uint32_t first = code(0, FlatBlocks::kExtremes);
            extreme += even && (first == 0 || first == 255) ? 1 : 0;
        }
    EXPECT_GT(flat, 40);
    EXPECT_EQ(extreme, flat);
    EXPECT_GT(textured, 160);
    EXPECT_LT(flat + textured, 380) << "the others are noise";
}

} // namespace
} // namespace qc::test
