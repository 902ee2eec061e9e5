// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2 on the CPU, fast: what ssimulacra2_cpu.cpp computes, row by row. A row of level 0 becomes linear RGB, is
// taken to XYB and blurred along the row; once the rows below it have arrived it is blurred across rows and pooled.
// Every second row yields one of the next level. So a level keeps a few rows only, whatever the size of the picture.
// Roots are Newton's, variances are made of differences, and sums have an order of their own: equal to some 1e-12.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "device/cpu_clones.hpp"
#include "metrics/ssimulacra2/ssimulacra2.hpp"

namespace qc::ssimulacra2 {
namespace {

using Row = std::vector<double>;

/// Rows that are blurred carry this many zeros on both sides.
constexpr int kMargin = kMaxRadius;

// ---- roots ----------------------------------------------------------------------------------------------------------

// Newton's start for the n-th root: the exponent divided by n. Bits of a float are, up to a constant, its logarithm.
QC_INLINE_HELPER float root_start(double value, uint32_t divisor, uint32_t offset) {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(value)) / divisor + offset);
}

/// Keeps the start away from denormals; far below the last place of what any code but black becomes. Its cube root,
/// 5e-13, is as good as that of 0.
constexpr double kTiniest = 1e-37;

/// Three steps of Halley's iteration, each of which triples the number of right digits: from 3 % to the last place.
QC_INLINE_HELPER double cube_root(double argument) {
    const double value = argument + kTiniest;
    double root = static_cast<double>(root_start(value, 3, 0x2a513700u));
    for (int step = 0; step < 3; ++step) {
        const double cube = root * root * root;
        root = root * ((cube + 2.0 * value) / (2.0 * cube + value));
    }
    return root;
}

QC_INLINE_HELPER double fifth_root(double argument) {
    const double value = argument + kTiniest;
    double root = static_cast<double>(root_start(value, 5, 0x32c9a000u));
    for (int step = 0; step < 3; ++step) {
        const double square = root * root, power = square * square * root;
        root = root * ((2.0 * power + 3.0 * value) / (3.0 * power + 2.0 * value));
    }
    return root;
}

// ---- from codes to linear RGB ---------------------------------------------------------------------------------------

QC_CPU_CLONES void codes_from_u8(const uint8_t* from, int count, double low, double high, double* to) {
    for (int i = 0; i < count; ++i) to[i] = std::min(std::max(static_cast<double>(from[i]), low), high);
}

QC_CPU_CLONES void codes_from_u16(const uint16_t* from, int count, double low, double high, double* to) {
    for (int i = 0; i < count; ++i) to[i] = std::min(std::max(static_cast<double>(from[i]), low), high);
}

/// to[2 i] and to[2 i + 1] from the chroma samples around i; `from` is padded by two samples on both sides.
QC_CPU_CLONES void double_row(const double* from, int count, const ChromaTaps<double>* even,
                              const ChromaTaps<double>* odd, double* to) {
    for (int i = 0; i < count; ++i) {
        const double* const a = from + i + even->first;
        const double* const b = from + i + odd->first;
        to[2 * i] = even->weight[0] * a[0] + even->weight[1] * a[1] + even->weight[2] * a[2] + even->weight[3] * a[3];
        to[2 * i + 1] = odd->weight[0] * b[0] + odd->weight[1] * b[1] + odd->weight[2] * b[2] + odd->weight[3] * b[3];
    }
}

QC_CPU_CLONES void weigh_rows(const double* const* rows, const double* weight, int count, double* to) {
    const double *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    for (int i = 0; i < count; ++i) to[i] = weight[0] * a[i] + weight[1] * b[i] + weight[2] * c[i] + weight[3] * d[i];
}

/// One of R'G'B', clipped to [low, high].
QC_CPU_CLONES void mix_planes(const double* const* plane, const double* matrix, const double* origin, double low,
                              double high, int count, double* to) {
    const double *a = plane[0], *b = plane[1], *c = plane[2];
    for (int i = 0; i < count; ++i) {
        const double mixed =
            matrix[0] * (a[i] - origin[0]) + matrix[1] * (b[i] - origin[1]) + matrix[2] * (c[i] - origin[2]);
        to[i] = std::min(std::max(mixed, low), high);
    }
}

/// v ^ (kFifths / 5), for negative values by odd symmetry.
template <int kFifths>
QC_INLINE_HELPER void raise_by(double* row, int count) {
    for (int i = 0; i < count; ++i) {
        const double value = std::abs(row[i]), root = fifth_root(value);
        double power = value * value * root;
        for (int k = 11; k < kFifths; ++k) power = power * root;
        row[i] = std::copysign(power, row[i]);
    }
}

QC_CPU_CLONES void raise_row(double* row, int count, double exponent) {
    if (exponent == 2.2)
        raise_by<11>(row, count);
    else if (exponent == 2.4)
        raise_by<12>(row, count);
    else
        raise_by<14>(row, count);
}

QC_CPU_CLONES void srgb_row(double* row, int count) {
    for (int i = 0; i < count; ++i) {
        const double value = std::abs(row[i]), shifted = (value + 0.055) / 1.055, root = fifth_root(shifted);
        const double power = shifted * shifted * (root * root), toe = value / 12.92;
        const double in_toe = value <= 0.04045 ? 1.0 : 0.0;
        row[i] = std::copysign(in_toe * toe + (1.0 - in_toe) * power, row[i]);
    }
}

double bt709_to_linear(double value) {
    return value < 0.081 ? value / 4.5 : std::pow((value + 0.099) / 1.099, 1.0 / 0.45);
}

/// SMPTE ST 2084, relative to 10000 cd/m2.
double pq_to_linear(double value) {
    constexpr double kM1 = 2610.0 / 16384.0, kM2 = 2523.0 / 32.0;
    constexpr double kC1 = 3424.0 / 4096.0, kC2 = 2413.0 / 128.0, kC3 = 2392.0 / 128.0;
    const double root = std::pow(value, 1.0 / kM2);
    return std::pow(std::max(root - kC1, 0.0) / (kC2 - kC3 * root), 1.0 / kM1);
}

/// Scene light of ARIB STD-B67, 0 to 1.
double hlg_to_scene(double value) {
    constexpr double kA = 0.17883277, kB = 0.28466892, kC = 0.55991073;
    return value <= 0.5 ? value * value / 3.0 : (std::exp((value - kC) / kA) + kB) / 12.0;
}

template <typename Curve>
void apply_curve(double* row, int count, Curve curve) {
    for (int i = 0; i < count; ++i) row[i] = std::copysign(curve(std::abs(row[i])), row[i]);
}

/// Display light for 1000 cd/m2, from R'G'B': each component is brightened by the scene's luminance to the power 0.2.
void hlg_rows(double* const* rgb, int count, double scale) {
    constexpr double kGamma = 1.2;
    for (int c = 0; c < 3; ++c) apply_curve(rgb[c], count, hlg_to_scene);
    for (int i = 0; i < count; ++i) {
        const double luminance = 0.2627 * rgb[0][i] + 0.6780 * rgb[1][i] + 0.0593 * rgb[2][i];
        const double gain = scale * std::pow(std::max(luminance, 0.0), kGamma - 1.0);
        for (int c = 0; c < 3; ++c) rgb[c][i] *= gain;
    }
}

void linearise(const ColourConversion<double>& conversion, double* const* rgb, int count) {
    if (conversion.transfer == Transfer::kHlg) return hlg_rows(rgb, count, conversion.light_scale);
    for (int c = 0; c < 3; ++c) {
        switch (conversion.transfer) {
        case Transfer::kPower:
            raise_row(rgb[c], count, conversion.exponent);
            break;
        case Transfer::kSrgb:
            srgb_row(rgb[c], count);
            break;
        case Transfer::kBt709:
            apply_curve(rgb[c], count, bt709_to_linear);
            break;
        case Transfer::kPq:
            apply_curve(rgb[c], count, [&](double value) { return conversion.light_scale * pq_to_linear(value); });
            break;
        case Transfer::kLinear:
        case Transfer::kHlg:
            break;
        }
    }
}

QC_CPU_CLONES void change_primaries(const double* matrix, double* red, double* green, double* blue, int count) {
    for (int i = 0; i < count; ++i) {
        const double r = red[i], g = green[i], b = blue[i];
        red[i] = matrix[0] * r + matrix[1] * g + matrix[2] * b;
        green[i] = matrix[3] * r + matrix[4] * g + matrix[5] * b;
        blue[i] = matrix[6] * r + matrix[7] * g + matrix[8] * b;
    }
}

/// Reads rows of a picture as linear RGB.
class LinearReader {
public:
    void open(const HostPicture& picture, const FrameGeometry& geometry, const ColourConversion<double>& conversion) {
        picture_ = &picture;
        geometry_ = &geometry;
        conversion_ = &conversion;
        for (int p = 0; p < conversion.planes; ++p) codes_[p].resize(static_cast<size_t>(geometry.width) + 1);
        const auto padded = static_cast<size_t>(geometry.stored_width(1)) + 2 * kPadding;
        for (Row& row : chroma_rows_) row.resize(padded);
        weighed_.resize(padded);
        for (int parity = 0; parity < 2; ++parity)
            taps_[parity] = chroma_taps<double>(conversion.chroma_filter, conversion.axis_x.centred, parity);
    }

    void read(int y, double* const* rgb) {
        const ColourConversion<double>& conversion = *conversion_;
        const int width = geometry_->width;
        read_codes(0, y, codes_[0].data());
        for (int p = 1; p < conversion.planes; ++p) read_chroma(p, y);
        const double* planes[3] = {codes_[0].data(), codes_[0].data(), codes_[0].data()};
        for (int p = 1; p < conversion.planes; ++p) planes[p] = codes_[p].data();
        const double low = conversion.gamut == Gamut::kExtend ? -HUGE_VAL : 0.0;
        const double high = conversion.gamut == Gamut::kClip ? 1.0 : HUGE_VAL;
        for (int c = 0; c < 3; ++c)
            mix_planes(planes, conversion.matrix[c], conversion.origin, low, high, width, rgb[c]);
        linearise(conversion, rgb, width);
        if (conversion.convert_primaries != 0)
            change_primaries(&conversion.primaries[0][0], rgb[0], rgb[1], rgb[2], width);
    }

private:
    static constexpr int kPadding = 3;

    void read_codes(int plane, int y, double* to) const {
        const HostPlane& host = picture_->plane[plane];
        const bool clamp = conversion_->clamp_codes != 0;
        const double low = clamp ? conversion_->code_low[plane] : 0.0;
        const double high = clamp ? conversion_->code_high[plane] : 65535.0;
        const int width = geometry_->stored_width(plane);
        if (geometry_->sample == SampleType::kU8)
            codes_from_u8(host.as<uint8_t>().row(y), width, low, high, to);
        else
            codes_from_u16(host.as<uint16_t>().row(y), width, low, high, to);
    }

    /// Row y of a chroma plane at the size of luma.
    void read_chroma(int plane, int y) {
        const int width = geometry_->stored_width(plane);
        double* const samples = weighed_.data() + kPadding;
        if (conversion_->axis_y.log2_factor == 0) {
            read_codes(plane, y, samples);
        } else {
            const auto taps = chroma_taps<double>(conversion_->chroma_filter, conversion_->axis_y.centred, y);
            const double* rows[4];
            for (int i = 0; i < 4; ++i) {
                read_codes(plane, std::clamp(taps.first + i, 0, geometry_->stored_height(plane) - 1),
                           chroma_rows_[i].data());
                rows[i] = chroma_rows_[i].data();
            }
            weigh_rows(rows, taps.weight, width, samples);
        }
        if (conversion_->axis_x.log2_factor == 0) {
            std::copy(samples, samples + width, codes_[plane].data());
            return;
        }
        for (int i = 1; i <= kPadding; ++i) {
            samples[-i] = samples[0];
            samples[width - 1 + i] = samples[width - 1];
        }
        double_row(samples, width, &taps_[0], &taps_[1], codes_[plane].data());
    }

    const HostPicture* picture_ = nullptr;
    const FrameGeometry* geometry_ = nullptr;
    const ColourConversion<double>* conversion_ = nullptr;
    Row codes_[3], chroma_rows_[4], weighed_;
    ChromaTaps<double> taps_[2]{};
};

// ---- rows of a level ------------------------------------------------------------------------------------------------

/// Cube roots of cone k's responses.
QC_CPU_CLONES void cone_row(int k, const double* red, const double* green, const double* blue, int count,
                            double* __restrict to) {
    for (int i = 0; i < count; ++i) to[i] = cube_root(cone(k, red[i], green[i], blue[i]));
}

/// In place: from cube roots to X, Y and B.
QC_CPU_CLONES void xyb_row(double* __restrict x, double* __restrict y, double* __restrict b, int count) {
    for (int i = 0; i < count; ++i) {
        double pixel[kChannels];
        xyb_of_roots(x[i], y[i], b[i], pixel);
        x[i] = pixel[kX];
        y[i] = pixel[kY];
        b[i] = pixel[kB];
    }
}

/// Mean of two rows' 2x2 blocks. The last column of an odd width counts twice.
QC_CPU_CLONES void halve_rows(const double* upper, const double* lower, int width, double* to) {
    for (int i = 0; i < width / 2; ++i)
        to[i] = 0.25 * ((upper[2 * i] + upper[2 * i + 1]) + (lower[2 * i] + lower[2 * i + 1]));
    if (width % 2 == 1) {
        const int last = width - 1;
        to[width / 2] = 0.25 * ((upper[last] + upper[last]) + (lower[last] + lower[last]));
    }
}

QC_CPU_CLONES void products_row(const double* reference, const double* distorted, int count, double* squared_difference,
                                double* squares) {
    for (int i = 0; i < count; ++i) {
        const double a = reference[i], d = distorted[i], difference = a - d;
        squared_difference[i] = difference * difference;
        squares[i] = a * a + d * d;
    }
}

template <int kRadius>
QC_INLINE_HELPER void blur_along(const double* from, const double* tap, int count, double* to) {
    for (int i = 0; i < count; ++i) {
        double sum = tap[0] * from[i];
        for (int k = 1; k <= kRadius; ++k) sum += tap[k] * (from[i - k] + from[i + k]);
        to[i] = sum;
    }
}

/// Along a row that has margins of zeros.
QC_CPU_CLONES void blur_row(const double* from, const double* tap, int radius, int count, double* to) {
    if (radius == 4)
        blur_along<4>(from, tap, count, to);
    else
        blur_along<kMaxRadius>(from, tap, count, to);
}

template <int kRadius>
QC_INLINE_HELPER void blur_across(const double* const* rows, const double* tap, double scale, int count, double* to) {
    const double* const* const centre = rows + kMaxRadius;
    for (int i = 0; i < count; ++i) {
        double sum = tap[0] * centre[0][i];
        for (int k = 1; k <= kRadius; ++k) sum += tap[k] * (centre[-k][i] + centre[k][i]);
        to[i] = scale * sum;
    }
}

/// Across rows[0 .. 2 kMaxRadius].
QC_CPU_CLONES void blur_rows(const double* const* rows, const double* tap, int radius, double scale, int count,
                             double* to) {
    if (radius == 4)
        blur_across<4>(rows, tap, scale, count, to);
    else
        blur_across<kMaxRadius>(rows, tap, scale, count, to);
}

QC_CPU_CLONES void scale_row(double* row, const double* factors, int count) {
    for (int i = 0; i < count; ++i) row[i] *= factors[i];
}

/// What a level keeps of a channel for each row, blurred along the row.
enum Blurred { kReferenceMean, kDistortedMean, kSquaredDifference, kSquares, kBlurredRows };

QC_CPU_CLONES void structure_row(const double* const* blurred, int count, double* map) {
    const double *mean1 = blurred[kReferenceMean], *mean2 = blurred[kDistortedMean];
    const double *squared_difference = blurred[kSquaredDifference], *squares = blurred[kSquares];
    for (int i = 0; i < count; ++i) {
        const double difference = mean1[i] - mean2[i];
        map[i] = structural_error(difference, squared_difference[i] - difference * difference,
                                  squares[i] - (mean1[i] * mean1[i] + mean2[i] * mean2[i]));
    }
}

QC_CPU_CLONES void edge_row(const double* reference, const double* distorted, const double* const* blurred, int count,
                            double* artifact, double* detail) {
    const double *mean1 = blurred[kReferenceMean], *mean2 = blurred[kDistortedMean];
    for (int i = 0; i < count; ++i) {
        const double change = edge_change(std::abs(reference[i] - mean1[i]), std::abs(distorted[i] - mean2[i]));
        artifact[i] = std::max(change, 0.0);
        detail[i] = std::max(-change, 0.0);
    }
}

/// Running sums of a map and of its fourth power, in a fixed order: pixel x adds to lane x % kLanes.
struct LaneSums {
    static constexpr int kLanes = 8;
    double first[kLanes], fourth[kLanes];

    static double total(const double* lane) {
        return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    }
};

QC_CPU_CLONES void add_row(const double* map, int count, LaneSums* sums) {
    constexpr int kLanes = LaneSums::kLanes;
    double first[kLanes], fourth[kLanes];
    for (int l = 0; l < kLanes; ++l) {
        first[l] = sums->first[l];
        fourth[l] = sums->fourth[l];
    }
    int i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (int l = 0; l < kLanes; ++l) {
            const double value = map[i + l], square = value * value;
            first[l] += value;
            fourth[l] += square * square;
        }
    for (int l = 0; i + l < count; ++l) {
        const double value = map[i + l], square = value * value;
        first[l] += value;
        fourth[l] += square * square;
    }
    for (int l = 0; l < kLanes; ++l) {
        sums->first[l] = first[l];
        sums->fourth[l] = fourth[l];
    }
}

// ---- levels ---------------------------------------------------------------------------------------------------------

/// One channel of a level: the latest rows of both pictures, and the sums so far.
class ChannelRows {
public:
    void open(const BlurKernel<double>& blur, LevelSize size, uint8_t needed) {
        blur_ = &blur;
        size_ = size;
        needed_ = needed;
        for (LaneSums& sums : sums_) sums = {};
        if (needed == 0) return;
        rows_ = 2 * blur.radius + 1;
        const auto width = static_cast<size_t>(size.width);
        for (Row& row : samples_) row.resize(width * static_cast<size_t>(rows_));
        for (int b = 0; b < blurred_count(); ++b) blurred_[b].resize(width * static_cast<size_t>(rows_));
        for (Row& row : result_) row.resize(width);
        for (Row& row : maps_) row.resize(width);
        for (Row& row : products_) row.assign(width + 2 * kMargin, 0.0);
        zeros_.assign(width, 0.0);
        inverse_mass_.clear();
        if (blur.renormalise == 0) return;
        for (int x = 0; x < size.width; ++x) inverse_mass_.push_back(1.0 / mass_inside(x, size.width));
    }

    /// Takes row y of both pictures; both have margins of zeros.
    void push(int y, const double* reference, const double* distorted) {
        if (needed_ == 0) return;
        std::copy(reference, reference + size_.width, stored(samples_[0], y));
        std::copy(distorted, distorted + size_.width, stored(samples_[1], y));
        blur_into(kReferenceMean, y, reference);
        blur_into(kDistortedMean, y, distorted);
        if (blurred_count() > kSquaredDifference) {
            double* const difference = products_[0].data() + kMargin;
            double* const squares = products_[1].data() + kMargin;
            products_row(reference, distorted, size_.width, difference, squares);
            blur_into(kSquaredDifference, y, difference);
            blur_into(kSquares, y, squares);
        }
        if (y >= blur_->radius) pool(y - blur_->radius);
        if (y + 1 < size_.height) return;
        for (int last = std::max(0, size_.height - blur_->radius); last < size_.height; ++last) pool(last);
    }

    void write(uint64_t* terms) const {
        for (int map = 0; map < kMaps; ++map) {
            write_term(terms, term_index(kFirst, map), LaneSums::total(sums_[map].first));
            write_term(terms, term_index(kFourth, map), LaneSums::total(sums_[map].fourth));
        }
    }

private:
    int blurred_count() const { return needs_structure(needed_) ? kBlurredRows : kSquaredDifference; }

    double* stored(Row& rows, int y) const { return rows.data() + static_cast<ptrdiff_t>(y % rows_) * size_.width; }

    double mass_inside(int position, int length) const {
        double mass = 0.0;
        for (int k = -blur_->radius; k <= blur_->radius; ++k)
            if (position + k >= 0 && position + k < length) mass += blur_->tap[std::abs(k)];
        return mass;
    }

    void blur_into(Blurred which, int y, const double* row) {
        double* const to = stored(blurred_[which], y);
        blur_row(row, blur_->tap, blur_->radius, size_.width, to);
        if (!inverse_mass_.empty()) scale_row(to, inverse_mass_.data(), size_.width);
    }

    /// Maps of row y, whose neighbours have all arrived.
    void pool(int y) {
        const double* blurred[kBlurredRows] = {};
        const double scale = blur_->renormalise == 0 ? 1.0 : 1.0 / mass_inside(y, size_.height);
        for (int b = 0; b < blurred_count(); ++b) {
            const double* rows[2 * kMaxRadius + 1];
            for (int k = -blur_->radius; k <= blur_->radius; ++k) {
                const bool inside = y + k >= 0 && y + k < size_.height;
                rows[kMaxRadius + k] = inside ? stored(blurred_[b], y + k) : zeros_.data();
            }
            blur_rows(rows, blur_->tap, blur_->radius, scale, size_.width, result_[b].data());
            blurred[b] = result_[b].data();
        }
        if (needs_structure(needed_)) {
            structure_row(blurred, size_.width, maps_[kStructure].data());
            add_row(maps_[kStructure].data(), size_.width, &sums_[kStructure]);
        }
        if (!needs_edges(needed_)) return;
        edge_row(stored(samples_[0], y), stored(samples_[1], y), blurred, size_.width, maps_[kArtifact].data(),
                 maps_[kDetail].data());
        add_row(maps_[kArtifact].data(), size_.width, &sums_[kArtifact]);
        add_row(maps_[kDetail].data(), size_.width, &sums_[kDetail]);
    }

    void write_term(uint64_t* terms, int term, double sum) const {
        if ((needed_ >> term & 1) != 0) terms[term] = std::bit_cast<uint64_t>(sum);
    }

    const BlurKernel<double>* blur_ = nullptr;
    LevelSize size_{};
    uint8_t needed_ = 0;
    int rows_ = 0;
    Row samples_[2], blurred_[kBlurredRows]; ///< rings of rows_ rows
    Row result_[kBlurredRows], maps_[kMaps], products_[2], zeros_, inverse_mass_;
    LaneSums sums_[kMaps];
};

/// A level: makes XYB of linear rows, feeds its channels, and hands every second row on.
class LevelRows {
public:
    void open(const Plan& plan, int level, LevelRows* next) {
        size_ = plan.level[level];
        next_ = next;
        for (int c = 0; c < kChannels; ++c) channels_[c].open(plan.blur, size_, plan.needed[level][c]);
        const auto width = static_cast<size_t>(size_.width);
        for (auto& picture : linear_)
            for (auto& row : picture)
                for (Row& component : row) component.resize(width);
        for (auto& picture : xyb_)
            for (Row& component : picture) component.assign(width + 2 * kMargin, 0.0);
    }

    /// Where row y of the pictures' linear RGB has to be put before push(y).
    double* linear(int picture, int y, int component) { return linear_[picture][y % 2][component].data(); }

    void push(int y) {
        for (int i = 0; i < 2; ++i) {
            for (int k = 0; k < 3; ++k)
                cone_row(k, linear(i, y, 0), linear(i, y, 1), linear(i, y, 2), size_.width, xyb_row_of(i, k));
            xyb_row(xyb_row_of(i, kX), xyb_row_of(i, kY), xyb_row_of(i, kB), size_.width);
        }
        for (int c = 0; c < kChannels; ++c) channels_[c].push(y, xyb_row_of(0, c), xyb_row_of(1, c));
        const bool last = y + 1 == size_.height;
        if (next_ == nullptr || (y % 2 == 0 && !last)) return;
        const int upper = y - y % 2; // the last row of an odd height counts twice
        for (int i = 0; i < 2; ++i)
            for (int component = 0; component < 3; ++component)
                halve_rows(linear(i, upper, component), linear(i, y, component), size_.width,
                           next_->linear(i, y / 2, component));
        next_->push(y / 2);
    }

    const ChannelRows& channel(int c) const { return channels_[c]; }

private:
    double* xyb_row_of(int picture, int channel) { return xyb_[picture][channel].data() + kMargin; }

    LevelSize size_{};
    LevelRows* next_ = nullptr;
    Row linear_[2][2][3]; ///< [picture][parity of the row][component]
    Row xyb_[2][kChannels];
    ChannelRows channels_[kChannels];
};

} // namespace

struct RowWorkspace {
    LinearReader reader[2];
    LevelRows level[kMaxLevels];
};

void score_cpu_rows(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair,
                    std::span<uint64_t> accumulators, RowWorkspaces& workspaces) {
    const auto lease = workspaces.borrow();
    RowWorkspace& workspace = *lease;
    workspace.reader[0].open(pair.reference, geometry, plan.reference);
    workspace.reader[1].open(pair.distorted, geometry, plan.distorted);
    for (int level = 0; level < plan.levels; ++level)
        workspace.level[level].open(plan, level, level + 1 < plan.levels ? &workspace.level[level + 1] : nullptr);
    LevelRows& first = workspace.level[0];
    for (int y = 0; y < geometry.height; ++y) {
        for (int i = 0; i < 2; ++i) {
            double* const rgb[3] = {first.linear(i, y, 0), first.linear(i, y, 1), first.linear(i, y, 2)};
            workspace.reader[i].read(y, rgb);
        }
        first.push(y);
    }
    for (int level = 0; level < plan.levels; ++level)
        for (int c = 0; c < kChannels; ++c)
            workspace.level[level].channel(c).write(accumulators.data() + norm_index(plan.levels, c, level, 0));
}

} // namespace qc::ssimulacra2
