// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the emulated block promises: races and divergence show, everything else acts as on the device.
#include "tests/device/emulated_block.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <vector>

#include "device/block_sum.hpp"
#include "device/kernel_list.hpp"
#include "device/ordered_sum.hpp"

namespace qc::test {
namespace {

struct Arguments {
    uint64_t* out;
    uint64_t* more;
};

template <class K>
void run(Dim3 grid, bool descending, std::vector<uint64_t>* out, std::vector<uint64_t>* more = nullptr,
         size_t shared_bytes = 0) {
    const Arguments arguments{out->data(), more != nullptr ? more->data() : nullptr};
    run_grid<K>({"test_kernel", grid, {K::kThreads, 1, 1}, shared_bytes, &arguments, descending});
}

template <class K>
std::vector<uint64_t> result_of(size_t count, bool descending, Dim3 grid = {}) {
    std::vector<uint64_t> out(count);
    run<K>(grid, descending, &out);
    return out;
}

/// Each thread writes a word and reads its neighbour's.
template <bool kBarrier>
struct Rotate : device::KernelOf<test::Arguments, 96> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        auto& words = device::shared<uint64_t[kThreads]>(block);
        words[block.thread()] = static_cast<uint64_t>(block.thread());
        if (kBarrier) block.sync();
        arguments.out[block.thread()] = words[(block.thread() + 1) % kThreads];
    }
};

TEST(EmulatedBlock, ShowsAMissingBarrier) {
    std::vector<uint64_t> expected(96);
    for (size_t i = 0; i < 96; ++i) expected[i] = (i + 1) % 96;
    for (const bool descending : {false, true}) {
        EXPECT_EQ(result_of<Rotate<true>>(96, descending), expected);
        EXPECT_NE(result_of<Rotate<false>>(96, descending), expected);
    }
    EXPECT_NE(result_of<Rotate<false>>(96, false), result_of<Rotate<false>>(96, true));
}

/// The second round overwrites what slower threads still read.
template <bool kBarrier>
struct TwoRounds : device::KernelOf<test::Arguments, 64> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        auto& words = device::shared<uint64_t[kThreads]>(block);
        uint64_t sum = 0;
        for (uint64_t round = 0; round < 3; ++round) {
            words[block.thread()] = round;
            block.sync();
            sum = sum * 10 + words[block.thread() ^ 33];
            if (kBarrier) block.sync();
        }
        arguments.out[block.thread()] = sum;
    }
};

TEST(EmulatedBlock, ShowsAMissingBarrierBehindARead) {
    const std::vector<uint64_t> expected(64, 12);
    for (const bool descending : {false, true}) {
        EXPECT_EQ(result_of<TwoRounds<true>>(64, descending), expected);
        EXPECT_NE(result_of<TwoRounds<false>>(64, descending), expected);
    }
}

struct Diverging : device::KernelOf<test::Arguments, 64> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        if (block.thread() < 40)
            block.sync();
        else
            block.sync();
        arguments.out[block.x()] = 1;
    }
};

struct LaneMissing : device::KernelOf<test::Arguments, 32> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        if (block.lane() == 7) block.sync();
        arguments.out[0] = block.warp_sum(uint32_t{1});
    }
};

struct LaneGone : device::KernelOf<test::Arguments, 32> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        if (block.lane() == 7) return;
        arguments.out[0] = block.ballot(true);
    }
};

TEST(EmulatedBlock, ReportsDivergence) {
    std::vector<uint64_t> out(2);
    EXPECT_NONFATAL_FAILURE(run<Diverging>({2, 1, 1}, false, &out), "kernel test_kernel, block (0, 0, 0)");
    EXPECT_NONFATAL_FAILURE(run<Diverging>({2, 1, 1}, true, &out), "threads wait at different places");
    EXPECT_NONFATAL_FAILURE(run<LaneMissing>({1, 1, 1}, false, &out), "in a sum");
    EXPECT_NONFATAL_FAILURE(run<LaneGone>({1, 1, 1}, false, &out), "misses thread 7");
    EXPECT_EQ(out, std::vector<uint64_t>(2)) << "a block that failed goes on";
    // And the fibers are good for other kernels.
    EXPECT_EQ(result_of<Rotate<true>>(96, false)[5], 6u);
}

struct Exchanges : device::KernelOf<test::Arguments, 64> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        const int lane = block.lane();
        const auto own = static_cast<uint64_t>(block.thread()) << 33;
        uint64_t* const out = arguments.out + 9 * block.thread();
        out[0] = block.shuffle_up(own, 2) >> 33;
        out[1] = static_cast<uint64_t>(block.shuffle_down(block.thread(), 3));
        out[2] = static_cast<uint64_t>(block.shuffle_xor(static_cast<float>(block.thread()), 5));
        out[3] = static_cast<uint64_t>(block.shuffle_from(static_cast<double>(block.thread()), (lane + 9) % 32));
        out[4] = block.warp_sum(uint32_t{0xfffffff0u} + static_cast<uint32_t>(lane % 2));
        out[5] = block.warp_sum(own) >> 33;
        out[6] = block.warp_or(1u << lane % 7);
        out[7] = block.ballot(lane % 3 == 0);
        out[8] = static_cast<uint64_t>(device::warp_tree_sum(block, static_cast<double>(lane)));
        block.atomic_add(arguments.more, uint64_t{1});
    }
};

TEST(EmulatedBlock, ExchangesWithinWarps) {
    for (const bool descending : {false, true}) {
        std::vector<uint64_t> out(64 * 9), more(1);
        run<Exchanges>({3, 1, 1}, descending, &out, &more);
        EXPECT_EQ(more[0], 3u * 64u);
        for (int thread = 0; thread < 64; ++thread) {
            const int lane = thread % 32, first = thread - lane;
            uint64_t ballot = 0, sum = 0;
            for (int i = 0; i < 32; ++i) {
                ballot |= (i % 3 == 0 ? 1u : 0u) << i;
                sum += static_cast<uint64_t>(first + i);
            }
            const std::vector<uint64_t> expected = {static_cast<uint64_t>(lane < 2 ? thread : thread - 2),
                                                    static_cast<uint64_t>(lane + 3 > 31 ? thread : thread + 3),
                                                    static_cast<uint64_t>(thread ^ 5),
                                                    static_cast<uint64_t>(first + (lane + 9) % 32),
                                                    32 * uint64_t{0xfffffff0u} + 16,
                                                    sum,
                                                    0x7f,
                                                    ballot,
                                                    496};
            const auto begin = out.begin() + 9 * thread;
            EXPECT_EQ(std::vector<uint64_t>(begin, begin + 9), expected) << thread;
        }
    }
}

/// Threads leave early, the others still meet.
struct EarlyExit : device::KernelOf<test::Arguments, 128> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        auto& words = device::shared<uint32_t[2]>(block);
        if (block.thread() < 2) words[block.thread()] = 0;
        block.sync();
        if (block.thread() >= 50) return;
        block.atomic_add(&words[block.thread() % 2], 1u);
        block.sync();
        if (block.thread() < 2) arguments.out[2 * block.y() + block.thread()] = words[block.thread()];
    }
};

TEST(EmulatedBlock, CountsThreadsThatReturnedAsArrived) {
    for (const bool descending : {false, true})
        EXPECT_EQ(result_of<EarlyExit>(6, descending, {1, 3, 1}), std::vector<uint64_t>(6, 25));
}

struct FirstTag;
struct SecondTag;

struct SharedObjects : device::KernelOf<test::Arguments, 32> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        auto& first = device::shared<uint32_t, FirstTag>(block);
        auto& second = device::shared<uint32_t, SecondTag>(block);
        auto* const dynamic = device::dynamic_shared<uint32_t>(block);
        if (block.thread() == 31) {
            arguments.out[0] = first; // junk
            arguments.out[1] = dynamic[9];
            first = 1;
            second = 2;
            dynamic[9] = 3;
        }
        block.sync();
        if (block.thread() == 0) arguments.out[2] = first * 100 + second * 10 + dynamic[9];
    }
};

TEST(EmulatedBlock, SharedMemoryStartsAsJunkInEveryBlock) {
    for (const bool descending : {false, true}) {
        std::vector<uint64_t> out(3);
        run<SharedObjects>({5, 1, 1}, descending, &out, nullptr, 40);
        const uint64_t junk = descending ? 0x71717171 : 0xffffffff;
        EXPECT_EQ(out, (std::vector<uint64_t>{junk, junk, 123}));
    }
}

struct BlockSums : device::KernelOf<test::Arguments, 256> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        const uint32_t values[] = {1, static_cast<uint32_t>(block.thread())};
        device::add_block_sums(block, values, arguments.out);
        const float terms[] = {1e8f, 1.0f, -1e8f, 0.5f};
        if (block.warp() == 1) {
            const float sum = device::ordered_sum(block, terms, 4, 1);
            if (block.lane() == 31) arguments.out[2] = static_cast<uint64_t>(2 * sum);
        }
    }
};

TEST(EmulatedBlock, RunsTheSharedSums) {
    for (const bool descending : {false, true})
        EXPECT_EQ(result_of<BlockSums>(3, descending, {2, 1, 1}), (std::vector<uint64_t>{512, 65280, 1}));
}

/// The same phases, by fibers and by one thread.
template <bool kSerial>
struct Phases : device::KernelOf<test::Arguments, 96> {
    static constexpr bool kCollective = kSerial;
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        auto& words = device::shared<uint64_t[300]>(block);
        block.each(300, [&](int i) { words[i] = static_cast<uint64_t>(i); });
        block.once([&] { words[0] = 7; });
        block.both(
            [&](const auto& team) {
                team.each(50, [&](int i) { words[i] += words[i + 50]; });
                team.once([&] { words[1] = words[49]; });
                team.once([&] { words[2] = words[1]; });
                const uint32_t odd = team.vote(9, [&](int i) {
                    words[50 + i] = words[i]; // for the others to see
                    return i % 2 == 1;
                });
                team.each(32, [&](int i) { words[60 + i] = odd >> i & 1; });
                team.each(8, [&](int i) { words[3 + i] = words[50 + (i + 5) % 8]; });
            },
            [&](const auto& team) {
                team.each(100, [&](int i) { words[100 + i] += words[200 + i]; });
                team.once([&] { words[299] = words[199] + words[100]; });
            });
        block.each(300, [&](int i) { arguments.out[i] = words[299 - i]; });
    }
};

TEST(EmulatedBlock, RunsPhases) {
    const std::vector<uint64_t> expected = result_of<Phases<true>>(300, false);
    EXPECT_EQ(expected[0], 199u + 299u + 100u + 200u);
    EXPECT_EQ(expected[297], 49u + 99u);
    EXPECT_EQ(expected[299 - 61], 1u);
    EXPECT_EQ(expected[299 - 60] + expected[299 - 69], 0u) << "an even one, and one that was not asked";
    EXPECT_EQ(expected[299 - 3], 5u + 55u);
    EXPECT_EQ(result_of<Phases<true>>(300, true), expected);
    for (const bool descending : {false, true}) EXPECT_EQ(result_of<Phases<false>>(300, descending), expected);
}

} // namespace
} // namespace qc::test
