// SPDX-License-Identifier: BSD-2-Clause-Patent
// Products of small matrices of halves, by a whole warp, with sums in single precision: the tensor cores of compute
// capability 7.5 and newer, and their twin on the host.
//
// A product is  sums(16 x 8) += left(16 x 16) * right(16 x 8).  Of each matrix a lane holds a few words, of two
// neighbours along what is summed over. With  row = lane / 4,  group = lane % 4 :
//
//     left   word i: row  row + 8 (i % 2), columns 8 (i / 2) + 2 group and the next one
//     right  word i: column  row, rows 8 i + 2 group and the next one
//     sums   value i: row  row + 8 (i / 2), column 2 group + i % 2
//
// (PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point type".) So sums of two products side by side are, as
// halves, the left matrix of the next.
//
// A float is two halves, itself rounded and what that leaves, to 21 binary digits; products of three of the four pairs
// of such halves have about as many. Sums are rounded otherwise on the device than on the host, by about the last place
// of a float, and the same on every run.
#pragma once

#include "device/block.hpp"
#include "device/half_floats.hpp"

namespace qc::device {

struct HalfLeft {
    uint32_t words[4];
};
struct HalfRight {
    uint32_t words[2];
};
struct FloatSums {
    float values[4];
};

/// Two floats, as two halves each. What is cut off for the first half, so that no conversion has to be turned back, is
/// the second: 21 binary digits together, or down to 6e-8.
struct SplitPair {
    uint32_t high, low;
};
QC_HD SplitPair split_pair(float first, float second) {
    constexpr uint32_t kDigits = 0xffffe000u; // those that a half has
    const float high[2] = {float_of(bits_of(first) & kDigits), float_of(bits_of(second) & kDigits)};
    return {half_pair_of(high[0], high[1]), half_pair_of(first - high[0], second - high[1])};
}

#if !defined(__CUDA_ARCH__)
/// Operands of a block's lanes.
template <int kThreads>
struct HostOperands {
    float left[kThreads][2][8], right[kThreads][4];
};

/// add_product() on the host: rows and columns are gathered from the lanes that hold them.
template <class Block>
void host_add_product(Block& block, const HalfLeft& left, const HalfRight& right, FloatSums& sums) {
    auto& operands = shared<HostOperands<Block::kThreads>>(block);
    const int warp = block.thread() - block.lane(), row = block.lane() / 4, group = block.lane() % 4;
    for (int i = 0; i < 4; ++i) {
        operands.left[block.thread()][i % 2][i / 2 * 2] = low_of_pair(left.words[i]);
        operands.left[block.thread()][i % 2][i / 2 * 2 + 1] = high_of_pair(left.words[i]);
    }
    for (int i = 0; i < 2; ++i) {
        operands.right[block.thread()][2 * i] = low_of_pair(right.words[i]);
        operands.right[block.thread()][2 * i + 1] = high_of_pair(right.words[i]);
    }
    block.sync_warp();
    for (int i = 0; i < 4; ++i)
        for (int of = 0; of < 4; ++of)
            for (int k = 0; k < 4; ++k)
                sums.values[i] += operands.left[warp + 4 * row + of][i / 2][k] *
                                  operands.right[warp + 4 * (2 * group + i % 2) + of][k];
    block.sync_warp();
}
#endif

/// sums += left * right
template <class Block>
QC_HD void add_product(Block& block, const HalfLeft& left, const HalfRight& right, FloatSums& sums) {
#if !defined(__CUDA_ARCH__)
    host_add_product(block, left, right, sums);
#elif __CUDA_ARCH__ >= 800
    (void)block;
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums.values[0]), "+f"(sums.values[1]), "+f"(sums.values[2]), "+f"(sums.values[3])
        : "r"(left.words[0]), "r"(left.words[1]), "r"(left.words[2]), "r"(left.words[3]), "r"(right.words[0]),
          "r"(right.words[1]));
#else
    (void)block;
    QC_UNROLL for (int i = 0; i < 2; ++i) asm(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" :
        "+f"(sums.values[0]), "+f"(sums.values[1]), "+f"(sums.values[2]), "+f"(sums.values[3]) : "r"(left.words[2 * i]),
        "r"(left.words[2 * i + 1]), "r"(right.words[i]));
#endif
}

} // namespace qc::device
