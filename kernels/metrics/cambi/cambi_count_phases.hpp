// SPDX-License-Identifier: BSD-2-Clause-Patent
// Counting on the GPU: what the threads do between the samples of a scale and its c-values.
//
// A block owns a tile and walks down its rows. Shared memory holds, for every column of the tile and of half a window
// on both sides, how often each value stands in the rows of the window: a byte per value, four values to a word. One
// thread per column adds the row that enters and drops the row that leaves; there is nobody else in its column, so no
// atomics are needed. Then each thread scores a few neighbouring pixels: it adds up the words with the values around
// the pixel's, over the columns of the window. As a window is at most 65 rows high, bytes do not overflow, and several
// columns are added before bytes have to be spread to 16 bits. Neighbours of nearly the same value, which in smooth
// areas is the rule, need the same words of the same columns except one at either end.
//
// Values are counted in a range that fits the shared memory; tiles with more values are walked several times. Windows
// of 17 and 33 are counted likewise, but by warps: cambi_strip_phases.hpp.
#pragma once

#include "metrics/cambi/cambi_image_phases.hpp"
#include "metrics/cambi/cambi_tuning.hpp"

namespace qc::cambi {

/// What a walk over the tiles is for.
enum class Purpose : int {
    kSum,        ///< sum and number of the c-values that are not 0
    kHighDigits, ///< selection: how many c-values there are for each value of their key's upper bits
    kLowDigits   ///< selection: the same for the lower bits, among those with the upper bits of the last to be pooled
};

/// Keys of c-values are looked at in two parts.
constexpr int kLowBits = 13;
constexpr int kHighBins = 1 << (kKeyBits - kLowBits), kLowBins = 1 << kLowBits;

/// State of the selection of the largest c-values of one scale of one picture.
struct Selection {
    uint32_t needed;    ///< whether there are more c-values than are pooled
    uint32_t last_high; ///< upper bits of the last that is pooled
    uint64_t sum_above; ///< of the c-values with larger upper bits
    uint64_t above;     ///< their number; in this place, as both are added at once
    uint32_t high_count[kHighBins], low_count[kLowBins];
};

/// The tiles of a scale.
struct ScaleTiles {
    int across, width, height; ///< width: a multiple of the plan's kWidthMultiple
    unsigned first;            ///< number of its first tile
};

/// What becomes of c-values beside their sum.
enum Extra : int { kHeatMaps = 1, kDrawsMap = 2 };

/// Arguments of the counting kernels.
struct CountTask {
    Pyramid pyramid;
    ScaleTiles tiles[kScales];
    int reach;           ///< half of the window
    int groups_per_pass; ///< of kValuesPerGroup values
    int first, last;     ///< samples that can have a c-value
    int brightest[kMaxDifferences + 1];
    int dark_limit;
    const float* reciprocals;

    const DevicePair* pairs;
    uint64_t* accumulators;
    size_t words_per_pair, first_word; ///< of this picture's sums
    size_t heat_map_word[kScales];     ///< within the words of a pair
    float full_heat;
    int extras;      ///< kHeatMaps, kDrawsMap, or both
    uint16_t* drawn; ///< short_c_value() of each sample of the pyramid, laid out as these are; of tiles with
                     ///< masked-in samples

    Purpose purpose;
    Selection* selections; ///< by picture, then scale

    QC_HD uint64_t* sums(int picture, int scale) const {
        return pair_words(picture) + first_word + static_cast<size_t>(scale) * 2;
    }
    QC_HD uint64_t* pair_words(int picture) const {
        return accumulators + static_cast<size_t>(pairs[picture].output) * words_per_pair;
    }
    QC_HD Selection* selection(int picture, int scale) const { return selections + picture * kScales + scale; }
};

/// Where a block works.
struct Tile {
    int picture, scale;
    int x, y, width, height; ///< of the pixels that it scores

    QC_HD int right() const { return x + width; }
    QC_HD int bottom() const { return y + height; }
};

QC_HD int smaller(int a, int b) {
    return a < b ? a : b;
}
QC_HD int larger(int a, int b) {
    return a < b ? b : a;
}

QC_HD Tile find_tile(const CountTask& task, unsigned number, int picture) {
    int scale = 0;
    QC_UNROLL
    for (int s = 1; s < kScales; ++s)
        if (number >= task.tiles[s].first) scale = s;
    const ScalePlane& plane = task.pyramid.scale[scale];
    const ScaleTiles& tiles = task.tiles[scale];
    const auto index = static_cast<int>(number - tiles.first);
    Tile tile{};
    tile.picture = picture;
    tile.scale = scale;
    tile.x = index % tiles.across * tiles.width;
    tile.y = index / tiles.across * tiles.height;
    tile.width = smaller(tiles.width, plane.width - tile.x);
    tile.height = smaller(tiles.height, plane.height - tile.y);
    return tile;
}

/// Groups of values that pixels of the tile may have; `thread` of `threads` looks at its share of the writers' tiles.
QC_HD uint32_t groups_in_tile(const CountTask& task, const Tile& tile, int thread, int threads) {
    const ScalePlane& plane = task.pyramid.scale[tile.scale];
    const uint32_t* occupied = task.pyramid.tiles(tile.picture, tile.scale);
    const int left = tile.x / plane.tile_width, right = (tile.right() - 1) / plane.tile_width;
    const int top = tile.y / plane.tile_height, bottom = (tile.bottom() - 1) / plane.tile_height;
    const int across = right - left + 1, count = across * (bottom - top + 1);
    uint32_t groups = 0;
    for (int i = thread; i < count; i += threads)
        groups |= occupied[(top + i / across) * plane.tiles_across + left + i % across];
    return groups;
}

/// The next walk over a tile: the values it scores.
struct Pass {
    int first = 0, count = 0; ///< a multiple of four, from a multiple of kValuesPerGroup on
};

/// Takes the values of a pass out of `groups`, lowest first. False if there are none left.
QC_HD bool next_pass(const CountTask& task, uint32_t* groups, Pass* pass) {
    int group = 0;
    for (;;) {
        while (group < 32 && (*groups >> group & 1) == 0) ++group;
        if (group == 32) return false;
        const int end = group + task.groups_per_pass;
        *groups = end >= 32 ? 0 : *groups >> end << end;
        pass->first = group * kValuesPerGroup;
        pass->count = task.groups_per_pass * kValuesPerGroup;
        if (pass->first <= task.last && pass->first + pass->count > task.first) return true;
    }
}

/// Walks that a tile with these groups takes.
QC_HD int passes_of(const CountTask& task, uint32_t groups) {
    int passes = 0;
    Pass pass;
    while (next_pass(task, &groups, &pass)) ++passes;
    return passes;
}

// ---- counts of a column and of a window -----------------------------------------------------------------------------

/// Words of four counts with the values from v - nd to v + nd, at whatever place in the first word v - nd stands.
constexpr int words_around(int nd) {
    return (2 * nd + 3) / 4 + 1;
}

/// Values that the words of a pass count: those that its pixels have, and those that they look at.
template <int kNd>
struct CountedValues {
    uint32_t origin, bins;

    QC_HD explicit CountedValues(const Pass& pass)
        : origin(static_cast<uint32_t>(pass.first - kNd)), bins(static_cast<uint32_t>(pass.count + 2 * kNd)) {}

    /// Counts a sample that enters a column's window and one that leaves it.
    /// @tparam kStride from word to word of the column
    template <int kStride>
    QC_HD void change(uint32_t* column, uint32_t entering, uint32_t leaving) const {
        if (entering == leaving) return;
        add<kStride>(column, entering, 1);
        add<kStride>(column, leaving, -1);
    }

private:
    /// The lowest byte of a word comes first on every device, and on the hosts that stand for one.
    template <int kStride>
    QC_HD void add(uint32_t* column, uint32_t sample, int change) const {
        const uint32_t bin = sample - origin;
        if (bin >= bins) return;
        uint8_t& count = reinterpret_cast<uint8_t*>(column)[(bin & ~3u) * kStride + (bin & 3)];
        count = static_cast<uint8_t>(count + change);
    }
};

/// Counts of 4 * kWords values over a window, in two 16-bit halves each: `odd` holds bytes 1 and 3 of each word; the
/// others follow from the sum of whole words.
template <int kNd>
struct WindowSums {
    static constexpr int kWords = words_around(kNd);
    uint32_t all[kWords] = {}, odd[kWords] = {};

    QC_HD static uint32_t odd_bytes(uint32_t word) { return permute_bytes(word, 0, 0x4341); }

    /// Adds words of counts, and clears them.
    QC_HD void spread(uint32_t (&bytes)[kWords]) {
        QC_UNROLL
        for (int k = 0; k < kWords; ++k) {
            all[k] += bytes[k];
            odd[k] += odd_bytes(bytes[k]);
            bytes[k] = 0;
        }
    }
};

QC_HD float reciprocal(const CountTask& task, int i) {
#if defined(__CUDA_ARCH__)
    return __ldg(task.reciprocals + i);
#else
    return task.reciprocals[i];
#endif
}

/// c-value of a pixel that is masked in and whose value is in first .. last.
template <int kNd>
QC_HD float c_value(const CountTask& task, const WindowSums<kNd>& sums, int value) {
    constexpr int kWords = WindowSums<kNd>::kWords;
    // Pairs of counts, from the first value of the first word on.
    uint32_t pairs[2 * kWords];
    QC_UNROLL
    for (int k = 0; k < kWords; ++k) {
        const uint32_t even = sums.all[k] - (sums.odd[k] << 8);
        pairs[2 * k] = permute_bytes(even, sums.odd[k], 0x5410);
        pairs[2 * k + 1] = permute_bytes(even, sums.odd[k], 0x7632);
    }
    // Moved so that they begin with the value kNd below the pixel's.
    const bool by_two = (value & 2) != 0;
    const int by_one = (value & 1) * 16;
    QC_UNROLL
    for (int k = 0; k + 1 < 2 * kWords; ++k) pairs[k] = by_two ? pairs[k + 1] : pairs[k];
    QC_UNROLL
    for (int k = 0; k + 1 < 2 * kWords; ++k) pairs[k] = funnel_shift(pairs[k], pairs[k + 1], by_one);

    const auto count = [&](int k) { return static_cast<int>(k % 2 == 0 ? pairs[k / 2] & 0xffff : pairs[k / 2] >> 16); };
    const int own = count(kNd);
    const auto own_exact = static_cast<float>(own);
    float c = 0.0f;
    QC_UNROLL
    for (int d = 1; d <= kNd; ++d) {
        // Computed for all, so that the reciprocals of all differences are on their way at once.
        const int other = larger(count(kNd + d), count(kNd - d));
        const float candidate =
            contrast(contrast_weight(d), own_exact, static_cast<float>(other), reciprocal(task, own + other));
        const bool visible = (value <= task.brightest[d]) & (value + kNd + d > task.dark_limit);
        c = visible & (candidate > c) ? candidate : c;
    }
    return c;
}

// ---- the work of one thread -----------------------------------------------------------------------------------------

/// @tparam kWindowReach half of the window, or 0 if only CountTask knows
/// @tparam kNd the largest luma step that is looked for: a power of two
/// @tparam kAddends columns that are added before bytes are spread, if the window is not known: 2, or 4 up to a window
/// of 63
template <int kWindowReach, int kNd, int kAddends>
struct CountPlan {
    static constexpr int kThreads = tuning::kCountColumns;
    static constexpr int kColumns = tuning::kCountColumns;
    static constexpr int kPixels = tuning::kPixelsPerThread;
    static constexpr int kWidthMultiple = kPixels, kTargetBlocks = tuning::kTargetBlocks;
    static constexpr int kColumnStride = kColumns / kPixels;
    static_assert(kColumns % 32 == 0 && kColumnStride % 32 == 32 / kPixels % 32, "bank conflicts");
    static_assert(kAddends == 2 || kAddends == 4);

    static constexpr int kWords = words_around(kNd);
    static constexpr int kKnownWindow = 2 * kWindowReach + 1;
    /// Blocks per multiprocessor: bounds the registers of a thread.
    static constexpr int kBlocks = kNd > 8 ? 1 : kNd > 4 || kWindowReach >= 32 ? 2 : tuning::kCountBlocks;

    QC_HD static constexpr int words_per_column(int groups_per_pass) {
        return (groups_per_pass * kValuesPerGroup + 2 * kNd + 3) / 4;
    }
    static constexpr size_t shared_bytes(int groups_per_pass) {
        return static_cast<size_t>(words_per_column(groups_per_pass)) * kColumns * sizeof(uint32_t);
    }
    /// Column c of the tile is kept here, so that neither neighbouring columns nor columns kPixels apart share a bank.
    QC_HD static int place(int column) { return column % kPixels * kColumnStride + column / kPixels; }

    // A thread keeps this from row to row.
    struct State {
        uint32_t entering, leaving; ///< samples of its column
        uint32_t pixels[kPixels];   ///< samples of the next row's pixels
        uint32_t current[kPixels];  ///< of this row's
    };

    /// What a thread needs to know of its tile.
    struct Place {
        const uint16_t* samples; ///< of the scale
        int pitch, width, height, column, reach;
        bool has_column;

        QC_HD uint32_t at_row(int row) const {
            if (!has_column || row < 0 || row >= height) return kMaskedOut;
            return samples[static_cast<size_t>(row) * static_cast<size_t>(pitch) + static_cast<size_t>(column)];
        }
    };

    QC_HD static Place find_place(const CountTask& task, const Tile& tile, int thread) {
        const ScalePlane& plane = task.pyramid.scale[tile.scale];
        Place place{};
        place.samples = task.pyramid.plane(tile.picture, tile.scale);
        place.pitch = plane.pitch;
        place.width = plane.width;
        place.height = plane.height;
        place.reach = kWindowReach > 0 ? kWindowReach : task.reach;
        place.column = tile.x - place.reach + thread;
        place.has_column = place.column >= 0 && place.column < plane.width && thread < tile.width + 2 * place.reach;
        return place;
    }

    // ---- phases, with a barrier after each ----

    QC_HD static void clear(int thread, uint32_t* counts, int groups_per_pass) {
        const int words = words_per_column(groups_per_pass) * kColumns;
        for (int i = thread; i < words; i += kThreads) counts[i] = 0;
    }

    /// The rows above the first one that enters; none leaves.
    QC_HD static void warm_up(int thread, uint32_t* counts, const Pass& pass, const Tile& tile, const Place& place,
                              State* state) {
        constexpr int kAtOnce = 8;
        for (int k = 0; k < 2 * place.reach; k += kAtOnce) {
            uint32_t samples[kAtOnce];
            QC_UNROLL
            for (int i = 0; i < kAtOnce; ++i)
                samples[i] = k + i < 2 * place.reach ? place.at_row(tile.y - place.reach + k + i) : kMaskedOut;
            QC_UNROLL
            for (int i = 0; i < kAtOnce; ++i) change(thread, counts, pass, samples[i], kMaskedOut);
        }
        fetch(thread, tile.y, tile, place, state);
    }

    /// Loads what row `row` will need.
    QC_HD static void fetch(int thread, int row, const Tile& tile, const Place& place, State* state) {
        state->entering = place.at_row(row + place.reach);
        state->leaving = row > tile.y ? place.at_row(row - place.reach - 1) : kMaskedOut;
        QC_UNROLL
        for (int i = 0; i < kPixels; ++i) state->pixels[i] = kMaskedOut;
        const int x = kPixels * thread;
        if (x >= tile.width) return;
        const uint16_t* pixels =
            place.samples + static_cast<size_t>(row) * static_cast<size_t>(place.pitch) + tile.x + x;
        if constexpr (kPixels == 4) {
            const Words<8> words = load_words<8>(pixels);
            state->pixels[0] = words.word[0] & 0xffff;
            state->pixels[1] = words.word[0] >> 16;
            state->pixels[2] = words.word[1] & 0xffff;
            state->pixels[3] = words.word[1] >> 16;
        } else {
            QC_UNROLL
            for (int i = 0; i < kPixels; ++i) state->pixels[i] = pixels[i];
        }
        QC_UNROLL
        for (int i = 0; i < kPixels; ++i)
            if (x + i >= tile.width) state->pixels[i] = kMaskedOut;
    }

    QC_HD static void move(int thread, uint32_t* counts, const Pass& pass, State* state) {
        change(thread, counts, pass, state->entering, state->leaving);
        QC_UNROLL
        for (int i = 0; i < kPixels; ++i) state->current[i] = state->pixels[i];
    }

    /// Scores the pixels of the current row. `visit(pixel, c)` is called for c-values that are not 0.
    template <typename Visit>
    QC_HD static void score(int thread, const uint32_t* counts, const CountTask& task, const Pass& pass,
                            const State& state, const Visit& visit) {
        const int window = kWindowReach > 0 ? kKnownWindow : 2 * task.reach + 1;
        uint32_t waiting = 0;
        QC_UNROLL
        for (int i = 0; i < kPixels; ++i) {
            const auto value = static_cast<int>(state.current[i]);
            const bool scores =
                state.current[i] - static_cast<uint32_t>(pass.first) < static_cast<uint32_t>(pass.count) &&
                value >= task.first && value <= task.last;
            waiting |= static_cast<uint32_t>(scores) << i;
        }
        while (waiting != 0) {
            uint32_t word = 0; // of the first pixel that waits
            QC_UNROLL
            for (int i = kPixels - 1; i >= 0; --i)
                if ((waiting >> i & 1) != 0) word = word_of(state.current[i], pass);
            const uint32_t* column = counts + word * kColumns + thread;
            Sums sums;
            sums.add_window(column, window);
            QC_UNROLL
            for (int i = 0; i < kPixels; ++i) {
                if ((waiting >> i & 1) != 0 && word_of(state.current[i], pass) == word) {
                    waiting &= ~(1u << i);
                    const float c = c_value<kNd>(task, sums, static_cast<int>(state.current[i]));
                    if (c > 0.0f) visit(i, c);
                }
                if (i + 1 < kPixels) sums.slide(column, i, window);
            }
        }
    }

private:
    QC_HD static void change(int thread, uint32_t* counts, const Pass& pass, uint32_t entering, uint32_t leaving) {
        CountedValues<kNd>(pass).template change<kColumns>(counts + place(thread), entering, leaving);
    }

    QC_HD static uint32_t word_of(uint32_t sample, const Pass& pass) {
        return (sample - static_cast<uint32_t>(pass.first)) >> 2;
    }

    struct Sums : WindowSums<kNd> {
        /// @param column of the first column of the thread's first window
        QC_HD void add_window(const uint32_t* column, int window) {
            uint32_t bytes[kWords] = {};
            if constexpr (kWindowReach > 0) {
                constexpr int kAtOnce = 255 / kKnownWindow;
                QC_UNROLL
                for (int j = 0; j < kKnownWindow; ++j) {
                    QC_UNROLL
                    for (int k = 0; k < kWords; ++k) bytes[k] += column[k * kColumns + place(j)];
                    if (j % kAtOnce == kAtOnce - 1 || j == kKnownWindow - 1) this->spread(bytes);
                }
            } else {
                int j = 0;
                for (; j + 4 <= window; j += 4) {
                    const uint32_t* four = column + place(j);
                    QC_UNROLL
                    for (int i = 0; i < 4; ++i) {
                        QC_UNROLL
                        for (int k = 0; k < kWords; ++k) bytes[k] += four[k * kColumns + place(i)];
                        if (i % kAddends == kAddends - 1) this->spread(bytes);
                    }
                }
                for (; j < window; ++j) {
                    QC_UNROLL
                    for (int k = 0; k < kWords; ++k) bytes[k] = column[k * kColumns + place(j)];
                    this->spread(bytes);
                }
            }
        }

        /// From the window of pixel `pixel` to that of the next.
        QC_HD void slide(const uint32_t* column, int pixel, int window) {
            QC_UNROLL
            for (int k = 0; k < kWords; ++k) {
                const uint32_t out = column[k * kColumns + place(pixel)];
                const uint32_t in = column[k * kColumns + place(pixel + window)];
                this->all[k] += in - out;
                this->odd[k] += this->odd_bytes(in) - this->odd_bytes(out);
            }
        }
    };
};

/// The plans there are.
using CountReach32 = CountPlan<32, 4, 4>;
using CountAnyReach = CountPlan<0, 4, 4>; ///< windows up to 63
using CountUpTo1 = CountPlan<0, 1, 2>;
using CountUpTo2 = CountPlan<0, 2, 2>;
using CountUpTo8 = CountPlan<0, 8, 2>;
using CountUpTo16 = CountPlan<0, 16, 2>;
using CountUpTo32 = CountPlan<0, 32, 2>;

// ---- selection ------------------------------------------------------------------------------------------------------

/// Arguments of the kernels that select. Their blocks are (scale, picture).
struct SelectTask {
    CountTask count;
    uint64_t pooled[kScales]; ///< how many c-values are pooled
};

QC_HD bool selection_needed(const SelectTask& task, int picture, int scale) {
    return task.count.sums(picture, scale)[1] > task.pooled[scale];
}

QC_HD void clear_selection(Selection* selection, int thread, int threads) {
    for (int i = thread; i < kHighBins; i += threads) selection->high_count[i] = 0;
    for (int i = thread; i < kLowBins; i += threads) selection->low_count[i] = 0;
    if (thread == 0) {
        selection->sum_above = 0;
        selection->above = 0;
    }
}

/// Items in a thread's share of the bins.
template <int kBins>
QC_HD uint64_t sum_chunk(const uint32_t* count, int thread) {
    constexpr int kChunk = kBins / tuning::kSelectThreads;
    uint64_t sum = 0;
    for (int i = 0; i < kChunk; ++i) sum += count[thread * kChunk + i];
    return sum;
}

/// Going down from the largest bin, the bin in which `wanted` items are reached.
template <int kBins>
QC_HD uint32_t find_rank(const uint32_t* count, const uint64_t* chunks, uint64_t wanted) {
    constexpr int kChunk = kBins / tuning::kSelectThreads;
    uint64_t above = 0;
    int chunk = tuning::kSelectThreads - 1;
    while (chunk > 0 && above + chunks[chunk] < wanted) above += chunks[chunk--];
    int bin = (chunk + 1) * kChunk - 1;
    while (bin > chunk * kChunk && above + count[bin] < wanted) above += count[bin--];
    return static_cast<uint32_t>(bin);
}

QC_HD void choose_high(const SelectTask& task, int scale, const uint64_t* chunks, Selection* selection) {
    selection->last_high = find_rank<kHighBins>(selection->high_count, chunks, task.pooled[scale]);
}

/// Of those with the upper bits of the last, as many are pooled as are missing, the largest first.
QC_HD void choose_low(const SelectTask& task, int picture, int scale, const uint64_t* chunks, Selection* selection) {
    uint64_t missing = task.pooled[scale] - selection->above, sum = selection->sum_above;
    const uint32_t last = find_rank<kLowBins>(selection->low_count, chunks, missing);
    for (auto low = static_cast<uint32_t>(kLowBins - 1); low > last; --low) {
        const uint64_t count = selection->low_count[low];
        sum += count * fixed_point_of_key(selection->last_high << kLowBits | low);
        missing -= count;
    }
    task.count.sums(picture, scale)[0] = sum + missing * fixed_point_of_key(selection->last_high << kLowBits | last);
}

} // namespace qc::cambi
