// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI's options, what follows from them and the geometry, and how the accumulators are laid out.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "contract/options.hpp"
#include "contract/settings.hpp"
#include "contract/status.hpp"
#include "contract/types.hpp"
#include "metrics/cambi/cambi_math.hpp"

namespace qc::cambi {

// ---- options --------------------------------------------------------------------------------------------------------

enum Option : size_t {
    kMaxValue,
    kEncodeWidth,
    kEncodeHeight,
    kEncodeDepth,
    kSourceWidth,
    kSourceHeight,
    kWindowSize,
    kTopK,
    kCambiTopK,
    kVisibilityThreshold,
    kVisibleLuminance,
    kMaxLogContrast,
    kHeatMapsPath,
    kFullReference,
    kTransferFunction,
    kCambiTransferFunction,
    kHighResolutionSpeedup
};

constexpr double kDefaultTopK = 0.6;
inline constexpr std::string_view kTransferFunctions[] = {"bt1886", "pq"};
constexpr int kBt1886 = 0;

inline constexpr OptionSpec kOptions[] = {
    {"cambi_max_val", "cmxv", OptionType::kDouble, 1000.0, 0.0, 1000.0, "upper limit of every score"},
    {"enc_width", "encw", OptionType::kInt, 0, 180, 7680,
     "width at which the video was encoded; with enc_height, and not above the picture's"},
    {"enc_height", "ench", OptionType::kInt, 0, 150, 7680,
     "height at which the video was encoded; with enc_width, and not above the picture's"},
    {"enc_bitdepth", "encbd", OptionType::kInt, 0, 6, 16,
     "bit depth at which the video was encoded, the picture's if not given; below 10 dithering is filtered out"},
    {"src_width", "srcw", OptionType::kInt, 0, 320, 7680,
     "full_ref: width at which the reference is analysed; with src_height"},
    {"src_height", "srch", OptionType::kInt, 0, 200, 4320,
     "full_ref: height at which the reference is analysed; with src_width"},
    {"window_size", "ws", OptionType::kInt, 65, 15, 127, "side of the window at 3840x2160; scales with the picture"},
    {"topk", "topk", OptionType::kDouble, kDefaultTopK, 0.0001, 1.0, "share of the pixels that is pooled"},
    {"cambi_topk", "ctpk", OptionType::kDouble, kDefaultTopK, 0.0001, 1.0,
     "share of the pixels that is pooled, unless topk is given"},
    {"tvi_threshold", "tvit", OptionType::kDouble, 0.019, 0.0001, 1.0,
     "smallest visible step of luminance, relative to the luminance"},
    {"cambi_vis_lum_threshold", "vlt", OptionType::kDouble, 0.0, 0.0, 300.0,
     "luminance in cd/m2 below which banding cannot be seen"},
    {"max_log_contrast", "mlc", OptionType::kInt, 2, 0, 5, "log2 of the largest luma step that is looked for"},
    {"heatmaps_path", "", OptionType::kText, 0, 0, 0, "folder for maps of the distorted picture's banding, by scale"},
    {"full_ref", "", OptionType::kBool, 0, 0, 1, "also score the reference, and what the distorted picture adds"},
    {"eotf", "eotf", OptionType::kChoice, kBt1886, 0, 1, "transfer function, unless cambi_eotf is given",
     kTransferFunctions},
    {"cambi_eotf", "ceot", OptionType::kChoice, kBt1886, 0, 1, "transfer function of the display", kTransferFunctions},
    {"cambi_high_res_speedup", "hrs", OptionType::kInt, 0, 0, 2160,
     "1080, 1440 or 2160: pictures of that size or above are analysed at half the size"},
};

// ---- accumulators ---------------------------------------------------------------------------------------------------

/// Words per scale.
enum AccumulatorWord {
    kPooledSum,   ///< sum of the largest c-values, as many as are pooled, in units of 2^-24
    kActivePixels ///< pixels whose c-value is not 0
};
constexpr int kWordsPerScale = 2;
constexpr int kWordsPerPicture = kScales * kWordsPerScale;

/// Words of a heat map: four samples each, the first in the lowest bits.
constexpr size_t heat_map_words(int width, int height) {
    return (static_cast<size_t>(width) * static_cast<size_t>(height) + 3) / 4;
}

// ---- settings -------------------------------------------------------------------------------------------------------

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
    bool heat_maps = false; ///< of the distorted picture are wanted

    /// Samples outside first .. last have a c-value of 0.
    int first = 0, last = -1;
    bool nothing_visible() const { return first > last; }

    int scale_width(const Analysis& analysis, int scale) const {
        return ((analysis.width - 1) >> (scale + half_size)) + 1;
    }
    int scale_height(const Analysis& analysis, int scale) const {
        return ((analysis.height - 1) >> (scale + half_size)) + 1;
    }

    // Accumulators of a pair: the sums of the distorted picture, those of the reference (if it is scored), the heat
    // maps of the distorted one by scale (if they are wanted).
    size_t heat_map_offset() const { return kWordsPerPicture * (full_reference ? 2 : 1); }
    size_t heat_map_size() const;
    size_t accumulator_words() const { return heat_map_offset() + heat_map_size(); }

    /// How many pixels are pooled at a scale.
    uint64_t pooled_pixels(const Analysis& analysis, int scale) const;
    /// The c-value that a heat map shows as 65535.
    float full_heat() const;
};

/// Refuses what libvmaf refuses, in one line each, and thresholds that no sample reaches.
Status settle(const FrameGeometry& geometry, const OptionValues& options, Settings* settings);

} // namespace qc::cambi
