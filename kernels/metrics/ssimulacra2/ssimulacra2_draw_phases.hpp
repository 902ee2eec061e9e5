// SPDX-License-Identifier: BSD-2-Clause-Patent
// The map of SSIMULACRA 2: what its fields weigh in the score, place by place. Strips keep the weighted errors of their
// plane in 16 bits, but of planes that weigh next to nothing, and one more kernel
// adds those of all planes that lie over a sample of the picture.
#pragma once

#include "contract/map.hpp"
#include "device/bits.hpp"
#include "device/block.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "metrics/ssimulacra2/ssimulacra2_device_math.hpp"

namespace qc::ssimulacra2 {
/// Where the errors of a pair's planes are kept.
struct KeptErrors {
    uint16_t* errors;            ///< of the first pair
    uint64_t pair;               ///< from pair to pair
    uint32_t offset[kMaxLevels]; ///< of channel 0
    uint32_t plane[kMaxLevels];  ///< from channel to channel
    int32_t pitch[kMaxLevels];   ///< a multiple of 4
    uint32_t stored[kMaxLevels]; ///< bit c: channel c is kept
    float weight[kMaxLevels][kChannels][kFields];

    QC_HD uint16_t* of(int pair_number, int level, int channel) const {
        return errors + static_cast<uint64_t>(pair_number) * pair + offset[level] +
               static_cast<uint64_t>(channel) * plane[level];
    }
    QC_HD bool keeps(int level, int channel) const { return (stored[level] >> channel & 1u) != 0; }
};

/// The nearest number that has the upper half of a float's bits, and so 8 significant ones: a picture shows no more.
/// Precondition: finite, not negative.
QC_HD uint16_t kept_error(float error) {
    return static_cast<uint16_t>((device::bits_of(error) + 0x8000u) >> 16);
}
QC_HD float error_of(uint32_t kept) {
    return device::float_of(kept << 16);
}

/// Arguments of the kernel that draws.
struct DrawArguments {
    const DevicePair* pairs;
    KeptErrors kept;
    DeviceMap map;
    MapShape shape;
    int32_t levels;
};

/// A thread draws eight columns of two rows, which share what coarser levels have for them.
constexpr int kDrawColumns = MapPlane::kRun, kDrawRows = 2, kDrawWarps = 4;

/// Errors of a row of a level that lie over eight columns, two to a word.
/// @tparam kStep columns of the picture to an error, at most 8
template <int kStep>
struct ErrorRun {
    static constexpr int kCount = kDrawColumns / kStep, kWords = (kCount + 1) / 2;
    uint32_t word[kWords] = {};

    /// @param from the first; @param columns of the picture from there on: errors were kept four at a time, and what
    /// lies beyond the last four was never written
    QC_HD void load(const uint16_t* from, int columns) {
        if constexpr (kStep == 1) {
            QC_UNROLL for (int half = 0; half < 2; ++half) {
                if (4 * half >= columns) continue;
                const Words<8> four = load_words<8>(from + 4 * half);
                word[2 * half] = four.word[0];
                word[2 * half + 1] = four.word[1];
            }
        } else if constexpr (kCount > 1) {
            const Words<2 * kCount> all = load_words<2 * kCount>(from);
            QC_UNROLL for (int i = 0; i < kWords; ++i) word[i] = all.word[i];
        } else {
            word[0] = *from;
        }
    }

    QC_HD void add_to(float (&sum)[kDrawColumns]) const {
        QC_UNROLL for (int k = 0; k < kDrawColumns; ++k) {
            const int at = k / kStep;
            sum[k] += error_of(word[at / 2] >> (16 * (at % 2)) & 0xffff);
        }
    }
};

/// Adds what a level has for eight columns from x on, a multiple of eight, of some of its rows; those of all channels
/// are on their way at once.
/// @param step of an ErrorRun
template <int kStep, int kRows>
QC_HD void add_level(const DrawArguments& arguments, int pair, int level, int x, const int (&row)[kRows],
                     float (&sum)[kRows][kDrawColumns]) {
    const KeptErrors& kept = arguments.kept;
    ErrorRun<kStep> run[kChannels][kRows];
    QC_UNROLL for (int c = 0; c < kChannels; ++c) {
        if (!kept.keeps(level, c)) continue;
        const uint16_t* const from = kept.of(pair, level, c) + (x >> level);
        QC_UNROLL for (int r = 0; r < kRows; ++r) {
            run[c][r].load(from + static_cast<uint64_t>(row[r]) * static_cast<uint64_t>(kept.pitch[level]),
                           arguments.shape.width - x);
        }
    }
    QC_UNROLL for (int c = 0; c < kChannels; ++c) {
        if (!kept.keeps(level, c)) continue;
        QC_UNROLL for (int r = 0; r < kRows; ++r) run[c][r].add_to(sum[r]);
    }
}

/// What the levels after the first have for eight columns of two rows.
QC_HD void add_coarse_levels(const DrawArguments& arguments, int pair, int x, int y, float (&sum)[1][kDrawColumns]) {
    const auto row_of = [&](int level) { return y >> level; };
    if (arguments.levels > 1) add_level<2, 1>(arguments, pair, 1, x, {row_of(1)}, sum);
    if (arguments.levels > 2) add_level<4, 1>(arguments, pair, 2, x, {row_of(2)}, sum);
    QC_UNROLL for (int level = 3; level < kMaxLevels; ++level) {
        if (level < arguments.levels) add_level<8, 1>(arguments, pair, level, x, {row_of(level)}, sum);
    }
}

/// grid: (blocks of a row, blocks of rows, pairs)
struct DrawErrors : device::KernelOf<DrawArguments, kDrawWarps * device::kWarpSize> {
    static constexpr int kColumns = device::kWarpSize * kDrawColumns, kRows = kDrawWarps * kDrawRows; ///< of a block

    template <class Block>
    QC_HD static void run(Block& block, const DrawArguments& arguments) {
        const int pair = block.z(), x = block.x() * kColumns + kDrawColumns * block.lane();
        const int y = block.y() * kRows + kDrawRows * block.warp();
        const MapPlane map = arguments.map.of_output(arguments.pairs[pair].output, arguments.shape);
        if (map.data == nullptr || x >= map.width || y >= map.height) return;
        const int below = y + 1 < map.height ? y + 1 : y;
        float sum[kDrawRows][kDrawColumns] = {}, shared[1][kDrawColumns] = {};
        add_level<1, kDrawRows>(arguments, pair, 0, x, {y, below}, sum);
        add_coarse_levels(arguments, pair, x, y, shared);
        QC_UNROLL for (int r = 0; r < kDrawRows; ++r) {
            QC_UNROLL for (int k = 0; k < kDrawColumns; ++k) sum[r][k] += shared[0][k];
        }
        map.put_run(x, y, sum[0]);
        if (below != y) map.put_run(x, below, sum[1]);
    }
};

} // namespace qc::ssimulacra2
