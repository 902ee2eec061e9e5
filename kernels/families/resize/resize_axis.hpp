// SPDX-License-Identifier: BSD-2-Clause-Patent
// The tables of resize.hpp. Host only; both backends use the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "families/resize/resize.hpp"

namespace qc {

/// By Resize.
inline constexpr std::string_view kResizeNames[] = {"nearest", "bilinear", "bicubic", "lanczos4"};

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
            entry.first = mirror_without_edges(below, source);
            entry.second = mirror_without_edges(static_cast<int>(std::ceil(position)), source);
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

} // namespace qc
