// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI on the CPU: the readable reference.
//
//     picture -> nearest samples, 10 bits -> anti-dither filter -> spatial mask
//     for each scale
//         every second sample of image and mask (at scale 0 only for half-size analysis)
//         mode filter of the image
//         c-values: in a window around each pixel, count the samples of its value and of values some codes away
//         pooling: sum of the largest c-values
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "device/cpu_clones.hpp"
#include "metrics/cambi/cambi.hpp"
#include "metrics/cambi/cambi_row_steps.hpp"

namespace qc::cambi {
namespace {

/// Samples of the analysis, and whether the spatial mask takes them in (1) or not (0).
struct Image {
    int width = 0, height = 0;
    std::vector<uint16_t> samples;
    std::vector<uint8_t> mask;

    uint16_t* row(int y) { return samples.data() + static_cast<size_t>(y) * static_cast<size_t>(width); }
    const uint16_t* row(int y) const { return samples.data() + static_cast<size_t>(y) * static_cast<size_t>(width); }
    uint8_t* mask_row(int y) { return mask.data() + static_cast<size_t>(y) * static_cast<size_t>(width); }
    const uint8_t* mask_row(int y) const { return mask.data() + static_cast<size_t>(y) * static_cast<size_t>(width); }
};

// ---- picture to image -----------------------------------------------------------------------------------------------

void anti_dither(Image* image) {
    for (int y = 0; y < image->height; ++y) {
        const uint16_t* row = image->row(y);
        const uint16_t* below = image->row(std::min(y + 1, image->height - 1));
        const std::vector<uint16_t> copies[2] = {{row, row + image->width}, {below, below + image->width}};
        anti_dither_row(copies[0].data(), copies[1].data(), image->row(y), image->width);
    }
}

// ---- spatial mask ---------------------------------------------------------------------------------------------------

void make_mask(Image* image, int limit) {
    const int width = image->width, height = image->height;
    const auto row_size = static_cast<size_t>(width);
    // The flags of the last kMaskSide rows, row y in place y % kMaskSide, and their sums by column.
    std::vector<uint8_t> flags(kMaskSide * row_size);
    std::vector<uint8_t> columns(row_size + 2 * kMaskReach);
    uint8_t* const sums = columns.data() + kMaskReach;
    image->mask.resize(image->samples.size());
    const auto flag_row = [&](int y) { return flags.data() + static_cast<size_t>(y % kMaskSide) * row_size; };
    for (int y = -kMaskReach; y < height; ++y) {
        const int entering = y + kMaskReach, leaving = y - kMaskReach - 1;
        if (leaving >= 0) subtract_row(sums, flag_row(leaving), width);
        if (entering < height) {
            flat_row(image->row(entering), image->row(std::min(entering + 1, height - 1)), flag_row(entering), width);
            add_row(sums, flag_row(entering), width);
        }
        if (y >= 0) mask_row(columns.data(), image->mask_row(y), width, limit);
    }
}

// ---- scales ---------------------------------------------------------------------------------------------------------

void decimate(Image* image) {
    const int width = (image->width + 1) / 2, height = (image->height + 1) / 2;
    for (int y = 0; y < height; ++y) {
        const size_t target = static_cast<size_t>(y) * static_cast<size_t>(width);
        halve_row(image->row(2 * y), image->mask_row(2 * y), width, image->samples.data() + target,
                  image->mask.data() + target);
    }
    image->width = width;
    image->height = height;
    image->samples.resize(static_cast<size_t>(width) * static_cast<size_t>(height));
    image->mask.resize(image->samples.size());
}

/// Along the rows, then down the columns. The first and last column are filtered downwards only, the first and last row
/// not at all.
void mode_filter(Image* image) {
    const int width = image->width, height = image->height;
    std::vector<uint16_t> filtered(image->samples);
    const auto filtered_row = [&](int y) {
        return filtered.data() + static_cast<size_t>(y) * static_cast<size_t>(width);
    };
    for (int y = 0; y < height && width > 2; ++y) {
        const uint16_t* row = image->row(y);
        mode_row(row, row + 1, row + 2, filtered_row(y) + 1, width - 2);
    }
    for (int y = 1; y < height - 1; ++y)
        mode_row(filtered_row(y - 1), filtered_row(y), filtered_row(y + 1), image->row(y), width);
}

// ---- c-values -------------------------------------------------------------------------------------------------------

/// A column lies in the windows of all pixels up to half a window away.
QC_INLINE_HELPER void add_to_windows(uint16_t* counts, int window, int change) {
    for (int i = 0; i < window; ++i) counts[i] = static_cast<uint16_t>(counts[i] + change);
}

/// Moves the windows of a row down: `entering` and `leaving` are places, by column, or kNotCounted.
QC_CPU_CLONES void move_windows(uint16_t* counts, size_t stride, int window, const uint16_t* entering,
                                const uint16_t* leaving, int width) {
    for (int x = 0; x < width; ++x) {
        if (entering[x] == leaving[x]) continue;
        if (entering[x] != kNotCounted) add_to_windows(counts + entering[x] * stride + x, window, 1);
        if (leaving[x] != kNotCounted) add_to_windows(counts + leaving[x] * stride + x, window, -1);
    }
}

/// For each value and column, how often the value stands in the window around the column's pixel in the current row.
/// Counted are the values first - differences .. last + differences: no other plays a part.
class WindowCounts {
public:
    WindowCounts(const Settings& settings, int width, int window)
        : origin_(settings.first - settings.differences),
          values_(settings.last - settings.first + 1 + 2 * settings.differences), width_(width), window_(window),
          stride_(static_cast<size_t>(width + window - 1)), counts_(stride_ * static_cast<size_t>(values_)) {}

    /// Place of a sample's value, below values() if it is counted.
    int place(int sample) const { return sample - origin_; }
    int origin() const { return origin_; }
    int values() const { return values_; }

    void move(const uint16_t* entering, const uint16_t* leaving) {
        move_windows(counts_.data(), stride_, window_, entering, leaving, width_);
    }

    /// Counts in the window around column x of the value at `place` of values.
    int at(int place, int x) const {
        return counts_[static_cast<size_t>(place) * stride_ + static_cast<size_t>(x + window_ / 2)];
    }

private:
    int origin_, values_, width_, window_;
    size_t stride_;
    std::vector<uint16_t> counts_;
};

/// c-value of a masked-in pixel whose sample is in first .. last.
float c_value(const Settings& settings, const WindowCounts& counts, std::span<const float> reciprocal, int sample,
              int x) {
    const int nd = settings.differences;
    const int place = counts.place(sample);
    const int own = counts.at(place, x);
    float c = 0.0f;
    for (int d = 1; d <= nd; ++d) {
        // The dark limit is held against a sample brighter by the number of differences, as in libvmaf.
        if (sample > settings.brightest[static_cast<size_t>(d)] || sample + nd + d <= settings.dark_limit) continue;
        const int other = std::max(counts.at(place + d, x), counts.at(place - d, x));
        c = std::max(c, contrast(contrast_weight(d), static_cast<float>(own), static_cast<float>(other),
                                 reciprocal[static_cast<size_t>(own + other)]));
    }
    return c;
}

/// Calls `visit(x, y, c)` for every pixel whose c-value is not 0.
template <typename Visit>
void for_each_c_value(const Settings& settings, const Image& image, int window, const Visit& visit) {
    if (settings.nothing_visible()) return;
    const int width = image.width, height = image.height, reach = window / 2;
    WindowCounts counts(settings, width, window);
    std::vector<uint16_t> places(image.samples.size());
    find_places(image.samples.data(), image.mask.data(), places.size(), counts.origin(), counts.values(),
                places.data());
    const std::span<const float> reciprocal = reciprocals();
    const std::vector<uint16_t> nothing(static_cast<size_t>(width), kNotCounted);
    const auto place_row = [&](int y) {
        return y < 0 || y >= height ? nothing.data()
                                    : places.data() + static_cast<size_t>(y) * static_cast<size_t>(width);
    };
    for (int y = -reach; y < height; ++y) {
        counts.move(place_row(y + reach), place_row(y - reach - 1));
        if (y < 0) continue;
        const uint16_t* samples = image.row(y);
        const uint8_t* mask = image.mask_row(y);
        for (int x = 0; x < width; ++x) {
            if (mask[x] == 0 || samples[x] < settings.first || samples[x] > settings.last) continue;
            const float c = c_value(settings, counts, reciprocal, samples[x], x);
            if (c > 0.0f) visit(x, y, c);
        }
    }
}

} // namespace

std::span<const float> reciprocals() {
    // libvmaf's table was printed with nine digits, which are not always those of the nearest single-precision number.
    static const auto kTable = [] {
        std::array<float, kMaxWindow * kMaxWindow + 1> table{};
        char text[32];
        for (size_t i = 1; i < table.size(); ++i) {
            std::snprintf(text, sizeof text, "%.9g", 1.0 / static_cast<double>(i));
            table[i] = std::strtof(text, nullptr);
        }
        return table;
    }();
    return kTable;
}

namespace {

/// Calls `use(scale, image)` with the image of each scale, ready for its c-values.
void for_each_scale(const FrameGeometry& geometry, const Settings& settings, const Analysis& analysis,
                    const HostPlane& luma, const std::function<void(int, const Image&)>& use) {
    Image image;
    image.width = analysis.width;
    image.height = analysis.height;
    image.samples.resize(static_cast<size_t>(image.width) * static_cast<size_t>(image.height));
    for (int y = 0; y < image.height; ++y) analysed_row(luma, geometry, analysis, y, image.row(y));
    if (settings.anti_dither) anti_dither(&image);
    make_mask(&image, analysis.mask_limit);

    for (int scale = 0; scale < kScales; ++scale) {
        if (scale > 0 || settings.half_size) decimate(&image);
        mode_filter(&image);
        use(scale, image);
    }
}

} // namespace

void draw_cpu(const FrameGeometry& geometry, const Settings& settings, const HostPlane& luma, Plane<float> values) {
    const Analysis& analysis = settings.distorted;
    const int halving = settings.half_size ? 1 : 0;
    for (int y = 0; y < values.height; ++y) std::fill_n(values.row(y), values.width, 0.0f);
    for_each_scale(geometry, settings, analysis, luma, [&](int scale, const Image& image) {
        std::vector<float> c_values(image.samples.size());
        for_each_c_value(settings, image, analysis.window, [&](int x, int y, float c) {
            c_values[static_cast<size_t>(y) * static_cast<size_t>(image.width) + static_cast<size_t>(x)] =
                from_short(short_c_value(c));
        });
        const float weight = scale_weight(scale, analysis.window);
        for (int y = 0; y < values.height; ++y)
            for (int x = 0; x < values.width; ++x) {
                const int column = analysed_sample(x, values.width, analysis.width, halving) >> scale;
                const int row = analysed_sample(y, values.height, analysis.height, halving) >> scale;
                const float c =
                    c_values[static_cast<size_t>(row) * static_cast<size_t>(image.width) + static_cast<size_t>(column)];
                values.at(x, y) = values.at(x, y) + weight * c;
            }
    });
}

void score_cpu(const FrameGeometry& geometry, const Settings& settings, const Analysis& analysis, const HostPlane& luma,
               std::span<uint64_t> sums, std::span<uint64_t> heat_maps) {
    std::vector<float> c_values;
    for_each_scale(geometry, settings, analysis, luma, [&](int scale, const Image& image) {
        c_values.clear();
        for_each_c_value(settings, image, analysis.window, [&](int x, int y, float c) {
            c_values.push_back(c);
            if (heat_maps.empty()) return;
            const size_t i = static_cast<size_t>(y) * static_cast<size_t>(image.width) + static_cast<size_t>(x);
            heat_maps[i / 4] |= uint64_t{heat(c, settings.full_heat())} << (16 * (i % 4));
        });
        sums[static_cast<size_t>(scale * kWordsPerScale + kActivePixels)] = c_values.size();
        sums[static_cast<size_t>(scale * kWordsPerScale + kPooledSum)] =
            sum_of_largest(c_values, settings.pooled_pixels(analysis, scale));
        if (!heat_maps.empty()) heat_maps = heat_maps.subspan(heat_map_words(image.width, image.height));
    });
}

} // namespace qc::cambi
