// SPDX-License-Identifier: BSD-2-Clause-Patent
// The map of SSIMULACRA 2: what its maps weigh in the score, place by place. Strips keep the weighted errors of their
// plane in 16 bits, and one more kernel adds those of all planes that lie over a sample of the picture.
#pragma once

#include "contract/map.hpp"
#include "device/bits.hpp"
#include "device/block.hpp"
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
    uint32_t stored[kMaxLevels]; ///< bit c: channel c counts
    float weight[kMaxLevels][kChannels][kMaps];

    QC_HD uint16_t* of(int pair_number, int level, int channel) const {
        return errors + static_cast<uint64_t>(pair_number) * pair + offset[level] +
               static_cast<uint64_t>(channel) * plane[level];
    }
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
constexpr int kDrawColumns = 8, kDrawRows = 2, kDrawWarps = 4;

/// Adds the errors of a row of a level, which lie over eight columns from x on (a multiple of eight).
/// @param kStep columns of the picture to an error, at most 8
template <int kStep>
QC_HD void add_errors(const uint16_t* row, int x, int width, float (&sum)[kDrawColumns]) {
    const uint16_t* const from = row + x / kStep;
    uint32_t words[4] = {}; // two errors each
    if constexpr (kStep == 1) {
        // Errors were kept four at a time: what lies beyond the last four was never written.
        for (int half = 0; half < 2 && x + 4 * half < width; ++half) {
            const Words<8> four = load_words<8>(from + 4 * half);
            words[2 * half] = four.word[0];
            words[2 * half + 1] = four.word[1];
        }
    } else if constexpr (kStep == 2) {
        const Words<8> four = load_words<8>(from);
        words[0] = four.word[0];
        words[1] = four.word[1];
    } else if constexpr (kStep == 4) {
        words[0] = load_words<4>(from).word[0];
    } else {
        words[0] = *from;
    }
    QC_UNROLL for (int k = 0; k < kDrawColumns; ++k) {
        const int at = k / kStep;
        sum[k] += error_of(words[at / 2] >> (16 * (at % 2)) & 0xffff);
    }
}

/// Adds what a level has for eight columns of a row.
QC_HD void add_level(const DrawArguments& arguments, int pair, int level, int x, int y, float (&sum)[kDrawColumns]) {
    const KeptErrors& kept = arguments.kept;
    for (int c = 0; c < kChannels; ++c) {
        if ((kept.stored[level] >> c & 1u) == 0) continue;
        const uint16_t* const row =
            kept.of(pair, level, c) + static_cast<uint64_t>(y >> level) * static_cast<uint64_t>(kept.pitch[level]);
        if (level == 0)
            add_errors<1>(row, x, arguments.shape.width, sum);
        else if (level == 1)
            add_errors<2>(row, x, arguments.shape.width, sum);
        else if (level == 2)
            add_errors<4>(row, x, arguments.shape.width, sum);
        else
            add_errors<8>(row + (x >> level) - x / 8, x, arguments.shape.width, sum);
    }
}

/// grid: (blocks of a row, blocks of rows, pairs)
struct DrawErrors {
    using Arguments = DrawArguments;
    static constexpr int kThreads = kDrawWarps * device::kWarpSize;
    static constexpr int kColumns = device::kWarpSize * kDrawColumns, kRows = kDrawWarps * kDrawRows; ///< of a block

    template <class Block>
    QC_HD static void run(Block& block, const DrawArguments& arguments) {
        const int pair = block.z(), x = block.x() * kColumns + kDrawColumns * block.lane();
        const int y = block.y() * kRows + kDrawRows * block.warp();
        const Plane<float> values = arguments.map.of_output(arguments.pairs[pair].output, arguments.shape);
        if (values.data == nullptr || x >= values.width || y >= values.height) return;
        float upper[kDrawColumns] = {}, lower[kDrawColumns] = {}, shared[kDrawColumns] = {};
        const bool has_lower = y + 1 < values.height;
        add_level(arguments, pair, 0, x, y, upper);
        if (has_lower) add_level(arguments, pair, 0, x, y + 1, lower);
        for (int level = 1; level < arguments.levels; ++level) add_level(arguments, pair, level, x, y, shared);
        QC_UNROLL for (int k = 0; k < kDrawColumns; ++k) {
            upper[k] += shared[k];
            lower[k] += shared[k];
        }
        store_values(values.row(y) + x, upper);
        if (has_lower) store_values(values.row(y + 1) + x, lower);
    }
};

} // namespace qc::ssimulacra2
