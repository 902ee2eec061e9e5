// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the emulation tests of both ADM metrics have in common: layouts, and batches on a device made of host memory.
// Test code only.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "contract/device.hpp"
#include "contract/metric.hpp"
#include "families/detail_loss/detail_loss_level.hpp"
#include "families/detail_loss/detail_loss_pictures.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::detail_loss {

/// Sizes whose bands are just below and above 15 (where the scored region leaves the border), and with tiles of 60x14
/// just full.
inline constexpr int kTileSizes[][2] = {{113, 57},  {114, 113}, {121, 225}, {225, 121}, {241, 99},
                                        {242, 100}, {239, 449}, {353, 287}, {961, 65}};

/// All depths and alignments: body(depth, offset in samples, layout).
template <typename Body>
void each_layout(const Body& body) {
    for (const int depth : {8, 10, 12, 16}) {
        for (const int offset : {0, 1, 2, 3}) {
            test::SurfaceLayout layout;
            layout.offset = static_cast<size_t>(offset);
            layout.shift = depth == 10 && offset % 2 == 0 ? 6 : depth == 12 && offset % 2 == 0 ? 4 : 0;
            layout.padding = static_cast<size_t>(5 * offset);
            layout.alignment = offset == 0 ? 64 : 1;
            body(depth, offset, layout);
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

inline std::vector<Pair> batch_of(int count) {
    std::vector<Pair> pairs;
    pairs.reserve(count);
    for (int i = 0; i < count; i++) pairs.push_back(textured(139, 77, 8, static_cast<uint32_t>(i)));
    return pairs;
}

/// Both pictures of each pair for both backends, the distorted one with another pitch.
inline std::vector<test::EmulatedPicture> pictures_of(const std::vector<Pair>& pairs,
                                                      const test::SurfaceLayout& layout) {
    std::vector<test::EmulatedPicture> pictures;
    for (const Pair& pair : pairs) {
        const FrameGeometry& geometry = pair.reference.geometry();
        const auto& reference = pictures.emplace_back(pair.reference, layout);
        const size_t pitch = reference.device().plane[0].pitch_bytes / geometry.sample_bytes();
        pictures.emplace_back(
            pair.distorted,
            test::SurfaceLayout{.shift = layout.shift, .padding = pitch + 8 - static_cast<size_t>(geometry.width)});
    }
    return pictures;
}

/// A batch's accumulators have to equal the CPU reference's, word by word.
inline void expect_batch_like_cpu(const MetricDescriptor& descriptor, const OptionValues& options,
                                  const std::vector<Pair>& pairs, const test::SurfaceLayout& layout,
                                  test::EmulatedProgram& program, test::EmulatedQueue& queue) {
    const FrameGeometry& geometry = pairs[0].reference.geometry();
    const auto metric = create_scorer(descriptor, geometry, options);
    const Status prepared = metric->prepare(program);
    ASSERT_TRUE(prepared.ok()) << prepared.text();
    // Else reads beyond it could go unnoticed.
    EXPECT_EQ(metric->scratch_bytes(static_cast<int>(pairs.size())) % 256, 0u);
    const std::vector<test::EmulatedPicture> pictures = pictures_of(pairs, layout);
    const test::EmulatedPairs batch(pictures);
    const std::vector<uint64_t> words = test::emulate_batch(*metric, batch.device, queue);
    const std::vector<uint64_t> expected = batch.cpu_words(*metric);
    ASSERT_EQ(words.size(), pairs.size() * kWords);
    for (size_t i = 0; i < words.size(); ++i)
        ASSERT_EQ(words[i], expected[i]) << geometry.width << "x" << geometry.height << "@" << geometry.depth << " row "
                                         << i / kWords << " of " << pairs.size() << " word " << i % kWords;
}

} // namespace qc::detail_loss
