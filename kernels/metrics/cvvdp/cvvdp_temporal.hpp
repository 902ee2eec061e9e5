// SPDX-License-Identifier: BSD-2-Clause-Patent
// Filters in time: how long they are, their taps, and what they come to where frames are missing at the ends of a clip.
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "contract/types.hpp"

namespace qc::cvvdp {

constexpr int kChannels = 4; ///< A sustained, RG, YV, A transient
constexpr int kColours = 3;  ///< of a frame: A, RG, YV

/// Frames under the filters: this one and those before it. @param rate frames per second, more than 0
inline int tap_count(double rate) {
    return 2 * static_cast<int>(std::ceil(0.125 * rate)) + 1;
}

/// taps[j][channel]: j frames back. An inverse DFT of each channel's response.
inline std::vector<std::array<double, kChannels>> temporal_taps(double rate) {
    constexpr double kSigma[] = {5.79336, 14.1255, 6.63661, 0.12314};
    constexpr double kBeta[] = {1.3314, 1.1196, 0.947901, 0.1898};
    constexpr double kTransientHertz = 5.0;
    const int count = tap_count(rate), half = (count - 1) / 2;
    std::vector<std::array<double, kChannels>> taps(static_cast<size_t>(count));
    for (int c = 0; c < kChannels; ++c) {
        const auto response = [&](int k) {
            const double power = std::pow(k * (rate / 2.0) / half, kBeta[c]);
            if (c < kColours) return std::exp(-power / kSigma[c]);
            const double off = power - std::pow(kTransientHertz, kBeta[c]);
            return std::exp(-off * off / kSigma[c]);
        };
        for (int j = 0; j < count; ++j) {
            double sum = response(0);
            for (int k = 1; k <= half; ++k)
                sum += 2.0 * response(k) * std::cos(2.0 * std::numbers::pi * k * (j - half) / count);
            taps[static_cast<size_t>(j)][static_cast<size_t>(c)] = sum / count;
        }
    }
    return taps;
}

/// One filtered frame that is computed where a frame has come: the frame `target` of its clip, as it is if the clip has
/// `length` frames.
struct Target {
    int target;
    int length; ///< matters to mirrors only; 0: no end is in sight
};

/// What is computed when frame number i of a clip has come. With "replicate" that frame alone. With "symmetric" the
/// frames before the clip mirror those behind its first one, so that the first half of a filter's length has to wait:
/// slot 0 is frame i itself, slot 1 the frame that waited for it, and the slots behind them are what frames that still
/// wait would be if the clip ended here.
class TargetList {
public:
    /// @param count of taps
    TargetList(int count, bool symmetric) : last_(count - 1), half_((count - 1) / 2), symmetric_(symmetric) {}

    int slots() const { return symmetric_ ? 2 + half_ : 1; }
    /// How many pairs have to be known before frame i: where it has fewer, it is number i of its clip.
    int past() const { return symmetric_ ? last_ + 1 : last_; }
    /// Whether frame i has its value when it comes.
    bool is_ready(int i) const { return !symmetric_ || i >= half_; }
    /// The frame that has waited for frame i; -1: none.
    int awaited(int i) const { return symmetric_ && i > half_ && i <= last_ ? last_ - i : -1; }
    /// How many frames, from the first one on, still wait behind frame i (number of the last one, plus 1).
    int waiting(int i) const {
        if (!symmetric_ || i >= last_) return 0;
        return (i < last_ - 1 - i ? i : last_ - 1 - i) + 1;
    }

    /// @param i number of the frame in its clip, or past() where that is larger
    /// @return target -1: nothing is computed in this slot
    QC_HD static Target target(int last, bool symmetric, int i, int slot) {
        const int half = last / 2;
        if (!symmetric) return {i, 0};
        if (slot == 0) return {i >= half ? i : -1, 0};
        if (slot == 1) return {i > half && i <= last ? last - i : -1, 0};
        const int t = slot - 2;
        const bool waits = i < last && t <= i && t <= last - 1 - i;
        return {waits ? t : -1, i + 1};
    }
    Target target(int i, int slot) const { return target(last_, symmetric_, i, slot); }

private:
    int last_, half_;
    bool symmetric_;
};

/// Which frame stands at `t` frames from the start of a clip, where t may be negative.
QC_HD int frame_at(int t, int length, bool symmetric) {
    if (t >= 0) return t;
    if (!symmetric) return 0;
    if (length == 0) return -t;
    if (length == 1) return 0;
    const int period = 2 * (length - 1), i = (-t) % period;
    return i < length ? i : period - i;
}

} // namespace qc::cvvdp
