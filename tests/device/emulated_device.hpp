// SPDX-License-Identifier: BSD-2-Clause-Patent
// A device made of host memory: a metric prepares and enqueues as for a GPU, and the phases of each block's threads run
// one after another on the CPU. Catches wrong tiles, margins, offsets and orders of sums, and (in a build with
// AddressSanitizer) reads beyond pictures and planes; not what depends on the hardware. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contract/device.hpp"
#include "contract/metric.hpp"
#include "tests/device/emulated_kernel.hpp"
#include "tests/support/geometry.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::test {

class EmulatedProgram final : public DeviceProgram {
public:
    /// shared_limit: more dynamic shared memory than this is refused, as by a device that has no more.
    explicit EmulatedProgram(std::vector<EmulatedKernel> kernels, size_t shared_limit = SIZE_MAX)
        : kernels_(std::move(kernels)), shared_limit_(shared_limit) {}

    Status find(const char* name, size_t dynamic_shared_bytes, Kernel* kernel) override {
        if (dynamic_shared_bytes > shared_limit_) return unsupported("too much shared memory");
        for (EmulatedKernel& candidate : kernels_)
            if (candidate.name == name) {
                EXPECT_EQ(dynamic_shared_bytes, candidate.shared_bytes.value_or(dynamic_shared_bytes)) << name;
                *kernel = {&candidate, dynamic_shared_bytes};
                return {};
            }
        return invalid(std::string("no kernel ") + name);
    }
    Status upload(const void* data, size_t bytes, const void** device_address) override {
        uploads_.push_back(std::make_unique<std::byte[]>(bytes));
        std::memcpy(uploads_.back().get(), data, bytes);
        *device_address = uploads_.back().get();
        return {};
    }
    size_t uploads() const { return uploads_.size(); }

private:
    std::vector<EmulatedKernel> kernels_;
    size_t shared_limit_;
    std::vector<std::unique_ptr<std::byte[]>> uploads_;
};

class EmulatedQueue final : public DeviceQueue {
public:
    /// @param descending the order in which the threads of a block run; with a race, one of the two shows it
    explicit EmulatedQueue(bool descending) : descending_(descending) {}

    Status launch_raw(const Kernel& kernel, Dim3 grid, Dim3 block, void** arguments) override {
        const auto& emulated = *static_cast<const EmulatedKernel*>(kernel.function);
        EXPECT_EQ(block.x, emulated.threads) << emulated.name;
        EXPECT_EQ(block.y * block.z, 1u) << emulated.name;
        emulated.run_grid({emulated.name, grid, block, kernel.dynamic_shared_bytes, arguments[0], descending_});
        ++launches_;
        return {};
    }
    Status zero(void* device_address, size_t bytes) override {
        EXPECT_EQ(bytes % 4, 0u);
        std::memset(device_address, 0, bytes);
        ++zeros_;
        return {};
    }
    bool descending() const { return descending_; }
    int launches() const { return launches_; }
    int zeros() const { return zeros_; } ///< calls of zero()

private:
    bool descending_;
    int launches_ = 0, zeros_ = 0;
};

/// Scratch memory, aligned as the engine's, full of junk. AddressSanitizer sees any access behind its last byte;
/// without it a guard stands there, which shows what was written.
class EmulatedScratch {
public:
    EmulatedScratch(size_t bytes, uint8_t junk)
        : memory_(static_cast<uint8_t*>(::operator new(bytes + kGuardBytes, kAlignment))), bytes_(bytes) {
        std::memset(memory_.get(), junk, bytes);
        std::memset(memory_.get() + bytes, kGuard, kGuardBytes);
    }
    void* data() { return memory_.get(); }
    bool guard_is_whole() const {
        const std::span<const uint8_t> guard(memory_.get() + bytes_, kGuardBytes);
        return std::all_of(guard.begin(), guard.end(), [](uint8_t byte) { return byte == kGuard; });
    }

private:
    static constexpr std::align_val_t kAlignment{256};
#ifdef __SANITIZE_ADDRESS__
    static constexpr size_t kGuardBytes = 0;
#else
    static constexpr size_t kGuardBytes = 64;
#endif
    static constexpr uint8_t kGuard = 0x5a;
    struct Release {
        void operator()(uint8_t* memory) const { ::operator delete(memory, kAlignment); }
    };
    std::unique_ptr<uint8_t, Release> memory_;
    size_t bytes_;
};

/// Enqueues the pairs or references of a batch. Returns their accumulators.
inline std::vector<uint64_t> emulate_batch(const Scorer& metric, DeviceBatch batch, EmulatedQueue& queue) {
    std::vector<uint64_t> words(static_cast<size_t>(batch.count) * metric.accumulator_words());
    // Junk as floats: large numbers, or NaN.
    EmulatedScratch scratch(metric.scratch_bytes(batch.count), queue.descending() ? 0x71 : 0xff);
    batch.accumulators = words.data();
    batch.scratch = scratch.data();
    const Status enqueued = metric.enqueue(batch, queue);
    EXPECT_TRUE(enqueued.ok()) << enqueued.text();
    EXPECT_TRUE(scratch.guard_is_whole()) << "written beyond the scratch memory";
    return words;
}

/// A plane in memory that ends with its last sample.
class EmulatedPlane {
public:
    /// padding: samples behind each row. shift: of the container. step: 2 as in the chroma of semi-planar pictures.
    template <typename SampleAt>
    EmulatedPlane(int width, int height, int depth, int padding, int shift, int step, const SampleAt& sample_at)
        : step_(step), shift_(shift), pitch_((width + padding) * step), narrow_(depth == 8), width_(width),
          height_(height) {
        const size_t size = static_cast<size_t>(width + padding) * (height - 1) + width;
        container_.assign((size - 1) * step + 1, 0xffff);
        container_bytes_.assign((size - 1) * step + 1, 0xff);
        samples_.assign(size, 0xffff);
        bytes_.assign(size, 0xff);
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const uint32_t sample = sample_at(x, y);
                const uint32_t rubbish = synthetic_hash(x, y, 0, 0, 77) >> 16 & ((1u << shift) - 1);
                const size_t i = static_cast<size_t>(y) * (width + padding) + x;
                samples_[i] = static_cast<uint16_t>(sample);
                bytes_[i] = static_cast<uint8_t>(sample);
                container_[i * step] = static_cast<uint16_t>(sample << shift | rubbish);
                container_bytes_[i * step] = static_cast<uint8_t>(sample);
            }
    }

    /// Noise, structure and flat blocks.
    EmulatedPlane(int width, int height, int depth, int padding, int shift, int step, uint32_t seed, bool distorted)
        : EmulatedPlane(width, height, depth, padding, shift, step, [=](int x, int y) {
              const uint32_t hash = synthetic_hash(x / 24, y / 16, seed, 0, 9), mask = (1u << depth) - 1;
              if (hash % 5 == 0) return (hash >> 8) & mask; // flat blocks, sharp edges
              if (hash % 5 == 1) return synthetic_hash(x, y, seed, 0, distorted) & mask;
              return distorted ? synthetic_distorted(x, y, static_cast<int>(seed), 0, depth)
                               : synthetic_reference(x, y, static_cast<int>(seed), 0, depth);
          }) {}

    DevicePlane device() const {
        DevicePlane plane{};
        plane.data = narrow_ ? static_cast<const void*>(container_bytes_.data()) : container_.data();
        plane.pitch_bytes = static_cast<uint32_t>(pitch_ * (narrow_ ? 1 : 2));
        plane.step = static_cast<uint16_t>(step_);
        plane.shift = static_cast<uint16_t>(narrow_ ? 0 : shift_);
        return plane;
    }
    const std::vector<uint16_t>& samples() const { return samples_; } ///< of any depth, with the padding
    HostPlane host() const {
        return {narrow_ ? static_cast<const void*>(bytes_.data()) : samples_.data(),
                {static_cast<ptrdiff_t>(pitch_ / step_ * (narrow_ ? 1 : 2))},
                width_,
                height_};
    }

private:
    int step_, shift_, pitch_;
    bool narrow_;
    int width_, height_;
    std::vector<uint16_t> container_, samples_; ///< as a surface holds them, and as the CPU backend sees them
    std::vector<uint8_t> container_bytes_, bytes_;
};

/// Both backends' accumulators of a batch have to be equal in every bit. The metric is prepared and reads luma only;
/// lumas: reference and distorted picture of one pair after another.
inline void expect_emulation_equals_cpu(const Scorer& metric, const std::vector<EmulatedPlane>& lumas,
                                        bool descending) {
    const size_t count = lumas.size() / 2, words = metric.accumulator_words();
    std::vector<DevicePair> pairs(count);
    std::vector<uint64_t> expected(count * words);
    for (size_t i = 0; i < count; ++i) {
        pairs[i].reference.plane[0] = lumas[2 * i].device();
        pairs[i].distorted.plane[0] = lumas[2 * i + 1].device();
        pairs[i].output = static_cast<uint32_t>(count - 1 - i); // rows in another order than the pairs
        HostPair host;
        host.reference.plane[0] = lumas[2 * i].host();
        host.distorted.plane[0] = lumas[2 * i + 1].host();
        metric.score(host, std::span(expected).subspan(pairs[i].output * words, words));
    }
    DeviceBatch batch;
    batch.pairs = pairs.data();
    batch.count = static_cast<int>(count);
    EmulatedQueue queue(descending);
    EXPECT_EQ(emulate_batch(metric, batch, queue), expected);
}

/// For metrics of luma alone: all depths and shifts, whole loads and others, in both orders of the threads.
inline void expect_luma_kernels_equal_cpu(const MetricDescriptor& metric, const std::vector<EmulatedKernel>& kernels) {
    struct Format {
        int depth, shift;
    };
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{1, 1}, {15, 3}, {16, 33}, {17, 64}, {513, 40}, {640, 70}})
        for (const auto& [depth, shift] : {Format{8, 0}, {10, 6}, {12, 4}, {16, 0}})
            for (const int padding : {1, (16 - width % 16) % 16}) {
                SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << depth << " bits << " << shift
                                                << ", padding " << padding);
                const auto scorer =
                    create_scorer(metric, luma_geometry(width, height, depth), OptionValues(metric.options));
                EmulatedProgram program(kernels, 0);
                ASSERT_TRUE(scorer->prepare(program).ok());
                std::vector<EmulatedPlane> planes;
                for (uint32_t i = 0; i < 2; ++i)
                    for (const bool distorted : {false, true})
                        planes.emplace_back(width, height, depth, padding, shift, 1, i, distorted);
                for (const bool descending : {false, true}) expect_emulation_equals_cpu(*scorer, planes, descending);
            }
}

} // namespace qc::test
