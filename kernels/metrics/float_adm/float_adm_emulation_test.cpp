// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of floating-point ADM without a GPU: the host code prepares and enqueues as for a device, and the
// phases of each block's threads run one after another on the CPU, in both orders. Catches wrong tiles, borders,
// layouts and orders of sums and races within a phase, and in a build with AddressSanitizer reads outside pictures and
// scratch; not what depends on the hardware: the reciprocal's first guess, barriers, warps.
#include <bit>

#include "families/detail_loss/detail_loss_emulation.hpp"
#include "metrics/float_adm/float_adm.hpp"
#include "metrics/float_adm/float_adm_tile.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::float_adm {
namespace {

using test::argument;
using test::ThreadOrder;

// ---- the kernels ----------------------------------------------------------------------------------------------------

template <typename T>
struct Block {
    const LevelLaunch& launch;
    const Source<T>* pictures;
    float* low[2];
    float* rows; ///< of this pair
    const ThreadOrder& threads;
};

/// What run_strip() of float_adm.cu does, phase by phase.
template <bool kCube, typename T>
void run_block(const Block<T>& block, int block_x) {
    const LevelLaunch& launch = block.launch;
    const int tile_y = launch.grid.origin_y + block_x * tuning::kUsefulRows;
    const auto shared = std::make_unique<SharedTile>();
    std::vector<ThreadTile> states(tuning::kThreads);
    std::vector<float> sums(tuning::kThreads);
    const auto run_filters = [&]<bool kDetails>(int tile_x) {
        block.threads.each(tuning::kThreads, [&](int t) {
            filter_columns<kDetails>(launch, block.pictures[picture_of_thread(t)], tile_x, tile_y, t, *shared);
        });
        block.threads.each(tuning::kThreads, [&](int t) {
            filter_rows<kDetails, kCube>(launch, tile_x, tile_y, t, *shared, block.low[0], block.low[1], states[t]);
        });
    };
    for (int tile = 0; tile < launch.grid.columns; tile++) {
        const int tile_x = launch.grid.origin_x + tile * tuning::kUsefulColumns;
        std::memset(static_cast<void*>(shared.get()), 0x77, sizeof *shared);
        std::memset(static_cast<void*>(states.data()), 0x77, states.size() * sizeof(ThreadTile));
        if (has_details(launch.plan, tile_x, tile_y)) {
            run_filters.template operator()<true>(tile_x);
            // The energies take the place of the filtered columns: nobody may need those any more.
            std::memset(static_cast<void*>(shared->filtered), 0x77, sizeof shared->filtered);
            block.threads.each(tuning::kThreads,
                               [&](int t) { measure_energies<kCube>(launch, tile_x, tile_y, t, *shared, states[t]); });
            block.threads.each(tuning::kThreads, [&](int t) {
                const RunningSum own = running_sum(launch.plan, tile_y, t);
                if (own.used) sums[t] = continue_sum(*shared, own.chain, sums[t]);
            });
        } else if (launch.writes_low != 0) {
            run_filters.template operator()<false>(tile_x);
        }
    }
    block.threads.each(tuning::kThreads, [&](int t) {
        const RunningSum own = running_sum(launch.plan, tile_y, t);
        if (own.used) block.rows[static_cast<size_t>(launch.first_row + own.y) * kWordsPerLevel + own.sum] = sums[t];
    });
}

template <bool kCube, typename T>
void run_pair(const LevelLaunch& launch, const Source<T>* pictures, unsigned pair, Dim3 grid, void** arguments,
              const ThreadOrder& threads) {
    const size_t size = static_cast<size_t>(launch.out_pitch) * launch.plan.height;
    auto* low = argument<float*>(arguments, 2);
    EXPECT_EQ(low != nullptr, launch.writes_low != 0);
    float* const reference_low = low == nullptr ? nullptr : low + 2 * pair * size;
    float* const distorted_low = low == nullptr ? nullptr : reference_low + size;
    float* const rows = argument<float*>(arguments, 3) + static_cast<size_t>(pair) * launch.rows * kWordsPerLevel;
    const Block<T> block{launch, pictures, {reference_low, distorted_low}, rows, threads};
    for (unsigned x = 0; x < grid.x; x++) run_block<kCube>(block, static_cast<int>(x));
}

template <bool kCube, typename T>
void run_level0(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& threads) {
    ASSERT_EQ(block.x, static_cast<unsigned>(tuning::kThreads));
    const auto* pairs = argument<const DevicePair*>(arguments, 0);
    const auto launch = argument<LevelLaunch>(arguments, 1);
    for (unsigned z = 0; z < grid.z; z++) {
        Source<T> pictures[2];
        for (int p = 0; p < 2; p++) {
            const DevicePlane& luma = (p == 0 ? pairs[z].reference : pairs[z].distorted).plane[0];
            pictures[p] = {static_cast<const T*>(luma.data), static_cast<ptrdiff_t>(luma.pitch_bytes / sizeof(T)),
                           luma.shift, rows_aligned(luma, kColumnsPerItem * sizeof(T))};
        }
        run_pair<kCube>(launch, pictures, z, grid, arguments, threads);
    }
}

template <bool kCube>
void run_deep(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& threads) {
    ASSERT_EQ(block.x, static_cast<unsigned>(tuning::kThreads));
    const auto* in = argument<const float*>(arguments, 0);
    const auto launch = argument<LevelLaunch>(arguments, 1);
    const size_t in_size = static_cast<size_t>(launch.in_pitch) * launch.plan.in_height;
    for (unsigned z = 0; z < grid.z; z++) {
        Source<float> pictures[2];
        for (unsigned p = 0; p < 2; p++) {
            pictures[p].data = in + (2 * z + p) * in_size;
            pictures[p].pitch = launch.in_pitch;
        }
        run_pair<kCube>(launch, pictures, z, grid, arguments, threads);
    }
}

void run_finish(Dim3 grid, Dim3 block, void** arguments, const ThreadOrder& /*order*/) {
    ASSERT_EQ(block.x, static_cast<unsigned>(32 * kWordsPerLevel));
    const auto* pairs = argument<const DevicePair*>(arguments, 0);
    const auto launch = argument<FinishLaunch>(arguments, 1);
    const auto* rows = argument<const float*>(arguments, 2);
    auto* accumulators = argument<uint64_t*>(arguments, 3);
    for (unsigned z = 0; z < grid.z; z++) {
        for (unsigned index = 0; index < grid.x; index++) {
            const FinishLaunch::Level& level = launch.level[index];
            for (int word = 0; word < kWordsPerLevel; word++) {
                float sum = 0.0f;
                for (int row = 0; row < level.rows; row++) {
                    const size_t at = static_cast<size_t>(z) * launch.rows + level.first_row + row;
                    sum += rows[at * kWordsPerLevel + word];
                }
                accumulators[static_cast<size_t>(pairs[z].output) * kWords + index * kWordsPerLevel + word] =
                    std::bit_cast<uint64_t>(static_cast<double>(sum));
            }
        }
    }
}

const std::vector<test::EmulatedKernel> kKernels = {
    {"float_adm_level0_u8", run_level0<true, uint8_t>, sizeof(SharedTile)},
    {"float_adm_level0_u8_power", run_level0<false, uint8_t>, sizeof(SharedTile)},
    {"float_adm_level0_u16", run_level0<true, uint16_t>, sizeof(SharedTile)},
    {"float_adm_level0_u16_power", run_level0<false, uint16_t>, sizeof(SharedTile)},
    {"float_adm_deep", run_deep<true>, sizeof(SharedTile)},
    {"float_adm_deep_power", run_deep<false>, sizeof(SharedTile)},
    {"float_adm_finish", run_finish, 0}};

/// Blocks of all GPUs can have this much shared memory.
constexpr size_t kSharedLimit = size_t{64} * 1024;

void expect_device_like_cpu(const std::vector<Pair>& pairs, const test::OptionList& list = {},
                            const Layout& layout = {}, bool descending = false) {
    test::EmulatedProgram program(kKernels, kSharedLimit);
    test::EmulatedQueue queue(descending);
    expect_batch_like_cpu(descriptor(), test::options_of(descriptor(), list), pairs, layout, program, queue);
    EXPECT_EQ(program.uploads(), 0u);
    EXPECT_EQ(queue.launches(), 5);
    EXPECT_EQ(queue.zeros(), 0);
}

// ---- tests ----------------------------------------------------------------------------------------------------------

TEST(FloatAdmEmulation, SmallSizes) {
    for (int width = kMinimumSize; width <= 66; width++) {
        const int other = kMinimumSize + (width * 7) % 50;
        expect_device_like_cpu({textured(width, other, 8, 1)}, {}, {}, width % 3 == 0);
        expect_device_like_cpu({textured(other, width, 8, 2)}, {}, {}, width % 3 != 0);
        if (HasFatalFailure()) return;
    }
}

TEST(FloatAdmEmulation, SizesAroundTilesAndNarrowBands) {
    // Bands just below and above 15 (where the scored region leaves the border), tiles of 60x14 just full.
    const int sizes[][2] = {{113, 57},  {114, 113}, {121, 225}, {225, 121}, {241, 99},
                            {242, 100}, {239, 449}, {353, 287}, {961, 65}};
    for (const auto& size : sizes) {
        expect_device_like_cpu({textured(size[0], size[1], 8, 3)});
        if (HasFatalFailure()) return;
    }
}

TEST(FloatAdmEmulation, DepthsShiftsAndAlignments) {
    for (const int depth : {8, 10, 12, 16}) {
        for (const int offset : {0, 1, 2, 3}) {
            Layout layout;
            layout.offset = offset * (depth > 8 ? 2 : 1);
            layout.shift = depth == 10 && offset % 2 == 0 ? 6 : depth == 12 && offset % 2 == 0 ? 4 : 0;
            layout.extra_pitch = 5 * layout.offset;
            layout.pitch_alignment = offset == 0 ? 64 : depth > 8 ? 2 : 1;
            expect_device_like_cpu({textured(175, 99, depth, 4)}, {}, layout);
            if (HasFatalFailure()) return;
        }
    }
}

TEST(FloatAdmEmulation, Batches) {
    for (const int count : {2, 3, 7}) {
        std::vector<Pair> pairs;
        pairs.reserve(count);
        for (int i = 0; i < count; i++) pairs.push_back(textured(139, 77, 8, static_cast<uint32_t>(i)));
        expect_device_like_cpu(pairs, {}, {}, count == 3);
        if (HasFatalFailure()) return;
    }
}

TEST(FloatAdmEmulation, ExtremeContent) {
    for (const int depth : {8, 16}) {
        expect_device_like_cpu({binary_noise(131, 99, depth, 1)});
        expect_device_like_cpu({flat(131, 99, depth, 0, 255)});
        expect_device_like_cpu({flat(131, 99, depth, 128 << (depth - 8), 128 << (depth - 8))});
        if (HasFatalFailure()) return;
    }
}

TEST(FloatAdmEmulation, Options) {
    const Pair pair = textured(227, 135, 8, 6);
    const test::OptionList all[] = {{{"adm_enhn_gain_limit", 1}},
                                    {{"adm_enhn_gain_limit", 1.2}},
                                    {{"adm_skip_scale0", 1}},
                                    {{"adm_csf_mode", 1}},
                                    {{"adm_csf_mode", 2}, {"adm_enhn_gain_limit", 1}, {"adm_norm_view_dist", 5}},
                                    {{"adm_bypass_cm", 1}},
                                    {{"adm_p_norm", 2}},
                                    {{"adm_p_norm", 2.7}, {"adm_bypass_cm", 1}, {"adm_skip_scale0", 1}},
                                    {{"adm_f1s1", 0.5}, {"adm_f2s3", 0.01}}};
    for (const test::OptionList& list : all) {
        expect_device_like_cpu({pair}, list);
        if (HasFatalFailure()) return;
    }
}

TEST(FloatAdmEmulation, FullHighDefinition) {
    expect_device_like_cpu({textured(1920, 1080, 8, 7)});
}

} // namespace
} // namespace qc::float_adm
