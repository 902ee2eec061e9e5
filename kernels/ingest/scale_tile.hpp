// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a block does to scale pictures: a tile of the target. First the middles of all source rows that the tile wants,
// straight from the source, whose samples neighbouring threads share through the cache; then, from shared memory, the
// tile's samples, four neighbours by each thread.
#pragma once

#include "device/block.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "ingest/ingest.hpp"
#include "ingest/scale_samples.hpp"
#include "ingest/scale_tuning.hpp"

namespace qc {
/// Neighbouring values that are loaded and stored at once.
template <typename T>
struct alignas(scale::kColumns * sizeof(T)) Neighbours {
    T value[scale::kColumns];
};

/// grid: (tiles of a picture, pictures)
struct ScaleTile : device::KernelOf<ScaleArguments, scale::kThreads, scale::kMinBlocks> {
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
    static constexpr int kRows = kThreads / scale::kTileWidth; ///< of middles that a block makes at once

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
    QC_HD static int value(const ScaleMath&, uint8_t container) { return container; }
    QC_HD static int value(const ScaleMath& math, uint16_t container) { return math.sample(container); }

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
                                     static_cast<ptrdiff_t>(scale::fetch(plane.across.first + x)) * plane.source.step;
        Middle* const target = middles + row * scale::kTileWidth + column;
        if constexpr (kTaps == 0)
            any_column<Source, Middle>(math, plane, x, source, rows - row, target);
        else if (plane.source.step == 1) // addresses of known distance
            column_of<Source, Middle, kTaps, 1>(math, plane, x, source, rows - row, target);
        else
            column_of<Source, Middle, kTaps, 0>(math, plane, x, source, rows - row, target);
    }

    template <typename T>
    QC_HD static const T* rows_on(const T* sample, ptrdiff_t bytes) {
        return reinterpret_cast<const T*>(reinterpret_cast<const char*>(sample) + bytes);
    }

    /// @param source of the first row; @param rows from there on
    template <typename Source, typename Middle>
    QC_HD static void any_column(const ScaleMath& math, const ScalePlane& plane, int x, const Source* source, int rows,
                                 Middle* middles) {
        const int taps = plane.across.taps, step = plane.source.step;
        const int16_t* const weights = plane.across.weight + static_cast<ptrdiff_t>(x) * taps;
        QC_NO_UNROLL for (int row = 0; row < rows; row += kRows) {
            int sum = 0;
            QC_NO_UNROLL for (int t = 0; t < taps; ++t) sum +=
                scale::fetch(weights + t) * value(math, scale::fetch(source + static_cast<ptrdiff_t>(t) * step));
            middles[row * scale::kTileWidth] = static_cast<Middle>(math.middle(sum));
            source = rows_on(source, static_cast<ptrdiff_t>(plane.source.pitch_bytes) * kRows);
        }
    }

    /// The samples of several rows are under way at once: waiting for one row after another takes longer than all else.
    /// @param kStep of the source's samples, or 0: any
    template <typename Source, typename Middle, int kTaps, int kStep>
    QC_HD static void column_of(const ScaleMath& math, const ScalePlane& plane, int x, const Source* source, int rows,
                                Middle* middles) {
        constexpr int kAhead = scale::kRowsAhead;
        const ptrdiff_t pitch_bytes = static_cast<ptrdiff_t>(plane.source.pitch_bytes) * kRows;
        const ptrdiff_t step = kStep > 0 ? kStep : plane.source.step;
        const auto weights = scale::load_weights<kTaps>(plane.across.weight + static_cast<ptrdiff_t>(x) * kTaps);
        QC_NO_UNROLL for (int row = 0; row < rows; row += kRows * kAhead) {
            Source sample[kAhead][kTaps];
            QC_UNROLL for (int k = 0; k < kAhead; ++k) {
                const Source* const from = row + k * kRows < rows ? rows_on(source, k * pitch_bytes) : source;
                QC_UNROLL for (int t = 0; t < kTaps; ++t) sample[k][t] = scale::fetch(from + t * step);
            }
            QC_UNROLL for (int k = 0; k < kAhead; ++k) {
                int sum = 0;
                QC_UNROLL for (int t = 0; t < kTaps; ++t) sum += weights.weight(t) * value(math, sample[k][t]);
                if (row + k * kRows < rows)
                    middles[(row + k * kRows) * scale::kTileWidth] = static_cast<Middle>(math.middle(sum));
            }
            source = rows_on(source, kAhead * pitch_bytes);
        }
    }

    /// A thread's neighbours in every few rows of the tile.
    template <typename Middle, typename Target, int kTaps>
    QC_HD static void down(const ScaleMath& math, const ScalePlane& plane, const Place& place, int height,
                           int first_row, int thread, const Middle* middles) {
        constexpr int kGroups = scale::kTileWidth / scale::kColumns, kTargetRows = kThreads / kGroups;
        const int column = thread % kGroups * scale::kColumns, x = place.x + column;
        if (x >= plane.width) return;
        const int taps = kTaps > 0 ? kTaps : plane.down.taps;
        QC_NO_UNROLL for (int row = thread / kGroups; row < height; row += kTargetRows) {
            const int y = place.y + row;
            const int16_t* const weights = plane.down.weight + static_cast<ptrdiff_t>(y) * taps;
            const Middle* const first =
                middles + (scale::fetch(plane.down.first + y) - first_row) * scale::kTileWidth + column;
            int sum[scale::kColumns] = {};
            const auto add = [&](int t, int weight) {
                const auto four = *reinterpret_cast<const Neighbours<Middle>*>(first + t * scale::kTileWidth);
                QC_UNROLL for (int i = 0; i < scale::kColumns; ++i) sum[i] += weight * four.value[i];
            };
            if constexpr (kTaps > 0) {
                const scale::WeightPairs<kTaps> pairs = scale::load_weights<kTaps>(weights);
                QC_UNROLL for (int t = 0; t < kTaps; ++t) add(t, pairs.weight(t));
            } else {
                QC_NO_UNROLL for (int t = 0; t < taps; ++t) add(t, scale::fetch(weights + t));
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
