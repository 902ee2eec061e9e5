// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels on the host, for whole clips in batches.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "metrics/cvvdp/cvvdp_kernels.hpp"
#include "metrics/cvvdp/cvvdp_test_support.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::cvvdp {

inline std::vector<test::EmulatedKernel> emulated_kernels() {
    return QC_EMULATED_KERNELS(QC_CVVDP_KERNELS);
}

/// Pictures on the device, in the order of time.
struct DeviceClip {
    std::vector<DevicePicture> reference, distorted;
    std::vector<DevicePlane> weights{}; ///< empty: there are none
};

/// What is drawn of every frame.
struct EmulatedMaps {
    MapShape shape;
    float scale; ///< see map_level()
    std::vector<std::vector<uint8_t>> frames{};
};

/// The words of every frame, from batches of so many; every rendition is the same.
/// @param maps null, or takes those of the last rendition
inline std::vector<std::vector<uint64_t>> emulate(const Scorer& scorer, const DeviceClip& clip, int depth,
                                                  int batch_frames, bool descending, int renditions = 1,
                                                  EmulatedMaps* maps = nullptr) {
    const auto clip_frames = static_cast<int>(clip.reference.size());
    std::vector<std::vector<uint64_t>> words;
    const size_t row = scorer.accumulator_words();
    for (int first = 0; first < clip_frames; first += batch_frames) {
        const int frames = std::min(batch_frames, clip_frames - first);
        std::vector<DevicePicture> places;
        std::vector<uint32_t> pasts;
        std::vector<DevicePair> pairs;
        for (int input = 0; input <= renditions; ++input)
            for (int place = -depth; place < batch_frames; ++place) {
                const int frame = first + place;
                const bool is_there = frame >= 0 && frame < clip_frames;
                const auto& side = input == 0 ? clip.reference : clip.distorted;
                places.push_back(is_there ? side[static_cast<size_t>(frame)] : DevicePicture{});
            }
        for (int r = 0; r < renditions; ++r)
            for (int f = 0; f < batch_frames; ++f) pasts.push_back(static_cast<uint32_t>(std::min(first + f, depth)));
        for (int f = 0; f < frames; ++f)
            for (int r = 0; r < renditions; ++r) {
                DevicePair pair{};
                pair.reference = clip.reference[static_cast<size_t>(first + f)];
                pair.distorted = clip.distorted[static_cast<size_t>(first + f)];
                pair.output = static_cast<uint32_t>(f * renditions + r);
                if (!clip.weights.empty()) pair.weights = clip.weights[static_cast<size_t>(first + f)];
                pairs.push_back(pair);
            }
        const DeviceTimeline timeline{places.data(), pasts.data(), depth, batch_frames, renditions};
        DeviceBatch batch;
        batch.pairs = pairs.data();
        batch.count = static_cast<int>(pairs.size());
        batch.groups = frames;
        std::vector<uint64_t> sums(pairs.size() * row);
        test::EmulatedScratch scratch(scorer.scratch_bytes(batch_frames * renditions), descending ? 0x71 : 0xff);
        batch.accumulators = sums.data();
        batch.scratch = scratch.data();
        std::vector<uint8_t> drawn;
        if (maps != nullptr) {
            const int pitch = maps->shape.width + 3;
            const size_t plane = static_cast<size_t>(pitch) * static_cast<size_t>(maps->shape.height);
            drawn.assign(plane * static_cast<size_t>(frames), 0x5a);
            batch.map = {.levels = drawn.data(),
                         .plane = plane,
                         .pitch = pitch,
                         .renditions = static_cast<uint32_t>(renditions),
                         .rendition = static_cast<uint32_t>(renditions - 1),
                         .scale = maps->scale};
        }
        test::EmulatedQueue queue(descending);
        const Status enqueued = scorer.enqueue(batch, timeline, queue);
        EXPECT_TRUE(enqueued.ok()) << enqueued.text();
        EXPECT_TRUE(scratch.guard_is_whole()) << "written beyond the scratch memory";
        for (int f = 0; maps != nullptr && f < frames; ++f) {
            const MapPlane map = batch.map.of_frame(static_cast<uint32_t>(f), maps->shape);
            std::vector<uint8_t>& levels = maps->frames.emplace_back();
            for (int y = 0; y < map.height; ++y) levels.insert(levels.end(), map.row(y), map.row(y) + map.width);
        }
        for (int f = 0; f < frames; ++f) {
            const auto begin = sums.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(f * renditions) * row);
            words.emplace_back(begin, begin + static_cast<ptrdiff_t>(row));
            for (int r = 1; r < renditions; ++r)
                EXPECT_TRUE(std::equal(begin, begin + static_cast<ptrdiff_t>(row),
                                       begin + static_cast<ptrdiff_t>(static_cast<size_t>(r) * row)))
                    << "rendition " << r;
        }
    }
    return words;
}

/// How far the kernels may be from the CPU.
inline double bound_of(double value) {
    return kBackendBound.absolute + kBackendBound.relative * std::abs(value);
}

} // namespace qc::cvvdp
