// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of SSIMULACRA 2 without a GPU: host code prepares and enqueues as for a device, and the phases of
// each block's threads run one after another on the CPU, sums in the device's order. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "metrics/ssimulacra2/ssimulacra2_launch.hpp"

namespace qc::ssimulacra2 {

/// What is asked of a kernel. Within a phase, threads run in ascending or descending order: with a race between them,
/// one of the two orders would give another result.
struct EmulatedLaunch {
    const void* arguments;
    Dim3 grid, block;
    bool descending;

    template <typename Run>
    void for_each_block(const Run& run) const {
        for (unsigned z = 0; z < grid.z; ++z)
            for (unsigned y = 0; y < grid.y; ++y)
                for (unsigned x = 0; x < grid.x; ++x)
                    run(static_cast<int>(x), static_cast<int>(y), static_cast<int>(z));
    }
    template <typename Run>
    void for_each_thread(int threads, const Run& run) const {
        for (int i = 0; i < threads; ++i) run(descending ? threads - 1 - i : i);
    }
};

template <typename T, Chroma kChroma, bool kGeneral>
void emulate_pyramid(const EmulatedLaunch& launch) {
    ASSERT_EQ(launch.block.x, static_cast<unsigned>(kPyramidThreads));
    const auto& arguments = *static_cast<const PyramidArguments*>(launch.arguments);
    const PlaneLayout& layout = arguments.layout;
    launch.for_each_block([&](int tile_x, int tile_y, int z) {
        const PictureTask task = picture_task(arguments, z);
        if (task.input == 0 && repeats_reference(arguments.pairs, task.pair)) return;
        const DevicePair& pair = arguments.pairs[task.pair];
        const DevicePicture& picture = task.input == 0 ? pair.reference : pair.distorted;
        float* const planes = arguments.planes + picture_index(task.pair, task.input) * layout.picture;
        static thread_local PyramidShared<kChroma> shared;
        std::memset(static_cast<void*>(&shared), 0xff, sizeof shared); // NaN
        if constexpr (ChromaTile<kChroma>::kShared) {
            for (int warp = 0; warp < kPyramidWarps; ++warp) { // lanes wait for their own warp only
                launch.for_each_thread(kWarpLanes, [&](int lane) {
                    load_chroma<T, kChroma, kGeneral>(shared, warp * kWarpLanes + lane, arguments, picture, tile_x,
                                                      tile_y);
                });
                launch.for_each_thread(kWarpLanes, [&](int lane) {
                    interpolate_across<kChroma>(shared, warp * kWarpLanes + lane, arguments.conversion.across);
                });
            }
        }
        launch.for_each_thread(kPyramidThreads, [&](int thread) {
            block_phase<T, kChroma, kGeneral>(shared, thread, arguments, picture, planes, tile_x, tile_y);
        });
        for (int level = 2; level < layout.levels; ++level)
            launch.for_each_thread(kWarpLanes, [&](int lane) {
                level_phase<kGeneral>(level, shared, lane, layout, planes, tile_x, tile_y);
            });
    });
}

/// Sum of 32 values as lanes exchange them.
template <typename Real>
Real emulated_warp_sum(const Real* value) {
    Real lane[32];
    std::copy_n(value, 32, lane);
    for (int distance = 16; distance > 0; distance /= 2) {
        Real next[32];
        for (int i = 0; i < 32; ++i) next[i] = lane[i] + lane[i ^ distance];
        std::copy_n(next, 32, lane);
    }
    return lane[0];
}

template <typename Real>
Real emulated_block_sum(const std::vector<Real>& value) {
    Real sum = 0;
    for (size_t i = 0; i < value.size(); i += 32) sum += emulated_warp_sum(&value[i]);
    return sum;
}

template <class Work>
void emulate_strip(const EmulatedLaunch& launch, const MapArguments& arguments, const Strip& strip, const PlaneView& a,
                   const PlaneView& d, float* target) {
    std::vector<StripThread<Work>> threads;
    threads.reserve(kStripThreads);
    for (int thread = 0; thread < kStripThreads; ++thread) threads.emplace_back(strip, a, d, thread);
    const auto for_each_thread = [&](const auto& run) {
        launch.for_each_thread(kStripThreads, [&](int thread) { run(threads[static_cast<size_t>(thread)], thread); });
    };
    std::vector<Float4> storage(kStages * kStageFloats / 4, Float4{{NAN, NAN, NAN, NAN}});
    float* const stages = storage[0].value;

    for_each_thread([&](StripThread<Work>& state, int) {
        state.load(arguments);
        for (int group = 0; group < Work::kWarmUpGroups; ++group) {
            state.warm_up(arguments);
            state.load(arguments);
        }
    });
    for (int row = 0, stage = 0; row < strip.rows; row += kGroupRows, stage ^= kStageFloats) {
        for_each_thread([&](StripThread<Work>& state, int thread) {
            state.filter_column(arguments, stages + stage, thread);
            if (row + kGroupRows < strip.rows) state.load(arguments);
        });
        for_each_thread([&](StripThread<Work>& state, int) { state.score_row(arguments, strip, stages + stage); });
    }
    for (int t = 0; t < kTerms; ++t) {
        std::vector<float> sums(kStripThreads);
        std::transform(threads.begin(), threads.end(), sums.begin(),
                       [t](const StripThread<Work>& state) { return state.sum[t]; });
        target[t] = emulated_block_sum(sums);
    }
}

template <int kRadius>
void emulate_maps(const EmulatedLaunch& launch) {
    ASSERT_EQ(launch.block.x, static_cast<unsigned>(kStripThreads));
    const auto& arguments = *static_cast<const MapArguments*>(launch.arguments);
    ASSERT_EQ(launch.grid.x, static_cast<unsigned>(arguments.strip_count));
    launch.for_each_block([&](int index, int, int pair) {
        const Strip& strip = arguments.strips[index];
        const int owner = reference_owner(arguments.pairs, pair);
        const PlaneView a(arguments, strip, picture_index(owner, 0), kStripColumns<kRadius>);
        const PlaneView d(arguments, strip, picture_index(pair, 1), kStripColumns<kRadius>);
        float* const target = arguments.sums + (static_cast<size_t>(pair) * static_cast<size_t>(arguments.strip_count) +
                                                static_cast<size_t>(index)) *
                                                   kTerms;
        if (kRadius > 4 || strip.variant == kEverything)
            emulate_strip<Work<kRadius, true, true, true>>(launch, arguments, strip, a, d, target);
        else if (strip.variant == kStructureOnly)
            emulate_strip<Work<kRadius, true, false, false>>(launch, arguments, strip, a, d, target);
        else if (strip.variant == kStructureArtifact)
            emulate_strip<Work<kRadius, true, true, false>>(launch, arguments, strip, a, d, target);
        else if (strip.variant == kStructureDetail)
            emulate_strip<Work<kRadius, true, false, true>>(launch, arguments, strip, a, d, target);
        else
            emulate_strip<Work<kRadius, false, true, false>>(launch, arguments, strip, a, d, target);
    });
}

inline void emulate_finish(const EmulatedLaunch& launch) {
    const auto& arguments = *static_cast<const FinishArguments*>(launch.arguments);
    ASSERT_EQ(launch.grid.x, static_cast<unsigned>(kChannels * arguments.levels));
    launch.for_each_block([&](int plane, int, int pair) {
        std::vector<double> sums[kTerms];
        for (auto& sum : sums) sum.assign(tuning::kFinishThreads, 0.0);
        launch.for_each_thread(tuning::kFinishThreads, [&](int thread) {
            double sum[kTerms] = {};
            add_strips(arguments, plane, pair, thread, sum);
            for (int t = 0; t < kTerms; ++t) sums[t][static_cast<size_t>(thread)] = sum[t];
        });
        uint64_t* const row = arguments.accumulators + size_t{arguments.pairs[pair].output} * kAccumulatorWords;
        for (int t = 0; t < kTerms; ++t)
            if (arguments.needed[plane] >> t & 1)
                row[plane * kTerms + t] = std::bit_cast<uint64_t>(emulated_block_sum(sums[t]));
    });
}

struct EmulatedKernel {
    const char* name;
    void (*run)(const EmulatedLaunch&);
};

inline constexpr EmulatedKernel kEmulatedKernels[] = {
    {"ssimulacra2_pyramid_u8_400", emulate_pyramid<uint8_t, Chroma::kNone, false>},
    {"ssimulacra2_pyramid_u8_420", emulate_pyramid<uint8_t, Chroma::kHalved, false>},
    {"ssimulacra2_pyramid_u8_422", emulate_pyramid<uint8_t, Chroma::kHalvedAcross, false>},
    {"ssimulacra2_pyramid_u8_444", emulate_pyramid<uint8_t, Chroma::kFull, false>},
    {"ssimulacra2_pyramid_u16_400", emulate_pyramid<uint16_t, Chroma::kNone, false>},
    {"ssimulacra2_pyramid_u16_420", emulate_pyramid<uint16_t, Chroma::kHalved, false>},
    {"ssimulacra2_pyramid_u16_422", emulate_pyramid<uint16_t, Chroma::kHalvedAcross, false>},
    {"ssimulacra2_pyramid_u16_444", emulate_pyramid<uint16_t, Chroma::kFull, false>},
    {"ssimulacra2_pyramid_u8_400_general", emulate_pyramid<uint8_t, Chroma::kNone, true>},
    {"ssimulacra2_pyramid_u8_420_general", emulate_pyramid<uint8_t, Chroma::kHalved, true>},
    {"ssimulacra2_pyramid_u8_422_general", emulate_pyramid<uint8_t, Chroma::kHalvedAcross, true>},
    {"ssimulacra2_pyramid_u8_444_general", emulate_pyramid<uint8_t, Chroma::kFull, true>},
    {"ssimulacra2_pyramid_u16_400_general", emulate_pyramid<uint16_t, Chroma::kNone, true>},
    {"ssimulacra2_pyramid_u16_420_general", emulate_pyramid<uint16_t, Chroma::kHalved, true>},
    {"ssimulacra2_pyramid_u16_422_general", emulate_pyramid<uint16_t, Chroma::kHalvedAcross, true>},
    {"ssimulacra2_pyramid_u16_444_general", emulate_pyramid<uint16_t, Chroma::kFull, true>},
    {"ssimulacra2_maps", emulate_maps<4>},
    {"ssimulacra2_maps_wide", emulate_maps<kMaxRadius>},
    {"ssimulacra2_finish", emulate_finish},
};

/// Host memory plays the device's.
class EmulatedProgram final : public DeviceProgram {
public:
    Status find(const char* name, size_t dynamic_shared_bytes, Kernel* kernel) override {
        EXPECT_EQ(dynamic_shared_bytes, 0u);
        names.emplace_back(name);
        for (const EmulatedKernel& candidate : kEmulatedKernels)
            if (std::string_view(candidate.name) == name) {
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

    std::vector<std::string> names; ///< of the kernels that were asked for

private:
    std::vector<std::unique_ptr<std::byte[]>> uploads_;
};

class EmulatedQueue final : public DeviceQueue {
public:
    explicit EmulatedQueue(bool descending) : descending_(descending) {}
    Status launch_raw(const Kernel& kernel, Dim3 grid, Dim3 block, void** arguments) override {
        static_cast<const EmulatedKernel*>(kernel.function)->run({arguments[0], grid, block, descending_});
        ++launches;
        return {};
    }
    Status zero(void* device_address, size_t bytes) override {
        std::memset(device_address, 0, bytes);
        return {};
    }

    int launches = 0;

private:
    bool descending_;
};

/// Accumulators of a batch, row by row. `metric` is anything with the CUDA half of Metric's interface. Scratch memory
/// begins with junk.
template <typename MetricOrScorer>
std::vector<uint64_t> emulate_batch(MetricOrScorer& metric, const std::vector<DevicePair>& pairs, bool descending) {
    EmulatedProgram program;
    const Status prepared = metric.prepare(program);
    EXPECT_TRUE(prepared.ok());
    const auto count = static_cast<int>(pairs.size());
    std::vector<uint64_t> words(pairs.size() * kAccumulatorWords);
    struct alignas(256) Line {
        uint32_t word[64];
    };
    Line junk;
    std::fill(std::begin(junk.word), std::end(junk.word), descending ? 0x7fc00000u : 0xffffffffu);
    std::vector<Line> scratch((metric.scratch_bytes(count) + sizeof(Line) - 1) / sizeof(Line), junk);
    DeviceBatch batch;
    batch.pairs = pairs.data();
    batch.count = count;
    batch.accumulators = words.data();
    batch.scratch = scratch.data();
    EmulatedQueue queue(descending);
    EXPECT_TRUE(metric.enqueue(batch, queue).ok());
    EXPECT_LE(queue.launches, 4);
    return words;
}

} // namespace qc::ssimulacra2
