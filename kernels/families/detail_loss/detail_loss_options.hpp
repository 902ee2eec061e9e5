// SPDX-License-Identifier: BSD-2-Clause-Patent
// Options of both ADM metrics: the declarations they share, and how they are read.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "contract/options.hpp"
#include "families/detail_loss/detail_loss_settings.hpp"

namespace qc::detail_loss {

/// Both lists begin with these.
enum Option {
    kDebug,
    kCsfModeOption,
    kCsfScale,
    kCsfDiagonalScale,
    kDetailWeight,
    kGainLimit,
    kViewDistance,
    kDisplayHeight,
    kNoiseWeight,
    kOwnOptions ///< those of the one metric follow
};

/// Both lists have these among their own.
inline constexpr OptionSpec kSkipScale0Spec = {"adm_skip_scale0",           "ssz", OptionType::kBool, 0, 0, 1,
                                               "leave the finest scale out"};
inline constexpr OptionSpec kMinimumSpec = {"adm_min_val",           "min", OptionType::kDouble, 0.0, 0, 1,
                                            "smallest value of adm3"};

/// A whole list. Metrics differ in the modes of contrast sensitivity and in the display height's word in names.
template <size_t kOwn>
constexpr std::array<OptionSpec, kOwnOptions + kOwn>
list_options(int last_mode, std::string_view modes, std::string_view height_alias, const OptionSpec (&own)[kOwn]) {
    const OptionSpec first[] = {
        {"debug", "", OptionType::kBool, 0, 0, 1, "also write numerators and denominators"},
        {"adm_csf_mode", "csf", OptionType::kInt, 0, 0, static_cast<double>(last_mode), modes},
        {"adm_csf_scale", "scf", OptionType::kDouble, 1.0, 0, 50, "factor on Barten's sensitivity, h and v bands"},
        {"adm_csf_diag_scale", "scfd", OptionType::kDouble, 1.0, 0, 50, "factor on Barten's sensitivity, d band"},
        {"adm_dlm_weight", "dlmw", OptionType::kDouble, 0.5, 0, 1, "weight of detail loss in adm3"},
        {"adm_enhn_gain_limit", "egl", OptionType::kDouble, 100.0, 1, 100, "cap on the gain of enhanced content"},
        {"adm_norm_view_dist", "nvd", OptionType::kDouble, 3.0, 0.75, 24, "viewing distance in display heights"},
        {"adm_ref_display_height", height_alias, OptionType::kInt, 1080, 1, 4320,
         "height of the reference display in lines"},
        {"adm_noise_weight", "nw", OptionType::kDouble, 0.03125, 0, 1500,
         "additive noise in numerator and denominator"},
    };
    static_assert(std::size(first) == kOwnOptions);
    std::array<OptionSpec, kOwnOptions + kOwn> all{};
    std::copy(std::begin(own), std::end(own), std::copy(std::begin(first), std::end(first), all.begin()));
    return all;
}

/// Reads what the lists begin with.
inline void read_first_options(const OptionValues& options, Settings* settings) {
    settings->viewing.mode = options.integer(kCsfModeOption);
    settings->viewing.distance = options.number(kViewDistance);
    settings->viewing.height = options.integer(kDisplayHeight);
    settings->viewing.scale = options.number(kCsfScale);
    settings->viewing.diagonal_scale = options.number(kCsfDiagonalScale);
    settings->detail_weight = options.number(kDetailWeight);
    settings->gain_limit = options.number(kGainLimit);
    settings->noise_weight = options.number(kNoiseWeight);
}

} // namespace qc::detail_loss
