// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores in decibels: what the options enable_db and clip_db of both metrics mean.
#pragma once

#include <cmath>
#include <limits>

#include "contract/options.hpp"
#include "contract/types.hpp"

namespace qc::structural {

/// Options that float_ssim and float_ms_ssim have, in this order at the head of their lists.
enum CommonOption : size_t { kEnableLcs, kEnableDb, kClipDb, kOwnOptions };

inline constexpr OptionSpec kClipDbOption{
    "clip_db", "", OptionType::kBool, 0, 0, 1, "with enable_db: limit it to what half an error of one makes"};

class Decibels {
public:
    Decibels(const FrameGeometry& geometry, bool enable, bool clip) : enable_(enable) {
        if (!clip) return;
        // Half of an error of one, in one sample of the picture.
        const auto peak = static_cast<double>((1 << geometry.depth) - 1);
        const double samples = static_cast<double>(geometry.width) * geometry.height;
        largest_ = std::ceil(10.0 * std::log10(peak * peak / (0.5 / samples)));
    }

    /// Of 1 - score, if that was asked for. A score that is not a number becomes the largest value, as in libvmaf.
    double of(double score) const {
        if (!enable_) return score;
        const double decibels = -10.0 * std::log10(1.0 - score);
        return decibels < largest_ ? decibels : largest_;
    }

private:
    bool enable_;
    double largest_ = std::numeric_limits<double>::infinity();
};

} // namespace qc::structural
