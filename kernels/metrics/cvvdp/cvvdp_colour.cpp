// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cvvdp_colour.hpp"

#include <algorithm>

#include "device/cpu_clones.hpp"

namespace qc::cvvdp {
namespace {

double srgb_light(double v) {
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

/// cd/m2 (SMPTE ST 2084)
double pq_light(double v) {
    constexpr double kN = 0.1593017578125, kM = 78.84375, kC1 = 0.8359375, kC2 = 18.8515625, kC3 = 18.6875;
    const double root = std::pow(v, 1.0 / kM);
    return 10000.0 * std::pow(std::max(root - kC1, 0.0) / (kC2 - kC3 * root), 1.0 / kN);
}

/// Of the scene, 0 to 1 (ARIB STD-B67)
double hlg_scene(double v) {
    constexpr double kA = 0.17883277, kB = 1.0 - 4.0 * kA;
    const double c = 0.5 - kA * std::log(4.0 * kA);
    return v <= 0.5 ? v * v / 3.0 : (std::exp((v - c) / kA) + kB) / 12.0;
}

/// A relative light on a display that reflects.
double shown(const Settings& settings, double light) {
    if (settings.exposure != 1.0) light = std::clamp(settings.exposure * light, 0.0, 1.0);
    return (settings.peak - settings.black) * light + settings.black + settings.reflection;
}

/// Centred chroma, linear between samples: where output i lies among n samples.
struct Between {
    int first, second;
    double of_second;
};
Between between(int i, int n) {
    const int half = i / 2;
    if (i % 2 == 0) return {std::max(half - 1, 0), half, 0.75};
    return {half, std::min(half + 1, n - 1), 0.25};
}

// ---- rows, compiled for several instruction sets --------------------------------------------------------------------

QC_INLINE_HELPER double limited(double value, double lowest, double highest) {
    const double raised = value < lowest ? lowest : value;
    return highest < raised ? highest : raised;
}

/// What a row's signals are made of; of pictures without colour both chroma rows are null.
struct SignalRow {
    const double *blues, *reds;
    YuvMatrix matrix;
    double scale; ///< of luma
    int width;
};

template <bool kColoured, typename Sample>
QC_INLINE_HELPER void make_signals(const Sample* luma_row, const SignalRow& in, double* __restrict red,
                                   double* __restrict green, double* __restrict blue) {
    for (int x = 0; x < in.width; ++x) {
        const double luma = limited(luma_row[x] * in.scale - 16.0 / 219.0, 0.0, 1.0);
        const double cb = kColoured ? in.blues[x] : 0.0, cr = kColoured ? in.reds[x] : 0.0;
        red[x] = luma + in.matrix.red_cr * cr;
        green[x] = luma + in.matrix.green_cb * cb + in.matrix.green_cr * cr;
        blue[x] = luma + in.matrix.blue_cb * cb;
    }
}

QC_CPU_CLONES void signal_row(const uint8_t* luma, const SignalRow& in, double* red, double* green, double* blue) {
    in.blues != nullptr ? make_signals<true>(luma, in, red, green, blue)
                        : make_signals<false>(luma, in, red, green, blue);
}
QC_CPU_CLONES void signal_row(const uint16_t* luma, const SignalRow& in, double* red, double* green, double* blue) {
    in.blues != nullptr ? make_signals<true>(luma, in, red, green, blue)
                        : make_signals<false>(luma, in, red, green, blue);
}

QC_CPU_CLONES void limit_row(double* row, int width) {
    for (int x = 0; x < width; ++x) row[x] = limited(row[x], 0.0, 1.0);
}

/// Lines between nodes.
QC_CPU_CLONES void interpolate_row(const double* signal, const double* node, int nodes, int width,
                                   double* __restrict light) {
    for (int x = 0; x < width; ++x) {
        const double at = signal[x] * nodes;
        const int whole = static_cast<int>(at), first = whole < nodes - 1 ? whole : nodes - 1;
        light[x] = node[first] + (at - static_cast<double>(first)) * (node[first + 1] - node[first]);
    }
}

QC_CPU_CLONES void opponent_row(const Matrix3& dkl, double* __restrict red, double* __restrict green,
                                double* __restrict blue, int width) {
    const Matrix3 m = dkl;
    for (int x = 0; x < width; ++x) {
        const double r = red[x], g = green[x], b = blue[x];
        red[x] = m[0][0] * r + m[0][1] * g + m[0][2] * b;
        green[x] = m[1][0] * r + m[1][1] * g + m[1][2] * b;
        blue[x] = m[2][0] * r + m[2][1] * g + m[2][2] * b;
    }
}

} // namespace

LightCurve::LightCurve(const Settings& settings) : settings_(settings) {
    if (settings.eotf == Eotf::kHlg || settings.eotf == Eotf::kLinear) return;
    const bool is_bent = settings.exposure != 1.0 || settings.eotf == Eotf::kPq;
    bent_below_ = is_bent ? 2.0 : settings.eotf == Eotf::kSrgb ? 0.045 : 0.2;
    for (int i = 0; i <= kNodes && !is_bent; ++i) node_.push_back(exact(static_cast<double>(i) / kNodes));
}

double LightCurve::exact(double v) const {
    switch (settings_.eotf) {
    case Eotf::kSrgb:
        return shown(settings_, srgb_light(v));
    case Eotf::kPower:
        return shown(settings_, std::pow(v, settings_.gamma));
    case Eotf::kPq:
        return std::clamp(settings_.exposure * pq_light(v), 0.005, settings_.peak) + settings_.black +
               settings_.reflection;
    case Eotf::kLinear:
        return std::clamp(settings_.exposure * v, std::max(0.005, settings_.black), settings_.peak) +
               settings_.reflection;
    case Eotf::kHlg:
        break;
    }
    return hlg_scene(v);
}

void LightCurve::apply(double* row, int width) const {
    limit_row(row, width);
    if (node_.empty()) {
        for (int x = 0; x < width; ++x) row[x] = exact(row[x]);
        return;
    }
    constexpr int kRun = 64;
    for (int begin = 0; begin < width; begin += kRun) {
        const int count = std::min(kRun, width - begin);
        double signal[kRun];
        std::copy_n(row + begin, count, signal);
        interpolate_row(signal, node_.data(), kNodes, count, row + begin);
        for (int i = 0; i < count; ++i)
            if (signal[i] < bent_below_) row[begin + i] = exact(signal[i]);
    }
}

ColourReader::ColourReader(const FrameGeometry& geometry, const Settings& settings, const LightCurve& curve, int input)
    : geometry_(geometry), settings_(settings), curve_(curve),
      matrix_(yuv_matrix(settings.matrix[static_cast<size_t>(input)])), dkl_(dkl_matrix(settings.primaries)),
      hlg_gamma_(hlg_gamma(settings)) {}

void ColourReader::read_row(const HostPicture& picture, int y, const std::array<double*, kColours>& target) const {
    if (geometry_.sample == SampleType::kU8)
        read<uint8_t>(picture, y, target);
    else
        read<uint16_t>(picture, y, target);
}

/// From signals to light, in place.
void ColourReader::light(const std::array<double*, kColours>& rows) const {
    for (double* row : rows) curve_.apply(row, geometry_.width);
    if (settings_.eotf != Eotf::kHlg) return;
    for (int x = 0; x < geometry_.width; ++x) {
        const double scene = 0.2627 * rows[0][x] + 0.678 * rows[1][x] + 0.0593 * rows[2][x];
        const double factor = scene > 0.0 ? std::pow(scene, hlg_gamma_ - 1.0) : 0.0;
        for (double* row : rows) row[x] = shown(settings_, factor * row[x]);
    }
}

/// Cb or Cr under a row of luma, -0.5 to 0.5.
template <typename Sample>
std::vector<double> ColourReader::chroma(const HostPicture& picture, int plane, int y) const {
    const double scale = 1.0 / std::ldexp(224.0, geometry_.depth - 8);
    const auto samples = picture.plane[plane].as<Sample>();
    const auto sample = [&](int column, int row) {
        return std::clamp(samples.at(column, row) * scale - 128.0 / 224.0, -0.5, 0.5);
    };
    const int width = geometry_.stored_chroma_width, height = geometry_.stored_chroma_height;
    const Between down = height == geometry_.height ? Between{y, y, 0.0} : between(y, height);
    std::vector<double> stored(static_cast<size_t>(width));
    for (int x = 0; x < width; ++x)
        stored[static_cast<size_t>(x)] =
            (1.0 - down.of_second) * sample(x, down.first) + down.of_second * sample(x, down.second);
    if (width == geometry_.width) return stored;
    std::vector<double> wide(static_cast<size_t>(geometry_.width));
    for (int x = 0; x < geometry_.width; ++x) {
        const Between at = between(x, width);
        wide[static_cast<size_t>(x)] = (1.0 - at.of_second) * stored[static_cast<size_t>(at.first)] +
                                       at.of_second * stored[static_cast<size_t>(at.second)];
    }
    return wide;
}

template <typename Sample>
void ColourReader::read(const HostPicture& picture, int y, const std::array<double*, kColours>& target) const {
    const double scale = 1.0 / std::ldexp(219.0, geometry_.depth - 8), full = 1.0 / ((1 << geometry_.depth) - 1);
    const bool coloured = geometry_.plane_count() == 3 && !geometry_.rgb;
    const std::vector<double> blues = coloured ? chroma<Sample>(picture, 1, y) : std::vector<double>();
    const std::vector<double> reds = coloured ? chroma<Sample>(picture, 2, y) : std::vector<double>();
    if (geometry_.rgb) {
        constexpr int kPlane[] = {2, 0, 1}; // stored as G, B, R
        for (size_t i = 0; i < 3; ++i) {
            const Sample* const samples = picture.plane[kPlane[i]].as<Sample>().row(y);
            for (int x = 0; x < geometry_.width; ++x) target[i][x] = samples[x] * full;
        }
    } else {
        const SignalRow row{coloured ? blues.data() : nullptr, coloured ? reds.data() : nullptr, matrix_, scale,
                            geometry_.width};
        signal_row(picture.plane[0].as<Sample>().row(y), row, target[0], target[1], target[2]);
    }
    light(target);
    opponent_row(dkl_, target[0], target[1], target[2], geometry_.width);
}

} // namespace qc::cvvdp
