// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the emulation tests of both ADM metrics have in common: surfaces, and batches on a device made of host memory.
// Test code only.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "contract/device.hpp"
#include "contract/metric.hpp"
#include "families/detail_loss/detail_loss_level.hpp"
#include "families/detail_loss/detail_loss_pictures.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::detail_loss {

struct Layout {
    int extra_pitch = 0; ///< bytes
    int offset = 0;      ///< bytes
    int shift = 0;
    int pitch_alignment = 1;
};

/// A picture as a surface: samples in the upper bits of the container, rubbish below, and memory that ends with the
/// last sample.
struct Surface {
    std::vector<uint8_t> memory;
    DevicePlane plane{};

    Surface(const Picture& picture, int pitch_bytes, int offset_bytes, int shift) {
        const int bytes = picture.sample_bytes();
        memory.assign(static_cast<size_t>(offset_bytes) + static_cast<size_t>(pitch_bytes) * (picture.height - 1) +
                          static_cast<size_t>(picture.width) * bytes,
                      0xee);
        for (int y = 0; y < picture.height; y++) {
            for (int x = 0; x < picture.width; x++) {
                const uint32_t rubbish = hash(x, y, 77) & ((1u << shift) - 1);
                const auto container =
                    static_cast<uint16_t>(static_cast<uint32_t>(picture.get(x, y)) << shift | rubbish);
                std::memcpy(memory.data() + offset_bytes + static_cast<size_t>(y) * pitch_bytes + x * bytes, &container,
                            bytes);
            }
        }
        plane = {memory.data() + offset_bytes, static_cast<uint32_t>(pitch_bytes), 1, static_cast<uint16_t>(shift)};
    }
};

/// Scores a batch on the emulated device; rows of the accumulators are in reverse order of the pairs.
inline std::vector<std::vector<uint64_t>> device_words(const std::vector<Pair>& pairs, Scorer& metric,
                                                       const Layout& layout, test::EmulatedProgram& program,
                                                       test::EmulatedQueue& queue) {
    const Picture& first = pairs[0].reference;
    const Status prepared = metric.prepare(program);
    EXPECT_TRUE(prepared.ok()) << prepared.text();

    const int count = static_cast<int>(pairs.size());
    const int row_bytes = first.width * first.sample_bytes() + layout.extra_pitch;
    const int pitch = (row_bytes + layout.pitch_alignment - 1) / layout.pitch_alignment * layout.pitch_alignment;
    std::vector<Surface> surfaces;
    surfaces.reserve(2 * pairs.size());
    std::vector<DevicePair> device_pairs(pairs.size());
    for (int i = 0; i < count; i++) {
        surfaces.emplace_back(pairs[i].reference, pitch, layout.offset, layout.shift);
        device_pairs[i].reference.plane[0] = surfaces.back().plane;
        // The distorted picture has another pitch.
        surfaces.emplace_back(pairs[i].distorted, pitch + 8 * first.sample_bytes(), 0, layout.shift);
        device_pairs[i].distorted.plane[0] = surfaces.back().plane;
        device_pairs[i].output = static_cast<uint32_t>(count - 1 - i);
    }
    EXPECT_EQ(metric.scratch_bytes(count) % 256, 0u); // else reads beyond it could go unnoticed
    DeviceBatch batch;
    batch.pairs = device_pairs.data();
    batch.count = count;
    const std::vector<uint64_t> accumulators = test::emulate_batch(metric, batch, queue);

    std::vector<std::vector<uint64_t>> words;
    for (int i = 0; i < count; i++) {
        const auto row = accumulators.begin() + (count - 1 - i) * static_cast<std::ptrdiff_t>(kWords);
        words.emplace_back(row, row + kWords);
    }
    return words;
}

/// A batch's accumulators have to equal the CPU reference's, word by word.
inline void expect_batch_like_cpu(const MetricDescriptor& descriptor, const OptionValues& options,
                                  const std::vector<Pair>& pairs, const Layout& layout, test::EmulatedProgram& program,
                                  test::EmulatedQueue& queue) {
    const auto metric = create_scorer(descriptor, pairs[0].reference.geometry(), options);
    const auto batch = device_words(pairs, *metric, layout, program, queue);
    for (size_t n = 0; n < pairs.size(); n++) {
        const Picture& picture = pairs[n].reference;
        std::vector<uint64_t> words(kWords);
        metric->score(pairs[n].view(), words);
        for (int i = 0; i < kWords; i++) {
            ASSERT_EQ(batch[n][i], words[i]) << picture.width << "x" << picture.height << "@" << picture.depth
                                             << " pair " << n << " of " << pairs.size() << " word " << i;
        }
    }
}

} // namespace qc::detail_loss
