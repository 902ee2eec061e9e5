// SPDX-License-Identifier: BSD-2-Clause-Patent
// Levels of the pyramid, bands of contrast and how sensitive the eye is in each; constants of the metric.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "contract/types.hpp"
#include "metrics/cvvdp/cvvdp_csf_table.hpp"
#include "metrics/cvvdp/cvvdp_settings.hpp"
#include "metrics/cvvdp/cvvdp_temporal.hpp"

namespace qc::cvvdp {

constexpr int kMaxBands = 16; ///< of 1000 pixels per degree: 14
constexpr int kSmallestSide = 2;

/// The offset of all powers and norms.
constexpr double kOffset = 1e-5;
constexpr double kSmallestBackground = 0.01; ///< cd/m2
constexpr double kLargestContrast = 1000.0;
constexpr double kDetailFactor = 2.0; ///< on contrast, in all bands but the finest and the baseband
constexpr double kGain[kChannels] = {1.0, 1.45, 1.0, 1.0};
constexpr double kSensitivityDecibels = -0.2797423303127289;
constexpr double kMaskingPower = 2.264355182647705;
constexpr double kMaskerPower[kChannels] = {1.302622675895691, 2.8885908126831055, 3.6807713508605957,
                                            3.588787317276001};
constexpr double kMaskerLog10 = -0.7954971194267273;
constexpr double kLargestLog10 = 2.5642454624176025; ///< of the largest difference
/// log2 of how much channel [row] masks channel [column].
constexpr double kCrossMasking[kChannels][kChannels] = {
    {-0.18950104713439941, -5.962151050567627, -4.31834602355957, -1.9321587085723877},
    {2.5655593872070312, 0.34406712651252747, -2.719646453857422, -0.4970424771308899},
    {3.8118371963500977, -1.0051705837249756, -0.5193376541137695, -0.5653647780418396},
    {-7.054771423339844, -5.527150630950928, -3.5106418132781982, -2.08804988861084}};
constexpr double kChannelWeight[kChannels] = {1.0, 1.0, 1.0, 0.8081134557723999};
constexpr double kBasebandWeight[kChannels] = {0.0036334486212581396, 1.6627724170684814, 4.11874532699585,
                                               25.25969886779785};
constexpr double kReduceTap[3] = {0.4, 0.25, 0.05};
constexpr int kBlurRadius = 6;
constexpr double kBlurSigma = 3.0;

/// x^p with an offset, and 0 for 0.
inline double offset_power(double x, double p) {
    return std::pow(x + kOffset, p) - std::pow(kOffset, p);
}

struct LevelSize {
    int width, height;
};

struct Plan {
    int width = 0, height = 0;
    bool has_weights = false;
    int bands = 1; ///< the last one is the baseband; as many levels
    std::array<LevelSize, kMaxBands> level{};
    std::array<double, kMaxBands> frequency{}; ///< cycles per degree
    /// log10 of the sensitivity: [band][channel][luminance].
    std::array<std::array<std::array<double, kCsfLuminances>, kChannels>, kMaxBands> sensitivity{};

    int baseband() const { return bands - 1; }
    int words() const { return (has_weights ? kChannels + 1 : kChannels) * bands; }
};

/// Sums of a frame: word of a channel's band. With weights their sums follow, as of one channel more.
QC_HD int word_of(int channel, int band, int bands) {
    return channel * bands + band;
}

inline std::array<double, kCsfLuminances> sensitivity_row(int channel, double frequency) {
    constexpr double kFirst = -1.0; // log10 of 0.1 cycles per degree
    const double step = (std::log10(64.0) - kFirst) / (kCsfFrequencies - 1);
    const double at = (std::log10(frequency) - kFirst) / step;
    // The last frequency of the table below this one; beyond its ends the line goes on.
    const int below = std::clamp(static_cast<int>(std::ceil(at)) - 1, 0, kCsfFrequencies - 2);
    std::array<double, kCsfLuminances> row{};
    for (int l = 0; l < kCsfLuminances; ++l) {
        const double* const table = &kCsf[(channel * kCsfLuminances + l) * kCsfFrequencies + below];
        row[static_cast<size_t>(l)] = table[0] + (table[1] - table[0]) * (at - below);
    }
    return row;
}

/// Frequency of band k if it is not the baseband.
inline double band_frequency(int k, double pixels_per_degree) {
    return k == 0 ? pixels_per_degree / 2.0 : 0.3228 * std::ldexp(1.0, 1 - k) * pixels_per_degree / 2.0;
}

inline Plan make_plan(const FrameGeometry& geometry, const Settings& settings) {
    constexpr double kLowest = 0.2, kBaseband = 0.1;
    Plan plan;
    plan.width = geometry.width;
    plan.height = geometry.height;
    plan.has_weights = geometry.has_weights;
    int enough = 0;
    while (band_frequency(enough, settings.pixels_per_degree) > kLowest) ++enough;
    const int smaller = std::min(geometry.width, geometry.height);
    int possible = -1; // one less than the largest power of two that fits into the picture
    while (smaller >> (possible + 2) > 0) ++possible;
    plan.bands = std::max(0, std::min(enough + 1, possible)) + 1;
    LevelSize size{geometry.width, geometry.height};
    for (int k = 0; k < plan.bands; ++k) {
        const auto band = static_cast<size_t>(k);
        plan.level[band] = size;
        size = {(size.width + 1) / 2, (size.height + 1) / 2};
        plan.frequency[band] = k == plan.baseband() ? kBaseband : band_frequency(k, settings.pixels_per_degree);
        for (int c = 0; c < kChannels; ++c)
            plan.sensitivity[band][static_cast<size_t>(c)] = sensitivity_row(c, plan.frequency[band]);
    }
    return plan;
}

/// What is multiplied onto a reduced row's last column: how much of the last sample and of the one before it is added
/// to the kernel's part inside the row. The reference goes by the parity of the height, which is right where it is the
/// width's too.
struct LastColumn {
    double last, before;
};
inline LastColumn last_column(const LevelSize& from, bool fixed_border) {
    const bool odd = (fixed_border ? from.width : from.height) % 2 != 0;
    return odd ? LastColumn{kReduceTap[1], kReduceTap[2]} : LastColumn{kReduceTap[2], 0.0};
}

/// Taps 0 to 6 of the blur of maskers.
inline std::array<double, kBlurRadius + 1> blur_taps() {
    std::array<double, kBlurRadius + 1> taps{};
    double sum = 0.0;
    for (int i = -kBlurRadius; i <= kBlurRadius; ++i) sum += std::exp(-i * i / (2.0 * kBlurSigma * kBlurSigma));
    for (int i = 0; i <= kBlurRadius; ++i)
        taps[static_cast<size_t>(i)] = std::exp(-i * i / (2.0 * kBlurSigma * kBlurSigma)) / sum;
    return taps;
}

/// Levels with a side of this or less are not blurred.
constexpr int kUnblurredSide = 6;

/// Light of R'G'B' to DKL, per primaries.
using Matrix3 = std::array<std::array<double, 3>, 3>;
inline Matrix3 dkl_matrix(Primaries primaries) {
    constexpr Matrix3 kLms{{{0.187596268556126, 0.585168649077728, -0.026384263306304},
                            {-0.133397430663221, 0.405505777260049, 0.034502127690364},
                            {0.000244379021663, -0.000542995890619, 0.019406849066323}}};
    constexpr Matrix3 kDkl{{{1, 1, 0}, {1, -2.311130179947035, 0}, {-1, -1, 50.977571328718781}}};
    constexpr Matrix3 kXyz[] = {
        {{{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}},
        {{{0.6370, 0.1446, 0.1689}, {0.2627, 0.6780, 0.0593}, {0, 0.0281, 1.0610}}},
        {{{0.4866, 0.2657, 0.1982}, {0.2290, 0.6917, 0.0793}, {0, 0.0451, 1.0437}}}};
    const auto product = [](const Matrix3& a, const Matrix3& b) {
        Matrix3 c{};
        for (size_t i = 0; i < 3; ++i)
            for (size_t j = 0; j < 3; ++j)
                for (size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
        return c;
    };
    return product(kDkl, product(kLms, kXyz[static_cast<size_t>(primaries)]));
}

/// R' = Y + red_cr Cr and so on: rounded constants, as the reference has them.
struct YuvMatrix {
    double red_cr, green_cb, green_cr, blue_cb;
};
inline YuvMatrix yuv_matrix(Matrix matrix) {
    return matrix == Matrix::kBt709 ? YuvMatrix{1.5748, -0.1873, -0.4681, 1.8556}
                                    : YuvMatrix{1.4746, -0.16455, -0.57135, 1.8814};
}

/// Of HLG on a display.
inline double hlg_gamma(const Settings& settings) {
    if (settings.peak <= 1000.0) return 1.2;
    return 1.2 + 0.42 * std::log10(settings.peak / 1000.0) - 0.07623 * std::log10(settings.ambient / 5.0);
}

} // namespace qc::cvvdp
