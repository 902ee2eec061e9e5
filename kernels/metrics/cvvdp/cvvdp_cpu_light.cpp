// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cvvdp_cpu_light.hpp"

#include <cmath>
#include <cstring>

#include "device/cpu_versions.hpp"
#include "device/row_limits.hpp"
#include "device/row_loops.hpp"
#include "device/row_vector.hpp"

namespace qc::cvvdp {
namespace {

/// @param lowest not negative
QC_INLINE_HELPER float between_limits(float value, float lowest, float highest) {
    return device::at_most(device::at_least(value, lowest), highest);
}

constexpr double kFoot = 0.055, kSlope = 12.92, kLineEnd = 0.04045; ///< of sRGB's curve

/// 2^(2.4 e), at e's last three bits as a float's exponent has them.
constexpr float kPowersOfTwo[8] = {0.0f,           0.0f,          0.000244140625f, 0.00128858199f,
                                   0.00680117635f, 0.0358968228f, 0.189464569f,    1.0f};

/// sRGB's light of (signal + 0.055) / 1.055. Of a number's power 2.4, that of its exponent is in a table; that of its
/// mantissa is a polynomial, right to 3e-9.
template <typename Cpu>
QC_INLINE_HELPER void make_light(typename device::RowVector<float, Cpu>::Type* light) {
    using Floats = device::RowVector<float, Cpu>;
    using Words = typename device::RowVector<int32_t, Cpu>::Type;
    constexpr auto kDarkest = static_cast<float>(kFoot / (1.0 + kFoot)),
                   kScale = static_cast<float>((1.0 + kFoot) / kSlope),
                   kEnd = static_cast<float>((kLineEnd + kFoot) / (1.0 + kFoot));
    const typename Floats::Type base = *light;
    Words bits, mantissa_bits;
    typename Floats::Type mantissa;
    std::memcpy(&bits, &base, sizeof(bits));
    mantissa_bits = (bits & 0x007fffff) | 0x3f800000;
    std::memcpy(&mantissa, &mantissa_bits, sizeof(mantissa));
    const typename Floats::Type none{};
    typename Floats::Type scale, power = none + 0.000466358819f;
    const typename Floats::Type above = mantissa - 1.0f;
    Floats::next_of_series(above, -0.00278587872f, &power);
    Floats::next_of_series(above, 0.00962352473f, &power);
    Floats::next_of_series(above, -0.033204522f, &power);
    Floats::next_of_series(above, 0.223926172f, &power);
    Floats::next_of_series(above, 1.68000615f, &power);
    Floats::next_of_series(above, 2.39999986f, &power);
    Floats::next_of_series(above, 1.0f, &power);
    Floats::look_up(kPowersOfTwo, bits >> 23, &scale);
    *light = base <= kEnd ? (base - kDarkest) * kScale : power * scale; // of black exactly 0
}

/// What the curve takes the power of.
struct Signals {
    float red, green, blue;
};

/// Opponent colours of a run of columns, of what the curve takes the power of in red, green and blue.
template <typename Cpu>
QC_INLINE_HELPER void make_colours(const LightConstants& k, int width, float* __restrict reds, float* __restrict greens,
                                   float* __restrict blues) {
    using Floats = device::RowVector<float, Cpu>;
    for (int x = 0; x < width; x += Floats::kLanes) {
        typename Floats::Type red, green, blue;
        Floats::load(reds + x, &red);
        Floats::load(greens + x, &green);
        Floats::load(blues + x, &blue);
        make_light<Cpu>(&red);
        make_light<Cpu>(&green);
        make_light<Cpu>(&blue);
        const auto store = [&](const float(&of)[2], float* to) {
            typename Floats::Type colour = blue;
            Floats::add_product(of[1], green, &colour);
            Floats::add_product(of[0], red, &colour);
            Floats::store(colour, to);
        };
        store(k.opponent[0], reds + x);
        store(k.opponent[1], greens + x);
        store(k.opponent[2], blues + x);
    }
}

/// Rows have room for whole vectors.
template <typename Cpu, typename SignalsAt>
QC_INLINE_HELPER void convert(const LightConstants& k, int width, float* __restrict achromatic,
                              float* __restrict red_green, float* __restrict yellow_violet,
                              const SignalsAt& signals_at) {
    const float darkest = k.darkest, brightest = k.brightest;
    QC_INDEPENDENT
    for (int x = 0; x < width; ++x) {
        const Signals signals = signals_at(x);
        achromatic[x] = between_limits(signals.red, darkest, brightest);
        red_green[x] = between_limits(signals.green, darkest, brightest);
        yellow_violet[x] = between_limits(signals.blue, darkest, brightest);
    }
    make_colours<Cpu>(k, width, achromatic, red_green, yellow_violet);
}

// Each row of a target is a parameter of its own: of pointers in an array the compiler does not know that they are far
// apart, and there are too many to ask at run time.

template <typename Cpu, typename Sample>
QC_INLINE_HELPER void convert_yuv_on(const CodeRow<Sample>& row, int first, const LightConstants& k, int width,
                                     float* __restrict a, float* __restrict b, float* __restrict c) {
    const LightConstants of = k;
    const Sample* const codes = row.plane[0] + first;
    const WideChroma<Sample>*const blues = row.chroma[0] + first, *const reds = row.chroma[1] + first;
    convert<Cpu>(k, width, a, b, c, [=](int x) -> Signals {
        const float code = codes[x], blue = blues[x], red = reds[x];
        const float luma = between_limits(Cpu::fused(code, of.luma_scale, of.luma_offset), of.darkest, of.brightest);
        const float green = Cpu::fused(of.green_cr, red, Cpu::fused(of.green_cb, blue, luma));
        return {Cpu::fused(of.red_cr, red, luma), green, Cpu::fused(of.blue_cb, blue, luma)};
    });
}

template <typename Cpu, typename Sample>
QC_INLINE_HELPER void convert_grey_on(const CodeRow<Sample>& row, int first, const LightConstants& k, int width,
                                      float* __restrict a, float* __restrict b, float* __restrict c) {
    const LightConstants of = k;
    const Sample* const codes = row.plane[0] + first;
    convert<Cpu>(k, width, a, b, c, [=](int x) -> Signals {
        const float code = codes[x], luma = Cpu::fused(code, of.luma_scale, of.luma_offset);
        return {luma, luma, luma};
    });
}

template <typename Cpu, typename Sample>
QC_INLINE_HELPER void convert_rgb_on(const CodeRow<Sample>& row, int first, const LightConstants& k, int width,
                                     float* __restrict a, float* __restrict b, float* __restrict c) {
    const float scale = k.luma_scale, offset = k.luma_offset;
    // Stored as G, B, R.
    const Sample *const greens = row.plane[0] + first, *const blues = row.plane[1] + first,
                        *const reds = row.plane[2] + first;
    convert<Cpu>(k, width, a, b, c, [=](int x) -> Signals {
        const float red = reds[x], green = greens[x], blue = blues[x];
        return {Cpu::fused(red, scale, offset), Cpu::fused(green, scale, offset), Cpu::fused(blue, scale, offset)};
    });
}

#define QC_LIGHT_ROWS(Sample)                                                                                          \
    QC_CPU_VERSIONS(                                                                                                   \
        convert_yuv,                                                                                                   \
        (const CodeRow<Sample>& row, int first, const LightConstants& k, int width, float* a, float* b, float* c),     \
        (row, first, k, width, a, b, c))                                                                               \
    QC_CPU_VERSIONS(                                                                                                   \
        convert_grey,                                                                                                  \
        (const CodeRow<Sample>& row, int first, const LightConstants& k, int width, float* a, float* b, float* c),     \
        (row, first, k, width, a, b, c))                                                                               \
    QC_CPU_VERSIONS(                                                                                                   \
        convert_rgb,                                                                                                   \
        (const CodeRow<Sample>& row, int first, const LightConstants& k, int width, float* a, float* b, float* c),     \
        (row, first, k, width, a, b, c))                                                                               \
    /* Four times what lies between two rows, and grey taken off. */                                                   \
    QC_CPU_CLONES void chroma_row(const Sample* near, const Sample* far, Sample lowest, Sample grey, Sample highest,   \
                                  int width, WideChroma<Sample>* __restrict to) {                                      \
        using Wide = WideChroma<Sample>;                                                                               \
        for (int x = 0; x < width; ++x) {                                                                              \
            const Sample a = std::min(std::max(near[x], lowest), highest);                                             \
            const Sample b = std::min(std::max(far[x], lowest), highest);                                              \
            to[x] = static_cast<Wide>(3 * static_cast<Wide>(a) + static_cast<Wide>(b) - 4 * static_cast<Wide>(grey));  \
        }                                                                                                              \
    }                                                                                                                  \
    /* Four times what lies between columns. `from` has a sample more on both sides. */                                \
    QC_CPU_CLONES void widen_row(const WideChroma<Sample>* from, int pairs, WideChroma<Sample>* __restrict to) {       \
        using Wide = WideChroma<Sample>;                                                                               \
        for (int i = 0; i < pairs; ++i) {                                                                              \
            to[2 * i] = static_cast<Wide>(3 * from[i] + from[i - 1]);                                                  \
            to[2 * i + 1] = static_cast<Wide>(3 * from[i] + from[i + 1]);                                              \
        }                                                                                                              \
    }                                                                                                                  \
    QC_CPU_CLONES void quadruple_row(const WideChroma<Sample>* from, int width, WideChroma<Sample>* __restrict to) {   \
        for (int x = 0; x < width; ++x) to[x] = static_cast<WideChroma<Sample>>(4 * from[x]);                          \
    }
QC_LIGHT_ROWS(uint8_t)
QC_LIGHT_ROWS(uint16_t)
#undef QC_LIGHT_ROWS

/// Channels of a run of columns, of the colours of all frames: sums stay in registers. Rows have room for whole
/// vectors.
template <typename Cpu>
QC_INLINE_HELPER void filter_run_on(const float* colours, const RowWeights* weights, int frames, const RowWeights& dark,
                                    int width, float* __restrict sustained, float* __restrict red_green,
                                    float* __restrict yellow_violet, float* __restrict transient) {
    using Floats = device::RowVector<float, Cpu>;
    constexpr int kVectors = 2; // share a weight
    for (int x = 0; x < width; x += kVectors * Floats::kLanes) {
        typename Floats::Type sum[kChannels][kVectors] = {};
        QC_UNROLL for (int c = 0; c < kChannels; ++c) QC_UNROLL for (int v = 0; v < kVectors; ++v) sum[c][v] +=
            dark.of[c];
        for (int f = 0; f < frames; ++f) {
            const float* const of_frame = colours + f * kColours * kRunColumns + x;
            typename Floats::Type colour[kColours][kVectors];
            QC_UNROLL for (int c = 0; c < kColours; ++c) QC_UNROLL for (int v = 0; v < kVectors; ++v)
                Floats::load(of_frame + c * kRunColumns + v * Floats::kLanes, &colour[c][v]);
            QC_UNROLL for (int c = 0; c < kChannels; ++c) QC_UNROLL for (int v = 0; v < kVectors; ++v)
                Floats::add_product(weights[f].of[c], colour[c % kColours][v], &sum[c][v]);
        }
        QC_UNROLL for (int v = 0; v < kVectors; ++v) {
            Floats::store(sum[0][v], sustained + x + v * Floats::kLanes);
            Floats::store(sum[1][v], red_green + x + v * Floats::kLanes);
            Floats::store(sum[2][v], yellow_violet + x + v * Floats::kLanes);
            Floats::store(sum[3][v], transient + x + v * Floats::kLanes);
        }
    }
}
QC_CPU_VERSIONS(filter_run,
                (const float* colours, const RowWeights* weights, int frames, const RowWeights& dark, int width,
                 float* sustained, float* red_green, float* yellow_violet, float* transient),
                (colours, weights, frames, dark, width, sustained, red_green, yellow_violet, transient))

QC_CPU_CLONES void add_row(const double* from, double weight, int width, double* __restrict to) {
    for (int x = 0; x < width; ++x) to[x] += weight * from[x];
}

/// A row that is wanted soon: those of many pictures are too many streams for processors to see what comes next.
template <typename Sample>
void ask_for(const Sample* row, int width) {
    constexpr int kLine = 64 / static_cast<int>(sizeof(Sample));
    for (int x = 0; x < width; x += kLine) __builtin_prefetch(row + x);
}

LightConstants constants_for(const FrameGeometry& geometry, const Settings& settings, int input) {
    const YuvMatrix matrix = yuv_matrix(settings.matrix[static_cast<size_t>(input)]);
    const Matrix3 dkl = dkl_matrix(settings.primaries);
    LightConstants k{};
    const auto single = [](double value) { return static_cast<float>(value); };
    const double luma_scale =
        geometry.rgb ? 1.0 / ((1 << geometry.depth) - 1) : 1.0 / std::ldexp(219.0, geometry.depth - 8);
    const double luma_offset = geometry.rgb ? 0.0 : -16.0 / 219.0;
    const double chroma_scale = 1.0 / std::ldexp(16.0 * 224.0, geometry.depth - 8);
    k.luma_scale = single(luma_scale / (1.0 + kFoot));
    // What rounding makes of all signals, and their power of all light.
    const double rounded = static_cast<double>(k.luma_scale) * (1.0 + kFoot) / luma_scale;
    const double light_scale = (settings.peak - settings.black) / std::pow(rounded, 2.4);
    k.luma_offset = single((luma_offset + kFoot) / (1.0 + kFoot));
    k.darkest = single(kFoot / (1.0 + kFoot));
    k.brightest = single(rounded);
    k.lowest_chroma = 16 << (geometry.depth - 8);
    k.grey = 128 << (geometry.depth - 8);
    k.highest_chroma = 240 << (geometry.depth - 8);
    const auto part = [&](double factor) { return single(rounded * factor * chroma_scale / (1.0 + kFoot)); };
    k.red_cr = part(matrix.red_cr);
    k.green_cb = part(matrix.green_cb);
    k.green_cr = part(matrix.green_cr);
    k.blue_cb = part(matrix.blue_cb);
    for (size_t c = 0; c < kColours; ++c) {
        for (size_t i = 0; i < 2; ++i) k.opponent[c][i] = single(dkl[c][i] / dkl[c][2]);
        k.scale[c] = dkl[c][2] * light_scale;
    }
    // What rounding makes of grey.
    const double grey = dkl[0][0] + dkl[0][1] + dkl[0][2];
    k.scale[0] =
        grey * light_scale / (static_cast<double>(k.opponent[0][0]) + static_cast<double>(k.opponent[0][1]) + 1.0);
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
    if (geometry_.sample == SampleType::kU8)
        read_codes(frames, weights, y, scratch.bytes, scratch, target);
    else
        read_codes(frames, weights, y, scratch.words, scratch, target);
}

/// What black adds to each channel.
RowWeights FilteredRows::dark_of(std::span<const FrameWeights> weights) const {
    RowWeights dark;
    for (size_t c = 0; c < kChannels; ++c) {
        double sum = 0.0;
        for (const FrameWeights& of_frame : weights) sum += of_frame[c];
        dark.of[c] = static_cast<float>(sum * dark_[c % kColours]);
    }
    return dark;
}

template <typename Sample>
void FilteredRows::read_codes(std::span<const HostPicture* const> frames, std::span<const FrameWeights> weights, int y,
                              FrameRows<Sample>& codes, Scratch& scratch, float* const* target) const {
    codes.rows.clear();
    scratch.weights.clear();
    codes.wide.open(2, geometry_.width + 1, static_cast<int>(frames.size()));
    for (size_t f = 0; f < frames.size(); ++f) {
        if (is_nothing(weights[f])) continue;
        codes.rows.push_back(codes_of(*frames[f], y, codes, static_cast<int>(f)));
        RowWeights& single = scratch.weights.emplace_back();
        for (size_t c = 0; c < kChannels; ++c)
            single.of[c] = static_cast<float>(weights[f][c] * constants_.scale[c % kColours]);
    }
    const RowWeights dark = dark_of(weights);
    scratch.run.resize(codes.rows.size() * kColours * kRunColumns);
    for (int first = 0; first < geometry_.width; first += kRunColumns) {
        const int width = std::min(kRunColumns, geometry_.width - first);
        for (size_t f = 0; f < codes.rows.size(); ++f)
            convert_run(codes.rows[f], first, width, &scratch.run[f * kColours * kRunColumns]);
        filter_run(scratch.run.data(), scratch.weights.data(), static_cast<int>(codes.rows.size()), dark, width,
                   target[0] + first, target[1] + first, target[2] + first, target[3] + first);
    }
}

/// @param colours [colour][column]
template <typename Sample>
void FilteredRows::convert_run(const CodeRow<Sample>& row, int first, int width, float* colours) const {
    float *const a = colours, *const b = a + kRunColumns, *const c = b + kRunColumns;
    if (geometry_.rgb) return convert_rgb(row, first, constants_, width, a, b, c);
    if (geometry_.plane_count() < 3) return convert_grey(row, first, constants_, width, a, b, c);
    convert_yuv(row, first, constants_, width, a, b, c);
}

template <typename Sample>
CodeRow<Sample> FilteredRows::codes_of(const HostPicture& picture, int y, FrameRows<Sample>& codes, int frame) const {
    CodeRow<Sample> row{};
    for (int plane = 0; plane < geometry_.plane_count(); ++plane)
        if (plane == 0 || geometry_.rgb) {
            const auto samples = picture.plane[plane].as<Sample>();
            row.plane[plane] = samples.row(y);
            if (y + 1 < geometry_.height) ask_for(samples.row(y + 1), geometry_.width);
        } else {
            row.chroma[plane - 1] = chroma(picture, plane, y, codes, frame);
        }
    return row;
}

/// Sixteen times the chroma codes at the places of luma, linear between samples.
template <typename Sample>
const WideChroma<Sample>* FilteredRows::chroma(const HostPicture& picture, int plane, int y, FrameRows<Sample>& codes,
                                               int frame) const {
    const int width = geometry_.stored_chroma_width, height = geometry_.stored_chroma_height;
    const auto samples = picture.plane[plane].as<Sample>();
    const int near = height == geometry_.height ? y : y / 2;
    const int far = height == geometry_.height ? y : std::clamp(y % 2 == 0 ? near - 1 : near + 1, 0, height - 1);
    const auto code = [](int value) { return static_cast<Sample>(value); };
    if (const int next = height == geometry_.height ? y + 1 : y / 2 + 1; next < height)
        ask_for(samples.row(next), width);
    codes.stored.open(1, width, 1);
    auto* const stored = codes.stored.row(0, 0);
    auto* const wide = codes.wide.row(plane - 1, frame);
    chroma_row(samples.row(near), samples.row(far), code(constants_.lowest_chroma), code(constants_.grey),
               code(constants_.highest_chroma), width, stored);
    if (width == geometry_.width) {
        quadruple_row(stored, width, wide);
    } else {
        stored[-1] = stored[0];
        stored[width] = stored[width - 1];
        widen_row(stored, width, wide);
    }
    return wide;
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
