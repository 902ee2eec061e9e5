// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI on the CPU, fast: cambi_cpu.cpp tells what is computed. Every scale is gone through once, row by row, and all
// that a row needs of others stays in the cache: the picture is read, what the next scale sees is written, nothing
// else. Where no sample counts, which is most of a usual picture, places are skipped many at a time.
#include <algorithm>
#include <cstring>
#include <vector>

#include "device/cpu_clones.hpp"
#include "metrics/cambi/cambi.hpp"
#include "metrics/cambi/cambi_row_steps.hpp"

namespace qc::cambi {
namespace {

// ---- buffers --------------------------------------------------------------------------------------------------------

/// The last rows of a plane: row y lies in place y % kept.
template <typename T>
class RowRing {
public:
    /// All elements become `value`.
    void fit(int width, int kept, T value = {}) {
        pitch_ = static_cast<size_t>(width);
        kept_ = kept;
        elements_.assign(pitch_ * static_cast<size_t>(kept), value);
    }
    T* row(int y) { return elements_.data() + static_cast<size_t>(y % kept_) * pitch_; }

private:
    size_t pitch_ = 0;
    int kept_ = 1;
    std::vector<T> elements_;
};

/// Samples and mask of a scale.
struct ScaleImage {
    int width = 0, height = 0;
    std::vector<uint16_t> samples;
    std::vector<uint8_t> mask;

    void fit(int columns, int rows) {
        width = columns;
        height = rows;
        const size_t needed = static_cast<size_t>(columns) * static_cast<size_t>(rows);
        if (samples.size() >= needed) return;
        samples.resize(needed);
        mask.resize(needed);
    }
    size_t offset(int y) const { return static_cast<size_t>(y) * static_cast<size_t>(width); }
};

/// Places are looked at so many at a time; rows of them are filled up with kNotCounted.
constexpr int kBlock = 32;
constexpr int in_blocks(int width) {
    return (width + kBlock - 1) / kBlock * kBlock;
}

} // namespace

struct RowWorkspace {
    RowRing<uint16_t> ten_bits, image, along, places;
    RowRing<uint8_t> flags;
    std::vector<uint16_t> half_samples, filtered, unfiltered, nothing;
    std::vector<uint8_t> columns, mask, half_mask;
    ScaleImage scales[2];         ///< scale s in scales[s % 2]
    std::vector<uint16_t> counts; ///< zeros between pictures
    std::vector<float> weights, c_values;
};

namespace {

// ---- rows of a scale before the mode filter -------------------------------------------------------------------------

/// Of scale 0, from the picture. Rows are asked for in order, those of the mask up to one behind those of the samples.
class PictureRows {
public:
    PictureRows(const FrameGeometry& geometry, const Settings& settings, const Analysis& analysis,
                const HostPlane& luma, RowWorkspace& space)
        : geometry_(geometry), settings_(settings), analysis_(analysis), luma_(luma), space_(space),
          step_(settings.half_size ? 2 : 1) {
        const int width = analysis.width;
        space.ten_bits.fit(width, 2);
        space.image.fit(width, kKept);
        space.flags.fit(width, kMaskSide);
        space.columns.assign(static_cast<size_t>(width) + 2 * kMaskReach, 0);
        space.mask.resize(static_cast<size_t>(width));
        space.half_samples.resize(static_cast<size_t>(width));
        space.half_mask.resize(static_cast<size_t>(width));
    }

    const uint16_t* samples(int y) {
        const uint16_t* const row = image_row(y * step_);
        if (step_ == 1) return row;
        halve_row(row, space_.mask.data(), half_width(), space_.half_samples.data(), space_.half_mask.data());
        return space_.half_samples.data();
    }

    const uint8_t* mask(int y) {
        const int wanted = y * step_;
        for (; masked_ <= wanted; ++masked_) sum_flags(masked_);
        mask_row(space_.columns.data(), space_.mask.data(), analysis_.width, analysis_.mask_limit);
        if (step_ == 1) return space_.mask.data();
        halve_row(space_.image.row(wanted), space_.mask.data(), half_width(), space_.half_samples.data(),
                  space_.half_mask.data());
        return space_.half_mask.data();
    }

private:
    /// The mask needs the samples of kMaskReach + 1 rows ahead, the filter not more.
    static constexpr int kKept = 2 * kMaskReach + 2;

    int half_width() const { return (analysis_.width + 1) / 2; }

    const uint16_t* image_row(int y) {
        for (; made_ <= y; ++made_) {
            if (!settings_.anti_dither) {
                analysed_row(luma_, geometry_, analysis_, made_, space_.image.row(made_));
                continue;
            }
            const int below = std::min(made_ + 1, analysis_.height - 1);
            for (; read_ <= below; ++read_)
                analysed_row(luma_, geometry_, analysis_, read_, space_.ten_bits.row(read_));
            anti_dither_row(space_.ten_bits.row(made_), space_.ten_bits.row(below), space_.image.row(made_),
                            analysis_.width);
        }
        return space_.image.row(y);
    }

    /// Moves the sums down the squares' columns to those around row y.
    void sum_flags(int y) {
        const int entering = y + kMaskReach, leaving = y - kMaskReach - 1, last = analysis_.height - 1;
        uint8_t* const sums = space_.columns.data() + kMaskReach;
        if (leaving >= 0) subtract_row(sums, space_.flags.row(leaving), analysis_.width);
        if (entering > last) return;
        const uint16_t* const below = image_row(std::min(entering + 1, last));
        flat_row(image_row(entering), below, space_.flags.row(entering), analysis_.width);
        add_row(sums, space_.flags.row(entering), analysis_.width);
    }

    const FrameGeometry& geometry_;
    const Settings& settings_;
    const Analysis& analysis_;
    const HostPlane& luma_;
    RowWorkspace& space_;
    const int step_; ///< rows of the analysis from one to the next
    int read_ = 0, made_ = 0, masked_ = -kMaskReach;
};

/// Of the scales below, which the scale above has written.
class StoredRows {
public:
    explicit StoredRows(const ScaleImage& image) : image_(image) {}

    const uint16_t* samples(int y) const { return image_.samples.data() + image_.offset(y); }
    const uint8_t* mask(int y) const { return image_.mask.data() + image_.offset(y); }

private:
    const ScaleImage& image_;
};

// ---- c-values -------------------------------------------------------------------------------------------------------

QC_INLINE_HELPER void add_to_windows(uint16_t* counts, int window, int change) {
    for (int i = 0; i < window; ++i) counts[i] = static_cast<uint16_t>(counts[i] + change);
}

/// Whether a block of both rows is the same.
QC_INLINE_HELPER bool same_block(const uint16_t* a, const uint16_t* b) {
    uint64_t difference = 0;
    for (int i = 0; i < kBlock; i += 4) {
        uint64_t four_a, four_b;
        std::memcpy(&four_a, a + i, sizeof four_a);
        std::memcpy(&four_b, b + i, sizeof four_b);
        difference |= four_a ^ four_b;
    }
    return difference == 0;
}

QC_CPU_CLONES void move_windows(uint16_t* counts, size_t stride, int window, const uint16_t* entering,
                                const uint16_t* leaving, int width) {
    for (int begin = 0; begin < width; begin += kBlock) {
        if (same_block(entering + begin, leaving + begin)) continue;
        for (int x = begin; x < begin + kBlock; ++x) {
            if (entering[x] == leaving[x]) continue;
            if (entering[x] != kNotCounted) add_to_windows(counts + entering[x] * stride + x, window, 1);
            if (leaving[x] != kNotCounted) add_to_windows(counts + leaving[x] * stride + x, window, -1);
        }
    }
}

/// The windows of a scale: for each value and column, how often the value stands in the window around the column's
/// pixel.
class Windows {
public:
    Windows(const Settings& settings, int width, int window, RowWorkspace& space)
        : differences_(settings.differences), origin_(settings.first - differences_),
          values_(settings.last - settings.first + 1 + 2 * differences_), width_(width), window_(window),
          stride_(static_cast<size_t>(width + window - 1)), space_(space) {
        const size_t needed = stride_ * static_cast<size_t>(values_);
        if (space.counts.size() < needed) space.counts.resize(needed);
        space.places.fit(in_blocks(width), window + 1, kNotCounted);
        space.nothing.assign(static_cast<size_t>(in_blocks(width)), kNotCounted);
        set_weights(settings);
    }

    /// Row y of the samples enters at the bottom of the windows; null behind the last one.
    void enter(int y, const uint16_t* samples, const uint8_t* mask) {
        uint16_t* entering = space_.nothing.data();
        const uint16_t* const leaving = y >= window_ ? space_.places.row(y - window_) : entering;
        if (samples != nullptr) {
            entering = space_.places.row(y);
            find_places(samples, mask, static_cast<size_t>(width_), origin_, values_, entering);
        }
        move_windows(space_.counts.data(), stride_, window_, entering, leaving, width_);
    }

    /// Calls `visit(x, c)` for every pixel of row y, in whose windows we are, whose c-value is not 0.
    template <typename Visit>
    void score_row(int y, std::span<const float> reciprocal, const Visit& visit) {
        const uint16_t* const places = space_.places.row(y);
        for (int begin = 0; begin < width_; begin += kBlock) {
            if (same_block(places + begin, space_.nothing.data())) continue;
            for (int x = begin; x < begin + kBlock; ++x) {
                // Values at either end are only counted. What is not counted at all lies behind them.
                if (places[x] < differences_ || places[x] >= values_ - differences_) continue;
                const float c = c_value(places[x], x, reciprocal);
                if (c > 0.0f) visit(x, c);
            }
        }
    }

private:
    /// Weights of the steps from each place, 0 for those that cannot be seen.
    void set_weights(const Settings& settings) {
        const int nd = differences_;
        space_.weights.assign(static_cast<size_t>(values_) * static_cast<size_t>(nd), 0.0f);
        for (int sample = settings.first; sample <= settings.last; ++sample)
            for (int d = 1; d <= nd; ++d)
                if (sample <= settings.brightest[static_cast<size_t>(d)] && sample + nd + d > settings.dark_limit)
                    space_.weights[static_cast<size_t>((sample - origin_) * nd + d - 1)] =
                        static_cast<float>(contrast_weight(d));
    }

    QC_INLINE_HELPER float c_value(int place, int x, std::span<const float> reciprocal) const {
        const auto stride = static_cast<ptrdiff_t>(stride_);
        const uint16_t* const counts = space_.counts.data() + place * stride + x + window_ / 2;
        const float* const weights = space_.weights.data() + static_cast<ptrdiff_t>(place) * differences_;
        const int own = counts[0];
        float c = 0.0f;
        for (int d = 1; d <= differences_; ++d) {
            const int other = std::max(counts[d * stride], counts[-d * stride]);
            c = std::max(c, weights[d - 1] * static_cast<float>(own) * static_cast<float>(other) *
                                reciprocal[static_cast<size_t>(own + other)]);
        }
        return c;
    }

    const int differences_, origin_, values_, width_, window_;
    const size_t stride_;
    RowWorkspace& space_;
};

// ---- a scale --------------------------------------------------------------------------------------------------------

/// Filters the rows of a scale, along and then down.
template <typename Rows>
class FilteredRows {
public:
    FilteredRows(Rows& rows, int width, int height, RowWorkspace& space)
        : rows_(rows), width_(width), height_(height), space_(space) {
        space.along.fit(width, 3);
        space.filtered.resize(static_cast<size_t>(width));
        space.unfiltered.resize(static_cast<size_t>(width));
    }

    /// Row y, in order. The first and last column are filtered downwards only, the first and last row not at all.
    const uint16_t* row(int y) {
        const bool is_end = y == 0 || y == height_ - 1;
        for (; next_ <= (is_end ? y : y + 1); ++next_) filter_along(next_);
        auto& along = space_.along;
        if (is_end) return space_.unfiltered.data();
        mode_row(along.row(y - 1), along.row(y), along.row(y + 1), space_.filtered.data(), width_);
        return space_.filtered.data();
    }

private:
    void filter_along(int y) {
        const uint16_t* const from = rows_.samples(y);
        if (y == 0 || y == height_ - 1) std::copy_n(from, width_, space_.unfiltered.data());
        uint16_t* const to = space_.along.row(y);
        to[0] = from[0];
        to[width_ - 1] = from[width_ - 1];
        if (width_ > 2) mode_row(from, from + 1, from + 2, to + 1, width_ - 2);
    }

    Rows& rows_;
    const int width_, height_;
    RowWorkspace& space_;
    int next_ = 0;
};

struct ScaleTask {
    const Settings& settings;
    int width, height, window;
    ScaleImage* next; ///< where the scale below is written; null: there is none
};

/// Appends the c-values that are not 0 to the workspace's.
template <typename Rows>
void score_scale(const ScaleTask& task, Rows& rows, RowWorkspace& space, std::span<uint64_t> heat_map) {
    const int width = task.width, height = task.height, reach = task.window / 2;
    FilteredRows<Rows> filtered(rows, width, height, space);
    Windows windows(task.settings, width, task.window, space);
    const std::span<const float> reciprocal = reciprocals();
    const float full_heat = task.settings.full_heat();
    space.c_values.clear();
    space.c_values.reserve(static_cast<size_t>(width) * static_cast<size_t>(height));
    for (int y = 0; y < height + task.window; ++y) {
        if (y < height) {
            const uint16_t* const samples = filtered.row(y);
            const uint8_t* const mask = rows.mask(y);
            windows.enter(y, samples, mask);
            if (task.next != nullptr && y % 2 == 0)
                halve_row(samples, mask, task.next->width, task.next->samples.data() + task.next->offset(y / 2),
                          task.next->mask.data() + task.next->offset(y / 2));
        } else {
            windows.enter(y, nullptr, nullptr); // in the end all have left
        }
        const int scored = y - reach;
        if (scored < 0 || scored >= height) continue;
        windows.score_row(scored, reciprocal, [&](int x, float c) {
            space.c_values.push_back(c);
            if (heat_map.empty()) return;
            const size_t i = static_cast<size_t>(scored) * static_cast<size_t>(width) + static_cast<size_t>(x);
            heat_map[i / 4] |= uint64_t{heat(c, full_heat)} << (16 * (i % 4));
        });
    }
}

} // namespace

void score_cpu_rows(const FrameGeometry& geometry, const Settings& settings, const Analysis& analysis,
                    const HostPlane& luma, std::span<uint64_t> sums, std::span<uint64_t> heat_maps,
                    RowWorkspaces& workspaces) {
    std::fill(sums.begin(), sums.end(), uint64_t{0});
    if (settings.nothing_visible()) return;
    const auto lease = workspaces.borrow();
    RowWorkspace& space = *lease;
    for (int scale = 0; scale < kScales; ++scale) {
        ScaleTask task{settings, settings.scale_width(analysis, scale), settings.scale_height(analysis, scale),
                       analysis.window, nullptr};
        if (scale + 1 < kScales) {
            task.next = &space.scales[(scale + 1) % 2];
            task.next->fit((task.width + 1) / 2, (task.height + 1) / 2);
        }
        if (scale == 0) {
            PictureRows rows(geometry, settings, analysis, luma, space);
            score_scale(task, rows, space, heat_maps);
        } else {
            StoredRows rows(space.scales[scale % 2]);
            score_scale(task, rows, space, heat_maps);
        }
        sums[static_cast<size_t>(scale * kWordsPerScale + kActivePixels)] = space.c_values.size();
        sums[static_cast<size_t>(scale * kWordsPerScale + kPooledSum)] =
            sum_of_largest(space.c_values, settings.pooled_pixels(analysis, scale));
        if (!heat_maps.empty()) heat_maps = heat_maps.subspan(heat_map_words(task.width, task.height));
    }
}

} // namespace qc::cambi
