// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/linear_light/linear_rows.hpp"

#include <algorithm>
#include <cmath>

#include "device/cpu_versions.hpp"
#include "families/linear_light/linear_roots.hpp"

namespace qc::linear_light {
namespace {

QC_CPU_CLONES void codes_from_u8(const uint8_t* from, int count, double low, double high, double* to) {
    for (int i = 0; i < count; ++i) to[i] = std::min(std::max(static_cast<double>(from[i]), low), high);
}

QC_CPU_CLONES void codes_from_u16(const uint16_t* from, int count, double low, double high, double* to) {
    for (int i = 0; i < count; ++i) to[i] = std::min(std::max(static_cast<double>(from[i]), low), high);
}

/// to[2 i] and to[2 i + 1] from the chroma samples around i; `from` is padded by two samples on both sides.
QC_CPU_CLONES void double_row(const double* from, int count, const ChromaTaps<double>* even,
                              const ChromaTaps<double>* odd, double* to) {
    for (int i = 0; i < count; ++i) {
        const double* const a = from + i + even->first;
        const double* const b = from + i + odd->first;
        to[2 * i] = even->weight[0] * a[0] + even->weight[1] * a[1] + even->weight[2] * a[2] + even->weight[3] * a[3];
        to[2 * i + 1] = odd->weight[0] * b[0] + odd->weight[1] * b[1] + odd->weight[2] * b[2] + odd->weight[3] * b[3];
    }
}

QC_CPU_CLONES void weigh_rows(const double* const* rows, const double* weight, int count, double* to) {
    const double *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    for (int i = 0; i < count; ++i) to[i] = weight[0] * a[i] + weight[1] * b[i] + weight[2] * c[i] + weight[3] * d[i];
}

/// One of R'G'B', clipped to [low, high].
template <typename Cpu>
QC_INLINE_HELPER void mix_planes_on(const double* const* plane, const double* matrix, const double* origin, double low,
                                    double high, int count, double* __restrict to) {
    const double *a = plane[0], *b = plane[1], *c = plane[2];
    const double of_a = matrix[0], of_b = matrix[1], of_c = matrix[2];
    const double first = origin[0], second = origin[1], third = origin[2];
    for (int i = 0; i < count; ++i) {
        const double mixed = Cpu::fused(of_a, a[i] - first, Cpu::fused(of_b, b[i] - second, of_c * (c[i] - third)));
        to[i] = std::min(std::max(mixed, low), high);
    }
}
QC_CPU_VERSIONS(mix_planes,
                (const double* const* plane, const double* matrix, const double* origin, double low, double high,
                 int count, double* to),
                (plane, matrix, origin, low, high, count, to))

/// v ^ (kFifths / 5), for negative values by odd symmetry.
template <typename Cpu, int kFifths>
QC_INLINE_HELPER void raise_by(double* row, int count) {
    for (int i = 0; i < count; ++i) row[i] = std::copysign(power_of_fifths<Cpu, kFifths>(std::abs(row[i])), row[i]);
}

template <typename Cpu>
QC_INLINE_HELPER void raise_row_on(double* row, int count, double exponent) {
    if (exponent == 2.2)
        raise_by<Cpu, 11>(row, count);
    else if (exponent == 2.4)
        raise_by<Cpu, 12>(row, count);
    else
        raise_by<Cpu, 14>(row, count);
}
QC_CPU_VERSIONS(raise_row, (double* row, int count, double exponent), (row, count, exponent))

template <typename Cpu>
QC_INLINE_HELPER void srgb_row_on(double* row, int count) {
    for (int i = 0; i < count; ++i) {
        const double value = std::abs(row[i]);
        const double power = power_of_fifths<Cpu, 12>(Cpu::fused(value, 1.0 / 1.055, 0.055 / 1.055));
        row[i] = std::copysign(value <= 0.04045 ? value * (1.0 / 12.92) : power, row[i]);
    }
}
QC_CPU_VERSIONS(srgb_row, (double* row, int count), (row, count))

double bt709_to_linear(double value) {
    return value < 0.081 ? value / 4.5 : std::pow((value + 0.099) / 1.099, 1.0 / 0.45);
}

/// SMPTE ST 2084, relative to 10000 cd/m2.
double pq_to_linear(double value) {
    constexpr double kM1 = 2610.0 / 16384.0, kM2 = 2523.0 / 32.0;
    constexpr double kC1 = 3424.0 / 4096.0, kC2 = 2413.0 / 128.0, kC3 = 2392.0 / 128.0;
    const double root = std::pow(value, 1.0 / kM2);
    return std::pow(std::max(root - kC1, 0.0) / (kC2 - kC3 * root), 1.0 / kM1);
}

/// Scene light of ARIB STD-B67, 0 to 1.
double hlg_to_scene(double value) {
    constexpr double kA = 0.17883277, kB = 0.28466892, kC = 0.55991073;
    return value <= 0.5 ? value * value / 3.0 : (std::exp((value - kC) / kA) + kB) / 12.0;
}

template <typename Curve>
void apply_curve(double* row, int count, Curve curve) {
    for (int i = 0; i < count; ++i) row[i] = std::copysign(curve(std::abs(row[i])), row[i]);
}

/// Display light for 1000 cd/m2, from R'G'B': each component is brightened by the scene's luminance to the power 0.2.
void hlg_rows(double* const* rgb, int count, double scale) {
    constexpr double kGamma = 1.2;
    for (int c = 0; c < 3; ++c) apply_curve(rgb[c], count, hlg_to_scene);
    for (int i = 0; i < count; ++i) {
        const double luminance = 0.2627 * rgb[0][i] + 0.6780 * rgb[1][i] + 0.0593 * rgb[2][i];
        const double gain = scale * std::pow(std::max(luminance, 0.0), kGamma - 1.0);
        for (int c = 0; c < 3; ++c) rgb[c][i] *= gain;
    }
}

void linearise(const ColourConversion<double>& conversion, double* const* rgb, int count) {
    if (conversion.transfer == Transfer::kHlg) return hlg_rows(rgb, count, conversion.light_scale);
    for (int c = 0; c < 3; ++c) {
        switch (conversion.transfer) {
        case Transfer::kPower:
            raise_row(rgb[c], count, conversion.exponent);
            break;
        case Transfer::kSrgb:
            srgb_row(rgb[c], count);
            break;
        case Transfer::kBt709:
            apply_curve(rgb[c], count, bt709_to_linear);
            break;
        case Transfer::kPq:
            apply_curve(rgb[c], count, [&](double value) { return conversion.light_scale * pq_to_linear(value); });
            break;
        case Transfer::kLinear:
        case Transfer::kHlg:
            break;
        }
    }
}

QC_CPU_CLONES void change_primaries(const double* matrix, double* red, double* green, double* blue, int count) {
    for (int i = 0; i < count; ++i) {
        const double r = red[i], g = green[i], b = blue[i];
        red[i] = matrix[0] * r + matrix[1] * g + matrix[2] * b;
        green[i] = matrix[3] * r + matrix[4] * g + matrix[5] * b;
        blue[i] = matrix[6] * r + matrix[7] * g + matrix[8] * b;
    }
}

} // namespace

void LinearReader::open(const HostPicture& picture, const FrameGeometry& geometry,
                        const ColourConversion<double>& conversion) {
    picture_ = &picture;
    geometry_ = &geometry;
    conversion_ = &conversion;
    for (int p = 0; p < conversion.planes; ++p) codes_[p].resize(static_cast<size_t>(geometry.width) + 1);
    const auto padded = static_cast<size_t>(geometry.stored_width(1)) + 2 * kPadding;
    for (auto& rows : chroma_rows_)
        for (StoredRow& stored : rows) {
            stored.codes.resize(padded);
            stored.row = -1;
        }
    weighed_.resize(padded);
    for (int parity = 0; parity < 2; ++parity)
        taps_[parity] = chroma_taps<double>(conversion.chroma_filter, conversion.axis_x.centred, parity);
}

void LinearReader::read(int y, double* const* rgb) {
    const ColourConversion<double>& conversion = *conversion_;
    const int width = geometry_->width;
    read_codes(0, y, codes_[0].data());
    for (int p = 1; p < conversion.planes; ++p) read_chroma(p, y);
    const double* planes[3] = {codes_[0].data(), codes_[0].data(), codes_[0].data()};
    for (int p = 1; p < conversion.planes; ++p) planes[p] = codes_[p].data();
    const double low = conversion.gamut == Gamut::kExtend ? -HUGE_VAL : 0.0;
    const double high = conversion.gamut == Gamut::kClip ? 1.0 : HUGE_VAL;
    for (int c = 0; c < 3; ++c) mix_planes(planes, conversion.matrix[c], conversion.origin, low, high, width, rgb[c]);
    linearise(conversion, rgb, width);
    if (conversion.convert_primaries != 0) change_primaries(&conversion.primaries[0][0], rgb[0], rgb[1], rgb[2], width);
}

void LinearReader::read_codes(int plane, int y, double* to) const {
    const HostPlane& host = picture_->plane[plane];
    const bool clamp = conversion_->clamp_codes != 0;
    const double low = clamp ? conversion_->code_low[plane] : 0.0;
    const double high = clamp ? conversion_->code_high[plane] : 65535.0;
    const int width = geometry_->stored_width(plane);
    if (geometry_->sample == SampleType::kU8)
        codes_from_u8(host.as<uint8_t>().row(y), width, low, high, to);
    else
        codes_from_u16(host.as<uint16_t>().row(y), width, low, high, to);
}

const double* LinearReader::stored_chroma(int plane, int row) {
    StoredRow& stored = chroma_rows_[plane - 1][row % kChromaRows];
    if (stored.row != row) read_codes(plane, row, stored.codes.data());
    stored.row = row;
    return stored.codes.data();
}

void LinearReader::read_chroma(int plane, int y) {
    const int width = geometry_->stored_width(plane);
    double* const samples = weighed_.data() + kPadding;
    if (conversion_->axis_y.log2_factor == 0) {
        read_codes(plane, y, samples);
    } else {
        const auto taps = chroma_taps<double>(conversion_->chroma_filter, conversion_->axis_y.centred, y);
        const double* rows[kChromaRows];
        for (int i = 0; i < kChromaRows; ++i)
            rows[i] = stored_chroma(plane, std::clamp(taps.first + i, 0, geometry_->stored_height(plane) - 1));
        weigh_rows(rows, taps.weight, width, samples);
    }
    if (conversion_->axis_x.log2_factor == 0) {
        std::copy(samples, samples + width, codes_[plane].data());
        return;
    }
    for (int i = 1; i <= kPadding; ++i) {
        samples[-i] = samples[0];
        samples[width - 1 + i] = samples[width - 1];
    }
    double_row(samples, width, &taps_[0], &taps_[1], codes_[plane].data());
}

} // namespace qc::linear_light
