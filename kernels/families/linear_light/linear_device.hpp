// SPDX-License-Identifier: BSD-2-Clause-Patent
// From codes to linear RGB on the GPU, in single precision: the arithmetic of one pixel, and how its samples are found.
#pragma once

#include <cmath>

#include "contract/types.hpp"
#include "device/bits.hpp"
#include "device/fast_math.hpp"
#include "device/unroll.hpp"
#include "families/linear_light/linear_conversion.hpp"

namespace qc::linear_light {

using device::fast_exp2;
using device::fast_log2;

// ---- arithmetic -----------------------------------------------------------------------------------------------------

/// x ^ exponent for x >= 0; 0 stays 0.
QC_HD float fast_power(float x, float exponent) {
    return fast_exp2(exponent * fast_log2(x));
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
    return device::float_of(kIntegerBits | code) - shifted_origin;
}

// ---- what to do

enum class Chroma { kNone, kHalved, kHalvedAcross, kFull }; ///< 4:0:0, 4:2:0, 4:2:2, 4:4:4 and RGB

/// Weights of four neighbouring chroma samples along a halved axis: of samples j - 2 .. j + 1 for luma sample 2 j, and
/// of j - 1 .. j + 2 for luma sample 2 j + 1.
struct AxisTaps {
    float even[4], odd[4];
    int32_t even_is_sample; ///< sample j alone
};

/// A conversion as the kernel uses it. The usual kind (integer origins, R without Cb, B without Cr, clipping, a power
/// function, no other primaries) needs the upper half only.
struct DeviceConversion {
    AxisTaps across, down;
    float shifted_origin[3]; ///< 2^23 + origin
    float luma, red_cr, green_cb, green_cr, blue_cb, exponent;
    ColourConversion<float> general;
};

// ---- samples --------------------------------------------------------------------------------------------------------

QC_HD int clamp_index(int i, int size) {
    return i < 0 ? 0 : i < size ? i : size - 1;
}

template <bool kGeneral>
QC_HD float plane_value(const DeviceConversion& conversion, int plane, uint32_t code) {
    if constexpr (kGeneral) {
        const ColourConversion<float>& general = conversion.general;
        float value = centred_code(code, kIntegerBase);
        if (general.clamp_codes) value = fminf(fmaxf(value, general.code_low[plane]), general.code_high[plane]);
        return value - general.origin[plane];
    } else {
        return centred_code(code, conversion.shifted_origin[plane]);
    }
}

template <typename T>
QC_HD uint32_t load_code(const void* data, uint32_t offset_bytes) {
    const T* const sample = reinterpret_cast<const T*>(static_cast<const unsigned char*>(data) + offset_bytes);
#if defined(__CUDA_ARCH__)
    return __ldg(sample);
#else
    return *sample;
#endif
}

/// Distance of a row from the plane's start. Planes are smaller than 4 GiB.
QC_HD uint32_t row_offset(const DevicePlane& plane, int y) {
    return static_cast<uint32_t>(y) * plane.pitch_bytes;
}

QC_HD float four_taps(const float (&tap)[4], float a, float b, float c, float d) {
    return fmaf(tap[3], d, fmaf(tap[2], c, fmaf(tap[1], b, tap[0] * a)));
}

QC_HD float mean_of_four(float a, float b, float c, float d) {
    return 0.25f * ((a + b) + (c + d));
}

// ---- colours --------------------------------------------------------------------------------------------------------

struct Rgb {
    float red, green, blue;
};

/// From perceptual quantiser (0..1) to light, 1 being 10000 cd/m2. Written with 1 - v ^ (1 / m2): that power is close
/// to 1, where single precision would leave nothing of the differences.
QC_HD float light_of_pq(float value) {
    constexpr float kInverseM1 = 16384.0f / 2610.0f, kInverseM2 = 4096.0f / (2523.0f * 128.0f);
    constexpr float kLn2 = 0.693147180559945309f;
    constexpr float kC3 = 2392.0f / 4096.0f * 32.0f;
    constexpr float kOneMinusC1 = 1.0f - 3424.0f / 4096.0f; // C2 - C3 too
    const float rest = -expm1f(log2f(value) * (kInverseM2 * kLn2));
    const float numerator = fmaxf(kOneMinusC1 - rest, 0.0f);
    const float denominator = fmaf(kC3, rest, kOneMinusC1);
    return exp2f(kInverseM1 * log2f(numerator / denominator));
}

/// Scene light of hybrid log-gamma, 0..1.
QC_HD float scene_light_of_hlg(float value) {
    constexpr float kA = 0.17883277f, kB = 0.28466892f, kC = 0.55991073f;
    return value <= 0.5f ? value * value / 3.0f : (expf((value - kC) / kA) + kB) / 12.0f;
}

/// Transfer function for a value >= 0.
QC_HD float light_of(const ColourConversion<float>& conversion, float value) {
    switch (conversion.transfer) {
    case Transfer::kLinear:
        return value;
    case Transfer::kPower:
        return fast_power(value, conversion.exponent);
    case Transfer::kSrgb:
        return value <= 0.04045f ? value * (1.0f / 12.92f) : fast_power((value + 0.055f) * (1.0f / 1.055f), 2.4f);
    case Transfer::kBt709:
        return value < 0.081f ? value * (1.0f / 4.5f) : fast_power((value + 0.099f) * (1.0f / 1.099f), 1.0f / 0.45f);
    case Transfer::kPq:
        return light_of_pq(value) * conversion.light_scale;
    case Transfer::kHlg:
        return scene_light_of_hlg(value);
    }
    return value;
}

QC_HD float general_light(const ColourConversion<float>& conversion, float value) {
    if (conversion.gamut == Gamut::kClip) value = clip_to_one(value);
    if (conversion.gamut == Gamut::kFloor) value = fmaxf(value, 0.0f);
    return copysignf(light_of(conversion, fabsf(value)), value);
}

QC_HD Rgb general_linear(const ColourConversion<float>& conversion, const float (&plane)[3]) {
    float value[3];
    QC_UNROLL for (int i = 0; i < 3; ++i) {
        const float(&row)[3] = conversion.matrix[i];
        value[i] = general_light(conversion, fmaf(row[2], plane[2], fmaf(row[1], plane[1], row[0] * plane[0])));
    }
    if (conversion.transfer == Transfer::kHlg) { // OOTF with gamma 1.2 on the luminance of BT.2020
        const float luminance = fmaf(0.2627f, value[0], fmaf(0.6780f, value[1], 0.0593f * value[2]));
        const float gain = conversion.light_scale * fast_power(fmaxf(luminance, 0.0f), 0.2f);
        QC_UNROLL for (int i = 0; i < 3; ++i) value[i] *= gain;
    }
    if (!conversion.convert_primaries) return {value[0], value[1], value[2]};
    float result[3];
    QC_UNROLL for (int i = 0; i < 3; ++i) {
        const float(&row)[3] = conversion.primaries[i];
        result[i] = fmaf(row[2], value[2], fmaf(row[1], value[1], row[0] * value[0]));
    }
    return {result[0], result[1], result[2]};
}

template <bool kGeneral>
QC_HD Rgb linear_rgb(const DeviceConversion& conversion, float luma, float cb, float cr) {
    if constexpr (kGeneral) {
        const float plane[3] = {luma, cb, cr};
        return general_linear(conversion.general, plane);
    } else {
        luma *= conversion.luma;
        const float red = clip_to_one(fmaf(conversion.red_cr, cr, luma));
        const float green = clip_to_one(fmaf(conversion.green_cb, cb, fmaf(conversion.green_cr, cr, luma)));
        const float blue = clip_to_one(fmaf(conversion.blue_cb, cb, luma));
        return {fast_power(red, conversion.exponent), fast_power(green, conversion.exponent),
                fast_power(blue, conversion.exponent)};
    }
}

} // namespace qc::linear_light
