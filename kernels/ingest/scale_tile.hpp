// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a block does to scale pictures: a tile of the target. First the middles of all source rows that the tile wants,
// straight from the source, whose samples neighbouring threads share through the cache; then, from shared memory, the
// tile's samples, four neighbours by each thread.
#pragma once

#include "device/block.hpp"
#include "device/plane_reader.hpp"
#include "ingest/ingest.hpp"
#include "ingest/scale_tuning.hpp"

namespace qc {

template <typename T>
QC_HD T fetch(const T* address) {
#if defined(__CUDA_ARCH__)
    return __ldg(address);
#else
    return *address;
#endif
}

/// Neighbouring values that are loaded and stored at once.
template <typename T>
struct alignas(scale::kColumns * sizeof(T)) Neighbours {
    T value[scale::kColumns];
};

/// grid: (tiles of a picture, pictures)
struct ScaleTile {
    struct Arguments {
        const ScaleJob* jobs;
    };
    static constexpr int kThreads = scale::kThreads;
    static constexpr int kMinBlocks = scale::kMinBlocks;
    static constexpr bool kCollective = true;

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& arguments) {
        const ScaleJob& job = arguments.jobs[block.y()];
        int tile = block.x();
        for (int p = 0; p < job.planes; ++p) {
            const int columns = tiles(job.plane[p].width, scale::kTileWidth);
            const int count = columns * tiles(job.plane[p].height, job.tile_height);
            if (tile < count) {
                const Place place{tile % columns * scale::kTileWidth, tile / columns * job.tile_height,
                                  job.tile_height};
                choose_samples(block, job, job.plane[p], place);
                return;
            }
            tile -= count;
        }
    }

private:
    /// Of a tile in the target.
    struct Place {
        int x, y, height;
    };

    QC_HD static int tiles(int samples, int tile) { return (samples + tile - 1) / tile; }

    template <class Block>
    QC_HD static void choose_samples(Block& block, const ScaleJob& job, const ScalePlane& plane, const Place& place) {
        if (job.source_bytes == 1 && job.target_bytes == 1)
            choose_taps<uint8_t, int16_t, uint8_t>(block, job.math, plane, place);
        else if (job.source_bytes == 1)
            choose_taps<uint8_t, int16_t, uint16_t>(block, job.math, plane, place);
        else if (job.short_middles != 0)
            choose_taps<uint16_t, int16_t, uint16_t>(block, job.math, plane, place);
        else
            choose_taps<uint16_t, int32_t, uint16_t>(block, job.math, plane, place);
    }

    /// The usual kernels of pictures that become larger along both axes have loops of known length.
    template <typename Source, typename Middle, typename Target, class Block>
    QC_HD static void choose_taps(Block& block, const ScaleMath& math, const ScalePlane& plane, const Place& place) {
        const int taps = plane.across.taps == plane.down.taps ? plane.across.taps : 0;
        if (taps == 4)
            scale<Source, Middle, Target, 4>(block, math, plane, place);
        else if (taps == 6)
            scale<Source, Middle, Target, 6>(block, math, plane, place);
        else
            scale<Source, Middle, Target, 0>(block, math, plane, place);
    }

    /// @param kTaps of both axes, or 0: any number, each its own
    template <typename Source, typename Middle, typename Target, int kTaps, class Block>
    QC_HD static void scale(Block& block, const ScaleMath& shared_math, const ScalePlane& shared_plane,
                            const Place& place) {
        // Copies: what lies in memory would be read again behind every store.
        const ScaleMath math = shared_math;
        const ScalePlane plane = shared_plane;
        const int height = place.height < plane.height - place.y ? place.height : plane.height - place.y;
        const int first_row = plane.down.first[place.y];
        const int rows = plane.down.first[place.y + height - 1] + plane.down.taps - first_row;
        Middle* const middles = device::dynamic_shared<Middle>(block);
        block.each(kThreads, [&](int thread) {
            across<Source, Middle, kTaps>(math, plane, place.x, first_row, rows, thread, middles);
        });
        block.each(kThreads, [&](int thread) {
            down<Middle, Target, kTaps>(math, plane, place, height, first_row, thread, middles);
        });
    }

    /// Bytes hold nothing but their sample.
    QC_HD static int read(const ScaleMath&, const uint8_t* container) { return fetch(container); }
    QC_HD static int read(const ScaleMath& math, const uint16_t* container) { return math.sample(fetch(container)); }

    /// An even number of weights that begin at a multiple of their bytes, or of 4.
    template <int kTaps>
    QC_HD static void load_weights(const int16_t* weights, int* weight) {
        constexpr int kBytes = kTaps % 4 == 0 ? 8 : 4, kAtOnce = kBytes / 2;
        QC_UNROLL for (int t = 0; t < kTaps; t += kAtOnce) {
            const Words<kBytes> words = load_words<kBytes>(weights + t);
            QC_UNROLL for (int i = 0; i < kAtOnce; ++i) {
                weight[t + i] = static_cast<int16_t>(words.word[i / 2] >> (i % 2 * 16));
            }
        }
    }

    /// A thread's column of middles, every few rows. Columns beyond the target hold its last one, as far as down()
    /// looks.
    template <typename Source, typename Middle, int kTaps>
    QC_HD static void across(const ScaleMath& math, const ScalePlane& plane, int tile_x, int first_row, int rows,
                             int thread, Middle* middles) {
        const int column = thread % scale::kTileWidth;
        if (tile_x + column / scale::kColumns * scale::kColumns >= plane.width) return;
        const int x = tile_x + column < plane.width ? tile_x + column : plane.width - 1;
        const int row = thread / scale::kTileWidth;
        const Source* const source = reinterpret_cast<const Source*>(row_bytes(plane.source, first_row + row)) +
                                     static_cast<ptrdiff_t>(fetch(plane.across.first + x)) * plane.source.step;
        Middle* const target = middles + row * scale::kTileWidth + column;
        if (plane.source.step == 1) // addresses of known distance
            column_of<Source, Middle, kTaps, 1>(math, plane, x, source, rows - row, target);
        else
            column_of<Source, Middle, kTaps, 0>(math, plane, x, source, rows - row, target);
    }

    /// @param kStep of the source's samples, or 0: any; @param source of the first row; @param rows from there on
    template <typename Source, typename Middle, int kTaps, int kStep>
    QC_HD static void column_of(const ScaleMath& math, const ScalePlane& plane, int x, const Source* source, int rows,
                                Middle* middles) {
        constexpr int kRows = kThreads / scale::kTileWidth; ///< at once
        const ptrdiff_t pitch_bytes = static_cast<ptrdiff_t>(plane.source.pitch_bytes) * kRows;
        const ptrdiff_t step = kStep > 0 ? kStep : plane.source.step;
        const int taps = kTaps > 0 ? kTaps : plane.across.taps;
        const int16_t* const weights = plane.across.weight + static_cast<ptrdiff_t>(x) * taps;
        int weight[kTaps > 0 ? kTaps : 1];
        if constexpr (kTaps > 0) load_weights<kTaps>(weights, weight);
        QC_NO_UNROLL for (int row = 0; row < rows; row += kRows) {
            int sum = 0;
            if constexpr (kTaps > 0) {
                QC_UNROLL for (int t = 0; t < kTaps; ++t) sum += weight[t] * read(math, source + t * step);
            } else {
                QC_NO_UNROLL for (int t = 0; t < taps; ++t) sum += fetch(weights + t) * read(math, source + t * step);
            }
            middles[row * scale::kTileWidth] = static_cast<Middle>(math.middle(sum));
            source = reinterpret_cast<const Source*>(reinterpret_cast<const char*>(source) + pitch_bytes);
        }
    }

    /// A thread's neighbours in every few rows of the tile.
    template <typename Middle, typename Target, int kTaps>
    QC_HD static void down(const ScaleMath& math, const ScalePlane& plane, const Place& place, int height,
                           int first_row, int thread, const Middle* middles) {
        constexpr int kGroups = scale::kTileWidth / scale::kColumns, kRows = kThreads / kGroups;
        const int column = thread % kGroups * scale::kColumns, x = place.x + column;
        if (x >= plane.width) return;
        const int taps = kTaps > 0 ? kTaps : plane.down.taps;
        QC_NO_UNROLL for (int row = thread / kGroups; row < height; row += kRows) {
            const int y = place.y + row;
            const int16_t* const weights = plane.down.weight + static_cast<ptrdiff_t>(y) * taps;
            const Middle* const first =
                middles + (fetch(plane.down.first + y) - first_row) * scale::kTileWidth + column;
            int sum[scale::kColumns] = {};
            const auto add = [&](int t, int weight) {
                const auto four = *reinterpret_cast<const Neighbours<Middle>*>(first + t * scale::kTileWidth);
                QC_UNROLL for (int i = 0; i < scale::kColumns; ++i) sum[i] += weight * four.value[i];
            };
            if constexpr (kTaps > 0) {
                int weight[kTaps];
                load_weights<kTaps>(weights, weight);
                QC_UNROLL for (int t = 0; t < kTaps; ++t) add(t, weight[t]);
            } else {
                QC_NO_UNROLL for (int t = 0; t < taps; ++t) add(t, fetch(weights + t));
            }
            auto* const target = reinterpret_cast<Target*>(static_cast<uint8_t*>(plane.target) +
                                                           static_cast<size_t>(y) * plane.target_pitch_bytes) +
                                 x;
            store(math, sum, plane.width - x, target);
        }
    }

    /// @param wanted samples of the row from here on
    template <typename Target>
    QC_HD static void store(const ScaleMath& math, const int* sum, int wanted, Target* target) {
        Neighbours<Target> four;
        QC_UNROLL for (int i = 0; i < scale::kColumns; ++i) four.value[i] = static_cast<Target>(math.target(sum[i]));
        if (wanted >= scale::kColumns) {
            *reinterpret_cast<Neighbours<Target>*>(target) = four;
            return;
        }
        QC_UNROLL for (int i = 0; i < scale::kColumns; ++i) if (i < wanted) target[i] = four.value[i];
    }
};

} // namespace qc
