// SPDX-License-Identifier: BSD-2-Clause-Patent
// Products of small matrices of bytes, by a whole warp: the integer tensor cores of compute capability 8.0 and newer
// (kNeededCapability), and their twin on the host. Code for older cards compiles and must not be run.
//
// A product is  sums(16 x 8) += weights(16 x 32) * bytes(32 x 8),  unsigned bytes, sums modulo 2^32. Of each matrix a
// lane holds a few words. With  row = lane / 4,  group = lane % 4 :
//
//     weights  word i: row  row + 8 (i % 2), columns 16 (i / 2) + 4 group ... + 3, the lowest byte first
//     bytes    word i: column  row, rows 16 i + 4 group ... + 3, the lowest byte first
//     sums     word i: row  row + 8 (i / 2), column 2 group + i % 2
//
// (PTX ISA, "Matrix fragments for mma.m16n8k32 with integer type".) So what a product leaves in a lane are sums of two
// neighbouring columns; as bytes of the same rows they are the next product's operand, if the columns of two products
// alternate.
#pragma once

#include <cstring>

#include "device/block.hpp"

namespace qc::device {

constexpr int kMatrixCapability = 80; ///< compute capability, times ten, that code with products needs

constexpr int kProductRows = 16, kProductColumns = 8, kProductDepth = 32;

struct MatrixWeights {
    uint32_t words[4];
};
struct MatrixBytes {
    uint32_t words[2];
};
struct MatrixSums {
    uint32_t words[4];
};

/// The dot product of the bytes of two words.
inline uint32_t host_dot_product(uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (int shift = 0; shift < 32; shift += 8) sum += (a >> shift & 0xff) * (b >> shift & 0xff);
    return sum;
}

/// add_product() on the host: a lane collects the two rows and the two columns that its sums are of.
template <class Block>
void host_add_product(Block& block, const MatrixWeights& weights, const MatrixBytes& bytes, MatrixSums& sums) {
    const auto both = [](uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; };
    for (int group = 0; group < 4; ++group) {
        const int of_rows = block.lane() / 4 * 4 + group;
        uint64_t rows[2], columns[2]; // of the lower and of the upper half of what is summed over; the two columns
        for (int half = 0; half < 2; ++half) {
            rows[half] = block.shuffle_from(both(weights.words[2 * half], weights.words[2 * half + 1]), of_rows);
            columns[half] =
                block.shuffle_from(both(bytes.words[0], bytes.words[1]), (block.lane() % 4 * 2 + half) * 4 + group);
        }
        for (int i = 0; i < 4; ++i)
            for (int half = 0; half < 2; ++half)
                sums.words[i] += host_dot_product(static_cast<uint32_t>(rows[half] >> 32 * (i / 2)),
                                                  static_cast<uint32_t>(columns[i % 2] >> 32 * half));
    }
}

/// sums += weights * bytes
template <class Block>
QC_HD void add_product(Block& block, const MatrixWeights& weights, const MatrixBytes& bytes, MatrixSums& sums) {
#if !defined(__CUDA_ARCH__)
    host_add_product(block, weights, bytes, sums);
#elif __CUDA_ARCH__ >= 800
    (void)block;
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sums.words[0]), "+r"(sums.words[1]), "+r"(sums.words[2]), "+r"(sums.words[3])
        : "r"(weights.words[0]), "r"(weights.words[1]), "r"(weights.words[2]), "r"(weights.words[3]),
          "r"(bytes.words[0]), "r"(bytes.words[1]));
#else
    __trap();
#endif
}

/// weights * bytes
template <class Block>
QC_HD MatrixSums product(Block& block, const MatrixWeights& weights, const MatrixBytes& bytes) {
    MatrixSums sums{};
    add_product(block, weights, bytes, sums);
    return sums;
}

constexpr int kStagedRows = 32, kStagedRowBytes = 16;

/// Reads what lies in shared memory as 32 rows of 16 bytes, 16-byte aligned, by columns: pairs[q] gets, of rows 8 q + 2
/// group and the next one, the two bytes 2 row and 2 row + 1 (the lower row in the lower half).
template <class Block>
QC_HD void read_byte_pairs(Block& block, const uint8_t* rows, uint32_t (&pairs)[4]) {
#if !defined(__CUDA_ARCH__)
    const int column = block.lane() / 4 * 2, first = block.lane() % 4 * 2;
    for (int q = 0; q < 4; ++q) {
        const uint8_t* from = rows + (8 * q + first) * kStagedRowBytes + column;
        const uint8_t* next = from + kStagedRowBytes;
        pairs[q] = from[0] | uint32_t{from[1]} << 8 | uint32_t{next[0]} << 16 | uint32_t{next[1]} << 24;
    }
#elif __CUDA_ARCH__ >= 750
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(rows + block.lane() * kStagedRowBytes));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]), "=r"(pairs[3])
                 : "r"(address)
                 : "memory");
#endif
}

// ---- copies to shared memory that a thread does not wait for --------------------------------------------------------

/// Begins to copy 8 bytes from global to shared memory, both 8-byte aligned.
QC_HD void begin_copy_of_8(uint8_t* to, const uint8_t* from) {
#if !defined(__CUDA_ARCH__)
    for (int i = 0; i < 8; ++i) to[i] = from[i];
#elif __CUDA_ARCH__ >= 800
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(address), "l"(from) : "memory");
#else
    *reinterpret_cast<uint64_t*>(to) = *reinterpret_cast<const uint64_t*>(from);
#endif
}

/// Likewise 16 bytes, 16-byte aligned; as many zeros where there is nothing, though `from` can be read.
QC_HD void begin_copy_of_16(void* to, const void* from, bool is_there) {
#if !defined(__CUDA_ARCH__)
    std::memset(to, 0, 16);
    if (is_there) std::memcpy(to, from, 16);
#elif __CUDA_ARCH__ >= 800
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(is_there ? 16 : 0)
                 : "memory");
#else
    *static_cast<uint4*>(to) = is_there ? *static_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0);
#endif
}

/// Ends a group of this thread's copies, which may be empty.
QC_HD void end_copy_group() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits for this thread's copies but those of the latest kLeft groups.
template <int kLeft>
QC_HD void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
#endif
}

} // namespace qc::device
