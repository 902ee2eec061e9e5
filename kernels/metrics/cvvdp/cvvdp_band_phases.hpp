// SPDX-License-Identifier: BSD-2-Clause-Patent
// Differences of all bands but the baseband: contrast, sensitivity, masking and sums of one tile, in one pass.
#pragma once

#include "device/block.hpp"
#include "device/block_sum.hpp"
#include "device/borders.hpp"
#include "device/kernel_list.hpp"
#include "metrics/cvvdp/cvvdp_map_phases.hpp"
#include "metrics/cvvdp/cvvdp_weights.hpp"

namespace qc::cvvdp {
/// Of a band's table: log2 of the sensitivity with all factors, and how it goes on to the next luminance.
struct alignas(8) SensitivityNode {
    float value, slope;
};

/// Sensitivities of a band: [channel][luminance].
struct SensitivityTable {
    SensitivityNode node[kDeviceChannels][kLuminances];
};

struct BandArguments {
    const Group* group;
    const float* planes;
    const SensitivityTable* sensitivity; ///< [band]
    double* sums;                        ///< [member][tile][channel]; with weights kWeightedSums of a tile
    DeviceLevels levels;
    int32_t first_tile[kDeviceBands]; ///< of each band; behind the last one's stands the number of all
    int32_t tiles;
    float luminance_scale, luminance_offset; ///< from log2 of cd/m2 to the table
    float blur_tap[7], masker_factor;
    float masker_power[kDeviceChannels], masker_zero[kDeviceChannels], masking[kDeviceChannels][kDeviceChannels];
    float difference_power, difference_zero, largest;
    JoinArguments join;
    const float* weights; ///< of the kernel with weights
};

/// grid: (tiles of all bands, members). A thread owns quads of two by two pixels inside the tile, from their contrasts
/// to their sums; those of the margin, which only maskers reach into, are spread over all threads.
struct ScoreTiles : device::KernelOf<BandArguments, tuning::kBandThreads, tuning::kBandBlocks> {
    static constexpr int kWidth = tuning::kBandWidth, kHeight = tuning::kBandHeight;
    static constexpr int kRadius = 6;
    static constexpr int kWide = kWidth + 2 * kRadius, kHigh = kHeight + 2 * kRadius; ///< with the margin
    static constexpr int kQuadsAcross = kWide / 2, kQuads = kQuadsAcross * kHigh / 2;
    static constexpr int kInnerAcross = kWidth / 2, kInner = kInnerAcross * kHeight / 2;
    static constexpr int kOwned = kInner / kThreads; ///< quads of a thread
    static_assert(kInner % kThreads == 0 && kHeight % tuning::kBlurRows == 0);
    static_assert(kRadius % 2 == 0);

    struct alignas(16) Shared {
        float masker[kDeviceChannels][kHigh][kWide];
        float columns[kHeight][kWide]; ///< blurred downwards, of one channel
        SensitivityTable sensitivity;
    };
    static constexpr size_t kSharedBytes = sizeof(Shared);

    /// A tile, and what all its threads know.
    struct Tile {
        const float* plane; ///< of the member's first side and channel, at this level
        const float* coarse;
        uint64_t next_plane;
        int band, width, height, pitch;
        int coarse_width, coarse_height, coarse_pitch;
        int left, top; ///< without the margin
    };

    QC_HD static Tile tile_of(const Arguments& a, int index, int member) {
        Tile tile;
        tile.band = 0;
        while (tile.band + 2 < a.levels.bands && index >= a.first_tile[tile.band + 1]) ++tile.band;
        const int k = tile.band;
        tile.width = a.levels.width[k];
        tile.height = a.levels.height[k];
        tile.pitch = a.levels.pitch[k];
        tile.coarse_width = a.levels.width[k + 1];
        tile.coarse_height = a.levels.height[k + 1];
        tile.coarse_pitch = a.levels.pitch[k + 1];
        const int in_band = index - a.first_tile[k], across = (tile.width + kWidth - 1) / kWidth;
        tile.left = in_band % across * kWidth;
        tile.top = in_band / across * kHeight;
        tile.plane = a.planes + plane_offset(a.levels, member, 0, 0, k);
        tile.coarse = a.planes + plane_offset(a.levels, member, 0, 0, k + 1);
        tile.next_plane = a.levels.plane;
        return tile;
    }

    /// Where the samples of a quad lie at both levels; x and y are even and inside the picture.
    struct Place {
        size_t fine[2];   ///< rows, at the left column
        size_t coarse[3]; ///< rows, at the middle one of three columns
    };
    QC_HD static Place place_of(const Tile& tile, int x, int y) {
        Place place;
        const int half_x = x / 2, half_y = y / 2;
        QC_UNROLL for (int i = 0; i < 2; ++i) place.fine[i] =
            static_cast<size_t>(smaller_of(y + i, tile.height - 1)) * tile.pitch + x;
        QC_UNROLL for (int i = 0; i < 3; ++i) place.coarse[i] =
            static_cast<size_t>(nearest_inside(half_y + i - 1, tile.coarse_height)) * tile.coarse_pitch + half_x;
        return place;
    }

    /// What four values of the next level, expanded, have to be multiplied by: even ones lie under taps of 1, 8, 1, odd
    /// ones under 1, 1.
    QC_HD static float unit_of(int p, int q) { return (p == 0 ? 0.1f : 0.5f) * (q == 0 ? 0.1f : 0.5f); }

    /// Four values of the next level, expanded, in units of their own.
    QC_HD static void expand(const float* coarse, const Place& place, float (&wide)[2][2]) {
        float rows[2][3];
        const float *const above = coarse + place.coarse[0], *const middle = coarse + place.coarse[1],
                           *const below = coarse + place.coarse[2];
        QC_UNROLL for (int j = 0; j < 3; ++j) {
            const float before = above[j - 1], here = middle[j - 1], after = below[j - 1];
            rows[0][j] = fmaf(8.0f, here, before + after);
            rows[1][j] = here + after;
        }
        QC_UNROLL for (int i = 0; i < 2; ++i) {
            wide[i][0] = fmaf(8.0f, rows[i][1], rows[i][0] + rows[i][2]);
            wide[i][1] = rows[i][1] + rows[i][2];
        }
    }

    /// A quad's maskers, into shared memory, and |T - R| if somebody wants it.
    QC_HD static void weigh(const Arguments& a, const Tile& tile, Shared& shared, int column, int row,
                            float (*difference)[4]) {
        const int x = tile.left - kRadius + column, y = tile.top - kRadius + row;
        if (x + 1 < 0 || y + 1 < 0 || x >= tile.width || y >= tile.height) return;
        const Place place = place_of(tile, x, y);
        float factor[2][2][2], part[2][2]; // [side] detail over the background
        int node[2][2];
        float wide[2][2][2];
        QC_UNROLL for (int side = 0; side < 2; ++side) {
            expand(tile.coarse + side * kDeviceChannels * tile.next_plane, place, wide[side]);
            QC_UNROLL for (int i = 0; i < 4; ++i) {
                const int p = i / 2, q = i % 2;
                const float light = fmaxf(unit_of(p, q) * wide[side][p][q], 0.01f);
                factor[side][p][q] = device::fast_reciprocal(light);
                if (side != 0) continue;
                const float at = fmaf(device::fast_log2(light), a.luminance_scale, a.luminance_offset);
                const float inside = fminf(fmaxf(at, 0.0f), static_cast<float>(kLuminances - 1));
                node[p][q] = smaller_of(static_cast<int>(inside), kLuminances - 2);
                part[p][q] = inside - static_cast<float>(node[p][q]);
            }
        }
        QC_UNROLL for (int c = 0; c < kDeviceChannels; ++c) {
            if (c > 0)
                QC_UNROLL for (int side = 0; side < 2; ++side)
                    expand(tile.coarse + (side * kDeviceChannels + c) * tile.next_plane, place, wide[side]);
            float fine[2][2][2];
            QC_UNROLL for (int side = 0; side < 2; ++side) QC_UNROLL for (int p = 0; p < 2; ++p) {
                const float* const plane = tile.plane + (side * kDeviceChannels + c) * tile.next_plane;
                const Two two = *reinterpret_cast<const Two*>(plane + place.fine[p]);
                fine[side][p][0] = two.first;
                fine[side][p][1] = two.second;
            }
            float masker[4];
            QC_UNROLL for (int i = 0; i < 4; ++i) {
                const int p = i / 2, q = i % 2;
                const SensitivityNode& at = shared.sensitivity.node[c][node[p][q]];
                const float weight = device::fast_exp2(fmaf(part[p][q], at.slope, at.value));
                float contrast[2];
                QC_UNROLL for (int side = 0; side < 2; ++side) {
                    const float detail = fmaf(-unit_of(p, q), wide[side][p][q], fine[side][p][q]);
                    contrast[side] = weight * fminf(detail * factor[side][p][q], 1000.0f);
                }
                masker[i] = fminf(fabsf(contrast[0]), fabsf(contrast[1]));
                if (difference != nullptr) difference[c][i] = fabsf(contrast[1] - contrast[0]);
            }
            QC_UNROLL for (int p = 0; p < 2; ++p) *
                reinterpret_cast<Two*>(&shared.masker[c][row + p][column]) = {masker[2 * p], masker[2 * p + 1]};
        }
    }

    QC_HD static bool is_blurred(const Tile& tile) { return tile.width > kRadius && tile.height > kRadius; }

    /// Maskers beyond the picture's edges, mirrored.
    template <class Block>
    QC_HD static void mirror(Block& block, const Tile& tile, Shared& shared) {
        const int left = tile.left - kRadius, top = tile.top - kRadius;
        const bool inside = left >= 0 && top >= 0 && left + kWide <= tile.width && top + kHigh <= tile.height;
        if (inside || !is_blurred(tile)) return;
        for (int i = block.thread(); i < kWide * kHigh; i += Block::kThreads) {
            const int column = i % kWide, row = i / kWide, x = left + column, y = top + row;
            const bool is_outside = x < 0 || y < 0 || x >= tile.width || y >= tile.height;
            const bool is_near = x < tile.width + kRadius && y < tile.height + kRadius;
            if (!is_outside || !is_near) continue;
            const int from_column = mirror_without_edges(x, tile.width) - left;
            const int from_row = mirror_without_edges(y, tile.height) - top;
            QC_UNROLL for (int c = 0; c < kDeviceChannels; ++c) shared.masker[c][row][column] =
                shared.masker[c][from_row][from_column];
        }
    }

    /// A channel's maskers blurred downwards.
    template <class Block>
    QC_HD static void blur_columns(Block& block, const Arguments& a, int channel, Shared& shared) {
        constexpr int kRows = tuning::kBlurRows, kStrips = kHeight / kRows;
        for (int i = block.thread(); i < kWide * kStrips; i += Block::kThreads) {
            const int column = i % kWide, row = i / kWide * kRows;
            float sample[kRows + 2 * kRadius];
            QC_UNROLL for (int j = 0; j < kRows + 2 * kRadius; ++j) sample[j] = shared.masker[channel][row + j][column];
            QC_UNROLL for (int r = 0; r < kRows; ++r) {
                float sum = a.blur_tap[0] * sample[r + kRadius];
                QC_UNROLL for (int d = 1; d <= kRadius; ++d) sum =
                    fmaf(a.blur_tap[d], sample[r + kRadius - d] + sample[r + kRadius + d], sum);
                shared.columns[row + r][column] = sum;
            }
        }
    }

    /// An owned quad's maskers: blurred across what was blurred downwards, or as they are.
    QC_HD static void masker_of(const Arguments& a, bool blurred, const Shared& shared, int channel, int column,
                                int row, float (&masker)[4]) {
        QC_UNROLL for (int p = 0; p < 2; ++p) {
            if (blurred) {
                float sample[2 + 2 * kRadius];
                QC_UNROLL for (int j = 0; j < 2 + 2 * kRadius; j += 2) {
                    const Two two = *reinterpret_cast<const Two*>(&shared.columns[row + p][column + j]);
                    sample[j] = two.first;
                    sample[j + 1] = two.second;
                }
                QC_UNROLL for (int q = 0; q < 2; ++q) {
                    float sum = a.blur_tap[0] * sample[q + kRadius];
                    QC_UNROLL for (int d = 1; d <= kRadius; ++d) sum =
                        fmaf(a.blur_tap[d], sample[q + kRadius - d] + sample[q + kRadius + d], sum);
                    masker[2 * p + q] = sum;
                }
            } else {
                QC_UNROLL for (int q = 0; q < 2; ++q) masker[2 * p + q] =
                    shared.masker[channel][kRadius + row + p][kRadius + column + q];
            }
        }
    }

    /// Adds an owned quad's P(D, 2).
    /// @tparam kSums kWeightedSums with weights, which are added up too
    /// @param map null, or takes the joined differences
    template <int kSums>
    QC_HD static void add(const Arguments& a, const Tile& tile, int column, int row,
                          const float (&difference)[kDeviceChannels][4], const float (&masking)[kDeviceChannels][4],
                          float (&sum)[kSums], float* map, const float* weights) {
        QC_UNROLL for (int i = 0; i < 4; ++i) {
            const int x = tile.left + column + i % 2, y = tile.top + row + i / 2;
            if (x >= tile.width || y >= tile.height) continue;
            float of_channel[kDeviceChannels], weight = 1.0f;
            if constexpr (kSums == kWeightedSums) {
                weight = weights[static_cast<size_t>(y) * tile.pitch + x];
                sum[kDeviceChannels] += weight;
            }
            QC_UNROLL for (int c = 0; c < kDeviceChannels; ++c) {
                const float seen = power_of_offset(difference[c][i] + 1e-5f, a.difference_power, a.difference_zero);
                const float limited =
                    a.largest * seen * device::fast_reciprocal(fmaf(a.largest, 1.0f + masking[c][i], seen));
                sum[c] += kSums == kWeightedSums ? weight * squared(limited) : squared(limited);
                of_channel[c] = limited;
            }
            if (map == nullptr) continue;
            // What made contrasts of the inner bands larger must not make them larger in the sum of bands.
            const float scale = tile.band == 0 ? 1.0f : 0.5f;
            map[static_cast<size_t>(y) * tile.pitch + x] = scale * join(of_channel, a.join.inner_weight);
        }
    }

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        score<false>(block, a);
    }

    /// @tparam kWeighted draws as well, where a map is wanted
    template <bool kDraws, bool kWeighted = false, class Block>
    QC_HD static void score(Block& block, const Arguments& a) {
        constexpr int kSums = kWeighted ? kWeightedSums : kDeviceChannels;
        const int member = block.y();
        if (!is_active(*a.group, member)) return;
        Shared& shared = *device::dynamic_shared<Shared>(block);
        const Tile tile = tile_of(a, block.x(), member);
        for (int i = block.thread(); i < kDeviceChannels * kLuminances; i += kThreads)
            shared.sensitivity.node[i / kLuminances][i % kLuminances] =
                a.sensitivity[tile.band].node[i / kLuminances][i % kLuminances];
        block.sync();

        float difference[kOwned][kDeviceChannels][4], masking[kOwned][kDeviceChannels][4];
        QC_UNROLL for (int o = 0; o < kOwned; ++o) {
            const int quad = o * kThreads + block.thread();
            QC_UNROLL for (int i = 0; i < kDeviceChannels * 4; ++i) {
                difference[o][i / 4][i % 4] = 0.0f;
                masking[o][i / 4][i % 4] = 0.0f;
            }
            weigh(a, tile, shared, kRadius + 2 * (quad % kInnerAcross), kRadius + 2 * (quad / kInnerAcross),
                  difference[o]);
        }
        const bool blurred = is_blurred(tile);
        if (blurred) weigh_margin(block, a, tile, shared);
        block.sync();
        mirror(block, tile, shared);
        block.sync();

        QC_UNROLL for (int c = 0; c < kDeviceChannels; ++c) {
            if (blurred) {
                blur_columns(block, a, c, shared);
                block.sync();
            }
            QC_UNROLL for (int o = 0; o < kOwned; ++o) {
                const int quad = o * kThreads + block.thread();
                float masker[4];
                masker_of(a, blurred, shared, c, 2 * (quad % kInnerAcross), 2 * (quad / kInnerAcross), masker);
                QC_UNROLL for (int i = 0; i < 4; ++i) {
                    const float powered =
                        power_of_offset(fmaf(masker[i], a.masker_factor, 1e-5f), a.masker_power[c], a.masker_zero[c]);
                    QC_UNROLL for (int masked = 0; masked < kDeviceChannels; ++masked) masking[o][masked][i] =
                        fmaf(a.masking[c][masked], powered, masking[o][masked][i]);
                }
            }
            if (blurred) block.sync();
        }

        float sum[kSums] = {};
        const size_t offset = kDraws || kWeighted ? map_offset(a.levels, member, tile.band) : 0;
        float* const map = kDraws || (kWeighted && a.join.map != nullptr) ? a.join.map + offset : nullptr;
        const float* const weights = kWeighted ? a.weights + offset : nullptr;
        QC_UNROLL for (int o = 0; o < kOwned; ++o) {
            const int quad = o * kThreads + block.thread();
            add(a, tile, 2 * (quad % kInnerAcross), 2 * (quad / kInnerAcross), difference[o], masking[o], sum, map,
                weights);
        }
        write_sums(block, sum, a.sums + (static_cast<size_t>(member) * a.tiles + block.x()) * kSums);
    }

    /// Maskers of the quads around those that are owned.
    template <class Block>
    QC_HD static void weigh_margin(Block& block, const Arguments& a, const Tile& tile, Shared& shared) {
        constexpr int kTopQuads = kRadius / 2 * kQuadsAcross, kSideQuads = kRadius * (kHeight / 2);
        QC_NO_UNROLL
        for (int i = block.thread(); i < kQuads - kInner; i += Block::kThreads) {
            int column = 0, row = 0;
            if (i < 2 * kTopQuads) {
                row = i / kQuadsAcross;
                if (i >= kTopQuads) row += kHeight / 2;
                column = i % kQuadsAcross;
            } else {
                const int at = i - 2 * kTopQuads;
                row = kRadius / 2 + at / kRadius;
                column = at % kRadius;
                if (column >= kRadius / 2) column += kWidth / 2;
            }
            weigh(a, tile, shared, 2 * column, 2 * row, nullptr);
        }
        static_assert(2 * kTopQuads + kSideQuads == kQuads - kInner);
    }

    /// The block's sums, in an order that only the code decides.
    template <int kSums, class Block>
    QC_HD static void write_sums(Block& block, const float (&sum)[kSums], double* target) {
        constexpr int kWarps = Block::kThreads / device::kWarpSize;
        auto& partial = device::shared<float[kSums][kWarps]>(block);
        QC_UNROLL for (int c = 0; c < kSums; ++c) {
            const float of_warp = device::warp_tree_sum(block, sum[c]);
            if (block.lane() == 0) partial[c][block.warp()] = of_warp;
        }
        block.sync();
        if (block.thread() < kSums) {
            double all = 0.0;
            for (int w = 0; w < kWarps; ++w) all += static_cast<double>(partial[block.thread()][w]);
            target[block.thread()] = all;
        }
    }
};

/// Likewise, for a map.
struct ScoreAndDrawTiles : ScoreTiles {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        score<true>(block, a);
    }
};

/// Likewise, with weights.
struct ScoreWeightedTiles : ScoreTiles {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        score<false, true>(block, a);
    }
};

} // namespace qc::cvvdp
