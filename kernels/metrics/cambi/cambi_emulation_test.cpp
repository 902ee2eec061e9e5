// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of CAMBI without a GPU: every format and option against the CPU reference, bit for bit.
#include "metrics/cambi/cambi.hpp"
#include "metrics/cambi/cambi_plan.hpp"
#include "plan/option_parser.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::cambi {
namespace {

using test::argument;
using test::EmulatedKernel;
using test::EmulatedPlane;
using test::ThreadOrder;

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
void run_image(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& /*order*/) {
    const auto& task = argument<ImageTask>(arguments, 0);
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

void run_scale(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& /*order*/) {
    const auto& task = argument<PyramidTask>(arguments, 0);
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
void run_count(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& order) {
    const auto& task = argument<CountTask>(arguments, 0);
    ASSERT_EQ(block.x, static_cast<unsigned>(Plan::kThreads));
    const auto each_thread = [&](const auto& body) { order.each(Plan::kThreads, body); };
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
                each_thread([&](int thread) { Plan::clear(thread, counts.data(), task.groups_per_pass); });
                each_thread([&](int thread) {
                    Plan::warm_up(thread, counts.data(), pass, tile, places[static_cast<size_t>(thread)],
                                  &states[static_cast<size_t>(thread)]);
                });
                for (int y = tile.y; y < tile.bottom(); ++y) {
                    each_thread([&](int thread) {
                        Plan::move(thread, counts.data(), pass, &states[static_cast<size_t>(thread)]);
                    });
                    each_thread([&](int thread) {
                        auto& state = states[static_cast<size_t>(thread)];
                        if (y + 1 < tile.bottom())
                            Plan::fetch(thread, y + 1, tile, places[static_cast<size_t>(thread)], &state);
                        Plan::score(thread, counts.data(), task, pass, state, [&](int pixel, float c) {
                            collect(task, tile, tile.x + Plan::kPixels * thread + pixel, y, c);
                        });
                    });
                }
            }
        }
}

// ---- selection kernels ----------------------------------------------------------------------------------------------

void run_select_begin(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& /*order*/) {
    const auto& task = argument<SelectTask>(arguments, 0);
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
void run_select(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& /*order*/) {
    const auto& task = argument<SelectTask>(arguments, 0);
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

const std::vector<EmulatedKernel> kKernels = {{"cambi_image_u8", run_image<uint8_t, false>},
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

void expect_emulation_equals_cpu(const EmulationCase& c, bool descending) {
    SCOPED_TRACE(testing::Message() << c);
    const FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
    OptionValues options(descriptor().options);
    for (const auto& [name, value] : c.options)
        ASSERT_TRUE(set_option(descriptor(), name, value, UnknownOption::kError, &options).ok());
    const Status status = validate(descriptor(), geometry, options);
    ASSERT_TRUE(status.ok()) << status.text();
    const auto metric = create_scorer(descriptor(), geometry, options);
    test::EmulatedProgram program(kKernels, c.shared_bytes);
    ASSERT_TRUE(metric->prepare(program).ok());

    std::vector<EmulatedPlane> planes;
    for (int i = 0; i < 2 * c.count; ++i) {
        const int padding = i % 2 == 0 ? c.padding + i / 2 : c.padding;
        planes.emplace_back(c.width, c.height, c.depth, padding, c.shift, 1, [&](int x, int y) {
            return sample_at(c.look, x, y, c.width, c.height, c.depth, static_cast<uint32_t>(i));
        });
    }
    test::expect_emulation_equals_cpu(*metric, planes, descending);
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
