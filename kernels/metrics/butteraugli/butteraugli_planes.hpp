// SPDX-License-Identifier: BSD-2-Clause-Patent
// How the planes of a pair lie in scratch memory, and how they are read.
//
// Everything up to the bands' separation is linear, so the distorted picture is kept as its difference from the
// reference: its planes are small where the pictures are alike, and blue, whose pictures never part, is one plane.
#pragma once

#include "contract/types.hpp"
#include "device/unroll.hpp"
#include "device/wide_floats.hpp"
#include "metrics/butteraugli/butteraugli_math.hpp"
#include "metrics/butteraugli/butteraugli_tuning.hpp"

namespace qc::butteraugli {

using device::Float4;
using device::load_plane;
using device::load_plane4;
using device::load_shared4;
using device::store_plane4;

/// What planes of a pair hold: of the reference, or the reference's less the distorted picture's.
enum Signal { kX, kDeltaX, kY, kDeltaY, kDeltaBlue, kSignals };

/// A plane's size; rows begin at multiples of 128 bytes.
struct PlaneShape {
    int32_t width, height, pitch;
};

/// Planes of one scale of a pair, as distances in floats from the pair's start. A plane's place is used again once its
/// content has been read for the last time:
///
///     response   the eye's, by Signal; later those of X and Y are overwritten by `above`
///     without_low  response less its lowest band
///     above      that less the middle band
///     high, low, activity   differences and both pictures' activities, in the places of what they are made of
///     mask       blurred activities, in places of without_low
struct ScalePlanes {
    PlaneShape shape;
    uint64_t response[kSignals], without_low[kSignals], above[kSignals];
    uint64_t high, low, activity[2], mask[2];
};

/// Four neighbours from a multiple of 4 on; 0 outside the plane.
QC_HD Float4 load_inside4(const float* plane, const PlaneShape& shape, int x, int y) {
    Float4 four{};
    if (x < 0 || x >= shape.width || y < 0 || y >= shape.height) return four;
    four = load_plane4(plane + (static_cast<int64_t>(y) * shape.pitch + x));
    if (x + 3 >= shape.width) {
        QC_UNROLL for (int i = 1; i < 4; ++i) {
            if (x + i >= shape.width) four.value[i] = 0.0f;
        }
    }
    return four;
}

/// A Gaussian and what of its mass lies beyond each distance.
template <int kR>
struct Taps {
    float tap[kR + 1], beyond[kR + 1];

    /// 1 / the mass inside a line of `size` samples.
    QC_HD float inverse_mass(int position, int size) const {
        float mass = 1.0f;
        if (position < kR) mass -= beyond[position];
        if (size - 1 - position < kR) mass -= beyond[size - 1 - position];
        return 1.0f / mass;
    }
    QC_HD static bool is_near_border(int first, int last, int size) { return first < kR || last >= size - kR; }
};

} // namespace qc::butteraugli
