// SPDX-License-Identifier: BSD-2-Clause-Patent
// Options, and what they decide: the display, the matrix, time.
#pragma once

#include <array>
#include <string>

#include "contract/metric.hpp"
#include "contract/settings.hpp"
#include "metrics/cvvdp/cvvdp_displays.hpp"

namespace qc::cvvdp {

enum OptionIndex {
    kOptionDisplay,
    kOptionPadding,
    kOptionBorder,
    kOptionMatrix,
    kOptionFps,
    kOptionPpd,
    kOptionScreenWidth,
    kOptionScreenHeight,
    kOptionScreenInches,
    kOptionScreenDistance,
    kOptionScreenFov,
    kOptionPeak,
    kOptionContrast,
    kOptionBlack,
    kOptionAmbient,
    kOptionReflectivity,
    kOptionExposure,
    kOptionEotf,
    kOptionGamma,
    kOptionPrimaries
};

std::span<const OptionSpec> option_specs();

enum class Matrix { kBt709, kBt2020 };

/// What options, tags and the frame rate decide.
struct Settings {
    std::string display; ///< its name; "custom" where options say something else of it
    double pixels_per_degree = 0;
    double peak = 0, black = 0; ///< cd/m2
    double ambient = 0;         ///< lux
    double reflection = 0;      ///< cd/m2 that the screen reflects
    double exposure = 1;
    Eotf eotf{};
    double gamma = 2.2; ///< of Eotf::kPower
    Primaries primaries{};
    bool symmetric = false;    ///< the frames before the first one mirror those behind it; otherwise they repeat it
    bool fixed_border = false; ///< the pyramid's border as it was meant
    std::array<Matrix, 2> matrix{}; ///< of the reference, of the distorted input
    double frame_rate = 0;
    bool rate_is_known = true;
};

/// @return QC_ERROR_INVALID for what contradicts, in one line
Status settle(const FrameGeometry& geometry, const OptionValues& options, Settings* settings);

} // namespace qc::cvvdp
