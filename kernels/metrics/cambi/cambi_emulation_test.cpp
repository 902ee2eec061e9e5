// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of CAMBI without a GPU: every format and option against the CPU reference, bit for bit.
#include "metrics/cambi/cambi.hpp"
#include "metrics/cambi/cambi_kernels.hpp"
#include "plan/option_parser.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::cambi {
namespace {

using test::EmulatedKernel;

int passes_walked = 0, selections = 0; ///< for tests that want several

/// Counts the walks over the tiles.
template <class Plan>
struct WatchedCountTile : CountTile<Plan> {
    template <class Block>
    static void run(Block& block, const CountTask& task) {
        CountTile<Plan>::run(block, task);
        if (block.thread() != 0 || task.purpose != Purpose::kSum) return;
        uint32_t groups = device::shared<TileGroups>(block).groups;
        for (Pass pass; next_pass(task, &groups, &pass);) ++passes_walked;
    }
};

/// Counts the selections that were needed.
struct WatchedSelectLow : Select<false> {
    template <class Block>
    static void run(Block& block, const SelectTask& task) {
        Select::run(block, task);
        if (block.thread() == 0) selections += static_cast<int>(task.count.selection(block.y(), block.x())->needed);
    }
};

std::vector<EmulatedKernel> make_kernels() {
    std::vector<EmulatedKernel> kernels = QC_EMULATED_KERNELS(QC_CAMBI_KERNELS);
    for (EmulatedKernel& kernel : kernels) {
        if (kernel.name == kernels::cambi_count.name)
            kernel = test::emulated_kernel<WatchedCountTile<CountAnyReach>>(kernel.name);
        if (kernel.name == kernels::cambi_select_low.name)
            kernel = test::emulated_kernel<WatchedSelectLow>(kernel.name);
    }
    return kernels;
}
const std::vector<EmulatedKernel> kKernels = make_kernels();

// ---- pictures -------------------------------------------------------------------------------------------------------

enum class Look {
    kBanded,  ///< smooth ramps with false contours, flat and noisy blocks
    kSteep,   ///< ramps over the whole range: many values in every tile
    kFlat,    ///< one value, its frame another
    kIslands, ///< dark and bright bands that most of the columns of a tile do not have, noise elsewhere
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
    case Look::kIslands:
        if (x % 120 >= 40) break;
        return static_cast<uint32_t>(((y / 20 % 2 == 0 ? 24 : 120) + x % 120 / 20) * scale);
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

void expect_emulation_equals_cpu(const EmulationCase& c, bool descending, bool with_map = false,
                                 int* blank_tiles = nullptr) {
    SCOPED_TRACE(testing::Message() << c);
    const FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
    OptionValues options(descriptor().options);
    for (const auto& [name, value] : c.options)
        ASSERT_TRUE(set_option(descriptor(), name, value, UnknownOption::kError, &options).ok());
    const Status status = validate(descriptor(), geometry, options);
    ASSERT_TRUE(status.ok()) << status.text();
    const auto metric = create_scorer(descriptor(), geometry, options);
    if (with_map) metric->draw_maps();
    test::EmulatedProgram program(kKernels, c.shared_bytes);
    ASSERT_TRUE(metric->prepare(program).ok());

    std::vector<test::EmulatedPicture> lumas;
    for (int i = 0; i < 2 * c.count; ++i) {
        const int padding = i % 2 == 0 ? c.padding + i / 2 : c.padding;
        const auto look_at = [&](int x, int y) {
            return sample_at(c.look, x, y, c.width, c.height, c.depth, static_cast<uint32_t>(i));
        };
        lumas.emplace_back(test::SamplePicture(geometry, look_at, padding),
                           test::SurfaceLayout{.shift = c.shift, .padding = static_cast<size_t>(padding)});
    }
    if (with_map)
        return test::expect_emulated_maps_equal_cpu(*metric, descriptor().map->shape(geometry, options),
                                                    test::EmulatedPairs(lumas), descending, {}, blank_tiles);
    test::expect_emulation_equals_cpu(*metric, lumas, descending);
}

TEST(CambiEmulation, MapsEqualTheCpu) {
    const std::string folder = testing::TempDir() + "/cambi_emulated_maps";
    const EmulationCase cases[] = {
        {330, 242, 8, 0, 3, Look::kBanded, {}},
        {250, 230, 10, 6, 1, Look::kSteep, {}, 3},
        {480, 270, 8, 0, 1, Look::kBanded, {{"enc_width", "300"}, {"enc_height", "220"}, {"full_ref", "true"}}},
        {300, 240, 10, 0, 2, Look::kBanded, {{"topk", "0.05"}, {"heatmaps_path", folder.c_str()}}},
        {300, 240, 10, 0, 1, Look::kBanded, {{"cambi_vis_lum_threshold", "290"}}},
        {2003, 1081, 8, 0, 1, Look::kBanded, {{"cambi_high_res_speedup", "1080"}}},
    };
    int blank_tiles = 0;
    for (const EmulationCase& c : cases) {
        expect_emulation_equals_cpu(c, false, true);
        expect_emulation_equals_cpu(c, true, true, &blank_tiles);
    }
    EXPECT_GE(blank_tiles, 30) << "those of the picture with nothing visible, at least";
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
        for (const bool descending : {false, true})
            expect_emulation_equals_cpu({900, 230, 10, 0, 1, Look::kSteep, {}, 0, shared_bytes}, descending);
        EXPECT_GT(passes_walked, 2 * 20);
    }
}

TEST(CambiEmulation, SelectionEqualsTheCpu) {
    selections = 0;
    for (const bool descending : {false, true}) {
        expect_emulation_equals_cpu({480, 270, 10, 0, 3, Look::kBanded, {{"topk", "0.01"}}}, descending);
        expect_emulation_equals_cpu({480, 270, 10, 0, 1, Look::kSteep, {{"topk", "0.3"}}}, descending);
    }
    EXPECT_GT(selections, 2 * 5);
}

/// A window of 17, which is counted in strips: several passes, selections, maps, and sizes that strips do not divide.
TEST(CambiEmulation, StripsEqualTheCpu) {
    const std::string folder = testing::TempDir() + "/cambi_emulated_strips";
    const std::pair<const char*, const char*> window{"window_size", "127"};
    const EmulationCase cases[] = {
        {600, 240, 8, 0, 3, Look::kBanded, {window}},
        {613, 233, 10, 6, 1, Look::kSteep, {window}, 3},
        {601, 243, 8, 0, 1, Look::kFlat, {window}},
        {600, 240, 8, 0, 4, Look::kIslands, {window}},
        {600, 240, 10, 0, 2, Look::kBanded, {window, {"topk", "0.01"}}},
        {600, 240, 10, 0, 1, Look::kSteep, {window, {"topk", "0.3"}}, 0, size_t{8} * 1024},
        {250, 590, 10, 0, 1, Look::kBanded, {window, {"heatmaps_path", folder.c_str()}, {"full_ref", "true"}}},
        {600, 240, 8, 0, 1, Look::kBanded, {window, {"cambi_vis_lum_threshold", "1"}, {"tvi_threshold", "0.012"}}},
    };
    selections = 0;
    for (const EmulationCase& c : cases)
        for (const bool descending : {false, true}) {
            expect_emulation_equals_cpu(c, descending);
            expect_emulation_equals_cpu(c, descending, true);
        }
    EXPECT_GT(selections, 2 * 5);
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
