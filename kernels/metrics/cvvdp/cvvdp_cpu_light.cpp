// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cvvdp_cpu_light.hpp"

#include <cmath>

#include "device/cpu_versions.hpp"
#include "device/row_limits.hpp"
#include "device/row_loops.hpp"

namespace qc::cvvdp {
namespace {

/// @param lowest not negative
QC_INLINE_HELPER float between_limits(float value, float lowest, float highest) {
    return device::at_most(device::at_least(value, lowest), highest);
}

/// sRGB's light of a signal in 0 to 1. Its power 2.4 is that of the root's 4.8: a square times a polynomial, right to
/// 1.2e-8 of a light that 1/250 is added to, as a display's black and reflections do.
template <typename Cpu>
QC_INLINE_HELPER float srgb_light(float v) {
    const float base = Cpu::fused(v, 1.0f / 1.055f, 0.055f / 1.055f), root = std::sqrt(base);
    float sum = -0.0114147142f;
    sum = Cpu::fused(sum, root, 0.0692632049f);
    sum = Cpu::fused(sum, root, -0.190991491f);
    sum = Cpu::fused(sum, root, 0.326556116f);
    sum = Cpu::fused(sum, root, -0.430414706f);
    sum = Cpu::fused(sum, root, 1.16229808f);
    sum = Cpu::fused(sum, root, 0.0799337551f);
    sum = Cpu::fused(sum, root, -0.00546118151f);
    sum = Cpu::fused(sum, root, 0.000230941412f);
    const float power = base * sum, line = v * (1.0f / 12.92f);
    return v <= 0.04045f ? line : power;
}

struct Signals {
    float red, green, blue;
};

/// Adds a frame's opponent colours to the channels.
template <typename Cpu, typename SignalsAt>
QC_INLINE_HELPER void add_light(const LightConstants& constants, const RowWeights& weights, int width,
                                float* __restrict sustained, float* __restrict red_green,
                                float* __restrict yellow_violet, float* __restrict transient,
                                const SignalsAt& signals_at) {
    const LightConstants k = constants;
    const RowWeights weight = weights;
    QC_INDEPENDENT
    for (int x = 0; x < width; ++x) {
        const Signals signals = signals_at(x);
        const float r = srgb_light<Cpu>(between_limits(signals.red, k.darkest, 1.0f));
        const float g = srgb_light<Cpu>(between_limits(signals.green, k.darkest, 1.0f));
        const float b = srgb_light<Cpu>(between_limits(signals.blue, k.darkest, 1.0f));
        const auto colour = [&](const float(&of)[3]) { return Cpu::fused(of[0], r, Cpu::fused(of[1], g, of[2] * b)); };
        const float achromatic = colour(k.opponent[0]);
        sustained[x] = Cpu::fused(weight.of[0], achromatic, sustained[x]);
        transient[x] = Cpu::fused(weight.of[3], achromatic, transient[x]);
        red_green[x] = Cpu::fused(weight.of[1], colour(k.opponent[1]), red_green[x]);
        yellow_violet[x] = Cpu::fused(weight.of[2], colour(k.opponent[2]), yellow_violet[x]);
    }
}

// Each row of a target is a parameter of its own: of pointers in an array the compiler does not know that they are far
// apart, and there are too many to ask at run time.

template <typename Cpu, typename Sample>
QC_INLINE_HELPER void add_yuv_row_on(const Sample* luma_row, const float* blues, const float* reds,
                                     const LightConstants& k, const RowWeights& weights, int width, float* __restrict a,
                                     float* __restrict b, float* __restrict c, float* __restrict d) {
    const LightConstants of = k;
    add_light<Cpu>(k, weights, width, a, b, c, d, [=](int x) -> Signals {
        const float code = luma_row[x];
        const float luma = between_limits(Cpu::fused(code, of.luma_scale, -of.luma_offset), of.darkest, 1.0f);
        const float cb = Cpu::fused(blues[x], of.chroma_scale, -of.chroma_offset);
        const float cr = Cpu::fused(reds[x], of.chroma_scale, -of.chroma_offset);
        const float green = Cpu::fused(of.green_cr, cr, Cpu::fused(of.green_cb, cb, luma));
        return {Cpu::fused(of.red_cr, cr, luma), green, Cpu::fused(of.blue_cb, cb, luma)};
    });
}

template <typename Cpu, typename Sample>
QC_INLINE_HELPER void add_grey_row_on(const Sample* luma_row, const LightConstants& k, const RowWeights& weights,
                                      int width, float* __restrict a, float* __restrict b, float* __restrict c,
                                      float* __restrict d) {
    const LightConstants of = k;
    add_light<Cpu>(k, weights, width, a, b, c, d, [=](int x) -> Signals {
        const float code = luma_row[x], luma = Cpu::fused(code, of.luma_scale, -of.luma_offset);
        return {luma, luma, luma};
    });
}

template <typename Cpu, typename Sample>
QC_INLINE_HELPER void add_rgb_row_on(const Sample* reds, const Sample* greens, const Sample* blues,
                                     const LightConstants& k, const RowWeights& weights, int width, float* __restrict a,
                                     float* __restrict b, float* __restrict c, float* __restrict d) {
    const float scale = k.luma_scale;
    add_light<Cpu>(k, weights, width, a, b, c, d, [=](int x) -> Signals {
        const float red = reds[x], green = greens[x], blue = blues[x];
        return {red * scale, green * scale, blue * scale};
    });
}

#define QC_LIGHT_ROWS(Sample)                                                                                          \
    QC_CPU_VERSIONS(add_yuv_row,                                                                                       \
                    (const Sample* luma_row, const float* blues, const float* reds, const LightConstants& k,           \
                     const RowWeights& weights, int width, float* a, float* b, float* c, float* d),                    \
                    (luma_row, blues, reds, k, weights, width, a, b, c, d))                                            \
    QC_CPU_VERSIONS(add_grey_row,                                                                                      \
                    (const Sample* luma_row, const LightConstants& k, const RowWeights& weights, int width, float* a,  \
                     float* b, float* c, float* d),                                                                    \
                    (luma_row, k, weights, width, a, b, c, d))                                                         \
    QC_CPU_VERSIONS(add_rgb_row,                                                                                       \
                    (const Sample* reds, const Sample* greens, const Sample* blues, const LightConstants& k,           \
                     const RowWeights& weights, int width, float* a, float* b, float* c, float* d),                    \
                    (reds, greens, blues, k, weights, width, a, b, c, d))                                              \
    /* Four times what lies between two rows: whole numbers, as long as codes are. */                                  \
    QC_CPU_CLONES void chroma_row(const Sample* near, const Sample* far, float lowest, float highest, int width,       \
                                  float* __restrict to) {                                                              \
        for (int x = 0; x < width; ++x)                                                                                \
            to[x] = 3.0f * between_limits(near[x], lowest, highest) + between_limits(far[x], lowest, highest);         \
    }
QC_LIGHT_ROWS(uint8_t)
QC_LIGHT_ROWS(uint16_t)
#undef QC_LIGHT_ROWS

/// Four times what lies between columns. `from` has a sample more on both sides.
QC_CPU_CLONES void widen_row(const float* from, int pairs, float* __restrict to) {
    for (int i = 0; i < pairs; ++i) {
        to[2 * i] = 3.0f * from[i] + from[i - 1];
        to[2 * i + 1] = 3.0f * from[i] + from[i + 1];
    }
}

QC_CPU_CLONES void quadruple_row(const float* from, int width, float* __restrict to) {
    for (int x = 0; x < width; ++x) to[x] = 4.0f * from[x];
}

QC_CPU_CLONES void add_row(const double* from, double weight, int width, double* __restrict to) {
    for (int x = 0; x < width; ++x) to[x] += weight * from[x];
}

LightConstants constants_for(const FrameGeometry& geometry, const Settings& settings, int input) {
    const YuvMatrix matrix = yuv_matrix(settings.matrix[static_cast<size_t>(input)]);
    const Matrix3 dkl = dkl_matrix(settings.primaries);
    LightConstants k{};
    k.darkest = 1e-30f;
    const auto single = [](double value) { return static_cast<float>(value); };
    k.luma_scale =
        single(geometry.rgb ? 1.0 / ((1 << geometry.depth) - 1) : 1.0 / std::ldexp(219.0, geometry.depth - 8));
    k.luma_offset = single(16.0 / 219.0);
    k.lowest_chroma = single(std::ldexp(16.0, geometry.depth - 8));
    k.highest_chroma = single(std::ldexp(240.0, geometry.depth - 8));
    k.chroma_scale = single(1.0 / std::ldexp(16.0 * 224.0, geometry.depth - 8)); // of sixteen times a code
    k.chroma_offset = single(128.0 / 224.0);
    k.red_cr = single(matrix.red_cr);
    k.green_cb = single(matrix.green_cb);
    k.green_cr = single(matrix.green_cr);
    k.blue_cb = single(matrix.blue_cb);
    for (size_t c = 0; c < kColours; ++c)
        for (size_t i = 0; i < 3; ++i) k.opponent[c][i] = single(dkl[c][i] * (settings.peak - settings.black));
    return k;
}

} // namespace

FilteredRows::FilteredRows(const FrameGeometry& geometry, const Settings& settings, const LightCurve& curve, int input)
    : geometry_(geometry), reader_(geometry, settings, curve, input),
      constants_(constants_for(geometry, settings, input)),
      has_srgb_curve_(settings.eotf == Eotf::kSrgb && settings.exposure == 1.0) {
    const Matrix3 dkl = dkl_matrix(settings.primaries);
    for (size_t c = 0; c < kColours; ++c)
        dark_[c] = (dkl[c][0] + dkl[c][1] + dkl[c][2]) * (settings.black + settings.reflection);
}

void FilteredRows::read(std::span<const HostPicture* const> frames, std::span<const FrameWeights> weights, int y,
                        Scratch& scratch, float* const* target) const {
    if (!has_srgb_curve_) return read_any(frames, weights, y, scratch, target);
    for (size_t c = 0; c < kChannels; ++c) {
        double sum = 0.0;
        for (const FrameWeights& of_frame : weights) sum += of_frame[c];
        std::fill_n(target[c], geometry_.width, static_cast<float>(sum * dark_[c % kColours]));
    }
    for (size_t f = 0; f < frames.size(); ++f) {
        if (is_nothing(weights[f])) continue;
        if (geometry_.sample == SampleType::kU8)
            add_frame<uint8_t>(*frames[f], weights[f], y, scratch, target);
        else
            add_frame<uint16_t>(*frames[f], weights[f], y, scratch, target);
    }
}

template <typename Sample>
void FilteredRows::add_frame(const HostPicture& picture, const FrameWeights& weights, int y, Scratch& scratch,
                             float* const* target) const {
    RowWeights single;
    for (size_t c = 0; c < kChannels; ++c) single.of[c] = static_cast<float>(weights[c]);
    const auto row = [&](int plane) { return picture.plane[plane].as<Sample>().row(y); };
    if (geometry_.rgb) // stored as G, B, R
        return add_rgb_row(row(2), row(0), row(1), constants_, single, geometry_.width, target[0], target[1], target[2],
                           target[3]);
    if (geometry_.plane_count() < 3)
        return add_grey_row(row(0), constants_, single, geometry_.width, target[0], target[1], target[2], target[3]);
    const float *const blues = chroma<Sample>(picture, 1, y, scratch), *const reds =
                                                                           chroma<Sample>(picture, 2, y, scratch);
    add_yuv_row(row(0), blues, reds, constants_, single, geometry_.width, target[0], target[1], target[2], target[3]);
}

/// Sixteen times the chroma codes at the places of luma, linear between samples.
template <typename Sample>
const float* FilteredRows::chroma(const HostPicture& picture, int plane, int y, Scratch& scratch) const {
    const int width = geometry_.stored_chroma_width, height = geometry_.stored_chroma_height;
    const auto samples = picture.plane[plane].as<Sample>();
    const int near = height == geometry_.height ? y : y / 2;
    const int far = height == geometry_.height ? y : std::clamp(y % 2 == 0 ? near - 1 : near + 1, 0, height - 1);
    scratch.stored.resize(static_cast<size_t>(width) + 2);
    std::vector<float>& wide = scratch.wide[plane - 1];
    wide.resize(static_cast<size_t>(geometry_.width) + 1);
    float* const stored = scratch.stored.data() + 1;
    chroma_row(samples.row(near), samples.row(far), constants_.lowest_chroma, constants_.highest_chroma, width, stored);
    if (width == geometry_.width) {
        quadruple_row(stored, width, wide.data());
    } else {
        stored[-1] = stored[0];
        stored[width] = stored[width - 1];
        widen_row(stored, width, wide.data());
    }
    return wide.data();
}

/// By the reference's reader, which knows all curves.
void FilteredRows::read_any(std::span<const HostPicture* const> frames, std::span<const FrameWeights> weights, int y,
                            Scratch& scratch, float* const* target) const {
    const auto width = static_cast<size_t>(geometry_.width);
    for (auto& colour : scratch.colours) colour.resize(width);
    for (auto& sum : scratch.sums) sum.assign(width, 0.0);
    for (size_t f = 0; f < frames.size(); ++f) {
        if (is_nothing(weights[f])) continue;
        reader_.read_row(*frames[f], y,
                         {scratch.colours[0].data(), scratch.colours[1].data(), scratch.colours[2].data()});
        for (size_t c = 0; c < kChannels; ++c)
            add_row(scratch.colours[c % kColours].data(), weights[f][c], geometry_.width, scratch.sums[c].data());
    }
    for (size_t c = 0; c < kChannels; ++c)
        std::transform(scratch.sums[c].begin(), scratch.sums[c].end(), target[c],
                       [](double sum) { return static_cast<float>(sum); });
}

} // namespace qc::cvvdp
