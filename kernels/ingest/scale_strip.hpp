// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scaling of bytes to bytes by kernels of few taps that make pictures larger: what nearly all scaled renditions are.
// No shared memory and no barrier: a thread makes a strip of four neighbouring columns. It goes down the source's rows,
// keeps the middles of as many of them as there are taps, and makes a target row as soon as the last one is there that
// it wants. The next row's bytes are under way while one is worked at.
#pragma once

#include "device/block.hpp"
#include "device/bytes.hpp"
#include "device/kernel_list.hpp"
#include "ingest/ingest.hpp"
#include "ingest/scale_samples.hpp"
#include "ingest/scale_tuning.hpp"

namespace qc::scale {
/// Neighbouring target columns of a thread: a word's bytes.
constexpr int kStripColumns = 4;

/// Target columns of a block.
constexpr int kStripWidth = kStripThreads * kStripColumns;

/// What a thread makes of the target.
struct Stretch {
    int x, y, end_y; ///< first column, a multiple of four; rows
    bool whole;      ///< the block's threads all want all of their columns
    int wanted;      ///< samples of a row from x on; none: nothing is stored
};

/// The bytes of a source row that a strip's columns want: from the first column's first on as many as four columns
/// cover, whose places are at most a sample apart.
template <int kTaps>
struct StripBytes {
    static constexpr int kCount = kStripColumns - 1 + kTaps, kWords = (kCount + 3) / 4;
    uint32_t word[kWords];
};

/// Reads them out of whole words, of one plane or of two that are interleaved.
/// @tparam kStep of the samples, 1 or 2; words are fetched from multiples of four samples on
template <int kTaps, int kStep>
class WordRows {
public:
    using Bytes = StripBytes<kTaps>;
    static constexpr int kLoads = Bytes::kWords + 1, kLoadBytes = 4 * kStep;
    struct Raw {
        Words<kLoadBytes> words[kLoads];
    };

    /// Whether it can be used for a row of so many samples up to `farthest`, where a strip begins: no word may reach
    /// beyond the row.
    QC_HD static bool fit(const DevicePlane& plane, int samples, int farthest) {
        return plane.step == kStep &&
               ((reinterpret_cast<uintptr_t>(start_of(plane)) | plane.pitch_bytes) & (kLoadBytes - 1)) == 0 &&
               (samples % 4 == 0 || farthest / 4 + kLoads <= samples / 4);
    }
    /// @param first sample of the strip; @param count of samples that are wanted
    QC_HD WordRows(const DevicePlane& plane, int row, int first, int count)
        : address_(start_of(plane) + static_cast<size_t>(static_cast<unsigned>(row)) * plane.pitch_bytes +
                   static_cast<ptrdiff_t>(first / 4 * kLoadBytes)),
          pitch_bytes_(plane.pitch_bytes), words_((first % 4 + count + 3) / 4),
          selector_(device::bytes_from(first % 4)), plane_selector_(is_second(plane) ? 0x7531u : 0x6420u) {}
    QC_HD void advance() { address_ += pitch_bytes_; }
    QC_HD Raw fetch_raw() const {
        Raw raw{};
        QC_UNROLL for (int i = 0; i < kLoads; ++i) {
            if (i < words_) raw.words[i] = load_words<kLoadBytes>(address_ + i * kLoadBytes);
        }
        return raw;
    }
    QC_HD Bytes bytes(const Raw& raw) const {
        uint32_t plane[kLoads];
        QC_UNROLL for (int i = 0; i < kLoads; ++i) {
            if constexpr (kStep == 1)
                plane[i] = raw.words[i].word[0];
            else
                plane[i] = device::select_bytes(raw.words[i].word[0], raw.words[i].word[1], plane_selector_);
        }
        Bytes bytes;
        QC_UNROLL for (int i = 0; i < Bytes::kWords; ++i) bytes.word[i] =
            device::select_bytes(plane[i], plane[i + 1], selector_);
        return bytes;
    }

private:
    /// Of interleaved planes, the one whose samples come second.
    QC_HD static bool is_second(const DevicePlane& plane) {
        return kStep == 2 && (reinterpret_cast<uintptr_t>(plane.data) & 1) != 0;
    }
    QC_HD static const char* start_of(const DevicePlane& plane) {
        return static_cast<const char*>(plane.data) - (is_second(plane) ? 1 : 0);
    }

    const char* address_;
    uint32_t pitch_bytes_;
    int words_; ///< that are wanted
    uint32_t selector_, plane_selector_;
};

/// Reads them one by one: whatever the layout, and up to the row's last sample.
template <int kTaps>
class ByteRows {
public:
    using Bytes = StripBytes<kTaps>;
    using Raw = Bytes;

    /// @param count of samples from the first on that may be read
    QC_HD ByteRows(const DevicePlane& plane, int row, int first, int count)
        : address_(row_bytes(plane, row) + static_cast<ptrdiff_t>(first) * plane.step), pitch_bytes_(plane.pitch_bytes),
          step_(plane.step), count_(count) {}
    QC_HD void advance() { address_ += pitch_bytes_; }
    QC_HD Raw fetch_raw() const {
        Raw raw{};
        QC_UNROLL for (int i = 0; i < Bytes::kCount; ++i) {
            const uint32_t byte = i < count_ ? fetch(address_ + static_cast<ptrdiff_t>(i * step_)) : 0;
            raw.word[i / 4] |= byte << (i % 4 * 8);
        }
        return raw;
    }
    QC_HD const Bytes& bytes(const Raw& raw) const { return raw; }

private:
    const unsigned char* address_;
    uint32_t pitch_bytes_;
    int step_, count_;
};

/// Four columns of middles, of one row after another.
template <int kTaps>
class StripColumns {
public:
    QC_HD StripColumns(const ScalePlane& plane, int x) {
        QC_UNROLL for (int i = 0; i < kStripColumns; ++i) {
            const int column = x + i < plane.width ? x + i : plane.width - 1; // what lies beyond is not stored
            const int first = fetch(plane.across.first + column);
            if (i == 0) first_ = first;
            offset_selector_[i] = device::bytes_from(first - first_);
            end_ = first + kTaps;
            weights_[i] = load_weights<kTaps>(plane.across.weight + static_cast<ptrdiff_t>(column) * kTaps);
        }
    }
    QC_HD int first() const { return first_; }
    /// Source samples from the first on.
    QC_HD int count() const { return end_ - first_; }

    QC_HD void middles(const StripBytes<kTaps>& bytes, int (&middle)[kStripColumns]) const {
        QC_UNROLL for (int i = 0; i < kStripColumns; ++i) {
            int sum = kRounding;
            QC_UNROLL for (int t = 0; t < kTaps; t += 4) {
                const uint32_t low = bytes.word[t / 4];
                // Of the last word nothing is wanted beyond its end.
                const uint32_t high = t / 4 + 1 < StripBytes<kTaps>::kWords ? bytes.word[t / 4 + 1] : 0;
                const uint32_t four = i == 0 ? low : device::select_bytes(low, high, offset_selector_[i]);
                sum = device::add_two_products<false>(weights_[i].pair[t / 2], four, sum);
                if (t + 2 < kTaps) sum = device::add_two_products<true>(weights_[i].pair[t / 2 + 1], four, sum);
            }
            middle[i] = sum >> kByteMath.row_shift;
        }
    }

private:
    /// What rounds a middle, and what rounds the column's sum: its weights add up to kWeightOne, so that much of half a
    /// target sample in each middle is half a sample in the sum.
    static constexpr int kMiddleOffset = (1 << (kByteMath.column_shift - 1)) / kWeightOne;
    static constexpr int kRounding = (1 << (kByteMath.row_shift - 1)) + (kMiddleOffset << kByteMath.row_shift);

    WeightPairs<kTaps> weights_[kStripColumns];
    uint32_t offset_selector_[kStripColumns];
    int first_, end_;
};

/// @tparam kTaps of both axes
template <int kTaps>
class Strip {
public:
    template <class Rows>
    QC_HD static void run(const ScalePlane& plane, const Stretch& stretch) {
        const int end_y = stretch.end_y;
        int y = stretch.y;
        const StripColumns<kTaps> columns(plane, stretch.x);
        int row = fetch(plane.down.first + y), wanted = row + kTaps - 1; // the last row that target row y wants
        const int last_row = fetch(plane.down.first + end_y - 1) + kTaps - 1;
        Rows rows(plane.source, row, columns.first(), columns.count());
        typename Rows::Raw next = rows.fetch_raw();
        auto* target =
            static_cast<uint8_t*>(plane.target) + static_cast<size_t>(y) * plane.target_pitch_bytes + stretch.x;
        WeightPairs<kTaps> weights = load_weights<kTaps>(plane.down.weight + static_cast<ptrdiff_t>(y) * kTaps);
        int middle[kTaps][kStripColumns];
        QC_NO_UNROLL while (true) {
            // As many rows as there are places for middles, so that which lies where is known.
            QC_UNROLL for (int place = 0; place < kTaps; ++place) {
                const typename Rows::Raw raw = next;
                if (row < last_row) rows.advance();
                next = rows.fetch_raw();
                columns.middles(rows.bytes(raw), middle[place]);
                QC_NO_UNROLL while (wanted == row) {
                    const WeightPairs<kTaps> used = weights;
                    const bool is_last = ++y == end_y;
                    const int following = is_last ? y - 1 : y;
                    wanted = fetch(plane.down.first + following) + kTaps - 1;
                    weights = load_weights<kTaps>(plane.down.weight + static_cast<ptrdiff_t>(following) * kTaps);
                    store(down(used, middle, place + 1), stretch, target);
                    if (is_last) return;
                    target += plane.target_pitch_bytes;
                }
                ++row;
            }
        }
    }

private:
    /// Four samples of a target row. @param oldest place of the first row that it wants
    QC_HD static uint32_t down(const WeightPairs<kTaps>& weights, const int (&middle)[kTaps][kStripColumns],
                               int oldest) {
        int sum[kStripColumns] = {};
        QC_UNROLL for (int t = 0; t < kTaps; ++t) {
            const int weight = weights.weight(t);
            QC_UNROLL for (int i = 0; i < kStripColumns; ++i) sum[i] += weight * middle[(oldest + t) % kTaps][i];
        }
        QC_UNROLL for (int i = 0; i < kStripColumns; ++i) sum[i] >>= kByteMath.column_shift;
        return device::clamped_bytes(sum);
    }

    QC_HD static void store(uint32_t samples, const Stretch& stretch, uint8_t* target) {
        if (stretch.whole || stretch.wanted >= kStripColumns) {
            *reinterpret_cast<uint32_t*>(target) = samples;
        } else {
            QC_NO_UNROLL for (int i = 0; i < stretch.wanted; ++i) target[i] = static_cast<uint8_t>(samples >> (8 * i));
        }
    }
};

} // namespace qc::scale

namespace qc {
/// All that are scaled of a batch, whose kernels have so many taps along both axes.
/// grid: (strips of a picture, pictures)
template <int kTaps>
struct ScaleStrips
    : device::KernelOf<ScaleArguments, scale::kStripThreads,
                       (kTaps == 4 ? scale::kStripResident : scale::kLongStripResident) / scale::kStripThreads> {
    static constexpr bool kCollective = true;

    template <class Block>
    QC_HD static void run(Block& block, const ScaleArguments& arguments) {
        const ScaleJob& job = arguments.jobs[block.y()];
        int strip = block.x();
        for (int p = 0; p < job.planes; ++p) {
            const int columns = stretches(job.plane[p].width, scale::kStripWidth);
            const int count = columns * stretches(job.plane[p].height, scale::kStripRows);
            if (strip < count) {
                make(block, job.plane[p], strip % columns * scale::kStripWidth, strip / columns * scale::kStripRows);
                return;
            }
            strip -= count;
        }
    }

private:
    QC_HD static int stretches(int samples, int stretch) { return (samples + stretch - 1) / stretch; }

    /// What the threads of a block have in common decides where they go, so that it needs no registers of theirs: a
    /// block reads words if all of its threads can, and a thread beyond the target goes along with the last.
    template <class Block>
    QC_HD static void make(Block& block, const ScalePlane& shared_plane, int block_x, int y) {
        const ScalePlane plane = shared_plane; // what lies in memory would be read again behind every store
        const int end_y = y + scale::kStripRows < plane.height ? y + scale::kStripRows : plane.height;
        const int end_x = block_x + scale::kStripWidth < plane.width ? block_x + scale::kStripWidth : plane.width;
        const int last_x = (end_x - 1) / scale::kStripColumns * scale::kStripColumns;
        const int samples = scale::fetch(plane.across.first + plane.width - 1) + kTaps;
        const int farthest = scale::fetch(plane.across.first + last_x);
        const bool words = scale::WordRows<kTaps, 1>::fit(plane.source, samples, farthest);
        const bool pairs = scale::WordRows<kTaps, 2>::fit(plane.source, samples, farthest);
        const bool whole = block_x + scale::kStripWidth <= plane.width;
        block.each(scale::kStripThreads, [&](int thread) {
            const int x = block_x + thread * scale::kStripColumns;
            const scale::Stretch stretch{x < last_x ? x : last_x, y, end_y, whole,
                                         x < plane.width ? plane.width - x : 0};
            if (words)
                scale::Strip<kTaps>::template run<scale::WordRows<kTaps, 1>>(plane, stretch);
            else if (pairs)
                scale::Strip<kTaps>::template run<scale::WordRows<kTaps, 2>>(plane, stretch);
            else
                scale::Strip<kTaps>::template run<scale::ByteRows<kTaps>>(plane, stretch);
        });
    }
};

} // namespace qc
