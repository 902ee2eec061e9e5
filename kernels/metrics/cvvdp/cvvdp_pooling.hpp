// SPDX-License-Identifier: BSD-2-Clause-Patent
// From the sums of bands to a frame's value, and from those to the JOD of a clip. Double precision, both backends.
#pragma once

#include <bit>
#include <span>

#include "metrics/cvvdp/cvvdp_plan.hpp"

namespace qc::cvvdp {

/// Of a band's places: by the frame's weights, or of one each.
inline double sum_of_weights(const Plan& plan, std::span<const uint64_t> sums, int band) {
    if (plan.has_weights) return std::bit_cast<double>(sums[static_cast<size_t>(word_of(kChannels, band, plan.bands))]);
    const LevelSize size = plan.level[static_cast<size_t>(band)];
    return static_cast<double>(size.width) * size.height;
}

/// z of one frame, from its sums of P(D, 2).
inline double frame_value(const Plan& plan, std::span<const uint64_t> sums) {
    double of_channels = 0.0;
    for (int c = 0; c < kChannels; ++c) {
        double of_bands = 0.0;
        for (int b = 0; b < plan.bands; ++b) {
            const auto sum = std::bit_cast<double>(sums[static_cast<size_t>(word_of(c, b, plan.bands))]);
            const double mean = sum / sum_of_weights(plan, sums, b);
            const double weight = kChannelWeight[c] * (b == plan.baseband() ? kBasebandWeight[c] : 1.0);
            of_bands += offset_power(offset_power(mean, 0.5) * weight, 4.0);
        }
        of_channels += offset_power(offset_power(of_bands, 0.25), 4.0);
    }
    return offset_power(of_channels, 0.25);
}

constexpr double kJodFactor = 0.0439569391310215, kJodPower = 0.9302042722702026, kJodStraightUpTo = 0.1;

inline double jod_of(double quality) {
    if (quality <= kJodStraightUpTo) return 10.0 - kJodFactor * std::pow(kJodStraightUpTo, kJodPower - 1.0) * quality;
    return 10.0 - kJodFactor * std::pow(quality, kJodPower);
}

/// What a frame adds to the clip's sum.
inline double clip_term(double frame_value) {
    return offset_power(frame_value, 2.0);
}

/// JOD of a clip. One frame is an image: its value is not pooled, but scaled, for images are looked at longer.
inline double clip_jod(double sum_of_terms, int64_t frames) {
    constexpr double kImageFactor = 0.577918291091919;
    if (frames == 1) return jod_of(kImageFactor * (std::sqrt(sum_of_terms + kOffset * kOffset) - kOffset));
    return jod_of(offset_power(sum_of_terms / static_cast<double>(frames), 0.5));
}

} // namespace qc::cvvdp
