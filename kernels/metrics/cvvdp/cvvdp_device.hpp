// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the kernels share: where planes lie in scratch memory, which frames a group filters, powers.
#pragma once

#include "contract/timeline.hpp"
#include "device/fast_math.hpp"
#include "metrics/cvvdp/cvvdp_tuning.hpp"

namespace qc::cvvdp {

constexpr int kDeviceChannels = 4;
constexpr int kDeviceColours = 3;
constexpr int kDeviceBands = 16;
constexpr int kLuminances = 32;

/// Sizes of all levels, and where they lie in a plane's scratch memory. Beside each row's last sample, and in levels
/// behind the first beside its first one, lies the same sample once more; what is before a row is behind the last one.
struct DeviceLevels {
    int32_t bands; ///< as many levels
    int32_t width[kDeviceBands], height[kDeviceBands], pitch[kDeviceBands];
    uint32_t offset[kDeviceBands]; ///< floats
    uint64_t plane;                ///< floats from a plane to the next one
};

/// Neighbours in a row of a level that go in one access: rows begin at multiples of them.
struct alignas(8) Two {
    float first, second;
};

/// Planes of a group: [member][side][channel], side 0 the reference.
QC_HD size_t plane_offset(const DeviceLevels& levels, int member, int side, int channel, int level) {
    return (static_cast<size_t>(member) * 2 + side) * kDeviceChannels * levels.plane + channel * levels.plane +
           levels.offset[level];
}

/// Frames of one rendition that are filtered together, for their windows overlap.
struct Group {
    int32_t active;  ///< members with something to compute, as bits
    int32_t members; ///< with something to compute or not
    int32_t rendition;
    int32_t first, last;          ///< frames of the batch that any member takes something of; negative: before it
    uint32_t row[tuning::kGroup]; ///< of the accumulators
};

QC_HD bool is_active(const Group& group, int member) {
    return (group.active >> member & 1) != 0;
}

/// What a filtered frame takes of a frame.
struct alignas(16) Weights {
    float of[kDeviceChannels];
};

/// x^p with the metric's offset, and 0 for 0. @param sum x and the offset; x >= 0 @param zero kOffset^p
QC_HD float power_of_offset(float sum, float p, float zero) {
    return fmaxf(device::fast_exp2(p * device::fast_log2(sum)) - zero, 0.0f);
}

/// P(D, 2)
QC_HD float squared(float difference) {
    return difference * (difference + 2e-5f);
}

QC_HD int smaller_of(int a, int b) {
    return a < b ? a : b;
}
QC_HD int larger_of(int a, int b) {
    return a > b ? a : b;
}

} // namespace qc::cvvdp
