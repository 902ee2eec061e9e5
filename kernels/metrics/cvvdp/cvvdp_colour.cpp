// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cvvdp_colour.hpp"

#include <algorithm>

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

std::array<double, 3> ColourReader::light(const std::array<double, 3>& signal) const {
    std::array<double, 3> light{};
    for (size_t i = 0; i < 3; ++i) light[i] = curve_(std::clamp(signal[i], 0.0, 1.0));
    if (settings_.eotf != Eotf::kHlg) return light;
    const double scene = 0.2627 * light[0] + 0.678 * light[1] + 0.0593 * light[2];
    const double factor = scene > 0.0 ? std::pow(scene, hlg_gamma_ - 1.0) : 0.0;
    for (double& component : light) component = shown(settings_, factor * component);
    return light;
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
    for (int x = 0; x < geometry_.width; ++x) {
        std::array<double, 3> signal{};
        if (geometry_.rgb) {
            constexpr int kPlane[] = {2, 0, 1}; // stored as G, B, R
            for (size_t i = 0; i < 3; ++i) signal[i] = picture.plane[kPlane[i]].as<Sample>().at(x, y) * full;
        } else {
            const double luma = std::clamp(picture.plane[0].as<Sample>().at(x, y) * scale - 16.0 / 219.0, 0.0, 1.0);
            const double cb = coloured ? blues[static_cast<size_t>(x)] : 0.0;
            const double cr = coloured ? reds[static_cast<size_t>(x)] : 0.0;
            signal = {luma + matrix_.red_cr * cr, luma + matrix_.green_cb * cb + matrix_.green_cr * cr,
                      luma + matrix_.blue_cb * cb};
        }
        const std::array<double, 3> rgb = light(signal);
        for (size_t c = 0; c < kColours; ++c)
            target[c][x] = dkl_[c][0] * rgb[0] + dkl_[c][1] * rgb[1] + dkl_[c][2] * rgb[2];
    }
}

} // namespace qc::cvvdp
