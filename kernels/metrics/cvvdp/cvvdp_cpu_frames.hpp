// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which frames a filtered frame is made of, and how much of each: shared by the CPU's two implementations.
#pragma once

#include <span>
#include <vector>

#include "contract/timeline.hpp"
#include "metrics/cvvdp/cvvdp_settings.hpp"
#include "metrics/cvvdp/cvvdp_temporal.hpp"

namespace qc::cvvdp {

/// Of one frame, for all channels.
using FrameWeights = std::array<double, kChannels>;

/// From the clip's first one on, or as many as matter, the pair's own last.
struct Frames {
    std::vector<const HostPicture*> side[2]; ///< of the reference, of the distorted

    int count() const { return static_cast<int>(side[0].size()); }
};

class TemporalPlan {
public:
    explicit TemporalPlan(const Settings& settings)
        : taps_(temporal_taps(settings.frame_rate)), targets_(static_cast<int>(taps_.size()), settings.symmetric),
          symmetric_(settings.symmetric) {}

    const TargetList& targets() const { return targets_; }

    Frames frames_of(const HostPair& pair, HostPast past) const {
        Frames frames;
        for (size_t k = std::min(past.size(), static_cast<size_t>(targets_.past())); k > 0; --k) {
            frames.side[0].push_back(past[k - 1].reference);
            frames.side[1].push_back(past[k - 1].distorted);
        }
        frames.side[0].push_back(&pair.reference);
        frames.side[1].push_back(&pair.distorted);
        return frames;
    }

    /// What a target takes of each frame. @param frames that are known
    std::vector<FrameWeights> weights_of(const Target& target, int frames) const {
        std::vector<FrameWeights> weights(static_cast<size_t>(frames));
        for (size_t j = 0; j < taps_.size(); ++j) {
            const int at = frame_at(target.target - static_cast<int>(j), target.length, symmetric_);
            for (size_t c = 0; c < kChannels; ++c) weights[static_cast<size_t>(at)][c] += taps_[j][c];
        }
        return weights;
    }

private:
    const std::vector<FrameWeights> taps_;
    const TargetList targets_;
    const bool symmetric_;
};

inline bool is_nothing(const FrameWeights& weights) {
    for (const double weight : weights)
        if (weight != 0.0) return false;
    return true;
}

} // namespace qc::cvvdp
