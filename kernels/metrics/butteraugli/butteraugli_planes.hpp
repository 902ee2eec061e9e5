// SPDX-License-Identifier: BSD-2-Clause-Patent
// How the planes of a pair lie in scratch memory, and how they are read.
//
// Everything up to the bands' separation is linear, so the distorted picture is kept as its difference from the
// reference: its planes are small where the pictures are alike, and blue, whose pictures never part, is one plane.
//
// Behind the separation, halves (16 bits) are precise enough, two of them in the place of a float: what line detectors
// see, below 10,000 even at the extremes of options; and activities, the distorted picture's again as a difference. In
// front of it they are not: there what lies close to each other is subtracted.
#pragma once

#include "contract/types.hpp"
#include "device/half_floats.hpp"
#include "device/unroll.hpp"
#include "device/wide_floats.hpp"
#include "metrics/butteraugli/butteraugli_math.hpp"
#include "metrics/butteraugli/butteraugli_tuning.hpp"

namespace qc::butteraugli {

using device::Float4;
using device::Half;
using device::load_half4;
using device::load_plane;
using device::load_plane4;
using device::load_shared4;
using device::store_half2;
using device::store_plane4;

/// What planes of a pair hold: of the reference, or the reference's less the distorted picture's.
enum Signal { kX, kDeltaX, kY, kDeltaY, kDeltaBlue, kSignals };

/// Two bands whose lines go through every place in the same ways: of ultra-high frequencies of Y and X, all samples;
/// high and middle frequencies of one of them.
enum LinePair { kUltraPair, kPairOfY, kPairOfX, kLinePairs };

/// A plane's size; rows begin at multiples of 128 bytes.
struct PlaneShape {
    int32_t width, height, pitch;
};

/// Floats of memory before the first and behind the last of a pair's planes, so that rows go on at both ends of all.
constexpr int kPlaneMargin = 64;

/// Planes of one scale of a pair, as distances in floats from the pair's start. A plane's place is used again once its
/// content has been read for the last time:
///
///     response   the eye's, by Signal; later those of X and Y are overwritten by `above`
///     without_low  response less its lowest band
///     above      that less the middle band
///     lines      what line detectors see of the bands, pairs of halves
///     high, low  differences of all bands but the lowest, and of the lowest, in the places of what they are made of.
///                `high` lacks the lines at first. A map of differences at a scale would begin from these two
///     activity   the reference's, and how much more that is than the distorted picture's, pairs of halves
///     masking    these, blurred: planes of halves, in places of without_low
struct ScalePlanes {
    PlaneShape shape;
    uint64_t response[kSignals], without_low[kSignals], above[kSignals], lines[kLinePairs];
    uint64_t high, low, activity, masking[2];
};

/// A plane of halves, or of pairs of them.
QC_HD Half* halves(float* pair, uint64_t plane) {
    return reinterpret_cast<Half*>(pair + plane);
}
QC_HD const Half* halves(const float* pair, uint64_t plane) {
    return reinterpret_cast<const Half*>(pair + plane);
}

/// Four neighbours of a plane of pairs.
struct alignas(16) Pair4 {
    uint32_t value[4];
};
QC_HD Pair4 pairs_of(const Float4& low, const Float4& high) {
    Pair4 pairs;
    QC_UNROLL for (int i = 0; i < 4; ++i) pairs.value[i] = device::half_pair_of(low.value[i], high.value[i]);
    return pairs;
}
QC_HD Float4 low_of(const Pair4& pairs) {
    Float4 low;
    QC_UNROLL for (int i = 0; i < 4; ++i) low.value[i] = device::low_of_pair(pairs.value[i]);
    return low;
}
QC_HD Float4 high_of(const Pair4& pairs) {
    Float4 high;
    QC_UNROLL for (int i = 0; i < 4; ++i) high.value[i] = device::high_of_pair(pairs.value[i]);
    return high;
}
QC_HD void store_pair4(float* to, const Pair4& pairs) {
#if defined(__CUDA_ARCH__)
    *reinterpret_cast<uint4*>(to) = make_uint4(pairs.value[0], pairs.value[1], pairs.value[2], pairs.value[3]);
#else
    *reinterpret_cast<Pair4*>(to) = pairs;
#endif
}
QC_HD Pair4 load_plane_pair4(const float* from) {
#if defined(__CUDA_ARCH__)
    const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
    return {{v.x, v.y, v.z, v.w}};
#else
    return *reinterpret_cast<const Pair4*>(from);
#endif
}
QC_HD Pair4 load_shared_pair4(const uint32_t* from) {
#if defined(__CUDA_ARCH__)
    const uint4 v = *reinterpret_cast<const uint4*>(from);
    return {{v.x, v.y, v.z, v.w}};
#else
    return *reinterpret_cast<const Pair4*>(from);
#endif
}

/// Four neighbours from a multiple of 4 on; 0 outside the plane. Up to the next multiple of 4, planes themselves have
/// columns of 0 beyond their right border.
QC_HD Float4 load_inside4(const float* plane, const PlaneShape& shape, int x, int y) {
    if (x < 0 || x >= shape.width || y < 0 || y >= shape.height) return {};
    return load_plane4(plane + (static_cast<int64_t>(y) * shape.pitch + x));
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
