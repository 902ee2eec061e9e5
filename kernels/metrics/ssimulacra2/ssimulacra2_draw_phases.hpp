// SPDX-License-Identifier: BSD-2-Clause-Patent
// The map of SSIMULACRA 2: what its maps weigh in the score, place by place. Strips keep the weighted errors of their
// plane in 16 bits, and one more kernel adds those of all planes that lie over a sample of the picture.
#pragma once

#include "contract/map.hpp"
#include "device/bits.hpp"
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

constexpr int kDrawThreads = 128;
constexpr int kDrawColumns = 4 * kDrawThreads; ///< of a block; a thread draws four neighbours

/// Adds what a level has for four neighbours from x on, a multiple of 4.
QC_HD void add_level(const DrawArguments& arguments, int pair, int level, int x, int y, float (&sum)[4]) {
    const KeptErrors& kept = arguments.kept;
    for (int c = 0; c < kChannels; ++c) {
        if ((kept.stored[level] >> c & 1u) == 0) continue;
        const uint16_t* const row =
            kept.of(pair, level, c) + static_cast<uint64_t>(y >> level) * static_cast<uint64_t>(kept.pitch[level]);
        uint32_t error[4];
        if (level == 0) {
            const Words<8> four = load_words<8>(row + x);
            QC_UNROLL for (int k = 0; k < 4; ++k) error[k] = four.word[k / 2] >> (16 * (k % 2)) & 0xffff;
        } else if (level == 1) {
            const Words<4> two = load_words<4>(row + x / 2);
            QC_UNROLL for (int k = 0; k < 4; ++k) error[k] = two.word[0] >> (16 * (k / 2)) & 0xffff;
        } else {
            const uint32_t one = row[x >> level];
            QC_UNROLL for (int k = 0; k < 4; ++k) error[k] = one;
        }
        QC_UNROLL for (int k = 0; k < 4; ++k) sum[k] += error_of(error[k]);
    }
}

/// grid: (blocks of a row, rows, pairs)
struct DrawErrors {
    using Arguments = DrawArguments;
    static constexpr int kThreads = kDrawThreads;

    template <class Block>
    QC_HD static void run(Block& block, const DrawArguments& arguments) {
        const int pair = block.z(), x = block.x() * kDrawColumns + 4 * block.thread(), y = block.y();
        const Plane<float> values = arguments.map.of_output(arguments.pairs[pair].output, arguments.shape);
        if (values.data == nullptr || x >= values.width) return;
        float sum[4] = {};
        for (int level = 0; level < arguments.levels; ++level) add_level(arguments, pair, level, x, y, sum);
        QC_UNROLL for (int k = 0; k < 4; ++k) {
            if (x + k < values.width) values.at(x + k, y) = sum[k];
        }
    }
};

} // namespace qc::ssimulacra2
