// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sizes, windows and tables of one kind of plane: what SpEED's options come to. Host only; used by both backends.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "common/status.hpp"
#include "speed/speed_math.hpp"

namespace qc::speed {

/// Options that both SpEED metrics have, in this order at the head of their lists.
enum CommonOption : size_t {
    kKernelScale,
    kMaxValue,
    kNoiseFloor,
    kPrescale,
    kPrescaleMethod,
    kSigmaNoise,
    kCommonOptions
};

inline constexpr std::string_view kResizeNames[] = {"nearest", "bilinear", "bicubic", "lanczos4"};

inline constexpr OptionSpec kKernelScaleOption{
    "speed_kernelscale",
    "ks",
    OptionType::kDouble,
    1.0,
    0.1,
    4.0,
    "factor on both smoothing windows: 1, 1/2, 3/2, 2, 2/3, 2.4, 360/97, 4/3 and the others that libvmaf lists"};
inline constexpr OptionSpec kNoiseFloorOption{"speed_nn_floor",
                                              "nnf",
                                              OptionType::kDouble,
                                              0.0,
                                              0.0,
                                              1.0,
                                              "blocks count from the entropy of the neural noise times 1 + this"};
inline constexpr OptionSpec kPrescaleOption{
    "speed_prescale", "ps", OptionType::kDouble, 1.0, 0.1, 4.0, "resize the planes by this factor first"};
inline constexpr OptionSpec kPrescaleMethodOption{
    "speed_prescale_method", "psm", OptionType::kChoice, 0, 0, 3, "how the planes are resized", kResizeNames};
inline constexpr OptionSpec kSigmaNoiseOption{
    "speed_sigma_nn", "snn", OptionType::kDouble, 0.29, 0.1, 2.0, "variance of the neural noise"};

struct PlanSize {
    int width = 0, height = 0;
};

/// Size after speed_prescale. Factors within 1e-3 of 1 are 1.
inline PlanSize prescaled(PlanSize size, double factor) {
    if (std::abs(factor - 1.0) < 1e-3) return size;
    const auto scaled = [factor](int side) { return static_cast<int>(std::floor(side * factor + 0.5)); };
    return {scaled(size.width), scaled(size.height)};
}

/// Everything that does not depend on the samples.
struct Plan {
    PlanSize source, scaled; ///< of a plane, before and after speed_prescale
    Resize resize = Resize::kNone;
    std::vector<ResizeEntry> columns, rows; ///< of the scaled plane; empty without resizing
    PlanSize grid;                          ///< decimated samples
    PlanSize blocks;
    PlanSize windows; ///< positions at which all coefficients of a block lie in the grid's used part
    SmoothingWindow smoothing;
    MeanWindow mean;
    float sample_scale = 1.0f; ///< to the scale of 8 bits
    float noise = 0.0f;
    float visible_entropy = 0.0f;
    int weight_mode = 0;

    int block_count() const { return blocks.width * blocks.height; }
    int window_count() const { return windows.width * windows.height; }
    size_t grid_samples() const { return static_cast<size_t>(grid.width) * static_cast<size_t>(grid.height); }
};

/// Odd number of taps of a window whose unscaled length is `base`.
inline int window_taps(int base, double kernel_scale) {
    const int taps = static_cast<int>(std::ceil(static_cast<double>(static_cast<float>(base * kernel_scale))));
    return std::max(taps % 2 == 0 ? taps + 1 : taps, 3);
}

/// Gaussian with a standard deviation of taps * spread / 5.
template <int kMaxTaps>
Window<kMaxTaps> gaussian(int taps, double spread) {
    Window<kMaxTaps> window;
    window.taps = taps;
    const auto sigma = static_cast<double>(static_cast<float>(spread * taps / 5.0));
    const auto peak = static_cast<float>(1.0 / (sigma * std::sqrt(2.0 * std::numbers::pi)));
    const int centre = (taps - 1) / 2;
    float sum = 0.0f;
    for (int i = 0; i < taps; ++i) {
        const double x = i - centre;
        window.weight[i] = static_cast<float>(std::exp(-0.5 * x / sigma * x / sigma)) / peak;
        sum += window.weight[i];
    }
    for (int i = 0; i < taps; ++i) window.weight[i] /= sum;
    return window;
}

/// Whether libvmaf accepts a kernel scale: near one of a list.
inline bool known_kernel_scale(double scale) {
    constexpr double kKnown[] = {1.0,     0.5,     1.5,      2.0,      2.0 / 3,  2.4,      360.0 / 97,
                                 4.0 / 3, 3.5 / 3, 3.75 / 3, 4.25 / 3, 5.0 / 3,  3.0,      1 / 2.25,
                                 1.4746,  1.54,    1.6,      1.06667,  0.711111, 0.740740, 1.111111};
    return std::any_of(std::begin(kKnown), std::end(kKnown),
                       [&](double known) { return std::abs(scale - known) < 1e-3; });
}

/// Keys' cubic with a = -0.75.
inline float bicubic_weight(float distance) {
    constexpr float a = -0.75f;
    const float t = std::abs(distance);
    if (t < 1.0f) return ((a + 2.0f) * t - (a + 3.0f)) * t * t + 1.0f;
    if (t < 2.0f) return (((t - 5.0f) * t + 8.0f) * t - 4.0f) * a;
    return 0.0f;
}

inline float lanczos_weight(float distance) {
    if (distance == 0.0f) return 1.0f;
    if (std::abs(distance) >= 4.0f) return 0.0f;
    constexpr double pi = std::numbers::pi;
    const auto t = static_cast<double>(distance);
    return static_cast<float>(4.0 * std::sin(pi * t) * std::sin(pi * t / 4.0) / (pi * pi * t * t));
}

/// Where the samples of a resized axis come from.
inline std::vector<ResizeEntry> resize_axis(Resize method, int source, int scaled) {
    std::vector<ResizeEntry> axis(static_cast<size_t>(scaled));
    const float ratio = static_cast<float>(source) / static_cast<float>(scaled);
    for (int i = 0; i < scaled; ++i) {
        ResizeEntry& entry = axis[static_cast<size_t>(i)];
        if (method == Resize::kNearest) {
            entry.first = std::min(static_cast<int>(static_cast<float>(i) * ratio), source - 1);
            continue;
        }
        const auto position = static_cast<float>((i + 0.5) * static_cast<double>(ratio) - 0.5);
        const int below = static_cast<int>(std::floor(position));
        if (method == Resize::kBilinear) {
            entry.first = mirrored(below, source);
            entry.second = mirrored(static_cast<int>(std::ceil(position)), source);
            // Of the mirrored sample: at the low edge an enlarged plane is extrapolated.
            const float fraction = position - static_cast<float>(entry.first);
            entry.weight[0] = 1.0f - fraction;
            entry.weight[1] = fraction;
            continue;
        }
        const float fraction = position - static_cast<float>(below);
        const bool lanczos = method == Resize::kLanczos4;
        const int reach = lanczos ? 4 : 1;
        entry.first = below - reach;
        for (int tap = 0; tap < resize_taps(method); ++tap) {
            const float distance = static_cast<float>(tap - reach) - fraction;
            entry.weight[tap] = lanczos ? lanczos_weight(distance) : bicubic_weight(distance);
        }
    }
    return axis;
}

/// Precondition: check_plan() accepted the same.
inline Plan make_plan(PlanSize source, int depth, const OptionValues& options, int weight_mode) {
    Plan plan;
    plan.source = source;
    plan.scaled = prescaled(source, options.number(kPrescale));
    if (plan.scaled.width != source.width || plan.scaled.height != source.height) {
        plan.resize = static_cast<Resize>(options.integer(kPrescaleMethod));
        plan.columns = resize_axis(plan.resize, source.width, plan.scaled.width);
        plan.rows = resize_axis(plan.resize, source.height, plan.scaled.height);
    }
    plan.grid = {plan.scaled.width / kDecimation, plan.scaled.height / kDecimation};
    plan.blocks = {plan.grid.width / kBlockSide, plan.grid.height / kBlockSide};
    plan.windows = {kBlockSide * (plan.blocks.width - 1) + 1, kBlockSide * (plan.blocks.height - 1) + 1};
    const double kernel_scale = options.number(kKernelScale);
    plan.smoothing = gaussian<kMaxSmoothingTaps>(window_taps(9, kernel_scale), 2.0);
    plan.mean = gaussian<kMaxMeanTaps>(window_taps(2, kernel_scale), 1.0);
    plan.sample_scale = 1.0f / static_cast<float>(1 << (depth - 8));
    plan.noise = static_cast<float>(options.number(kSigmaNoise));
    const float floor = (1.0f + static_cast<float>(options.number(kNoiseFloor))) * plan.noise;
    plan.visible_entropy = static_cast<float>(kDimensions * (std::log2(static_cast<double>(floor)) + kLog2TwoPiE));
    plan.weight_mode = weight_mode;
    return plan;
}

/// Refuses what SpEED does not define. `metric` and `planes` begin the line: "speed_chroma", "chroma planes".
inline Status check_plan(const char* metric, const char* planes, PlanSize source, int depth,
                         const OptionValues& options) {
    if (depth != 8 && depth != 10 && depth != 12 && depth != 16)
        return unsupported(format("%s: %d bits per sample, 8, 10, 12 and 16 are supported", metric, depth));
    const double kernel_scale = options.number(kKernelScale);
    if (!known_kernel_scale(kernel_scale))
        return invalid(format("%s: speed_kernelscale=%g is not one of those that are defined (1, 1/2, 3/2, 2, 2/3, "
                              "2.4, 360/97, 4/3, 3.5/3, 3.75/3, 4.25/3, 5/3, 3, 1/2.25, 1.4746, 1.54, 1.6, 1.06667, "
                              "0.711111, 0.740740, 1.111111)",
                              metric, kernel_scale));
    const PlanSize scaled = prescaled(source, options.number(kPrescale));
    if (scaled.width >= kMinimumSide && scaled.height >= kMinimumSide) return {};
    const std::string after =
        scaled.width == source.width && scaled.height == source.height
            ? std::string()
            : format(" (%dx%d before speed_prescale=%g)", source.width, source.height, options.number(kPrescale));
    return invalid(format("%s: %s of %dx%d%s are too small, at least %dx%d is needed", metric, planes, scaled.width,
                          scaled.height, after.c_str(), kMinimumSide, kMinimumSide));
}

} // namespace qc::speed
