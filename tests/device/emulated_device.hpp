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
#include "tests/device/emulated_kernels.hpp"
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
    int capability(const Kernel& /*kernel*/) const override { return emulated_capability; }
    int multiprocessors() const override { return 2; }
    size_t shared_limit() const override { return shared_limit_; }
    size_t uploads() const { return uploads_.size(); }

    int emulated_capability = 90; ///< what kernels are said to be compiled for

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
    /// Pieces run one after the other; the last one first, if threads do so.
    Status side_by_side(int pieces, const AddPiece& add) override {
        for (int i = 0; i < pieces; ++i) QC_RETURN_IF_ERROR(add(descending_ ? pieces - 1 - i : i, *this));
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

inline std::vector<uint64_t> emulate_batch(const Scorer& metric, const std::vector<DevicePair>& pairs,
                                           EmulatedQueue& queue) {
    DeviceBatch batch;
    batch.pairs = pairs.data();
    batch.count = static_cast<int>(pairs.size());
    return emulate_batch(metric, batch, queue);
}

// ---- pictures for both backends -------------------------------------------------------------------------------------

/// Planar pictures that both backends read in place. Valid as long as the samples.
inline DevicePicture device_view(const HostPicture& picture) {
    DevicePicture view{};
    for (int p = 0; p < 3; ++p)
        view.plane[p] = {picture.plane[p].data, static_cast<uint32_t>(picture.plane[p].pitch.bytes), 1, 0};
    return view;
}

/// A picture as the CPU backend sees it, and as a surface on the device.
class EmulatedPicture {
public:
    EmulatedPicture(SamplePicture samples, const SurfaceLayout& layout)
        : samples_(std::move(samples)), surface_(samples_, layout) {}

    /// Valid as long as this object's memory: moving it does no harm.
    HostPicture host() const { return samples_.view(); }
    DevicePicture device() const { return surface_.device(); }

private:
    SamplePicture samples_;
    Surface surface_;
};

/// Luma of noise, structure and flat blocks; what pads the surface's rows pads the CPU backend's, too.
inline EmulatedPicture emulated_luma(int width, int height, int depth, const SurfaceLayout& layout, int frame,
                                     bool distorted) {
    const auto sample_at = [&](int x, int y) { return synthetic_blocks(x, y, frame, 0, depth, distorted); };
    return {SamplePicture(luma_geometry(width, height, depth), sample_at, static_cast<int>(layout.padding)), layout};
}

/// Reference and distorted luma of one pair after another, all but the first with pitches of their own.
inline std::vector<EmulatedPicture> emulated_lumas(const FrameGeometry& geometry, int shift, int first_frame,
                                                   int count) {
    std::vector<EmulatedPicture> lumas;
    for (int i = 0; i < count; ++i)
        for (const bool distorted : {false, true}) {
            const SurfaceLayout layout{.shift = shift, .padding = static_cast<size_t>(distorted ? 3 * i : i)};
            lumas.push_back(
                emulated_luma(geometry.width, geometry.height, geometry.depth, layout, first_frame + i, distorted));
        }
    return lumas;
}

/// Pairs of a batch. Rows of the accumulators are in another order than the pairs.
struct EmulatedPairs {
    std::vector<DevicePair> device;
    std::vector<HostPair> host;

    /// @param pictures reference and distorted one of one pair after another
    /// @param history how many earlier pairs a pair sees, where the pictures are a stream
    explicit EmulatedPairs(const std::vector<EmulatedPicture>& pictures, size_t history = 0)
        : device(pictures.size() / 2), host(pictures.size() / 2) {
        for (size_t i = 0; i < host.size(); ++i) {
            host[i].reference = pictures[2 * i].host();
            host[i].distorted = pictures[2 * i + 1].host();
            device[i].reference = pictures[2 * i].device();
            device[i].distorted = pictures[2 * i + 1].device();
            device[i].output = static_cast<uint32_t>(host.size() - 1 - i);
            for (size_t back = 1; back <= history && back <= i; ++back) {
                host[i].reference_history[back - 1] = host[i - back].reference.plane[0];
                host[i].distorted_history[back - 1] = host[i - back].distorted.plane[0];
                device[i].reference_history[back - 1] = device[i - back].reference.plane[0];
                device[i].distorted_history[back - 1] = device[i - back].distorted.plane[0];
            }
        }
    }

    std::vector<uint64_t> cpu_words(const Scorer& metric) const {
        const size_t row = metric.accumulator_words();
        std::vector<uint64_t> words(host.size() * row);
        for (size_t i = 0; i < host.size(); ++i)
            metric.score(host[i], std::span(words).subspan(device[i].output * row, row));
        return words;
    }
};

/// Weights for each pair, all that there are: stripes of whole ones and of none among them. Outlives the pairs'
/// use.
class EmulatedWeights {
public:
    EmulatedWeights(const FrameGeometry& geometry, EmulatedPairs* pairs) {
        for (size_t i = 0; i < pairs->host.size(); ++i) {
            const int pitch = geometry.width + static_cast<int>(i);
            std::vector<uint8_t>& weights = weights_.emplace_back(static_cast<size_t>(pitch) * geometry.height);
            for (int y = 0; y < geometry.height; ++y)
                for (int x = 0; x < geometry.width; ++x)
                    weights[static_cast<size_t>(y * pitch + x)] = weight_at(x, y, static_cast<int>(i));
            pairs->host[i].weights = {weights.data(), {pitch}, geometry.width, geometry.height};
            pairs->device[i].weights = {weights.data(), static_cast<uint32_t>(pitch), 1, 0};
        }
    }

    static uint8_t weight_at(int x, int y, int frame) {
        const int stripe = (x / 5 + y / 3 + frame) % 4;
        return static_cast<uint8_t>(stripe == 0 ? 0 : stripe == 1 ? 255 : (31 * x + 57 * y + 11 * frame) % 256);
    }

private:
    std::vector<std::vector<uint8_t>> weights_;
};

/// Both backends' accumulators of a batch have to be equal in every bit. The metric is prepared.
inline void expect_emulation_equals_cpu(const Scorer& metric, const EmulatedPairs& pairs, bool descending) {
    EmulatedQueue queue(descending);
    EXPECT_EQ(emulate_batch(metric, pairs.device, queue), pairs.cpu_words(metric));
}
inline void expect_emulation_equals_cpu(const Scorer& metric, const std::vector<EmulatedPicture>& pictures,
                                        bool descending) {
    expect_emulation_equals_cpu(metric, EmulatedPairs(pictures), descending);
}

/// The same with weights, for metrics that accept them: the geometry says that there are some, and the scorer knew it.
inline void expect_weighted_emulation_equals_cpu(const MetricDescriptor& descriptor,
                                                 const std::vector<EmulatedKernel>& kernels, FrameGeometry geometry,
                                                 const OptionValues& options,
                                                 const std::vector<EmulatedPicture>& pictures) {
    geometry.has_weights = true;
    const auto metric = create_scorer(descriptor, geometry, options);
    EmulatedProgram program(kernels);
    ASSERT_TRUE(metric->prepare(program).ok());
    EmulatedPairs pairs(pictures);
    const EmulatedWeights all_weights(geometry, &pairs);
    for (const bool descending : {false, true}) expect_emulation_equals_cpu(*metric, pairs, descending);
}

/// Maps of a batch, full of junk: in the engine's memory, or in pictures whose rows begin anywhere.
class EmulatedMaps {
public:
    static constexpr uint8_t kJunk = 0x5a;

    EmulatedMaps(const MapShape& shape, size_t frames, bool in_pictures)
        : shape_(shape), pitch_(in_pictures ? shape.width + 3 : DeviceMap::pitch_of(shape.width)),
          levels_(static_cast<size_t>(pitch_) * static_cast<size_t>(shape.height) * frames + 1, kJunk),
          jobs_(in_pictures ? frames : 0) {
        for (size_t f = 0; f < jobs_.size(); ++f)
            jobs_[f] = {{levels_.data() + 1 + f * plane()}, {static_cast<uint32_t>(pitch_)}, 1};
    }

    DeviceMap device(float scale) {
        DeviceMap map;
        map.scale = scale;
        if (!jobs_.empty()) {
            map.pictures = jobs_.data();
            return map;
        }
        map.levels = levels_.data();
        map.plane = plane();
        map.pitch = pitch_;
        return map;
    }

    /// Between the rows of pictures nothing may be written.
    void expect_rows_apart() const {
        if (jobs_.empty()) return;
        for (size_t i = 0; i + 1 < levels_.size(); ++i)
            if (i % static_cast<size_t>(pitch_) >= static_cast<size_t>(shape_.width)) {
                ASSERT_EQ(levels_[i + 1], kJunk) << "behind row " << i / static_cast<size_t>(pitch_);
            }
    }

private:
    size_t plane() const { return static_cast<size_t>(pitch_) * static_cast<size_t>(shape_.height); }

    MapShape shape_;
    int pitch_;
    std::vector<uint8_t> levels_;
    std::vector<MapJob> jobs_;
};

/// How far a level may be from what the CPU shows.
struct MapTolerance {
    float relative = 0.0f; ///< of a value; absolute below 1
    float levels = 0.0f;
};

inline void expect_level(int level, float expected, float scale, const MapTolerance& tolerance) {
    if (tolerance.relative == 0.0f) {
        ASSERT_EQ(level, map_level(expected, scale));
        return;
    }
    const float exact = std::clamp(expected * scale, 0.0f, 255.0f);
    ASSERT_NEAR(level, exact, 0.5f + tolerance.levels + tolerance.relative * scale * std::max(1.0f, expected));
}

/// Maps of both backends: equal in every bit as the accumulators are, or, of metrics that are not exact, as near as
/// `tolerance`. The scorer was told to draw, and is prepared.
/// @param blank_tiles null: blank tiles are not marked; otherwise counts those that are
inline void expect_emulated_maps_equal_cpu(const Scorer& metric, const MapShape& shape, const EmulatedPairs& pairs,
                                           bool descending, const MapTolerance& tolerance = {},
                                           int* blank_tiles = nullptr) {
    const size_t count = pairs.host.size();
    std::vector<std::vector<float>> expected(count);
    float largest = 0.0f;
    for (size_t i = 0; i < count; ++i) {
        expected[i].resize(static_cast<size_t>(shape.width) * static_cast<size_t>(shape.height));
        metric.draw(pairs.host[i], {}, {expected[i].data(), {shape.width}, shape.width, shape.height});
        for (const float value : expected[i]) largest = std::max(largest, value);
    }
    const auto tiles = static_cast<size_t>(DeviceMap::tiles_across(shape) * DeviceMap::tiles_down(shape));
    // The largest value is white, and what is small shows once more.
    for (const bool is_fine : {false, true}) {
        const float scale = (is_fine ? 16.0f : 1.0f) * 255.0f / (largest > 0.0f ? largest : 1.0f);
        const bool marks = blank_tiles != nullptr && !is_fine;
        EmulatedMaps maps(shape, count, is_fine);
        std::vector<uint8_t> blank(tiles * count, EmulatedMaps::kJunk);
        DeviceBatch batch;
        batch.pairs = pairs.device.data();
        batch.count = static_cast<int>(count);
        batch.map = maps.device(scale);
        if (marks) batch.map.blank = blank.data();
        EmulatedQueue queue(descending);
        const std::vector<uint64_t> words = emulate_batch(metric, batch, queue);
        if (tolerance.relative == 0.0f) {
            EXPECT_EQ(words, pairs.cpu_words(metric));
        }
        maps.expect_rows_apart();
        for (size_t i = 0; i < count; ++i) {
            const uint32_t frame = pairs.device[i].output;
            const MapPlane map = batch.map.of_frame(frame, shape);
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x) {
                    const bool is_blank =
                        marks && *batch.map.mark(frame, shape, x / kMapTileColumns, y / kMapTileRows) != 0;
                    expect_level(is_blank ? 0 : map.row(y)[x], expected[i][static_cast<size_t>(y * shape.width + x)],
                                 scale, tolerance);
                    ASSERT_FALSE(testing::Test::HasFatalFailure()) << x << "," << y << " of pair " << i;
                }
        }
        if (!marks) continue;
        EXPECT_EQ(std::count(blank.begin(), blank.end(), EmulatedMaps::kJunk), 0) << "every tile is marked";
        *blank_tiles += static_cast<int>(std::count(blank.begin(), blank.end(), 1));
    }
}

/// Pairs as those of a ladder: `groups[g]` distorted pictures of the reference g, none of which may be.
inline void expect_ladder_equals_cpu(const Scorer& metric, const FrameGeometry& geometry, int shift,
                                     const std::vector<int>& groups, bool descending) {
    int count = 0;
    std::vector<uint32_t> first_pair{0};
    for (const int size : groups) first_pair.push_back(static_cast<uint32_t>(count += size));
    const std::vector<EmulatedPicture> lumas = emulated_lumas(geometry, shift, 0, count);
    EmulatedPairs pairs(lumas);
    for (size_t g = 0; g < groups.size(); ++g)
        for (uint32_t i = first_pair[g]; i < first_pair[g + 1]; ++i) {
            pairs.device[i].reference = pairs.device[first_pair[g]].reference;
            pairs.device[i].behind_first = i - first_pair[g];
            pairs.host[i].reference = pairs.host[first_pair[g]].reference;
        }
    DeviceBatch batch;
    batch.pairs = pairs.device.data();
    batch.count = count;
    batch.first_pair = first_pair.data();
    batch.groups = static_cast<int>(groups.size());
    EmulatedQueue queue(descending);
    EXPECT_EQ(emulate_batch(metric, batch, queue), pairs.cpu_words(metric));
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
                const SurfaceLayout layout{.shift = shift, .padding = static_cast<size_t>(padding)};
                std::vector<EmulatedPicture> lumas;
                for (const int frame : {0, 1})
                    for (const bool distorted : {false, true})
                        lumas.push_back(emulated_luma(width, height, depth, layout, frame, distorted));
                for (const bool descending : {false, true}) expect_emulation_equals_cpu(*scorer, lumas, descending);
            }
}

} // namespace qc::test
