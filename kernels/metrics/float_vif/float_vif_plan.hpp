// SPDX-License-Identifier: BSD-2-Clause-Patent
// What float_vif's options come to: sizes, windows, tables. Host only; both backends use the same.
#pragma once

#include <cmath>
#include <vector>

#include "device/term_weights.hpp"
#include "families/gaussian/gaussian_window.hpp"
#include "families/resize/resize_axis.hpp"
#include "metrics/float_vif/float_vif_math.hpp"

namespace qc::float_vif {

struct PlanSize {
    int width = 0, height = 0;
    bool operator==(const PlanSize&) const = default;
};

/// Everything that does not depend on the samples.
struct Plan {
    PlanSize source;
    PlanSize scaled[kScales]; ///< pictures of the scales; scale 0: after vif_prescale
    Resize resize = Resize::kNone;
    std::vector<ResizeEntry> columns, rows; ///< of scale 0; empty without resizing
    FilterWindow window[kScales];
    NoiseModel noise;
    float sample_scale = 1.0f; ///< to the scale of 8 bits
    bool skip_scale_0 = false;
    bool has_weights = false; ///< pixels count by weights

    /// A pixel of a scale lies over its samples of scale 0, which is not resized with weights.
    device::WeightFootprint footprint(int scale) const { return {1 << scale, 1 << scale, source.width, source.height}; }
};

/// Size after vif_prescale.
inline PlanSize prescaled(PlanSize source, double factor) {
    const auto scaled = [factor](int side) { return static_cast<int>(std::floor(side * factor + 0.5)); };
    return {scaled(source.width), scaled(source.height)};
}

inline FilterWindow scale_window(int scale, double kernel_scale) {
    const int taps = window_taps((1 << (kScales - scale)) + 1, kernel_scale);
    const Window<2 * kMaxRadius + 1> gauss = gaussian<2 * kMaxRadius + 1>(taps, 1.0);
    FilterWindow window;
    window.radius = taps / 2;
    for (int i = 0; i <= window.radius; ++i) window.weight[i] = gauss.weight[window.radius + i];
    return window;
}

/// Smallest side of scale 0 for which every filter, mirrored once, stays inside its picture. Scale s is filtered with
/// its own window and with that of the next.
inline int smallest_side(const FilterWindow (&window)[kScales], bool skip_scale_0) {
    int smallest = 1;
    for (int s = 0; s < kScales; ++s) {
        const int own = s == 0 && skip_scale_0 ? 0 : window[s].radius;
        const int next = s + 1 < kScales ? window[s + 1].radius : 0;
        smallest = std::max(smallest, (std::max(own, next) + 1) << s);
    }
    return smallest;
}

} // namespace qc::float_vif
