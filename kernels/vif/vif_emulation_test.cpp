// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of VIF without a GPU: host code prepares and enqueues as for a device, and the phases of each
// block's threads run one after another on the CPU. Catches wrong tiles, margins, offsets and sums, and (in a build
// with AddressSanitizer) reads beyond the pictures and planes; not what depends on the hardware: intrinsics, barriers,
// warps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "tests/synthetic_clip.hpp"
#include "vif/vif.hpp"
#include "vif/vif_phases.hpp"

namespace qc::vif {
namespace {

/// Runs all blocks of a launch. Within a phase, threads run in ascending or descending order: with a race between them,
/// one of the two orders would give another result.
template <class Plan>
void run_kernel(const ScaleArguments& arguments, Dim3 grid, Dim3 block, bool descending) {
    ASSERT_EQ(block.x, static_cast<unsigned>(Plan::kThreads));
    std::vector<int> threads(Plan::kThreads);
    std::iota(threads.begin(), threads.end(), 0);
    if (descending) std::reverse(threads.begin(), threads.end());
    for (unsigned z = 0; z < grid.z; ++z) {
        const auto pair = static_cast<int>(z);
        uint64_t* accumulators =
            arguments.accumulators + arguments.pairs[pair].output * kAccumulatorWords + Plan::kScale * kWordsPerScale;
        for (unsigned y = 0; y < grid.y; ++y)
            for (unsigned x = 0; x < grid.x; ++x) {
                const TileOrigin origin = tile_origin<Plan>(static_cast<int>(x), static_cast<int>(y));
                const typename Plan::Source source(arguments, pair);
                std::vector<uint32_t> shared(Plan::kSharedWords, 0xcdcdcdcd);
                for (const int thread : threads) {
                    copy_thresholds<Plan>(shared.data(), thread, arguments);
                    vertical_phase<Plan>(shared.data(), thread, source, origin,
                                         vertical_shifts(Plan::kScale, arguments.depth));
                }
                for (const int thread : threads) {
                    const ThreadSums sums = horizontal_phase<Plan>(shared.data(), thread, arguments, pair, origin);
                    accumulators[kNumeratorLog] += sums.numerator_log;
                    accumulators[kDenominatorLog] += sums.denominator_log;
                    accumulators[kFlatVariance] += sums.flat_variance;
                    accumulators[kFlatCount] += sums.flat_count;
                }
            }
    }
}

using KernelFunction = void (*)(const ScaleArguments&, Dim3, Dim3, bool);
struct NamedKernel {
    const char* name;
    KernelFunction function;
    size_t shared_bytes;
};
template <class Plan>
constexpr NamedKernel named(const char* name) {
    return {name, run_kernel<Plan>, Plan::kSharedBytes};
}
const NamedKernel kKernels[] = {named<Scale0U8>("vif_scale0_u8"),
                                named<Scale0U16>("vif_scale0_u16"),
                                named<Scale1>("vif_scale1"),
                                named<Scale2>("vif_scale2"),
                                named<Scale3>("vif_scale3"),
                                named<Decimate0U8>("vif_decimate0_u8"),
                                named<Decimate0U16>("vif_decimate0_u16")};

/// Host memory plays the device's.
class EmulatedProgram : public DeviceProgram {
public:
    Status find(const char* name, size_t dynamic_shared_bytes, Kernel* kernel) override {
        for (const NamedKernel& candidate : kKernels)
            if (std::string_view(candidate.name) == name) {
                EXPECT_EQ(dynamic_shared_bytes, candidate.shared_bytes);
                *kernel = {const_cast<NamedKernel*>(&candidate), dynamic_shared_bytes};
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
    std::vector<std::unique_ptr<std::byte[]>> uploads_;
};

class EmulatedQueue : public DeviceQueue {
public:
    explicit EmulatedQueue(bool descending) : descending_(descending) {}
    Status launch_raw(const Kernel& kernel, Dim3 grid, Dim3 block, void** arguments) override {
        const auto* named = static_cast<const NamedKernel*>(kernel.function);
        named->function(*static_cast<const ScaleArguments*>(arguments[0]), grid, block, descending_);
        return {};
    }
    Status zero(void* device_address, size_t bytes) override {
        std::memset(device_address, 0, bytes);
        return {};
    }

private:
    bool descending_;
};

/// A picture of noise and structure in memory that ends with its last sample.
struct EmulatedPicture {
    std::vector<uint16_t> container, samples; ///< as a surface with its shift, and as the CPU backend sees it
    std::vector<uint8_t> bytes;
    DevicePlane device{};
    HostPlane host;

    EmulatedPicture(const FrameGeometry& g, int pitch, int shift, uint32_t seed, bool distorted) {
        const size_t size = static_cast<size_t>(pitch) * (g.height - 1) + g.width;
        container.assign(size, 0xffff);
        samples.assign(size, 0xffff);
        bytes.assign(size, 0xff);
        for (int y = 0; y < g.height; ++y)
            for (int x = 0; x < g.width; ++x) {
                const size_t i = static_cast<size_t>(y) * pitch + x;
                const uint32_t hash = test::synthetic_hash(x / 24, y / 16, seed, 0, 9);
                uint32_t sample = distorted ? test::synthetic_distorted(x, y, static_cast<int>(seed), 0, g.depth)
                                            : test::synthetic_reference(x, y, static_cast<int>(seed), 0, g.depth);
                if (hash % 5 == 0) sample = (hash >> 8) & ((1u << g.depth) - 1); // flat blocks, sharp edges
                if (hash % 5 == 1) sample = test::synthetic_hash(x, y, seed, 0, distorted) & ((1u << g.depth) - 1);
                samples[i] = static_cast<uint16_t>(sample);
                container[i] = static_cast<uint16_t>((sample << shift) | (hash >> 20 & ((1u << shift) - 1)));
                bytes[i] = static_cast<uint8_t>(sample);
            }
        const bool narrow = g.sample == SampleType::kU8;
        device.data = narrow ? static_cast<const void*>(bytes.data()) : container.data();
        device.pitch_bytes = static_cast<uint32_t>(pitch * g.sample_bytes());
        device.step = 1;
        device.shift = static_cast<uint16_t>(shift);
        host = {narrow ? static_cast<const void*>(bytes.data()) : samples.data(),
                {static_cast<ptrdiff_t>(pitch * g.sample_bytes())},
                g.width,
                g.height};
    }
};

struct EmulationCase {
    int width, height, depth, shift, count;
    double gain_limit;
    bool skip_scale_0;
};

std::ostream& operator<<(std::ostream& stream, const EmulationCase& c) {
    return stream << c.width << "x" << c.height << ", " << c.depth << " bits << " << c.shift << ", " << c.count
                  << " pairs, gain " << c.gain_limit << (c.skip_scale_0 ? ", no scale 0" : "");
}

void expect_emulation_equals_cpu(const EmulationCase& c, bool descending) {
    SCOPED_TRACE(testing::Message() << c);
    FrameGeometry geometry;
    geometry.width = c.width;
    geometry.height = c.height;
    geometry.depth = c.depth;
    geometry.sample = c.depth == 8 ? SampleType::kU8 : SampleType::kU16;
    OptionValues options(descriptor().options);
    options.set(1, c.gain_limit);
    options.set(2, c.skip_scale_0);
    const auto metric = descriptor().create(geometry, options);
    EmulatedProgram program;
    ASSERT_TRUE(metric->prepare(program).ok());

    std::vector<EmulatedPicture> pictures;
    for (int i = 0; i < c.count; ++i) {
        pictures.emplace_back(geometry, c.width + i, c.shift, i, false);
        pictures.emplace_back(geometry, c.width + 3 * i, c.shift, i, true);
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
    std::vector<uint32_t> scratch(metric->scratch_bytes(c.count) / 4, descending ? 0x12345678 : 0xdeadbeef);
    DeviceBatch batch;
    batch.pairs = pairs.data();
    batch.count = c.count;
    batch.accumulators = words.data();
    batch.scratch = scratch.data();
    EmulatedQueue queue(descending);
    ASSERT_TRUE(metric->enqueue(batch, queue).ok());
    EXPECT_EQ(words, expected);
}

TEST(VifEmulation, EveryFormatEqualsTheCpu) {
    const EmulationCase cases[] = {
        {517, 83, 8, 0, 2, 100.0, false},  {500, 130, 8, 0, 1, 1.0, false},   {240, 64, 8, 0, 1, 100.0, true},
        {257, 45, 10, 0, 2, 100.0, false}, {257, 45, 10, 6, 1, 1.0, false},   {130, 67, 12, 4, 1, 100.0, false},
        {241, 39, 12, 0, 1, 100.0, true},  {300, 50, 16, 0, 3, 100.0, false}, {255, 33, 16, 0, 1, 1.2, true},
    };
    for (const EmulationCase& c : cases)
        for (const bool descending : {false, true}) expect_emulation_equals_cpu(c, descending);
}

TEST(VifEmulation, SmallSizesEqualTheCpu) {
    for (int height = 16; height <= 40; ++height)
        for (int width = 16; width <= 40; ++width) {
            const bool bytes = (width + height) % 2;
            expect_emulation_equals_cpu({width, height, bytes ? 8 : 10, 0, 1, 100.0, width % 7 == 0}, false);
            if (HasFailure()) return;
        }
}

} // namespace
} // namespace qc::vif
