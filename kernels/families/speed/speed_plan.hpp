// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sizes, windows and tables of one kind of plane: what SpEED's options come to. Host only; used by both backends.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "contract/options.hpp"
#include "contract/status.hpp"
#include "families/resize/resize_axis.hpp"
#include "families/speed/speed_math.hpp"

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

/// Precondition: the plane is at least smallest_side() wide and high, check_options() accepted the options.
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

/// The smallest plane that holds a block after speed_prescale.
inline int smallest_side(const OptionValues& options) {
    int side = 1;
    while (prescaled({side, side}, options.number(kPrescale)).width < kMinimumSide) ++side;
    return side;
}

/// Refuses options that SpEED does not define.
inline Status check_options(const char* metric, const OptionValues& options) {
    const double kernel_scale = options.number(kKernelScale);
    if (known_kernel_scale(kernel_scale)) return {};
    return invalid(format("%s: speed_kernelscale=%g is not one of those that are defined (%s)", metric, kernel_scale,
                          kKnownKernelScales));
}

} // namespace qc::speed
