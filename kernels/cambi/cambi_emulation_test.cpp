// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of CAMBI without a GPU: host code prepares and enqueues as for a device, and what the threads of
// each block do runs one after another on the CPU. Catches wrong tiles, margins, offsets and sums, and (in a build with
// AddressSanitizer) reads beyond the pictures and planes; not what depends on the hardware: intrinsics, barriers,
// warps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "cambi/cambi.hpp"
#include "cambi/cambi_plan.hpp"
#include "option_parser.hpp"
#include "tests/synthetic_clip.hpp"

namespace qc::cambi {
namespace {

/// Order in which the threads of a block run between two barriers: with a race between them, one of the two orders
/// would give another result.
std::vector<int> thread_order(int threads, bool descending) {
    std::vector<int> order(static_cast<size_t>(threads));
    std::iota(order.begin(), order.end(), 0);
    if (descending) std::reverse(order.begin(), order.end());
    return order;
}

// ---- image kernel ---------------------------------------------------------------------------------------------------

/// What the lanes of a warp hand each other; the outermost get garbage.
template <typename T>
T lane_or_garbage(const std::vector<T>& lanes, int lane) {
    T garbage;
    std::memset(&garbage, 0x5a, sizeof garbage);
    return lane >= 0 && lane < kLanes ? lanes[static_cast<size_t>(lane)] : garbage;
}

template <bool kHalf, typename Source>
void walk_image(const ImageTask& task, const DevicePlane& plane, int picture, int tile_x, int tile_y) {
    using Lane = ImageLane<kHalf>;
    const int first_row = tile_y * task.walk, rows = std::min(task.walk, task.height - first_row);
    const TenBits ten_bits(task.depth, plane.shift);
    std::vector<Lane> lanes;
    std::vector<Source> sources;
    for (int i = 0; i < kLanes; ++i) {
        lanes.emplace_back(task, lane_column(tile_x, i));
        sources.emplace_back(plane, task, lane_column(tile_x, i));
    }
    std::vector<Quad> samples(kLanes);
    std::vector<uint32_t> columns(kLanes);
    const auto load = [&](int row) {
        for (size_t i = 0; i < kLanes; ++i) samples[i] = ten_bits(sources[i].unpack(sources[i].load(row)));
    };
    // The sample on the right of a lane's: the last lane has to fetch it.
    const auto next_of = [&](const std::vector<Quad>& row_samples, int i, int row) {
        if (i < kLanes - 1) return row_samples[static_cast<size_t>(i + 1)].low;
        return ten_bits.halves(sources[static_cast<size_t>(i)].load_next(row));
    };
    if (task.anti_dither) {
        const int row = Lane::row_in(first_row, 0);
        load(row);
        for (int i = 0; i < kLanes; ++i)
            lanes[static_cast<size_t>(i)].start(samples[static_cast<size_t>(i)], next_of(samples, i, row));
    }
    uint32_t groups = 0;
    for (int step = 0; step < Lane::steps(rows); ++step) {
        const int row_in = Lane::row_in(first_row, step) + (task.anti_dither ? 1 : 0);
        load(row_in);
        if (task.anti_dither) {
            const std::vector<Quad> unfiltered = samples;
            for (int i = 0; i < kLanes; ++i)
                samples[static_cast<size_t>(i)] = lanes[static_cast<size_t>(i)].mix(unfiltered[static_cast<size_t>(i)],
                                                                                    next_of(unfiltered, i, row_in));
        }
        for (int i = 0; i < kLanes; ++i)
            columns[static_cast<size_t>(i)] =
                lanes[static_cast<size_t>(i)].take(step, Lane::row_in(first_row, step), samples[static_cast<size_t>(i)],
                                                   lane_or_garbage(samples, i - 1), lane_or_garbage(samples, i + 1));
        if (kHalf && step % 2 == 0) continue;
        const int row = Lane::row_out(first_row, step);
        if (step < Lane::kFirstOutput || row >= first_row + rows) continue;
        for (int i = 0; i < kLanes; ++i) {
            const Quad out = lanes[static_cast<size_t>(i)].finish(step, row, lane_or_garbage(columns, i - 1),
                                                                  lane_or_garbage(columns, i + 1));
            const int column = lane_column(tile_x, i);
            if (!lane_stores(task, i, column)) continue;
            store_row<kHalf>(task, picture, column, row, out);
            groups |= groups_of_halves(out.low);
            if (!kHalf) groups |= groups_of_halves(out.high);
        }
    }
    task.pyramid.tiles(picture, 0)[tile_y * task.pyramid.scale[0].tiles_across + tile_x] = groups;
}

template <typename T, bool kHalf>
void run_image(void** arguments, Dim3 grid, Dim3 block, bool /*descending*/) {
    const auto& task = *static_cast<const ImageTask*>(arguments[0]);
    ASSERT_EQ(block.x, static_cast<unsigned>(tuning::kImageWarps * kLanes));
    for (int picture = 0; picture < static_cast<int>(grid.z); ++picture) {
        const DevicePair& pair = task.pairs[picture];
        const DevicePlane& plane = task.use_reference ? pair.reference.plane[0] : pair.distorted.plane[0];
        for (int y = 0; y < static_cast<int>(grid.y) * tuning::kImageWarps; ++y)
            for (int x = 0; x < static_cast<int>(grid.x) && y * task.walk < task.height; ++x) {
                if (tile_is_wide<T>(plane, task, x)) {
                    walk_image<kHalf, WideSource<T>>(task, plane, picture, x, y);
                } else {
                    walk_image<kHalf, SampleSource<T>>(task, plane, picture, x, y);
                }
            }
    }
}

// ---- scale kernel ---------------------------------------------------------------------------------------------------

void walk_scale(const PyramidTask& task, int picture, int tile_x, int tile_y) {
    const ScalePlane& scale = task.pyramid.scale[task.scale];
    const int first_row = tile_y * task.walk, rows = std::min(task.walk, scale.height - first_row);
    std::vector<PyramidLane> lanes;
    lanes.reserve(kLanes);
    for (int i = 0; i < kLanes; ++i) lanes.emplace_back(task, picture, lane_column(tile_x, i));
    std::vector<Quad> loaded(kLanes);
    uint32_t groups = 0;
    for (int step = 0; step < PyramidLane::steps(rows); ++step) {
        for (size_t i = 0; i < kLanes; ++i) loaded[i] = lanes[i].load(PyramidLane::row_in(first_row, step));
        const int row = PyramidLane::row_out(first_row, step);
        for (int i = 0; i < kLanes; ++i) {
            PyramidLane& lane = lanes[static_cast<size_t>(i)];
            lane.take(step, loaded[static_cast<size_t>(i)], lane_or_garbage(loaded, i - 1),
                      lane_or_garbage(loaded, i + 1));
            const int column = lane_column(tile_x, i);
            if (step < PyramidLane::kFirstOutput || !lane_is_useful(i) || column >= scale.width) continue;
            const Quad out = lane.finish(step, row);
            store_row(task, picture, column, row, out);
            groups |= groups_of_halves(out.low) | groups_of_halves(out.high);
        }
    }
    task.pyramid.tiles(picture, task.scale)[tile_y * scale.tiles_across + tile_x] = groups;
}

void run_scale(void** arguments, Dim3 grid, Dim3 block, bool /*descending*/) {
    const auto& task = *static_cast<const PyramidTask*>(arguments[0]);
    ASSERT_EQ(block.x, static_cast<unsigned>(tuning::kPyramidWarps * kLanes));
    const int height = task.pyramid.scale[task.scale].height;
    for (int picture = 0; picture < static_cast<int>(grid.z); ++picture)
        for (int y = 0; y < static_cast<int>(grid.y) * tuning::kPyramidWarps && y * task.walk < height; ++y)
            for (int x = 0; x < static_cast<int>(grid.x); ++x) walk_scale(task, picture, x, y);
}

// ---- counting kernel ------------------------------------------------------------------------------------------------

int passes_walked = 0; ///< by the counting kernels, for tests that want several

void collect(const CountTask& task, const Tile& tile, int x, int y, float c) {
    if (task.purpose == Purpose::kSum) {
        task.sums(tile.picture, tile.scale)[0] += to_fixed_point(c);
        ++task.sums(tile.picture, tile.scale)[1];
        if (task.heat_maps == 0) return;
        auto* map = reinterpret_cast<uint16_t*>(task.pair_words(tile.picture) + task.heat_map_word[tile.scale]);
        map[y * task.pyramid.scale[tile.scale].width + x] = heat(c, task.full_heat);
        return;
    }
    Selection& selection = *task.selection(tile.picture, tile.scale);
    const uint32_t key = key_of(c), high = key >> kLowBits;
    if (task.purpose == Purpose::kHighDigits) {
        ++selection.high_count[high];
    } else if (high == selection.last_high) {
        ++selection.low_count[key & (kLowBins - 1)];
    } else if (high > selection.last_high) {
        selection.sum_above += to_fixed_point(c);
        ++selection.above;
    }
}

template <class Plan>
void run_count(void** arguments, Dim3 grid, Dim3 block, bool descending) {
    const auto& task = *static_cast<const CountTask*>(arguments[0]);
    ASSERT_EQ(block.x, static_cast<unsigned>(Plan::kThreads));
    const std::vector<int> threads = thread_order(Plan::kThreads, descending);
    for (unsigned z = 0; z < grid.z; ++z)
        for (unsigned number = 0; number < grid.x; ++number) {
            const Tile tile = find_tile(task, number, static_cast<int>(z));
            if (task.purpose != Purpose::kSum && task.selection(tile.picture, tile.scale)->needed == 0) continue;
            std::vector<uint32_t> counts(Plan::shared_bytes(task.groups_per_pass) / 4, 0xcdcdcdcd);
            std::vector<typename Plan::State> states(Plan::kThreads);
            std::vector<typename Plan::Place> places;
            places.reserve(Plan::kThreads);
            for (int thread = 0; thread < Plan::kThreads; ++thread)
                places.push_back(Plan::find_place(task, tile, thread));
            uint32_t groups = 0;
            for (int thread = 0; thread < kLanes; ++thread) groups |= groups_in_tile(task, tile, thread, kLanes);
            Pass pass;
            while (next_pass(task, &groups, &pass)) {
                ++passes_walked;
                for (const int thread : threads) Plan::clear(thread, counts.data(), task.groups_per_pass);
                for (const int thread : threads)
                    Plan::warm_up(thread, counts.data(), pass, tile, places[static_cast<size_t>(thread)],
                                  &states[static_cast<size_t>(thread)]);
                for (int y = tile.y; y < tile.bottom(); ++y) {
                    for (const int thread : threads)
                        Plan::move(thread, counts.data(), pass, &states[static_cast<size_t>(thread)]);
                    for (const int thread : threads) {
                        auto& state = states[static_cast<size_t>(thread)];
                        if (y + 1 < tile.bottom())
                            Plan::fetch(thread, y + 1, tile, places[static_cast<size_t>(thread)], &state);
                        Plan::score(thread, counts.data(), task, pass, state, [&](int pixel, float c) {
                            collect(task, tile, tile.x + Plan::kPixels * thread + pixel, y, c);
                        });
                    }
                }
            }
        }
}

// ---- selection kernels ----------------------------------------------------------------------------------------------

void run_select_begin(void** arguments, Dim3 grid, Dim3 block, bool /*descending*/) {
    const auto& task = *static_cast<const SelectTask*>(arguments[0]);
    for (int picture = 0; picture < static_cast<int>(grid.y); ++picture)
        for (int scale = 0; scale < static_cast<int>(grid.x); ++scale) {
            Selection* selection = task.count.selection(picture, scale);
            selection->needed = selection_needed(task, picture, scale);
            for (int thread = 0; thread < static_cast<int>(block.x) && selection->needed; ++thread)
                clear_selection(selection, thread, static_cast<int>(block.x));
        }
}

int selections = 0; ///< made by the selection kernels

template <bool kHigh>
void run_select(void** arguments, Dim3 grid, Dim3 block, bool /*descending*/) {
    const auto& task = *static_cast<const SelectTask*>(arguments[0]);
    ASSERT_EQ(block.x, static_cast<unsigned>(tuning::kSelectThreads));
    for (int picture = 0; picture < static_cast<int>(grid.y); ++picture)
        for (int scale = 0; scale < static_cast<int>(grid.x); ++scale) {
            Selection* selection = task.count.selection(picture, scale);
            if (selection->needed == 0) continue;
            std::vector<uint64_t> chunks;
            chunks.reserve(tuning::kSelectThreads);
            for (int thread = 0; thread < tuning::kSelectThreads; ++thread)
                chunks.push_back(kHigh ? sum_chunk<kHighBins>(selection->high_count, thread)
                                       : sum_chunk<kLowBins>(selection->low_count, thread));
            if (kHigh) {
                choose_high(task, scale, chunks.data(), selection);
            } else {
                choose_low(task, picture, scale, chunks.data(), selection);
                ++selections;
            }
        }
}

// ---- a device made of host memory -----------------------------------------------------------------------------------

struct NamedKernel {
    const char* name;
    void (*function)(void** arguments, Dim3 grid, Dim3 block, bool descending);
};

const NamedKernel kKernels[] = {{"cambi_image_u8", run_image<uint8_t, false>},
                                {"cambi_image_u16", run_image<uint16_t, false>},
                                {"cambi_half_image_u8", run_image<uint8_t, true>},
                                {"cambi_half_image_u16", run_image<uint16_t, true>},
                                {"cambi_scale", run_scale},
                                {"cambi_count_17", run_count<CountReach8>},
                                {"cambi_count_33", run_count<CountReach16>},
                                {"cambi_count_65", run_count<CountReach32>},
                                {"cambi_count", run_count<CountAnyReach>},
                                {"cambi_count_up_to_1", run_count<CountUpTo1>},
                                {"cambi_count_up_to_2", run_count<CountUpTo2>},
                                {"cambi_count_up_to_8", run_count<CountUpTo8>},
                                {"cambi_count_up_to_16", run_count<CountUpTo16>},
                                {"cambi_count_up_to_32", run_count<CountUpTo32>},
                                {"cambi_select_begin", run_select_begin},
                                {"cambi_select_high", run_select<true>},
                                {"cambi_select_low", run_select<false>}};

class EmulatedProgram : public DeviceProgram {
public:
    explicit EmulatedProgram(size_t shared_bytes) : shared_bytes_(shared_bytes) {}
    Status find(const char* name, size_t dynamic_shared_bytes, Kernel* kernel) override {
        if (dynamic_shared_bytes > shared_bytes_) return unsupported("too much shared memory");
        for (const NamedKernel& candidate : kKernels)
            if (std::string_view(candidate.name) == name) {
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
    size_t shared_bytes_;
    std::vector<std::unique_ptr<std::byte[]>> uploads_;
};

class EmulatedQueue : public DeviceQueue {
public:
    explicit EmulatedQueue(bool descending) : descending_(descending) {}
    Status launch_raw(const Kernel& kernel, Dim3 grid, Dim3 block, void** arguments) override {
        static_cast<const NamedKernel*>(kernel.function)->function(arguments, grid, block, descending_);
        return {};
    }
    Status zero(void* device_address, size_t bytes) override {
        std::memset(device_address, 0, bytes);
        return {};
    }

private:
    bool descending_;
};

// ---- pictures -------------------------------------------------------------------------------------------------------

enum class Look {
    kBanded, ///< smooth ramps with false contours, flat and noisy blocks
    kSteep,  ///< ramps over the whole range: many values in every tile
    kFlat,   ///< one value, its frame another
    kNoise
};

uint32_t sample_at(Look look, int x, int y, int width, int height, int depth, uint32_t seed) {
    const uint32_t largest = (1u << depth) - 1, hash = test::synthetic_hash(x, y, seed, 0, 3);
    const int scale = 1 << (depth - 8);
    switch (look) {
    case Look::kBanded: {
        const uint32_t block = test::synthetic_hash(x / 40, y / 24, seed, 0, 7);
        if (block % 7 == 0) return hash & largest;
        const int dither = block % 3 == 0 ? static_cast<int>(hash % 2) : 0;
        const int ramp = 18 + (x + 2 * y + static_cast<int>(seed)) / 17 % 90 + dither;
        return static_cast<uint32_t>(ramp * scale + (block % 5 == 0 && scale > 1 ? (x + y) / 9 % scale : 0));
    }
    case Look::kSteep:
        return static_cast<uint32_t>(static_cast<uint64_t>(x / 3) * 3 * largest / static_cast<uint32_t>(width));
    case Look::kFlat:
        return x == 0 || y == 0 || x == width - 1 || y == height - 1 ? 40u * scale : 41u * scale;
    case Look::kNoise:
        break;
    }
    return hash & largest;
}

/// A picture in memory that ends with its last sample.
struct EmulatedPicture {
    std::vector<uint16_t> container, samples; ///< as a surface with its shift, and as the CPU backend sees it
    std::vector<uint8_t> bytes;
    DevicePlane device{};
    HostPlane host;

    EmulatedPicture(const FrameGeometry& g, Look look, int pitch, int shift, uint32_t seed) {
        const size_t size =
            static_cast<size_t>(pitch) * static_cast<size_t>(g.height - 1) + static_cast<size_t>(g.width);
        container.assign(size, 0xffff);
        samples.assign(size, 0xffff);
        bytes.assign(size, 0xff);
        for (int y = 0; y < g.height; ++y)
            for (int x = 0; x < g.width; ++x) {
                const size_t i = static_cast<size_t>(y) * static_cast<size_t>(pitch) + static_cast<size_t>(x);
                const uint32_t sample = sample_at(look, x, y, g.width, g.height, g.depth, seed);
                samples[i] = static_cast<uint16_t>(sample);
                container[i] = static_cast<uint16_t>((sample << shift) | ((sample * 7) & ((1u << shift) - 1)));
                bytes[i] = static_cast<uint8_t>(sample);
            }
        const bool narrow = g.sample == SampleType::kU8;
        device.data = narrow ? static_cast<const void*>(bytes.data()) : container.data();
        device.pitch_bytes = static_cast<uint32_t>(static_cast<size_t>(pitch) * g.sample_bytes());
        device.step = 1;
        device.shift = static_cast<uint16_t>(shift);
        host = {narrow ? static_cast<const void*>(bytes.data()) : samples.data(),
                {static_cast<ptrdiff_t>(static_cast<size_t>(pitch) * g.sample_bytes())},
                g.width,
                g.height};
    }
};

struct EmulationCase {
    int width, height, depth, shift, count;
    Look look;
    std::vector<std::pair<const char*, const char*>> options;
    int padding = 0; ///< samples behind each row
    size_t shared_bytes = 227 * 1024;
};

std::ostream& operator<<(std::ostream& stream, const EmulationCase& c) {
    stream << c.width << "x" << c.height << "+" << c.padding << ", " << c.depth << " bits << " << c.shift << ", "
           << c.count << " pairs, look " << static_cast<int>(c.look);
    for (const auto& [name, value] : c.options) stream << ", " << name << "=" << value;
    return stream;
}

/// Accumulators of a batch, as both backends see them.
void expect_emulation_equals_cpu(const EmulationCase& c, bool descending) {
    SCOPED_TRACE(testing::Message() << c);
    FrameGeometry geometry;
    geometry.width = c.width;
    geometry.height = c.height;
    geometry.depth = c.depth;
    geometry.sample = c.depth == 8 ? SampleType::kU8 : SampleType::kU16;
    OptionValues options(descriptor().options);
    for (const auto& [name, value] : c.options)
        ASSERT_TRUE(set_option(descriptor(), name, value, UnknownOption::kError, &options).ok());
    const Status status = descriptor().validate(geometry, options);
    ASSERT_TRUE(status.ok()) << status.text();
    const auto metric = descriptor().create(geometry, options);
    EmulatedProgram program(c.shared_bytes);
    ASSERT_TRUE(metric->prepare(program).ok());

    std::vector<EmulatedPicture> pictures;
    for (int i = 0; i < c.count; ++i) {
        pictures.emplace_back(geometry, c.look, c.width + c.padding + i, c.shift, 2 * i);
        pictures.emplace_back(geometry, c.look, c.width + c.padding, c.shift, 2 * i + 1);
    }
    const auto count = static_cast<size_t>(c.count);
    const size_t words = metric->accumulator_words();
    std::vector<DevicePair> pairs(count);
    std::vector<uint64_t> expected(count * words);
    for (size_t i = 0; i < count; ++i) {
        pairs[i].reference.plane[0] = pictures[2 * i].device;
        pairs[i].distorted.plane[0] = pictures[2 * i + 1].device;
        pairs[i].output = static_cast<uint32_t>(count - 1 - i); // rows in another order than the pairs
        HostPair host;
        host.reference.plane[0] = pictures[2 * i].host;
        host.distorted.plane[0] = pictures[2 * i + 1].host;
        metric->score(host, std::span(expected).subspan(pairs[i].output * words, words));
    }

    std::vector<uint64_t> accumulators(expected.size());
    std::vector<uint64_t> scratch(metric->scratch_bytes(c.count) / 8, descending ? 0x1234567812345678 : ~uint64_t{0});
    DeviceBatch batch;
    batch.pairs = pairs.data();
    batch.count = c.count;
    batch.accumulators = accumulators.data();
    batch.scratch = scratch.data();
    EmulatedQueue queue(descending);
    ASSERT_TRUE(metric->enqueue(batch, queue).ok());
    EXPECT_EQ(accumulators, expected);
}

TEST(CambiEmulation, FormatsEqualTheCpu) {
    const EmulationCase cases[] = {
        {330, 242, 8, 0, 2, Look::kBanded, {}},
        {328, 219, 8, 0, 1, Look::kBanded, {}},
        {328, 219, 8, 0, 5, Look::kBanded, {}, 3},
        {217, 220, 10, 6, 1, Look::kBanded, {}, 7},
        {480, 100, 10, 0, 1, Look::kBanded, {}},
        {250, 230, 12, 4, 1, Look::kBanded, {}},
        {252, 216, 12, 0, 1, Look::kBanded, {{"enc_bitdepth", "8"}}},
        {240, 231, 16, 0, 1, Look::kBanded, {}},
        {244, 231, 16, 0, 1, Look::kNoise, {}},
        {244, 231, 8, 0, 1, Look::kFlat, {}},
        {244, 231, 10, 0, 1, Look::kFlat, {}},
    };
    for (const EmulationCase& c : cases)
        for (const bool descending : {false, true}) expect_emulation_equals_cpu(c, descending);
}

TEST(CambiEmulation, OptionsEqualTheCpu) {
    const EmulationCase cases[] = {
        {300, 240, 8, 0, 1, Look::kBanded, {{"max_log_contrast", "0"}}},
        {300, 240, 8, 0, 1, Look::kBanded, {{"max_log_contrast", "1"}}},
        {300, 240, 8, 0, 1, Look::kBanded, {{"max_log_contrast", "3"}}},
        {300, 240, 10, 0, 1, Look::kBanded, {{"max_log_contrast", "4"}}},
        {300, 240, 10, 0, 1, Look::kBanded, {{"max_log_contrast", "5"}, {"cambi_eotf", "pq"}}},
        {300, 240, 10, 0, 1, Look::kSteep, {{"max_log_contrast", "5"}}},
        {300, 240, 10, 0, 1, Look::kBanded, {{"cambi_vis_lum_threshold", "1"}, {"tvi_threshold", "0.012"}}},
        {640, 240, 8, 0, 1, Look::kBanded, {{"window_size", "127"}}},
        {640, 360, 8, 0, 1, Look::kBanded, {{"window_size", "15"}}},
        {480, 270, 8, 0, 1, Look::kBanded, {{"enc_width", "300"}, {"enc_height", "220"}}},
        {480, 270, 10, 6, 2, Look::kBanded, {{"full_ref", "true"}}},
        {480, 270, 8, 0, 1, Look::kBanded, {{"full_ref", "true"}, {"src_width", "720"}, {"src_height", "400"}}},
        {480, 270, 10, 0, 1, Look::kBanded, {{"topk", "0.05"}}},
        {480, 270, 10, 0, 1, Look::kBanded, {{"cambi_topk", "0.0001"}}},
        {480, 270, 10, 0, 1, Look::kBanded, {{"topk", "1"}}},
        {480, 270, 10, 0, 1, Look::kBanded, {{"tvi_threshold", "1"}}},
        {480, 270, 10, 0, 1, Look::kBanded, {{"cambi_vis_lum_threshold", "290"}}},
    };
    for (const EmulationCase& c : cases) expect_emulation_equals_cpu(c, true);
}

TEST(CambiEmulation, HalfSizeEqualsTheCpu) {
    const std::vector<std::pair<const char*, const char*>> speedup{{"cambi_high_res_speedup", "1080"}};
    expect_emulation_equals_cpu({1920, 1080, 10, 0, 1, Look::kBanded, speedup}, false);
    expect_emulation_equals_cpu({2003, 1081, 8, 0, 1, Look::kBanded, speedup}, true);
    expect_emulation_equals_cpu({2881, 722, 10, 6, 1, Look::kBanded, speedup, 3}, true);
}

TEST(CambiEmulation, WindowsOfTheirOwnEqualTheCpu) {
    expect_emulation_equals_cpu({1920, 1080, 8, 0, 1, Look::kBanded, {}}, false); // 33
    expect_emulation_equals_cpu({3000, 3000, 10, 0, 1, Look::kBanded, {}}, true); // 65
}

/// Tiles whose values do not fit the shared memory at once, and those of small devices.
TEST(CambiEmulation, SeveralPassesEqualTheCpu) {
    for (const size_t shared_bytes : {size_t{227} * 1024, size_t{64} * 1024, size_t{48} * 1024}) {
        passes_walked = 0;
        expect_emulation_equals_cpu({900, 230, 10, 0, 1, Look::kSteep, {}, 0, shared_bytes}, true);
        EXPECT_GT(passes_walked, 20);
    }
}

TEST(CambiEmulation, SelectionEqualsTheCpu) {
    selections = 0;
    expect_emulation_equals_cpu({480, 270, 10, 0, 3, Look::kBanded, {{"topk", "0.01"}}}, true);
    expect_emulation_equals_cpu({480, 270, 10, 0, 1, Look::kSteep, {{"topk", "0.3"}}}, true);
    EXPECT_GT(selections, 5);
}

TEST(CambiEmulation, HeatMapsEqualTheCpu) {
    const std::string folder = testing::TempDir() + "/cambi_emulation";
    expect_emulation_equals_cpu({331, 243, 8, 0, 2, Look::kBanded, {{"heatmaps_path", folder.c_str()}}}, true);
}

TEST(CambiEmulation, SmallSizesEqualTheCpu) {
    for (int size = 1; size <= 40; ++size) {
        const int depth = size % 2 == 0 ? 8 : 10;
        expect_emulation_equals_cpu({216 + size, size, depth, 0, 1, Look::kBanded, {}}, size % 3 == 0);
        expect_emulation_equals_cpu({size, 260 - size, depth, 0, 1, Look::kBanded, {}, size % 5}, size % 3 == 1);
        if (HasFailure()) return;
    }
}

} // namespace
} // namespace qc::cambi
