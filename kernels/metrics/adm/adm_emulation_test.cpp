// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of ADM without a GPU: the host code prepares and enqueues as for a device, and the phases of each
// block's threads run one after another on the CPU, in both orders. Catches wrong tiles, borders, layouts and sums and
// races within a phase, and in a build with AddressSanitizer reads outside pictures and scratch; not what depends on
// the hardware: intrinsics, barriers, warps.
#include "families/detail_loss/detail_loss_emulation.hpp"
#include "metrics/adm/adm.hpp"
#include "metrics/adm/adm_test_support.hpp"
#include "metrics/adm/adm_tile.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::adm {
namespace {

using test::argument;
using test::ThreadOrder;

// ---- the kernels ----------------------------------------------------------------------------------------------------

template <int kLevel, bool kAim, typename T>
struct Block {
    const LevelLaunch& launch;
    const Source<T>* pictures;
    LowBand<kLevel>* low[2];
    uint64_t* rows; ///< of this pair
    const ThreadOrder& threads;
};

/// What run_strip() of adm.cu does, phase by phase.
template <int kLevel, bool kAim, typename T>
void run_block(const Block<kLevel, kAim, T>& block, int block_x, int block_y) {
    const LevelLaunch& launch = block.launch;
    const TileGrid& grid = launch.grid;
    const int tile_y = grid.origin_y + block_y * tuning::kUsefulRows;
    const int first = block_x * grid.strip, end = std::min(first + grid.strip, grid.columns);
    const auto shared = std::make_unique<SharedTile<kLevel, kAim>>();
    std::vector<ThreadTile<kAim>> states(tuning::kThreads);
    for (ThreadTile<kAim>& state : states) {
        std::memset(&state, 0x77, sizeof state); // registers start undefined
        for (uint64_t& sum : state.sum) sum = 0;
    }
    const auto source = [&](int thread, int picture) -> const Source<T>& {
        if constexpr (kLevel == 0)
            return block.pictures[picture_of_thread<T>(thread)];
        else
            return block.pictures[picture];
    };
    const auto run_tile = [&]<bool kDetails>(int tile_x) {
        block.threads.each(tuning::kThreads, [&](int t) {
            filter_columns<kLevel, kDetails>(launch, source(t, 0), source(t, 1), tile_x, tile_y, t, *shared);
        });
        block.threads.each(tuning::kThreads, [&](int t) {
            filter_rows<kLevel, kDetails>(launch, tile_x, tile_y, t, *shared, block.low[0], block.low[1], states[t]);
        });
    };
    for (int tile = first; tile < end; tile++) {
        const int tile_x = grid.origin_x + tile * tuning::kUsefulColumns;
        std::memset(shared.get(), 0x77, sizeof *shared);
        if (has_details(launch.plan, tile_x, tile_y)) {
            run_tile.template operator()<true>(tile_x);
            block.threads.each(tuning::kThreads,
                               [&](int t) { sum_energies<kLevel>(launch, tile_x, tile_y, t, *shared, states[t]); });
        } else if constexpr (kLevel < kLevels - 1) {
            run_tile.template operator()<false>(tile_x);
        }
    }
    for (int t = 0; t < tuning::kThreads; t++) {
        const TileRow here(tile_y, t);
        for (int word = 0; word < ThreadTile<kAim>::kSums; word++) {
            const uint64_t sum = states[t].sum[word];
            if (!here.useful || !launch.plan.scores_row(here.y))
                ASSERT_EQ(sum, 0u);
            else
                block.rows[static_cast<size_t>(launch.first_row + here.y) * kWordsPerLevel + word] += sum;
        }
    }
}

template <int kLevel, bool kAim, typename T>
void run_blocks(const Block<kLevel, kAim, T>& block, Dim3 grid) {
    for (unsigned y = 0; y < grid.y; y++) {
        for (unsigned x = 0; x < grid.x; x++) run_block(block, static_cast<int>(x), static_cast<int>(y));
    }
}

template <bool kAim, typename T>
void run_level0(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& threads) {
    ASSERT_EQ(block.x, static_cast<unsigned>(tuning::kThreads));
    const auto* pairs = argument<const DevicePair*>(arguments, 0);
    const auto launch = argument<LevelLaunch>(arguments, 1);
    const size_t plane = static_cast<size_t>(launch.out_pitch) * launch.plan.height;
    for (unsigned z = 0; z < grid.z; z++) {
        Source<T> pictures[2];
        for (int p = 0; p < 2; p++) {
            const DevicePlane& luma = (p == 0 ? pairs[z].reference : pairs[z].distorted).plane[0];
            const size_t both = reinterpret_cast<size_t>(luma.data) | luma.pitch_bytes;
            pictures[p] = {static_cast<const T*>(luma.data), static_cast<ptrdiff_t>(luma.pitch_bytes / sizeof(T)),
                           luma.shift, both % (kColumnsPerItem<T> * sizeof(T)) == 0};
        }
        int16_t* low = argument<int16_t*>(arguments, 2) + 2 * z * plane;
        uint64_t* rows = argument<uint64_t*>(arguments, 3) + static_cast<size_t>(z) * launch.rows * kWordsPerLevel;
        run_blocks(Block<0, kAim, T>{launch, pictures, {low, low + plane}, rows, threads}, grid);
    }
}

template <int kLevel, bool kAim, typename T>
void run_deep(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& threads) {
    ASSERT_EQ(block.x, static_cast<unsigned>(tuning::kThreads));
    const auto* in = argument<const T*>(arguments, 0);
    const auto launch = argument<LevelLaunch>(arguments, 1);
    const size_t in_plane = static_cast<size_t>(launch.in_pitch) * launch.plan.in_height;
    const size_t plane = static_cast<size_t>(launch.out_pitch) * launch.plan.height;
    for (unsigned z = 0; z < grid.z; z++) {
        Source<T> pictures[2];
        for (int p = 0; p < 2; p++) {
            pictures[p].data = in + (2 * z + p) * in_plane;
            pictures[p].pitch = launch.in_pitch;
        }
        int32_t* low = argument<int32_t*>(arguments, 2);
        int32_t* reference_low = low == nullptr ? nullptr : low + 2 * z * plane;
        int32_t* distorted_low = low == nullptr ? nullptr : reference_low + plane;
        uint64_t* rows = argument<uint64_t*>(arguments, 3) + static_cast<size_t>(z) * launch.rows * kWordsPerLevel;
        run_blocks(Block<kLevel, kAim, T>{launch, pictures, {reference_low, distorted_low}, rows, threads}, grid);
    }
}

void run_finish(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& /*order*/) {
    ASSERT_EQ(block.x, static_cast<unsigned>(tuning::kFinishThreads));
    const auto* pairs = argument<const DevicePair*>(arguments, 0);
    const auto launch = argument<FinishLaunch>(arguments, 1);
    const auto* rows = argument<const uint64_t*>(arguments, 2);
    auto* accumulators = argument<uint64_t*>(arguments, 3);
    for (unsigned z = 0; z < grid.z; z++) {
        for (unsigned index = 0; index < grid.x; index++) {
            const FinishLaunch::Level& level = launch.level[index];
            for (int word = 0; word < kWordsPerLevel; word++) {
                uint64_t sum = 0;
                for (int row = 0; row < level.rows; row++) {
                    const size_t at = static_cast<size_t>(z) * launch.rows + level.first_row + row;
                    sum += round_row(level, word, rows[at * kWordsPerLevel + word]);
                }
                accumulators[static_cast<size_t>(pairs[z].output) * kWords + index * kWordsPerLevel + word] = sum;
            }
        }
    }
}

const std::vector<test::EmulatedKernel> kKernels = {{"adm_level0_u8", run_level0<false, uint8_t>},
                                                    {"adm_level0_u8_aim", run_level0<true, uint8_t>},
                                                    {"adm_level0_u16", run_level0<false, uint16_t>},
                                                    {"adm_level0_u16_aim", run_level0<true, uint16_t>},
                                                    {"adm_level1", run_deep<1, false, int16_t>},
                                                    {"adm_level1_aim", run_deep<1, true, int16_t>},
                                                    {"adm_level2", run_deep<2, false, int32_t>},
                                                    {"adm_level2_aim", run_deep<2, true, int32_t>},
                                                    {"adm_level3", run_deep<3, false, int32_t>},
                                                    {"adm_level3_aim", run_deep<3, true, int32_t>},
                                                    {"adm_finish", run_finish}};

void expect_device_like_cpu(const std::vector<Pair>& pairs, const Assignments& assignments = {}, bool impairment = true,
                            const Layout& layout = {}, bool descending = false) {
    Assignments all = assignments;
    if (!impairment) all["adm_skip_aim"] = 1;
    test::EmulatedProgram program(kKernels);
    test::EmulatedQueue queue(descending);
    expect_batch_like_cpu(descriptor(), with_options(all), pairs, layout, program, queue);
    EXPECT_EQ(program.uploads(), 0u);
    EXPECT_EQ(queue.launches(), 5);
}

// ---- tests ----------------------------------------------------------------------------------------------------------

TEST(AdmEmulation, SmallSizes) {
    for (int width = kMinimumSize; width <= 66; width++) {
        const int other = kMinimumSize + (width * 7) % 34;
        expect_device_like_cpu({textured(width, other, 8, 1)}, {}, width % 2 == 0, {}, width % 3 == 0);
        expect_device_like_cpu({textured(other, width, 8, 2)}, {}, width % 2 != 0, {}, width % 3 != 0);
        if (HasFatalFailure()) return;
    }
}

TEST(AdmEmulation, SizesAroundTilesAndNarrowBands) {
    // Bands just below and above 15 (where the scored region leaves the border), tiles of 60x14 just full.
    const int sizes[][2] = {{113, 57},  {114, 113}, {121, 225}, {225, 121}, {241, 99},
                            {242, 100}, {239, 449}, {353, 287}, {961, 65}};
    for (const auto& size : sizes) {
        expect_device_like_cpu({textured(size[0], size[1], 8, 3)});
        if (HasFatalFailure()) return;
    }
}

TEST(AdmEmulation, DepthsShiftsAndAlignments) {
    const int depths[] = {8, 10, 12, 16};
    for (const int depth : depths) {
        for (const int offset : {0, 1, 2, 3}) {
            Layout layout;
            layout.offset = offset * (depth > 8 ? 2 : 1);
            layout.shift = depth == 10 && offset % 2 == 0 ? 6 : depth == 12 && offset % 2 == 0 ? 4 : 0;
            layout.extra_pitch = 5 * layout.offset;
            layout.pitch_alignment = offset == 0 ? 64 : depth > 8 ? 2 : 1;
            expect_device_like_cpu({textured(175, 99, depth, 4)}, {}, offset % 2 == 0, layout);
            if (HasFatalFailure()) return;
        }
    }
}

TEST(AdmEmulation, Batches) {
    for (const int count : {2, 3, 7}) {
        std::vector<Pair> pairs;
        pairs.reserve(count);
        for (int i = 0; i < count; i++) pairs.push_back(textured(139, 77, 8, static_cast<uint32_t>(i)));
        expect_device_like_cpu(pairs, {}, count % 2 == 0, {}, count == 3);
        if (HasFatalFailure()) return;
    }
}

TEST(AdmEmulation, LongStrips) {
    // Enough tiles for strips of several: 34 x 21 at level 0, and a batch.
    const Pair pair = textured(2000, 300, 8, 5);
    expect_device_like_cpu({pair, pair, pair, pair}, {}, true);
    expect_device_like_cpu({pair, pair, pair, pair}, {}, false, {}, true);
}

TEST(AdmEmulation, ExtremeContent) {
    for (const int depth : {8, 16}) {
        expect_device_like_cpu({binary_noise(131, 99, depth, 1)});
        expect_device_like_cpu({full_noise(131, 99, depth, 1)});
        expect_device_like_cpu({checkerboard(131, 99, depth, 1)});
        expect_device_like_cpu({checkerboard(131, 99, depth, 8)});
        expect_device_like_cpu({flat(131, 99, depth, 0, 255)});
        if (HasFatalFailure()) return;
    }
}

TEST(AdmEmulation, Options) {
    const Pair pair = textured(227, 135, 8, 6);
    const Assignments all[] = {{{"adm_enhn_gain_limit", 1}},
                               {{"adm_enhn_gain_limit", 1.2}},
                               {{"adm_skip_scale0", 1}},
                               {{"adm_skip_aim", 1}},
                               {{"adm_csf_mode", 1}},
                               {{"adm_csf_mode", 1}, {"adm_csf_scale", 50}, {"adm_csf_diag_scale", 0.8}},
                               {{"adm_csf_mode", 2}, {"adm_enhn_gain_limit", 1}, {"adm_norm_view_dist", 5}},
                               {{"adm_csf_mode", 3}},
                               {{"adm_norm_view_dist", 4}, {"adm_skip_scale0", 1}, {"adm_enhn_gain_limit", 37.5}}};
    for (const Assignments& assignments : all) {
        expect_device_like_cpu({pair}, assignments);
        if (HasFatalFailure()) return;
    }
}

TEST(AdmEmulation, FullHighDefinition) {
    expect_device_like_cpu({textured(1920, 1080, 8, 7)});
}

} // namespace
} // namespace qc::adm
