// SPDX-License-Identifier: BSD-2-Clause-Patent
// From samples to the light of a display in opponent colours, in double precision.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "metrics/cvvdp/cvvdp_plan.hpp"

namespace qc::cvvdp {

/// A display's curve from signal to light for one component, where it needs no other: cd/m2 for 0 to 1. Between nodes a
/// line, which is off by less than 1e-9 of the peak; near the bends of a curve the curve itself.
class LightCurve {
public:
    explicit LightCurve(const Settings& settings);
    double operator()(double signal) const {
        if (signal < bent_below_ || node_.empty()) return exact(signal);
        const double at = signal * kNodes;
        const auto first = static_cast<size_t>(std::min(static_cast<int>(at), kNodes - 1));
        return node_[first] + (at - static_cast<double>(first)) * (node_[first + 1] - node_[first]);
    }
    double exact(double signal) const;
    /// Of a row, in place; signals beyond 0 to 1 count as these.
    void apply(double* row, int width) const;

private:
    static constexpr int kNodes = 131072;
    Settings settings_;
    double bent_below_ = 0.0; ///< no line here
    std::vector<double> node_;
};

/// Rows of a picture of one input to A, RG, YV.
class ColourReader {
public:
    /// @param input 0: the reference, 1: the distorted
    ColourReader(const FrameGeometry& geometry, const Settings& settings, const LightCurve& curve, int input);

    /// @param target [colour], a row of the picture's width each
    void read_row(const HostPicture& picture, int y, const std::array<double*, kColours>& target) const;

private:
    template <typename Sample>
    void read(const HostPicture& picture, int y, const std::array<double*, kColours>& target) const;
    template <typename Sample>
    std::vector<double> chroma(const HostPicture& picture, int plane, int y) const;
    void light(const std::array<double*, kColours>& rows) const;

    const FrameGeometry geometry_;
    const Settings settings_;
    const LightCurve& curve_;
    const YuvMatrix matrix_;
    const Matrix3 dkl_;
    const double hlg_gamma_;
};

} // namespace qc::cvvdp
