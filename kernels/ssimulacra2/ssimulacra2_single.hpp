// SPDX-License-Identifier: BSD-2-Clause-Patent
// Single-precision building blocks of the kernels: the fast functions of the GPU and what stands for them on the host,
// and how the XYB planes lie in scratch memory.
#pragma once

#include <cmath>
#include <cstring>

#include "common/types.hpp"
#include "common/unroll.hpp"
#include "ssimulacra2/ssimulacra2_math.hpp"

namespace qc::ssimulacra2 {

// ---- arithmetic -----------------------------------------------------------------------------------------------------
// One instruction each on the GPU. Relative errors up to about 3e-7: the score moves by less than 3e-4, its norms by less
// than 4e-5. Both pictures of a pair go through the same instructions, so that equal samples stay equal.

QC_HD float fast_log2(float x) {
#if defined(__CUDA_ARCH__)
    float result;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#else
    return std::log2(x);
#endif
}

QC_HD float fast_exp2(float x) {
#if defined(__CUDA_ARCH__)
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#else
    return std::exp2(x);
#endif
}

QC_HD float fast_reciprocal(float x) {
#if defined(__CUDA_ARCH__)
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#else
    return 1.0f / x;
#endif
}

/// x ^ exponent for x >= 0; 0 stays 0.
QC_HD float fast_power(float x, float exponent) {
    return fast_exp2(exponent * fast_log2(x));
}

QC_HD float fast_cube_root(float x) {
    return fast_power(x, 1.0f / 3.0f);
}

QC_HD float clip_to_one(float x) {
#if defined(__CUDA_ARCH__)
    return __saturatef(x);
#else
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
#endif
}

/// The bits of 2^23: adding an integer below 2^23 to them adds it to the number, without the slow conversion.
constexpr uint32_t kIntegerBits = 0x4b000000u;
constexpr float kIntegerBase = 8388608.0f;

/// code - (shifted_origin - 2^23), exact if the origin is an integer.
QC_HD float centred_code(uint32_t code, float shifted_origin) {
    const uint32_t bits = kIntegerBits | code;
#if defined(__CUDA_ARCH__)
    return __uint_as_float(bits) - shifted_origin;
#else
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value - shifted_origin;
#endif
}

struct alignas(8) Float2 {
    float x, y;
};

struct alignas(16) Float4 {
    float value[4];
};

/// Memory that no kernel writes while this one runs.
QC_HD float load_plane(const float* from) {
#if defined(__CUDA_ARCH__)
    return __ldg(from);
#else
    return *from;
#endif
}

QC_HD Float4 load_plane4(const float* from) {
#if defined(__CUDA_ARCH__)
    const float4 v = __ldg(reinterpret_cast<const float4*>(from));
    return {{v.x, v.y, v.z, v.w}};
#else
    return *reinterpret_cast<const Float4*>(from);
#endif
}

QC_HD Float4 load_shared4(const float* from) {
#if defined(__CUDA_ARCH__)
    const float4 v = *reinterpret_cast<const float4*>(from);
    return {{v.x, v.y, v.z, v.w}};
#else
    return *reinterpret_cast<const Float4*>(from);
#endif
}

QC_HD void store_plane2(float* to, float x, float y) {
#if defined(__CUDA_ARCH__)
    *reinterpret_cast<float2*>(to) = make_float2(x, y);
#else
    to[0] = x;
    to[1] = y;
#endif
}

// ---- planes in scratch memory ---------------------------------------------------------------------------------------

/// XYB planes of one picture: those that the plan needs, one after the other. A plane is a row of panels of 32 columns,
/// each of which is contiguous: a distance of some rows is then a constant, and neighbouring rows are neighbours in memory.
struct PlaneLayout {
    int32_t levels;
    int32_t width[kMaxLevels], height[kMaxLevels];
    uint32_t offset[kMaxLevels][kChannels]; ///< floats from the picture's start
    uint32_t stored[kMaxLevels];            ///< bit c: channel c exists
    uint64_t picture;                       ///< floats from picture to picture
};

constexpr int kPanelColumns = 32; // 128 bytes a row

/// Where a sample lies in a plane of `height` rows. The row may be outside of the plane if nobody reads there.
QC_HD int sample_index(int x, int y, int height) {
    return (x / kPanelColumns * height + y) * kPanelColumns + x % kPanelColumns;
}
QC_HD constexpr uint64_t plane_floats(int width, int height) {
    return static_cast<uint64_t>((width + kPanelColumns - 1) / kPanelColumns) * kPanelColumns *
           static_cast<uint64_t>(height);
}

/// Scratch memory holds the planes of a batch as reference and distorted picture of pair 0, of pair 1, ...
QC_HD uint64_t picture_index(int pair, int input) {
    return static_cast<uint64_t>(pair) * 2 + static_cast<uint64_t>(input);
}

/// First pair of the batch with the same reference picture as this one; its planes serve both. On the GPU all lanes of a
/// warp must come here together.
QC_HD int reference_owner(const DevicePair* pairs, int pair) {
    const void* const luma = pairs[pair].reference.plane[0].data;
    const void* const chroma = pairs[pair].reference.plane[1].data;
    const auto is_same = [&](int other) {
        return pairs[other].reference.plane[0].data == luma && pairs[other].reference.plane[1].data == chroma;
    };
#if defined(__CUDA_ARCH__)
    constexpr int kLanes = 32;
    for (int first = 0; first < pair; first += kLanes) {
        const int other = first + static_cast<int>(threadIdx.x) % kLanes;
        const unsigned found = __ballot_sync(0xffffffffu, other < pair && is_same(other));
        if (found != 0) return first + __ffs(static_cast<int>(found)) - 1;
    }
#else
    for (int other = 0; other < pair; ++other)
        if (is_same(other)) return other;
#endif
    return pair;
}

} // namespace qc::ssimulacra2
