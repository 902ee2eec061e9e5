// SPDX-License-Identifier: BSD-2-Clause-Patent
// The structural similarity kernels without a GPU: host code prepares and enqueues as for a device, and the phases of
// each block's threads run one after another on the CPU. Shows what code does (including, with AddressSanitizer, reads
// beyond the pictures and planes); not what depends on the hardware: intrinsics, barriers, warps. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include "common/metric.hpp"
#include "structural/structural_phases.hpp"
#include "tests/synthetic_clip.hpp"

namespace qc::structural {

/// Threads or warps in ascending or descending order: where they race, one of the two gives another result.
inline std::vector<int> order_of(int count, bool descending) {
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    if (descending) std::reverse(order.begin(), order.end());
    return order;
}

/// All blocks of a launch.
template <typename T>
void emulate_window(void** arguments, Dim3 grid, Dim3 block, bool descending) {
    const Task& task = *static_cast<const Task*>(arguments[0]);
    ASSERT_EQ(block.x, static_cast<unsigned>(kThreads));
    const std::vector<int> threads = order_of(kThreads, descending), warps = order_of(kWarps, descending);
    const auto memory = std::make_unique<WindowMemory>();
    for (unsigned z = 0; z < grid.z; ++z)
        for (unsigned x = 0; x < grid.x; ++x) {
            std::memset(memory.get(), descending ? 0xff : 0x7e, sizeof *memory);
            const auto pair = static_cast<int>(z);
            const Segment segment = segment_of(task, static_cast<int>(x));
            uint64_t* const sums =
                task.accumulators + (task.pairs[pair].output * task.levels + segment.level) * kSumWords;
            for (int batch = 0; has_batch(segment, batch); ++batch) {
                for (const int thread : threads) {
                    if (batch > 0) keep_phase(*memory, thread);
                    read_phase<T>(*memory, task, pair, segment, batch, thread);
                }
                for (const int warp : warps) {
                    const bool has_negatives = task.window[segment.level].has_negatives;
                    for (const int lane : order_of(kLanes, descending))
                        (has_negatives ? row_phase<true> : row_phase<false>)(*memory, warp * kLanes + lane);
                    for (const int lane : order_of(kLanes, descending))
                        (has_negatives ? column_phase<true> : column_phase<false>)(*memory, warp * kLanes + lane);
                }
                for (const int thread : threads) terms_phase(*memory, task, segment, batch, thread, sums);
            }
        }
}

using EmulatedFunction = void (*)(void** arguments, Dim3 grid, Dim3 block, bool descending);
struct EmulatedKernel {
    const char* name;
    EmulatedFunction function;
};

/// Entry points as the .cu files name them.
class EmulatedProgram : public DeviceProgram {
public:
    explicit EmulatedProgram(std::vector<EmulatedKernel> kernels) : kernels_(std::move(kernels)) {
        kernels_.push_back({"structural_window_u8", emulate_window<uint8_t>});
        kernels_.push_back({"structural_window_u16", emulate_window<uint16_t>});
    }

    Status find(const char* name, size_t dynamic_shared_bytes, Kernel* kernel) override {
        EXPECT_EQ(dynamic_shared_bytes, 0u);
        for (const EmulatedKernel& candidate : kernels_)
            if (std::string_view(candidate.name) == name) {
                *kernel = {reinterpret_cast<void*>(candidate.function), 0};
                return {};
            }
        return invalid(std::string("no kernel ") + name);
    }
    Status upload(const void*, size_t, const void**) override { return invalid("no tables are expected"); }

private:
    std::vector<EmulatedKernel> kernels_;
};

class EmulatedQueue : public DeviceQueue {
public:
    explicit EmulatedQueue(bool descending) : descending_(descending) {}
    Status launch_raw(const Kernel& kernel, Dim3 grid, Dim3 block, void** arguments) override {
        reinterpret_cast<EmulatedFunction>(kernel.function)(arguments, grid, block, descending_);
        return {};
    }
    Status zero(void* device_address, size_t bytes) override {
        std::memset(device_address, 0, bytes);
        return {};
    }

private:
    bool descending_;
};

/// What pictures show. Edges: black and white without anything between, which makes the low-pass filter overshoot.
enum class Content { kTexture, kNoise, kEdges, kBlack, kFlat };

/// A picture as a surface on the device (samples shifted, memory that ends with the last sample) and as the CPU backend
/// sees it.
struct EmulatedPicture {
    std::vector<uint16_t> surface, samples;
    std::vector<uint8_t> bytes;
    DevicePlane device{};
    HostPlane host;

    EmulatedPicture(const FrameGeometry& g, Content content, int pitch, int shift, uint32_t seed, bool distorted) {
        const size_t size = static_cast<size_t>(pitch) * (g.height - 1) + g.width;
        surface.assign(size, 0xffff);
        samples.assign(size, 0xffff);
        bytes.assign(size, 0xff);
        for (int y = 0; y < g.height; ++y)
            for (int x = 0; x < g.width; ++x) {
                const size_t i = static_cast<size_t>(y) * pitch + x;
                const uint32_t sample = sample_of(content, x, y, seed, g.depth, distorted);
                samples[i] = static_cast<uint16_t>(sample);
                surface[i] = static_cast<uint16_t>(sample << shift | (sample & ((1u << shift) - 1)));
                bytes[i] = static_cast<uint8_t>(sample);
            }
        const bool narrow = g.sample == SampleType::kU8;
        device.data = narrow ? static_cast<const void*>(bytes.data()) : surface.data();
        device.pitch_bytes = static_cast<uint32_t>(pitch * g.sample_bytes());
        device.step = 1;
        device.shift = static_cast<uint16_t>(shift);
        host = {narrow ? static_cast<const void*>(bytes.data()) : samples.data(),
                {static_cast<ptrdiff_t>(pitch * g.sample_bytes())},
                g.width,
                g.height};
    }

    static uint32_t sample_of(Content content, int x, int y, uint32_t seed, int depth, bool distorted) {
        const uint32_t peak = (1u << depth) - 1;
        switch (content) {
        case Content::kNoise:
            return test::synthetic_hash(x, y, seed, 0, distorted) & peak;
        case Content::kEdges:
            return test::synthetic_hash(x / 7, y / 5, seed, 0, distorted ? x % 3 == 0 : 0) % 3 == 0 ? peak : 0;
        case Content::kBlack:
            return 0;
        case Content::kFlat:
            return distorted ? peak : peak / 3;
        default:
            return distorted ? test::synthetic_distorted(x, y, static_cast<int>(seed), 0, depth)
                             : test::synthetic_reference(x, y, static_cast<int>(seed), 0, depth);
        }
    }
};

inline FrameGeometry geometry_of(int width, int height, int depth) {
    FrameGeometry geometry;
    geometry.width = width;
    geometry.height = height;
    geometry.depth = depth;
    geometry.sample = depth == 8 ? SampleType::kU8 : SampleType::kU16;
    return geometry;
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
inline void expect_emulation_equals_cpu(const MetricDescriptor& descriptor, const std::vector<EmulatedKernel>& kernels,
                                        const EmulationCase& c, const OptionValues& options, bool descending) {
    SCOPED_TRACE(testing::Message() << c);
    const FrameGeometry geometry = geometry_of(c.width, c.height, c.depth);
    ASSERT_TRUE(descriptor.validate(geometry, options).ok());
    const auto metric = descriptor.create(geometry, options);
    EmulatedProgram program(kernels);
    ASSERT_TRUE(metric->prepare(program).ok());

    std::vector<EmulatedPicture> pictures;
    for (int i = 0; i < c.count; ++i) {
        const int pitch = c.pitch_step == 4 ? (c.width + 3) / 4 * 4 : c.width;
        pictures.emplace_back(geometry, c.content, pitch + i * c.pitch_step, c.shift, i, false);
        pictures.emplace_back(geometry, c.content, pitch + 3 * i * c.pitch_step, c.shift, i, true);
    }
    std::vector<DevicePair> pairs(c.count);
    std::vector<uint64_t> expected(c.count * metric->accumulator_words());
    for (int i = 0; i < c.count; ++i) {
        pairs[i].reference.plane[0] = pictures[2 * i].device;
        pairs[i].distorted.plane[0] = pictures[2 * i + 1].device;
        pairs[i].output = static_cast<uint32_t>(c.count - 1 - i); // rows in another order than the pairs
        HostPair host;
        host.reference.plane[0] = pictures[2 * i].host;
        host.distorted.plane[0] = pictures[2 * i + 1].host;
        metric->score(host, std::span(expected).subspan(pairs[i].output * metric->accumulator_words(),
                                                        metric->accumulator_words()));
    }

    std::vector<uint64_t> words(expected.size());
    std::vector<float> scratch(metric->scratch_bytes(c.count) / sizeof(float), descending ? -1e30f : 1e30f);
    DeviceBatch batch;
    batch.pairs = pairs.data();
    batch.count = c.count;
    batch.accumulators = words.data();
    batch.scratch = scratch.data();
    EmulatedQueue queue(descending);
    ASSERT_TRUE(metric->enqueue(batch, queue).ok());
    EXPECT_EQ(words, expected);
}

} // namespace qc::structural
