// SPDX-License-Identifier: BSD-2-Clause-Patent
// Single-precision building blocks of the kernels, and how the XYB planes lie in scratch memory.
#pragma once

#include "contract/types.hpp"
#include "device/bits.hpp"
#include "device/fast_math.hpp"
#include "device/unroll.hpp"
#include "device/wide_floats.hpp"
#include "families/linear_light/linear_device.hpp"
#include "metrics/ssimulacra2/ssimulacra2_math.hpp"

namespace qc::ssimulacra2 {

// ---- arithmetic -----------------------------------------------------------------------------------------------------
// One instruction each on the GPU. Relative errors up to about 3e-7: the score moves by less than 3e-4, its norms by
// less than 4e-5. Both pictures of a pair go through the same instructions, so that equal samples stay equal.

using device::fast_reciprocal;

QC_HD float fast_cube_root(float x) {
    return fast_power(x, 1.0f / 3.0f);
}

using device::Float2;
using device::Float4;
using device::load_plane;
using device::load_plane4;
using device::load_shared4;
using device::store_plane2;
using device::store_plane4;

// ---- planes in scratch memory ---------------------------------------------------------------------------------------

/// The XYB of one picture, level after level. A level is a row of panels of 32 columns; a row of a panel holds 32
/// samples of X, then of Y, then of B, and the next row follows. So channels and neighbouring rows are at constant
/// distances. Samples that the plan does not need are not written.
struct PlaneLayout {
    int32_t levels;
    int32_t width[kMaxLevels], height[kMaxLevels];
    uint32_t offset[kMaxLevels]; ///< floats from the picture's start
    uint32_t stored[kMaxLevels]; ///< bit c: channel c is written
    uint64_t picture;            ///< floats from picture to picture
};

constexpr int kPanelColumns = 32; // 128 bytes
constexpr int kRowFloats = kPanelColumns * kChannels;

/// Where a sample of channel 0 lies in a level of `height` rows. The row may be outside if nobody reads there.
QC_HD int sample_index(int x, int y, int height) {
    return (x / kPanelColumns * height + y) * kRowFloats + x % kPanelColumns;
}
QC_HD constexpr uint64_t level_floats(int width, int height) {
    return static_cast<uint64_t>((width + kPanelColumns - 1) / kPanelColumns) * static_cast<uint64_t>(height) *
           kRowFloats;
}

/// Scratch memory holds the planes of a batch as reference and distorted picture of pair 0, of pair 1, ...
QC_HD uint64_t picture_index(int pair, int input) {
    return static_cast<uint64_t>(pair) * 2 + static_cast<uint64_t>(input);
}

/// Whether the pair before this one has the same reference picture, as in a ladder of renditions.
QC_HD bool repeats_reference(const DevicePair* pairs, int pair) {
    if (pair == 0) return false;
    const DevicePicture &own = pairs[pair].reference, &before = pairs[pair - 1].reference;
    return own.plane[0].data == before.plane[0].data && own.plane[1].data == before.plane[1].data;
}

/// The pair whose reference planes serve this one too.
QC_HD int reference_owner(const DevicePair* pairs, int pair) {
    while (repeats_reference(pairs, pair)) --pair;
    return pair;
}

} // namespace qc::ssimulacra2
