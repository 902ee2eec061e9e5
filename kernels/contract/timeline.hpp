// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whole pictures of the pairs before one, for metrics that filter in time over many frames
// (MetricDescriptor::earlier_pairs). What looks back one or two frames has it in DevicePair and HostPair.
#pragma once

#include <span>

#include "contract/types.hpp"

namespace qc {

/// How many earlier pairs a metric may look back at.
constexpr int kMaxEarlierPairs = 128;

/// The pair some frames before another one.
struct EarlierPair {
    const HostPicture *reference = nullptr, *distorted = nullptr;
};

/// What lies behind a pair: past[k] is k + 1 frames earlier. It ends where the stretch began, where one of the two
/// pictures was absent, and after as many as the metric asked for.
using HostPast = std::span<const EarlierPair>;

/// The same on the device, for all frames of a batch: where the pictures of each input lie, in the order of time, those
/// before the batch first. Arrays in device memory whose addresses stay; their content is the batch's.
struct DeviceTimeline {
    const DevicePicture* pictures = nullptr; ///< [input][place]; input 0 is the reference, the renditions follow
    const uint32_t* pasts = nullptr;         ///< [rendition][frame of the batch]: how many earlier pairs it may look at
    int depth = 0;                           ///< places before the batch's first frame
    int frames = 0;                          ///< of a batch at most: places behind those
    int renditions = 1;

    /// Of the frame that is number `frame` in the batch; negative: before it.
    QC_HD const DevicePicture& picture(int input, int frame) const {
        return pictures[input * (depth + frames) + depth + frame];
    }
    QC_HD int past(int rendition, int frame) const { return static_cast<int>(pasts[rendition * frames + frame]); }
    /// What a pair's `output` (DevicePair) says.
    QC_HD int frame_of(uint32_t output) const { return static_cast<int>(output) / renditions; }
    QC_HD int rendition_of(uint32_t output) const { return static_cast<int>(output) % renditions; }
};

} // namespace qc
