// SPDX-License-Identifier: BSD-2-Clause-Patent
// Gaussian windows of libvmaf's metrics with a kernelscale option. The weights are made on the host, for both backends.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

namespace qc {

/// A symmetric window whose taps add up to 1.
template <int kMaxTaps>
struct Window {
    int taps = 0;
    float weight[kMaxTaps] = {};
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

/// That list, for messages.
inline constexpr const char* kKnownKernelScales =
    "1, 1/2, 3/2, 2, 2/3, 2.4, 360/97, 4/3, 3.5/3, 3.75/3, 4.25/3, 5/3, 3, 1/2.25, 1.4746, 1.54, 1.6, 1.06667, "
    "0.711111, 0.740740, 1.111111";

} // namespace qc
