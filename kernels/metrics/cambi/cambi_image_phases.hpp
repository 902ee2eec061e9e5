// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the threads do between the picture and the counting of values.
//
// A warp covers kUsefulColumns columns, four per lane, and walks down the rows; what it needs of the rows above stays
// in registers, and what a lane needs of its neighbours comes from them. The first and the last lane only serve as
// neighbours, so tiles overlap.
//
//     ImageLane      picture -> anti-dither filter -> spatial mask and mode filter of scale 0
//     PyramidLane    one scale -> every second sample -> mode filter -> the next scale
//
// Both write samples with kMaskedOut on those that the mask leaves out, and for each tile which values it has.
#pragma once

#include <type_traits>

#include "device/plane_reader.hpp"
#include "device/unroll.hpp"
#include "metrics/cambi/cambi_device_math.hpp"
#include "metrics/cambi/cambi_math.hpp"

namespace qc::cambi {

constexpr uint16_t kMaskedOut = 0x8000; ///< on a stored sample: the spatial mask leaves it out
constexpr int kValuesPerGroup = 32; ///< of the values in a tile it is only known which groups of this many there are

constexpr int kColumnsPerLane = 4;
constexpr int kLanes = 32;
constexpr int kUsefulColumns = kColumnsPerLane * (kLanes - 2);

/// Samples of one scale in scratch memory, and what is known of the tiles they were written in.
struct ScalePlane {
    int width, height;
    int pitch; ///< in samples, a multiple of 32
    int tile_width, tile_height;
    int tiles_across;
    uint32_t first_sample; ///< from the start of the picture's samples, a multiple of 64
    uint32_t first_tile;   ///< from the start of the picture's tiles
};

/// All scales of one picture. A batch has several, one behind the other.
struct Pyramid {
    uint16_t* samples;  ///< of the first picture
    uint32_t* occupied; ///< by tile, bit v: there are masked-in samples of kValuesPerGroup * v and so on
    size_t samples_per_picture, tiles_per_picture;
    ScalePlane scale[kScales];

    QC_HD size_t offset(int picture, int s) const {
        return static_cast<size_t>(picture) * samples_per_picture + scale[s].first_sample;
    }
    QC_HD uint16_t* plane(int picture, int s) const { return samples + offset(picture, s); }
    QC_HD uint32_t* tiles(int picture, int s) const {
        return occupied + static_cast<size_t>(picture) * tiles_per_picture + scale[s].first_tile;
    }
};

/// Arguments of the image kernel.
struct ImageTask {
    const DevicePair* pairs;
    Pyramid pyramid;
    const uint16_t *columns, *rows; ///< of the picture for each one of the analysis; null: the same
    int width, height;              ///< of the analysis
    int depth;
    int mask_limit;
    int walk;                       ///< rows a warp covers, a multiple of 8
    int use_reference, anti_dither; ///< bools
};

/// First column of a lane; negative, or beyond the image, at the edges.
QC_HD int lane_column(int tile_x, int lane) {
    return tile_x * kUsefulColumns + (lane - 1) * kColumnsPerLane;
}

QC_HD bool lane_is_useful(int lane) {
    return lane > 0 && lane < kLanes - 1;
}

QC_HD int clamped(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

/// Adds the groups of a quad's masked-in values.
QC_HD uint32_t groups_of_half(uint32_t sample) {
    return (sample & kMaskedOut) != 0 ? 0 : 1u << ((sample / kValuesPerGroup) & 31);
}
QC_HD uint32_t groups_of_halves(uint32_t samples) {
    return groups_of_half(samples & 0xffffu) | groups_of_half(samples >> 16);
}

// ---- samples of the picture -----------------------------------------------------------------------------------------

/// Brings samples to 10 bits.
template <typename T>
class TenBits {
public:
    QC_HD TenBits(const ImageTask& task, int container_shift)
        : depth_(task.depth), shift_(container_shift), kept_((0xffffu >> container_shift) * kBothHalves),
          largest_(((1u << task.depth) - 1) * kBothHalves) {}

    /// The mean of four samples, of their sum.
    QC_HD static uint32_t mean_of_four(uint32_t sum) { return (sum >> 2) & 0x07ff07ffu; }

    QC_HD Quad operator()(const Quad& container) const { return {halves(container.low), halves(container.high)}; }
    QC_HD uint32_t halves(uint32_t container) const {
        const uint32_t samples = sort_halves((container >> shift_) & kept_, largest_).smaller;
        if (depth_ <= kDepth) return samples << (kDepth - depth_);
        const int excess = depth_ - kDepth;
        const uint32_t doubled = (samples >> (excess - 1)) & ((0xffffu >> (excess - 1)) * kBothHalves);
        return ((doubled + kBothHalves) >> 1) & 0x07ff07ffu;
    }

private:
    int depth_, shift_;
    uint32_t kept_, largest_;
};

/// Bytes stay what they are where four of them are added up next: the sum is the mean of four samples of 10 bits.
template <>
class TenBits<uint8_t> {
public:
    QC_HD TenBits(const ImageTask& task, int /*container_shift*/) : shift_(task.anti_dither ? 0 : kDepth - 8) {}

    QC_HD static uint32_t mean_of_four(uint32_t sum) { return sum; }
    QC_HD Quad operator()(const Quad& container) const { return {halves(container.low), halves(container.high)}; }
    QC_HD uint32_t halves(uint32_t container) const { return container << shift_; }

private:
    int shift_;
};

/// Whether WideSource can serve all lanes of a tile: loads of four samples are aligned, and no lane straddles the right
/// edge.
template <typename T>
QC_HD bool tile_is_wide(const DevicePlane& plane, const ImageTask& task, int tile_x) {
    const bool whole_lanes =
        task.width % kColumnsPerLane == 0 || lane_column(tile_x, kLanes - 1) + kColumnsPerLane <= task.width;
    return task.columns == nullptr && whole_lanes && plane.step == 1 &&
           rows_aligned(plane, kColumnsPerLane * sizeof(T));
}

/// Fetches four samples per load. Lanes outside the image get others of the row, which do not matter.
template <typename T>
class WideSource {
public:
    using Row = Words<kColumnsPerLane * sizeof(T)>;

    QC_HD WideSource(const DevicePlane& plane, const ImageTask& task, int column)
        : plane_(plane), last_row_(task.height - 1),
          offset_(clamped(column, 0, task.width - kColumnsPerLane) * static_cast<int>(sizeof(T))),
          next_offset_(clamped(column + kColumnsPerLane, 0, task.width - 1) * static_cast<int>(sizeof(T))) {}

    QC_HD Row load(int y) const {
        return load_words<kColumnsPerLane * sizeof(T)>(row_bytes(plane_, clamped(y, 0, last_row_)) + offset_);
    }
    /// The sample on the right of the lane's, as it lies in the plane; beyond the edge, some other.
    QC_HD uint32_t load_next(int y) const {
        return *reinterpret_cast<const T*>(row_bytes(plane_, clamped(y, 0, last_row_)) + next_offset_);
    }
    QC_HD static Quad unpack(const Row& row) {
        if constexpr (sizeof(T) == 1) {
            return {permute_bytes(row.word[0], 0, 0x4140), permute_bytes(row.word[0], 0, 0x4342)};
        } else {
            return {row.word[0], row.word[1]};
        }
    }

private:
    DevicePlane plane_;
    int last_row_, offset_, next_offset_;
};

/// Reads sample by sample, whatever the layout and the size of the analysis. Beyond the edges stand the samples there.
template <typename T>
class SampleSource {
public:
    using Row = Quad;

    QC_HD SampleSource(const DevicePlane& plane, const ImageTask& task, int column)
        : plane_(plane), rows_(task.rows), last_row_(task.height - 1) {
        QC_UNROLL
        for (int k = 0; k <= kColumnsPerLane; ++k) {
            const int x = clamped(column + k, 0, task.width - 1);
            offset_[k] = (task.columns != nullptr ? task.columns[x] : x) * plane.step;
        }
    }

    QC_HD Row load(int y) const { return {sample(0, y) | (sample(1, y) << 16), sample(2, y) | (sample(3, y) << 16)}; }
    QC_HD uint32_t load_next(int y) const { return sample(kColumnsPerLane, y); }
    QC_HD static Quad unpack(const Row& row) { return row; }

private:
    QC_HD uint32_t sample(int k, int y) const {
        const int inside = clamped(y, 0, last_row_);
        return reinterpret_cast<const T*>(row_bytes(plane_, rows_ != nullptr ? rows_[inside] : inside))[offset_[k]];
    }

    DevicePlane plane_;
    const uint16_t* rows_;
    int last_row_;
    int offset_[kColumnsPerLane + 1];
};

// ---- mode filter ----------------------------------------------------------------------------------------------------

/// Masks of the samples of a row that the horizontal filter changes: not the first and the last of the image.
QC_HD uint32_t inner_halves(int column, int width) {
    return (column > 0 && column < width - 1 ? 0x0000ffffu : 0u) | (column + 1 < width - 1 ? 0xffff0000u : 0u);
}

/// Mode filter of a whole image, four samples per lane. Rows come one after the other; a row leaves kDelay rows later.
/// The place in the ring, `step`, counts the rows and should be known to the compiler modulo 8.
class FullMode {
public:
    static constexpr int kDelay = 4;

    QC_HD FullMode(int column, int width, int height)
        : inner_{inner_halves(column, width), inner_halves(column + 2, width)}, last_row_(height - 1) {}

    /// @param previous, next quad of the lanes on the left and right
    QC_HD void push(int step, int row, const Quad& samples, const Quad& previous, const Quad& next) {
        const Quad left = one_to_the_left(samples, previous.high), right = one_to_the_right(samples, next.low);
        Quad& along = along_[step & 3];
        along.low = (mode_of_three_halves(left.low, samples.low, right.low) & inner_.low) | (samples.low & ~inner_.low);
        along.high =
            (mode_of_three_halves(left.high, samples.high, right.high) & inner_.high) | (samples.high & ~inner_.high);
        const Quad &first = along_[(step - 2) & 3], &second = along_[(step - 1) & 3];
        Quad& done = done_[(step - 1) & 3];
        if (row - 1 == 0 || row - 1 == last_row_) {
            done = before_;
        } else {
            done.low = mode_of_three_halves(first.low, second.low, along.low);
            done.high = mode_of_three_halves(first.high, second.high, along.high);
        }
        before_ = samples;
    }

    /// The row that was pushed kDelay steps ago.
    QC_HD const Quad& delayed(int step) const { return done_[step & 3]; }

private:
    Quad inner_;
    int last_row_;
    Quad before_{};      ///< the row pushed last, unfiltered
    Quad along_[4] = {}; ///< filtered along the row
    Quad done_[4] = {};
};

/// Mode filter of every second sample of every second row; two per lane, in one word.
class HalfMode {
public:
    static constexpr int kDelay = 4; ///< in rows of the analysis

    /// @param column, width, height of the analysis
    QC_HD HalfMode(int column, int width, int height)
        : inner_(inner_halves(column / 2, (width + 1) / 2)), last_row_((height - 1) / 2 * 2) {}

    QC_HD static uint32_t every_second(const Quad& samples) { return permute_bytes(samples.low, samples.high, 0x5410); }

    /// Only for even rows, which are the odd steps.
    QC_HD void push(int step, const Quad& samples, const Quad& previous, const Quad& next) {
        const uint32_t own = every_second(samples);
        const uint32_t left = funnel_shift(every_second(previous), own, 16);
        const uint32_t right = funnel_shift(own, next.low, 16);
        const int place = (step >> 1) & 3;
        along_[place] = (mode_of_three_halves(left, own, right) & inner_) | (own & ~inner_);
        own_[place] = own;
    }

    /// Row `row`, which was pushed kDelay steps ago.
    QC_HD uint32_t delayed(int step, int row) const {
        const int place = step >> 1;
        if (row == 0 || row == last_row_) return own_[(place - 2) & 3];
        return mode_of_three_halves(along_[(place - 3) & 3], along_[(place - 2) & 3], along_[(place - 1) & 3]);
    }

private:
    uint32_t inner_;
    int last_row_;
    uint32_t own_[4] = {}, along_[4] = {};
};

// ---- spatial mask ---------------------------------------------------------------------------------------------------

/// Counts flat samples: a byte for each column of a lane.
class FlatCounts {
public:
    static constexpr int kDelay = kMaskReach + 1; ///< from the row that is pushed to the row whose squares are complete

    QC_HD FlatCounts(int column, int width, int height, int limit) : height_(height), limit_(limit) {
        inside_ = 0;
        QC_UNROLL
        for (int k = 0; k < kColumnsPerLane; ++k)
            if (column + k >= 0 && column + k < width) inside_ |= 1u << (8 * k);
    }

    /// Takes row `row` of the image and decides about the row above it: a sample is flat if it equals its neighbours on
    /// the right and below. Whatever lies outside the image is not flat; it has no part in the counts.
    /// @param right the samples one to the right, in the last column the samples themselves
    QC_HD void push(int step, int row, const Quad& samples, const Quad& right) {
        const uint32_t low = zero_halves(across_.low | (above_.low ^ samples.low));
        const uint32_t high = zero_halves(across_.high | (above_.high ^ samples.high));
        const bool is_row = row - 1 >= 0 && row - 1 < height_;
        const uint32_t flat = is_row ? (permute_bytes(low, high, 0x7531) >> 7) & inside_ : 0;
        columns_ += flat - flags_[step & 7];
        // The slot holds the row that leaves one step later: eight rows are in flight, seven count.
        flags_[(step - 1) & 7] = flat;
        above_ = samples;
        across_ = {samples.low ^ right.low, samples.high ^ right.high};
    }

    /// Sums down the columns, for the lanes on both sides.
    QC_HD uint32_t columns() const { return columns_; }

    /// The top bit of each byte whose square has more than `limit` flat samples; other bits are not cleared.
    QC_HD uint32_t decide(uint32_t previous, uint32_t next) const {
        const uint32_t sum = funnel_shift(previous, columns_, 8) + funnel_shift(previous, columns_, 16) +
                             funnel_shift(previous, columns_, 24) + columns_ + funnel_shift(columns_, next, 8) +
                             funnel_shift(columns_, next, 16) + funnel_shift(columns_, next, 24);
        return sum + static_cast<uint32_t>(127 - limit_) * 0x01010101u;
    }

private:
    int height_, limit_;
    uint32_t inside_; ///< bytes of 1 for the columns inside the image
    uint32_t columns_ = 0;
    uint32_t flags_[8] = {};
    Quad above_{}, across_{};
};

// ---- image kernel ---------------------------------------------------------------------------------------------------

/// One lane of a warp on its way down. A step takes in one row of samples, and from step kFirstOutput on one row
/// leaves. The caller hands values from lane to lane between the parts of a step. kStepsPerLoop steps are unrolled, so
/// that the places in the rings are known.
template <bool kHalf>
class ImageLane {
public:
    static constexpr int kStepsPerLoop = 8;
    static constexpr int kRowsBefore = kMaskReach; ///< first row taken in, above the first output
    static constexpr int kFirstOutput = kRowsBefore + FlatCounts::kDelay;
    static_assert(kFirstOutput < kStepsPerLoop && FlatCounts::kDelay == FullMode::kDelay &&
                  FlatCounts::kDelay == HalfMode::kDelay);
    using Mode = std::conditional_t<kHalf, HalfMode, FullMode>;

    QC_HD ImageLane(const ImageTask& task, int column)
        : mode_(column, task.width, task.height), flat_(column, task.width, task.height, task.mask_limit),
          at_right_(column + kColumnsPerLane >= task.width) {}

    /// Steps for a walk over `rows` rows.
    QC_HD static int steps(int rows) { return rows + kStepsPerLoop; }
    /// Row of the image that a step takes in, and the one that leaves.
    QC_HD static int row_in(int first_row, int step) { return first_row - kRowsBefore + step; }
    QC_HD static int row_out(int first_row, int step) { return row_in(first_row, step) - FlatCounts::kDelay; }

    // Anti-dither filter: start() with the first row, then mix() with each following one.

    QC_HD void start(const Quad& samples, uint32_t next) { sums_ = pair_sums(samples, next); }

    /// The row above `samples`, filtered. @param next lower word of the lane on the right
    template <class TenBits>
    QC_HD Quad mix(const Quad& samples, uint32_t next) {
        const Quad sums = pair_sums(samples, next);
        const Quad mixed{TenBits::mean_of_four(sums_.low + sums.low), TenBits::mean_of_four(sums_.high + sums.high)};
        sums_ = sums;
        return mixed;
    }

    /// Takes in a row. @param previous, next the row of the lanes on the left and right
    /// @return what the lanes on both sides need for finish()
    QC_HD uint32_t take(int step, int row, const Quad& samples, const Quad& previous, const Quad& next) {
        flat_.push(step, row, samples, one_to_the_right(samples, next_or_own(samples, next.low)));
        if constexpr (!kHalf) {
            mode_.push(step, row, samples, previous, next);
        } else if (step % 2 == 1) {
            mode_.push(step, samples, previous, next);
        }
        return flat_.columns();
    }

    /// The row that leaves: four samples, or two in `low`. With kHalf only at odd steps.
    QC_HD Quad finish(int step, int row, uint32_t previous, uint32_t next) const {
        const uint32_t in = flat_.decide(previous, next);
        if constexpr (kHalf) {
            return {mode_.delayed(step, row) | (~permute_bytes(in, 0, 0x2404) & kTopBits), 0};
        } else {
            const Quad& samples = mode_.delayed(step);
            return {samples.low | (~permute_bytes(in, 0, 0x1404) & kTopBits),
                    samples.high | (~permute_bytes(in, 0, 0x3424) & kTopBits)};
        }
    }

private:
    QC_HD uint32_t next_or_own(const Quad& samples, uint32_t next) const {
        return at_right_ ? samples.high >> 16 : next;
    }
    QC_HD Quad pair_sums(const Quad& samples, uint32_t next) const {
        const Quad right = one_to_the_right(samples, next_or_own(samples, next));
        return {samples.low + right.low, samples.high + right.high};
    }

    Mode mode_;
    FlatCounts flat_;
    bool at_right_; ///< the last column of the image is among the lane's, or further left
    Quad sums_{};
};

/// Whether a lane of the image kernel stores its samples. A few beyond the edge are, for those who read four at a time.
QC_HD bool lane_stores(const ImageTask& task, int lane, int column) {
    return lane_is_useful(lane) && column < (task.width + 7) / 8 * 8;
}

/// Stores what a lane of the image kernel puts out.
template <bool kHalf>
QC_HD void store_row(const ImageTask& task, int picture, int column, int row, const Quad& samples) {
    const ScalePlane& scale = task.pyramid.scale[0];
    uint16_t* const plane = task.pyramid.plane(picture, 0);
    if constexpr (kHalf) {
        const size_t at =
            static_cast<size_t>(row / 2) * static_cast<size_t>(scale.pitch) + static_cast<size_t>(column / 2);
        *reinterpret_cast<uint32_t*>(plane + at) = samples.low;
    } else {
        const size_t at = static_cast<size_t>(row) * static_cast<size_t>(scale.pitch) + static_cast<size_t>(column);
        *reinterpret_cast<Words<8>*>(plane + at) = {{samples.low, samples.high}};
    }
}

// ---- pyramid kernel -------------------------------------------------------------------------------------------------

/// Arguments of the kernel that makes a scale out of the one before.
struct PyramidTask {
    Pyramid pyramid;
    int scale; ///< that is made
    int walk;  ///< rows a warp covers
};

/// One lane: takes in rows, and from step kFirstOutput on puts out the row before.
class PyramidLane {
public:
    static constexpr int kStepsPerLoop = 4;
    static constexpr int kFirstOutput = 2;

    QC_HD PyramidLane(const PyramidTask& task, int picture, int column)
        : from_(task.pyramid.plane(picture, task.scale - 1)), pitch_(task.pyramid.scale[task.scale - 1].pitch),
          last_row_(task.pyramid.scale[task.scale].height - 1) {
        const int width = task.pyramid.scale[task.scale].width;
        inner_ = {inner_halves(column, width), inner_halves(column + 2, width)};
        first_ = clamped(2 * column, 0, last_quad(2 * width - 1));
        second_ = clamped(2 * column + kColumnsPerLane, 0, last_quad(task.pyramid.scale[task.scale - 1].width));
    }

    QC_HD static int steps(int rows) { return rows + 2; }
    QC_HD static int row_in(int first_row, int step) { return first_row - 1 + step; }
    QC_HD static int row_out(int first_row, int step) { return first_row - 2 + step; }

    /// Every second sample of every second row.
    QC_HD Quad load(int row) const {
        const uint16_t* source =
            from_ + static_cast<size_t>(2 * clamped(row, 0, last_row_)) * static_cast<size_t>(pitch_);
        const Words<8> left = load_words<8>(source + first_), right = load_words<8>(source + second_);
        return {permute_bytes(left.word[0], left.word[1], 0x5410), permute_bytes(right.word[0], right.word[1], 0x5410)};
    }

    /// @param previous, next the row of the lanes on the left and right
    QC_HD void take(int step, const Quad& stored, const Quad& previous, const Quad& next) {
        const Quad samples = values_of(stored);
        const Quad left = one_to_the_left(samples, previous.high & ~kTopBits);
        const Quad right = one_to_the_right(samples, next.low & ~kTopBits);
        Quad& along = along_[step & 3];
        along.low = (mode_of_three_halves(left.low, samples.low, right.low) & inner_.low) | (samples.low & ~inner_.low);
        along.high =
            (mode_of_three_halves(left.high, samples.high, right.high) & inner_.high) | (samples.high & ~inner_.high);
        stored_[step & 3] = stored;
    }

    QC_HD Quad finish(int step, int row) const {
        const Quad& centre = stored_[(step - 1) & 3];
        if (row == 0 || row == last_row_) return centre;
        const Quad &first = along_[(step - 2) & 3], &second = along_[(step - 1) & 3], &third = along_[step & 3];
        return {mode_of_three_halves(first.low, second.low, third.low) | (centre.low & kTopBits),
                mode_of_three_halves(first.high, second.high, third.high) | (centre.high & kTopBits)};
    }

private:
    /// First of the last four samples that a row of `width` holds.
    QC_HD static int last_quad(int width) { return (width - 1) / kColumnsPerLane * kColumnsPerLane; }
    QC_HD static Quad values_of(const Quad& stored) { return {stored.low & ~kTopBits, stored.high & ~kTopBits}; }

    const uint16_t* from_;
    int pitch_, last_row_, first_ = 0, second_ = 0;
    Quad inner_{};
    Quad stored_[4] = {}, along_[4] = {};
};

QC_HD void store_row(const PyramidTask& task, int picture, int column, int row, const Quad& samples) {
    const int pitch = task.pyramid.scale[task.scale].pitch;
    const size_t at = static_cast<size_t>(row) * static_cast<size_t>(pitch) + static_cast<size_t>(column);
    *reinterpret_cast<Words<8>*>(task.pyramid.plane(picture, task.scale) + at) = {{samples.low, samples.high}};
}

} // namespace qc::cambi
