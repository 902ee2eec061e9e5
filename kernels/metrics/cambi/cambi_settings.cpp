// SPDX-License-Identifier: BSD-2-Clause-Patent
// From geometry and options to Settings.
#include "metrics/cambi/cambi_settings.hpp"

#include <algorithm>
#include <cmath>

namespace qc::cambi {
namespace {

// ---- luminance ------------------------------------------------------------------------------------------------------

/// Video range of 10-bit luma, assumed whatever the stream says.
constexpr int kBlack = 64, kWhite = 940;

/// Luminance in cd/m2 of a display that shows a 10-bit sample.
class Display {
public:
    explicit Display(int transfer_function) : is_bt1886_(transfer_function == kBt1886) {}

    double luminance(int sample) const {
        const double signal = (std::clamp(sample, kBlack, kWhite) - kBlack) / static_cast<double>(kWhite - kBlack);
        return is_bt1886_ ? bt1886(signal) : pq(signal);
    }

private:
    /// ITU-R BT.1886, annex 1.
    static double bt1886(double signal) {
        constexpr double kGamma = 2.4, kPeak = 300.0, kLowest = 0.01;
        const double range = std::pow(kPeak, 1.0 / kGamma) - std::pow(kLowest, 1.0 / kGamma);
        const double gain = std::pow(range, kGamma);
        const double lift = std::pow(kLowest, 1.0 / kGamma) / range;
        return gain * std::pow(std::max(signal + lift, 0.0), kGamma);
    }

    /// SMPTE ST 2084.
    static double pq(double signal) {
        constexpr double kM1 = 0.1593017578125, kM2 = 78.84375;
        constexpr double kC1 = 0.8359375, kC2 = 18.8515625, kC3 = 18.6875;
        const double power = std::pow(signal, 1.0 / kM2);
        return 10000.0 * std::pow(std::max(power - kC1, 0.0) / (kC2 - kC3 * power), 1.0 / kM1);
    }

    bool is_bt1886_;
};

/// The largest sample from which a step of `difference` codes is visible; 0 if there is none, kLargestSample - 1 if all
/// steps are.
int brightest_visible(const Display& display, int difference, double threshold) {
    const auto visible = [&](int sample) {
        const double luminance = display.luminance(sample);
        return display.luminance(sample + difference) - luminance > threshold * luminance;
    };
    int foot = kBlack, head = kWhite - difference - 1;
    if (!visible(foot)) return 0;
    if (!visible(foot + 1)) return foot;
    if (visible(head)) return visible(head + 1) ? kLargestSample - 1 : head;
    // Steps are visible at the foot and not at the head: somewhere in between they stop to be.
    for (;;) {
        const int middle = foot + (head - foot) / 2;
        if (!visible(middle)) {
            head = middle;
        } else if (visible(middle + 1)) {
            foot = middle;
        } else {
            return middle;
        }
    }
}

// ---- sizes ----------------------------------------------------------------------------------------------------------

/// The window scales with the picture; at 3840x2160 it has the size given.
int window_for(int window_size, int width, int height, bool half_size) {
    constexpr int kSixteenth = (3840 + 2160) / 16;
    int window = window_size * (width + height) / kSixteenth / 16;
    if (half_size) window = (window + 1) / 2;
    return window | 1;
}

/// Nearest sample of the picture for each one of the analysis. Positions are added up in single precision, and the
/// errors of that are part of the definition.
std::vector<uint16_t> nearest_samples(int picture_size, int size) {
    std::vector<uint16_t> nearest(static_cast<size_t>(size));
    const float ratio = static_cast<float>(picture_size) / static_cast<float>(size);
    auto position = static_cast<float>(static_cast<double>(ratio / 2) - 0.5);
    for (uint16_t& index : nearest) {
        // Truncation after adding one half is what the definition says.
        const int rounded =
            picture_size == size
                ? static_cast<int>(&index - nearest.data())
                : static_cast<int>(static_cast<double>(position) + 0.5); // NOLINT(bugprone-incorrect-roundings)
        index = static_cast<uint16_t>(std::clamp(rounded, 0, picture_size - 1));
        position += ratio;
    }
    return nearest;
}

Analysis make_analysis(const FrameGeometry& geometry, int width, int height, int window) {
    Analysis analysis;
    analysis.width = width;
    analysis.height = height;
    analysis.window = window;
    analysis.mask_limit = mask_limit(width, height);
    analysis.columns = nearest_samples(geometry.width, width);
    analysis.rows = nearest_samples(geometry.height, height);
    analysis.resampled = width != geometry.width || height != geometry.height;
    return analysis;
}

struct Size {
    int width, height;
};

/// A size of which one side is not given is the picture's.
Size size_or_picture(const OptionValues& options, Option width, Option height, const FrameGeometry& geometry) {
    const Size size{options.integer(width), options.integer(height)};
    return size.width == 0 || size.height == 0 ? Size{geometry.width, geometry.height} : size;
}

bool is_half_size(int speedup, Size encode) {
    const int pixels = encode.width * encode.height;
    return (speedup == 1080 && pixels >= 1920 * 1080) || (speedup == 1440 && pixels >= 2560 * 1440) ||
           (speedup == 2160 && pixels >= 3840 * 2160);
}

Status check_sizes(Size encode, Size source) {
    constexpr int kSmallest = 216;
    if (encode.width < kSmallest && encode.height < kSmallest)
        return invalid(format("cambi: %dx%d is too small, width or height must be at least %d (enc_width, enc_height, "
                              "by default the picture's size)",
                              encode.width, encode.height, kSmallest));
    if (source.width < kSmallest && source.height < kSmallest)
        return invalid(format("cambi: a reference of %dx%d is too small, width or height must be at least %d "
                              "(src_width, src_height, by default the picture's size)",
                              source.width, source.height, kSmallest));
    if ((source.width > encode.width && source.height < encode.height) ||
        (source.width < encode.width && source.height > encode.height))
        return invalid(format("cambi: the encode size (enc_width x enc_height) %dx%d and the source size (src_width x "
                              "src_height) %dx%d contradict each other: one is wider, the other higher",
                              encode.width, encode.height, source.width, source.height));
    return {};
}

Status check_window(const char* picture, Size size, int window) {
    if (window <= kMaxWindow) return {};
    return invalid(format("cambi: the window of the %s, %dx%d, would be %d, at most %d is defined; set a smaller "
                          "window_size, or cambi_high_res_speedup",
                          picture, size.width, size.height, window, kMaxWindow));
}

} // namespace

uint64_t Settings::pooled_pixels(const Analysis& analysis, int scale) const {
    const auto pixels =
        static_cast<uint64_t>(scale_width(analysis, scale)) * static_cast<uint64_t>(scale_height(analysis, scale));
    return std::clamp<uint64_t>(static_cast<uint64_t>(top_k * static_cast<double>(pixels)), 1, pixels);
}

size_t Settings::heat_map_size() const {
    size_t words = 0;
    for (int scale = 0; heat_maps && scale < kScales; ++scale)
        words += heat_map_words(scale_width(distorted, scale), scale_height(distorted, scale));
    return words;
}

float Settings::full_heat() const {
    const int floored = contrast_weight(differences) * distorted.window * distorted.window / 4;
    return static_cast<float>(floored);
}

Status settle(const FrameGeometry& geometry, const OptionValues& options, Settings* settings) {
    Size encode = size_or_picture(options, kEncodeWidth, kEncodeHeight, geometry);
    if (encode.width > geometry.width || encode.height > geometry.height) encode = {geometry.width, geometry.height};
    const Size source = size_or_picture(options, kSourceWidth, kSourceHeight, geometry);
    QC_RETURN_IF_ERROR(check_sizes(encode, source));
    settings->half_size = is_half_size(options.integer(kHighResolutionSpeedup), encode);
    const int window_size = options.integer(kWindowSize);
    const int window = window_for(window_size, encode.width, encode.height, settings->half_size);
    const int source_window = window_for(window_size, source.width, source.height, settings->half_size);
    QC_RETURN_IF_ERROR(check_window("distorted picture", encode, window));
    QC_RETURN_IF_ERROR(check_window("reference", source, source_window));
    settings->distorted = make_analysis(geometry, encode.width, encode.height, window);
    settings->reference = make_analysis(geometry, source.width, source.height, source_window);
    settings->full_reference = options.flag(kFullReference);

    const int encode_depth = options.integer(kEncodeDepth) == 0 ? geometry.depth : options.integer(kEncodeDepth);
    settings->anti_dither = encode_depth < kDepth;
    settings->top_k = options.number(kTopK) != kDefaultTopK ? options.number(kTopK) : options.number(kCambiTopK);
    settings->max_value = options.number(kMaxValue);
    settings->heat_maps = !options.text(kHeatMapsPath).empty();

    const int transfer_function = options.integer(kCambiTransferFunction) != kBt1886
                                      ? options.integer(kCambiTransferFunction)
                                      : options.integer(kTransferFunction);
    const Display display(transfer_function);
    settings->differences = 1 << options.integer(kMaxLogContrast);
    for (int d = 1; d <= settings->differences; ++d)
        settings->brightest[static_cast<size_t>(d)] =
            brightest_visible(display, d, options.number(kVisibilityThreshold));

    const double visible_luminance = options.number(kVisibleLuminance);
    int dark_limit = kBlack;
    while (dark_limit <= kWhite && display.luminance(dark_limit) < visible_luminance) ++dark_limit;
    if (dark_limit > kWhite)
        return invalid(format("cambi: cambi_vis_lum_threshold is %g cd/m2, but the brightest sample shows %g",
                              visible_luminance, display.luminance(kWhite)));
    settings->dark_limit = dark_limit == kBlack ? 0 : dark_limit;

    settings->first = std::max(settings->dark_limit - 2 * settings->differences + 1, 0);
    settings->last = *std::max_element(settings->brightest.begin(), settings->brightest.end());
    return {};
}

} // namespace qc::cambi
