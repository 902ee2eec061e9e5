// SPDX-License-Identifier: BSD-2-Clause-Patent
// A device made of host memory: a metric prepares and enqueues as for a GPU, and the phases of each block's threads run
// one after another on the CPU. Catches wrong tiles, margins, offsets and orders of sums, and (in a build with
// AddressSanitizer) reads beyond pictures and planes; not what depends on the hardware. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "common/device.hpp"
#include "common/metric.hpp"
#include "common/row_sums.hpp"
#include "tests/synthetic_clip.hpp"

namespace qc::test {

/// Runs the threads of a block in ascending or descending order: with a race between them within a phase, one of the
/// two would give another result.
class ThreadOrder {
public:
    explicit ThreadOrder(bool descending) : descending_(descending) {}

    template <typename Body>
    void each(int threads, const Body& body) const {
        for (int i = 0; i < threads; ++i) body(descending_ ? threads - 1 - i : i);
    }

private:
    bool descending_;
};

/// What stands in for a kernel: runs a whole launch.
struct EmulatedKernel {
    std::string_view name;
    std::function<void(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder&)> run;
};

template <typename Body>
void each_block(Dim3 grid, const Body& body) {
    for (unsigned z = 0; z < grid.z; ++z)
        for (unsigned y = 0; y < grid.y; ++y)
            for (unsigned x = 0; x < grid.x; ++x) body(static_cast<int>(x), static_cast<int>(y), static_cast<int>(z));
}

template <typename T>
const T& argument(void** arguments, int index) {
    return *static_cast<const T*>(arguments[index]);
}

/// The kernels of row_sums.cuh.
inline void emulate_sum_rows(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& order) {
    const auto& task = argument<RowSumTask>(arguments, 0);
    EXPECT_GE(static_cast<int>(grid.x * block.x), task.rows);
    order.each(task.rows, [&](int row) {
        task.sums[row] = sum_row(task.terms + static_cast<size_t>(row) * task.pitch, task.width);
    });
}

template <typename Evaluation>
void emulate_sum_columns(Dim3 grid, Dim3 /*block*/, void** arguments, const ThreadOrder& /*order*/) {
    const auto* const evaluations = argument<const Evaluation*>(arguments, 0);
    auto* const accumulators = argument<uint64_t*>(arguments, 1);
    const auto& task = argument<ColumnSumTask>(arguments, 2);
    each_block(grid, [&](int x, int y, int) {
        const int kind = x / task.planes, plane = x % task.planes;
        const float* const sums = task.sums[kind] + (static_cast<size_t>(y) * task.planes + plane) * task.height[kind];
        float total = 0.0f;
        for (int i = 0; i < task.height[kind]; ++i) total = total + sums[i];
        accumulators[evaluations[y].output * static_cast<size_t>(task.words) + task.word[kind] + plane] =
            accumulator_of(total);
    });
}

class EmulatedProgram final : public DeviceProgram {
public:
    explicit EmulatedProgram(const std::vector<EmulatedKernel>& kernels) : kernels_(kernels) {}

    Status find(const char* name, size_t dynamic_shared_bytes, Kernel* kernel) override {
        for (const EmulatedKernel& candidate : kernels_)
            if (candidate.name == name) {
                *kernel = {const_cast<EmulatedKernel*>(&candidate), dynamic_shared_bytes};
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

private:
    const std::vector<EmulatedKernel>& kernels_;
    std::vector<std::unique_ptr<std::byte[]>> uploads_;
};

class EmulatedQueue final : public DeviceQueue {
public:
    explicit EmulatedQueue(bool descending) : order_(descending) {}

    Status launch_raw(const Kernel& kernel, Dim3 grid, Dim3 block, void** arguments) override {
        static_cast<const EmulatedKernel*>(kernel.function)->run(grid, block, arguments, order_);
        return {};
    }
    Status zero(void* device_address, size_t bytes) override {
        std::memset(device_address, 0, bytes);
        return {};
    }

private:
    ThreadOrder order_;
};

/// A plane of noise, structure and flat blocks in memory that ends with its last sample.
class EmulatedPlane {
public:
    /// shift: of the container. step: 2 as in the chroma of semi-planar pictures.
    EmulatedPlane(int width, int height, int depth, int padding, int shift, int step, uint32_t seed, bool distorted)
        : step_(step), shift_(shift), pitch_((width + padding) * step), narrow_(depth == 8), width_(width),
          height_(height) {
        const size_t size = static_cast<size_t>(width + padding) * (height - 1) + width;
        container_.assign((size - 1) * step + 1, 0xffff);
        container_bytes_.assign((size - 1) * step + 1, 0xff);
        samples_.assign(size, 0xffff);
        bytes_.assign(size, 0xff);
        const uint32_t mask = (1u << depth) - 1;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const uint32_t hash = synthetic_hash(x / 24, y / 16, seed, 0, 9);
                uint32_t sample = distorted ? synthetic_distorted(x, y, static_cast<int>(seed), 0, depth)
                                            : synthetic_reference(x, y, static_cast<int>(seed), 0, depth);
                if (hash % 5 == 0) sample = (hash >> 8) & mask; // flat blocks, sharp edges
                if (hash % 5 == 1) sample = synthetic_hash(x, y, seed, 0, distorted) & mask;
                const size_t i = static_cast<size_t>(y) * (width + padding) + x;
                samples_[i] = static_cast<uint16_t>(sample);
                bytes_[i] = static_cast<uint8_t>(sample);
                container_[i * step] = static_cast<uint16_t>((sample << shift) | (hash >> 20 & ((1u << shift) - 1)));
                container_bytes_[i * step] = static_cast<uint8_t>(sample);
            }
    }

    DevicePlane device() const {
        DevicePlane plane{};
        plane.data = narrow_ ? static_cast<const void*>(container_bytes_.data()) : container_.data();
        plane.pitch_bytes = static_cast<uint32_t>(pitch_ * (narrow_ ? 1 : 2));
        plane.step = static_cast<uint16_t>(step_);
        plane.shift = static_cast<uint16_t>(narrow_ ? 0 : shift_);
        return plane;
    }
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

} // namespace qc::test
