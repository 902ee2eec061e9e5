// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/butteraugli/butteraugli_cpu_light.hpp"

#include <algorithm>

#include "device/cpu_clones.hpp"
#include "device/row_blur.hpp"
#include "device/unroll.hpp"

namespace qc::butteraugli::rows {
namespace {

constexpr int kReach = kRadius[kAdaptation];
constexpr int kBlock = 64; ///< columns at a time: then what is between light and response stays in the first cache
constexpr int kAround = 8; ///< columns of a block's blur that lie before it, a vector's
static_assert(kReach == 2 && kAround >= kReach && kBlock % kSegment == 0);

template <typename Cpu>
QC_INLINE_HELPER void mix_cone_row_on(const double* mixing, const double* const* rgb, int width,
                                      double* __restrict first, double* __restrict second, double* __restrict third) {
    const double *red = rgb[0], *green = rgb[1], *blue = rgb[2];
    for (int x = 0; x < width; ++x) {
        const double r = red[x], g = green[x], b = blue[x];
        first[x] = Cpu::fused(mixing[0], r, Cpu::fused(mixing[1], g, mixing[2] * b));
        second[x] = Cpu::fused(mixing[3], r, Cpu::fused(mixing[4], g, mixing[5] * b));
        third[x] = Cpu::fused(mixing[6], r, Cpu::fused(mixing[7], g, mixing[8] * b));
    }
}
QC_CPU_VERSIONS(mix_cone_row,
                (const double* mixing, const double* const* rgb, int width, double* first, double* second,
                 double* third),
                (mixing, rgb, width, first, second, third))

void mirror_ends(double* row, int width) {
    for (int i = 1; i <= kReach; ++i) {
        row[-i] = row[i - 1];
        row[width - 1 + i] = row[width - i];
    }
}

QC_CPU_CLONES void halve_row(const double* upper, const double* lower, int count, double* __restrict to) {
    for (int i = 0; i < count; ++i)
        to[i] = 0.25 * ((upper[2 * i] + upper[2 * i + 1]) + (lower[2 * i] + lower[2 * i + 1]));
}

/// x > 0 as m 2^k, m being around 1.
struct Parts {
    double m, k;
};
QC_INLINE_HELPER Parts parts_of(double x) {
    constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcdu;
    const uint64_t above = std::bit_cast<uint64_t>(x) - kRootOfHalf, power = above & 0xfff0000000000000u;
    // The exponent as a number: added to the bits of 2^52 + 2^51, whose last place is 1.
    return {std::bit_cast<double>(above - power + kRootOfHalf),
            std::bit_cast<double>((above >> 52 ^ 0x800) + 0x4338000000000000u) - (6755399441055744.0 + 2048.0)};
}

/// ln x = k ln 2 + 2 artanh(s) with s = (m - 1) / (m + 1) below 0.172, whose series is fitted to 1.5e-12.
template <typename Cpu>
QC_INLINE_HELPER double logarithm(double s, double k) {
    const double square = s * s;
    double sum = 0.11808633040611789;
    sum = Cpu::fused(sum, square, 0.14267498863040004);
    sum = Cpu::fused(sum, square, 0.20000192825548935);
    sum = Cpu::fused(sum, square, 0.33333332620874945);
    sum = Cpu::fused(sum, square, 1.0000000000042053);
    return Cpu::fused(k, 0.693147180559945309, 2.0 * s * sum);
}

/// Of the light that a kind of cone is adapted to: with the gain's shift it is m 2^k.
struct Adapted {
    double light[kBlock], m_and_one[kBlock], k[kBlock];
};

/// Along a row. What is dark is added.
template <typename Cpu>
QC_INLINE_HELPER void adapt(const double* tap, double darkness, const double* blurred, int count,
                            Adapted* __restrict to) {
    for (int x = 0; x < count; ++x) {
        double sum = tap[2] * blurred[x - 2];
        sum = Cpu::fused(tap[1], blurred[x - 1], sum);
        sum = Cpu::fused(tap[0], blurred[x], sum);
        sum = Cpu::fused(tap[1], blurred[x + 1], sum);
        sum = Cpu::fused(tap[2], blurred[x + 2], sum);
        const double light = larger(sum + darkness, darkness);
        const Parts parts = parts_of(light + kGainShift);
        to->light[x] = light;
        to->m_and_one[x] = parts.m + 1.0;
        to->k[x] = parts.k;
    }
}

/// As adapted_response(). @param inverse 1 / (m_and_one * adapted)
template <typename Cpu>
QC_INLINE_HELPER double cone_response(double light, const Adapted& adapted, int x, double inverse, double darkness) {
    const double m_and_one = adapted.m_and_one[x];
    const double log = logarithm<Cpu>((m_and_one - 2.0) * adapted.light[x] * inverse, adapted.k[x]);
    const double gain = larger(Cpu::fused(kGainScale, log, kGainOffset) * (m_and_one * inverse), kLeastGain);
    return larger((light + darkness) * gain, darkness);
}

/// All three of one picture; one division serves for them. In steps, for each waits long for the one before.
/// @param light [cone] @param blurred [cone], down columns @param to [channel]
template <typename Cpu>
QC_INLINE_HELPER void respond_to(const double* tap, const double* darkness, const double* const* light,
                                 const double* const* blurred, int count, double (*__restrict to)[kBlock]) {
    alignas(64) Adapted adapted[kColours];
    alignas(64) double inverse[kColours][kBlock];
    for (int c = 0; c < kColours; ++c) adapt<Cpu>(tap, darkness[c], blurred[c], count, &adapted[c]);
    for (int x = 0; x < count; ++x) {
        const double first = adapted[0].m_and_one[x] * adapted[0].light[x],
                     second = adapted[1].m_and_one[x] * adapted[1].light[x],
                     third = adapted[2].m_and_one[x] * adapted[2].light[x];
        const double both = first * second, of_all = 1.0 / (both * third), of_both = of_all * third;
        inverse[0][x] = of_both * second;
        inverse[1][x] = of_both * first;
        inverse[2][x] = of_all * both;
    }
    const double *light_0 = light[0], *light_1 = light[1], *light_2 = light[2];
    const double dark_0 = darkness[0], dark_1 = darkness[1], dark_2 = darkness[2];
    for (int x = 0; x < count; ++x) {
        const double first = cone_response<Cpu>(light_0[x], adapted[0], x, inverse[0][x], dark_0);
        const double second = cone_response<Cpu>(light_1[x], adapted[1], x, inverse[1][x], dark_1);
        to[0][x] = first - second;
        to[1][x] = first + second;
        to[2][x] = cone_response<Cpu>(light_2[x], adapted[2], x, inverse[2][x], dark_2);
    }
}

/// @param count columns, up to the end of a segment @param inside those of them that are in the picture
QC_INLINE_HELPER void part_response(const double* reference, int count, int inside, double* base,
                                    float* __restrict detail) {
    for (int begin = 0; begin < count; begin += kSegment, ++base) {
        const int middle = begin + kSegment / 2;
        const double of_segment = reference[middle < inside ? middle : begin];
        *base = of_segment;
        for (int x = begin; x < begin + kSegment; ++x) detail[x] = static_cast<float>(reference[x] - of_segment);
    }
}

QC_INLINE_HELPER void subtract(const double* distorted, const double* reference, int count,
                               float* __restrict difference) {
    for (int x = 0; x < count; ++x) difference[x] = static_cast<float>(distorted[x] - reference[x]);
}

template <typename Cpu>
QC_INLINE_HELPER void respond_rows_on(const double* tap, const LightRows* light, int rows, int width,
                                      const ResponseRow* to) {
    alignas(64) double blurred[kBoth][kResponseRows][kBlock + 2 * kAround];
    alignas(64) double response[kSides][kColours][kBlock];
    const double ones[kResponseRows] = {1.0, 1.0, 1.0, 1.0};
    for (int begin = 0; begin < width; begin += kBlock) {
        const int inside = std::min(kBlock, width - begin), count = segments_of(inside) * kSegment;
        for (int plane = 0; plane < kBoth; ++plane) {
            const double* around[kResponseRows + 2 * kReach];
            double* target[kResponseRows];
            for (int i = 0; i < rows + 2 * kReach; ++i) around[i] = light->row[plane][i] + begin - kAround;
            for (int i = 0; i < rows; ++i) target[i] = blurred[plane][i];
            device::blur_columns<Cpu, kReach>(tap, around + kReach, ones, rows, count + 2 * kAround, target);
        }
        for (int i = 0; i < rows; ++i) {
            for (int side = 0; side < kSides; ++side) {
                const double *own[kColours], *soft[kColours];
                for (int c = 0; c < kColours; ++c) {
                    own[c] = light->row[side * kColours + c][kReach + i] + begin;
                    soft[c] = blurred[side * kColours + c][i] + kAround;
                }
                respond_to<Cpu>(tap, light->darkness, own, soft, count, response[side]);
            }
            for (int c = 0; c < kColours; ++c)
                subtract(response[1][c], response[0][c], count, to[i].difference[c] + begin);
            for (int c = 0; c < kBanded; ++c)
                part_response(response[0][c], count, inside, to[i].base[c] + begin / kSegment, to[i].detail[c] + begin);
        }
    }
}
QC_CPU_VERSIONS(respond_rows, (const double* tap, const LightRows* light, int rows, int width, const ResponseRow* to),
                (tap, light, rows, width, to))

} // namespace

void mix_cones(double intensity, const double* const* rgb, int width, double* const* to) {
    double mixing[3 * kColours]; // times the light of white
    for (int k = 0; k < 3; ++k)
        for (int c = 0; c < kColours; ++c) mixing[k * kColours + c] = intensity * kMixing[k][c];
    mix_cone_row(mixing, rgb, width, to[0], to[1], to[2]);
    for (int k = 0; k < 3; ++k) mirror_ends(to[k], width);
}

void halve(const double* upper, const double* lower, int width, double* to) {
    halve_row(upper, lower, width / 2, to);
    if (width % 2 == 1) to[width / 2] = 0.5 * (upper[width - 1] + lower[width - 1]);
    mirror_ends(to, (width + 1) / 2);
}

void respond(const Gaussian<double>& adaptation, const LightRows& light, int count, int width, const ResponseRow* to) {
    respond_rows(adaptation.tap, &light, count, width, to);
}

} // namespace qc::butteraugli::rows
