// SPDX-License-Identifier: BSD-2-Clause-Patent
// Two and four neighbouring floats at once, in planes of scratch memory and in shared memory.
#pragma once

#include "contract/types.hpp"

namespace qc::device {

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

QC_HD Float2 load_plane2(const float* from) {
#if defined(__CUDA_ARCH__)
    const float2 v = __ldg(reinterpret_cast<const float2*>(from));
    return {v.x, v.y};
#else
    return {from[0], from[1]};
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

QC_HD void store_plane4(float* to, const Float4& value) {
#if defined(__CUDA_ARCH__)
    *reinterpret_cast<float4*>(to) = make_float4(value.value[0], value.value[1], value.value[2], value.value[3]);
#else
    *reinterpret_cast<Float4*>(to) = value;
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

} // namespace qc::device
