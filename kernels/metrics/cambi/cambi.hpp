// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI (libvmaf's extractor "cambi"): how much banding, that is false contours in smooth areas, the distorted luma
// shows; the reference is looked at only with full_ref. Exact: equal to libvmaf 3.2.0 in every bit, and the same bits
// on both backends.
//
// | depths        | sizes                                                         | planes | looks at other frames |
// |---------------|---------------------------------------------------------------|--------|-----------------------|
// | 8, 10, 12, 16 | width or height >= 216; the window at most 65 (width + height | luma   | no                    |
// |               | below 6092, or 12185 with cambi_high_res_speedup)             |        |                       |
//
// Where libvmaf 3.2.0 is known to go wrong, this follows the definition: planes narrower than the window (it reads
// beyond them), full_ref with src_width above the picture's width at 10 bits (its rows land in wrong places), a
// visibility threshold that leaves no sample to look at (it crashes; the score is 0) or that no sample reaches (it does
// not return; refused).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "contract/metric.hpp"
#include "metrics/cambi/cambi_math.hpp"

namespace qc::cambi {

const MetricDescriptor& descriptor();

/// How one of the two pictures is analysed.
struct Analysis {
    int width = 0, height = 0;
    int window = 0;     ///< side of the square in which samples are counted, odd
    int mask_limit = 0; ///< see mask_limit()
    /// Column and row of the picture that each column and row of the analysis comes from.
    std::vector<uint16_t> columns, rows;
    bool resampled = false; ///< whether columns and rows are anything else than 0, 1, 2 ...

    int reach() const { return window / 2; }
};

/// Everything that follows from geometry and options.
struct Settings {
    Analysis distorted, reference;
    bool full_reference = false; ///< the reference is scored too
    bool half_size = false;      ///< scale 0 is half the size of the analysis
    bool anti_dither = false;
    int differences = 0;                              ///< luma steps looked for are 1 .. differences, a power of two
    std::array<int, kMaxDifferences + 1> brightest{}; ///< [d]: the largest sample from which a step of d is visible
    int dark_limit = 0;                               ///< samples must be above this, see counts_as_visible()
    double top_k = 0.0;                               ///< share of the pixels that is pooled
    double max_value = 0.0;

    /// Samples outside first .. last have a c-value of 0.
    int first = 0, last = -1;
    bool nothing_visible() const { return first > last; }

    int scale_width(const Analysis& analysis, int scale) const {
        return ((analysis.width - 1) >> (scale + half_size)) + 1;
    }
    int scale_height(const Analysis& analysis, int scale) const {
        return ((analysis.height - 1) >> (scale + half_size)) + 1;
    }
    /// How many pixels are pooled at a scale.
    uint64_t pooled_pixels(const Analysis& analysis, int scale) const;
    /// The c-value that a heat map shows as 65535.
    float full_heat() const;
};

/// Refuses what libvmaf refuses, in one line each, and thresholds that no sample reaches.
Status make_settings(const FrameGeometry& geometry, const OptionValues& options, Settings* settings);

/// 1 / i as libvmaf's table has it, for i up to kMaxWindow^2; entry 0 is 0.
std::span<const float> reciprocals();

// ---- accumulators ---------------------------------------------------------------------------------------------------

/// Words per scale.
enum AccumulatorWord {
    kPooledSum,   ///< sum of the largest c-values, as many as are pooled, in units of 2^-24
    kActivePixels ///< pixels whose c-value is not 0
};
constexpr int kWordsPerScale = 2;
/// Words per picture: the distorted one comes first, then the reference (if it is scored), then the heat maps of the
/// distorted one (if they are wanted).
constexpr int kWordsPerPicture = kScales * kWordsPerScale;

/// Words of a heat map: four samples each, the first in the lowest bits.
constexpr size_t heat_map_words(int width, int height) {
    return (static_cast<size_t>(width) * static_cast<size_t>(height) + 3) / 4;
}

/// CPU reference: the sums of one picture.
/// @param heat_maps of all scales, one after the other; empty if they are not wanted
void score_picture(const FrameGeometry& geometry, const Settings& settings, const Analysis& analysis,
                   const HostPlane& luma, std::span<uint64_t> sums, std::span<uint64_t> heat_maps);

} // namespace qc::cambi
