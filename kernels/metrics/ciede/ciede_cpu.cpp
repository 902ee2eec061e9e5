// SPDX-License-Identifier: BSD-2-Clause-Patent
// Everything is computed in double precision, with the C library's functions, and the variables of type float round:
// on flat pictures, where all pixels round alike, these roundings are part of the score.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "contract/helpers.hpp"
#include "contract/workspaces.hpp"
#include "device/mask.hpp"
#include "metrics/ciede/ciede.hpp"

namespace qc::ciede {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kTurn = 2.0 * kPi;

/// The double-precision functions, whatever the argument's type.
double root(double value) {
    return std::sqrt(value);
}

double linear_light(double channel) {
    if (channel > 10.0 / 255.0) return std::pow((channel + 0.055) * (1.0 / 1.055), 2.4);
    return channel * (1.0 / 12.92);
}

/// Lightness function of CIE Lab.
float lab_curve(double t) {
    if (t > kCurveThreshold) return static_cast<float>(std::pow(t, 1.0 / 3.0));
    return static_cast<float>((kCurveSlope * t + 16.0) * (1.0 / 116.0));
}

float chroma_of(double a, double b) {
    return static_cast<float>(root(a * a + b * b));
}

/// In radians, 0 to a whole turn.
float hue_of(double b, double a) {
    if (a == 0.0 && b == 0.0) return 0.0f;
    const auto angle = static_cast<float>(std::atan2(b, a));
    return angle < 0.0f ? static_cast<float>(angle + kTurn) : angle;
}

float hue_difference(float first, float second) {
    const float difference = second - first;
    if (std::abs(static_cast<double>(difference)) <= kPi) return difference;
    return static_cast<float>(second <= first ? difference + kTurn : difference - kTurn);
}

/// Where the standard would subtract half a turn, libvmaf adds it too.
float mean_hue(float first, float second) {
    const float sum = first + second;
    const bool across_zero = std::abs(static_cast<double>(first - second)) > kPi;
    return static_cast<float>(across_zero ? (sum + kTurn) / 2.0 : sum / 2.0);
}

/// T of the standard.
float hue_weight(double hue) {
    return static_cast<float>(1.0 - 0.17 * std::cos(hue - kPi / 6.0) + 0.24 * std::cos(2.0 * hue) +
                              0.32 * std::cos(3.0 * hue + kPi / 30.0) - 0.20 * std::cos(4.0 * hue - 7.0 * kPi / 20.0));
}

/// R_T of the standard: turns the axes of the ellipses in the blue.
float rotation(float chroma, float hue) {
    const auto degrees = static_cast<float>(hue * (180.0 / kPi));
    const auto distance = static_cast<float>((degrees - 275.0) * (1.0 / 25.0));
    const float square = distance * distance;
    const auto angle = static_cast<float>(60.0 * std::exp(-static_cast<double>(square)));
    const auto radians = static_cast<float>(angle * (kPi / 180.0));
    const float seventh = std::pow(chroma, 7.0f);
    const float share = seventh / (seventh + static_cast<float>(kChromaKnee));
    return static_cast<float>(-2.0 * root(share) * std::sin(static_cast<double>(radians)));
}

/// Colours that were asked for lately: pictures have far fewer than pixels, and each takes six powers.
class RecentColours {
public:
    explicit RecentColours(int depth) : depth_(depth), entries_(size_t{1} << kBits) {}

    const Lab& lab(const Sample& sample) {
        const uint64_t key = uint64_t{sample.y} | uint64_t{sample.u} << 16 | uint64_t{sample.v} << 32;
        Entry& entry = entries_[(key * kSpread) >> (64 - kBits)];
        if (entry.key != key) entry = {key, reference_lab(sample, depth_)};
        return entry.lab;
    }

private:
    static constexpr int kBits = 16;
    static constexpr uint64_t kSpread = 0x9e3779b97f4a7c15; ///< 2^64 divided by the golden ratio: spreads neighbours

    struct Entry {
        uint64_t key = ~uint64_t{0}; ///< of no sample
        Lab lab{};
    };

    int depth_;
    std::vector<Entry> entries_;
};

constexpr int kRowsOfThread = 32;

/// The colour differences of a pair, row by row.
template <typename T>
class Differences {
public:
    Differences(const FrameGeometry& geometry, const HostPair& pair)
        : geometry_(geometry), grid_(make_chroma_grid(geometry)) {
        for (int p = 0; p < 3; ++p) {
            reference_[p] = pair.reference.plane[p].template as<T>();
            distorted_[p] = pair.distorted.plane[p].template as<T>();
        }
    }

    /// What one thread remembers: colours of the reference and of the distorted picture.
    struct Memory {
        explicit Memory(const FrameGeometry& geometry) : reference(geometry.depth), distorted(geometry.depth) {}
        RecentColours reference, distorted;
    };

    void row(int y, Memory* memory, float* differences) const {
        for (int x = 0; x < geometry_.width; ++x) {
            const Sample a = sample(reference_, x, y), b = sample(distorted_, x, y);
            // Of equal samples it is exactly 0.
            differences[x] = a == b ? 0.0f : reference_difference(memory->reference.lab(a), memory->distorted.lab(b));
        }
    }

private:
    Sample sample(const Plane<const T>* planes, int x, int y) const {
        const int chroma_x = grid_.column(x), chroma_y = grid_.row(y);
        return {planes[0].at(x, y), planes[1].at(chroma_x, chroma_y), planes[2].at(chroma_x, chroma_y)};
    }

    const FrameGeometry& geometry_;
    const ChromaGrid grid_;
    Plane<const T> reference_[3], distorted_[3];
};

/// In raster order. Idle threads compute differences, but don't add them.
/// @param weighted makes of a pixel's difference, and of its place, what is summed
template <typename T, class Weighted>
double sum_rows(const FrameGeometry& geometry, const HostPair& pair, const Weighted& weighted) {
    const Differences<T> differences(geometry, pair);
    const auto width = static_cast<size_t>(geometry.width);
    // As many rows at a time as every thread has some of, for a while.
    const int threads = pair.helpers != nullptr ? pair.helpers->threads() : 1;
    const int rows = std::min(geometry.height, threads > 1 ? kRowsOfThread * threads : 1);
    std::vector<float> strip(width * static_cast<size_t>(rows));
    Workspaces<std::optional<typename Differences<T>::Memory>> memories;
    double sum = 0.0;
    for (int y = 0; y < geometry.height; y += rows) {
        const int count = std::min(rows, geometry.height - y);
        share_runs(pair.helpers, count, kRowsOfThread / 2, [&](int begin, int end) {
            const auto lease = memories.borrow();
            auto& memory = *lease;
            if (!memory.has_value()) memory.emplace(geometry);
            for (int i = begin; i < end; ++i)
                differences.row(y + i, &*memory, strip.data() + static_cast<size_t>(i) * width);
        });
        const float* difference = strip.data();
        for (int i = 0; i < count; ++i)
            for (int x = 0; x < geometry.width; ++x) sum += weighted(*difference++, x, y + i);
    }
    return sum;
}

} // namespace

Lab reference_lab(const Sample& sample, int depth) {
    const double scale = 1 << (depth - 8);
    const double y = (sample.y - 16.0 * scale) * (1.0 / (219.0 * scale));
    const double u = (sample.u - 128.0 * scale) * (1.0 / (224.0 * scale));
    const double v = (sample.v - 128.0 * scale) * (1.0 / (224.0 * scale));
    const double red = linear_light(y + kRedFromV * v);
    const double green = linear_light(y - kGreenFromU * u - kGreenFromV * v);
    const double blue = linear_light(y + kBlueFromU * u);
    double tristimulus[3];
    for (int i = 0; i < 3; ++i) {
        tristimulus[i] = red * kTristimulus[i][0] + green * kTristimulus[i][1] + blue * kTristimulus[i][2];
    }
    const double fx = lab_curve(tristimulus[0] * (1.0 / kWhiteX));
    const double fy = lab_curve(tristimulus[1]);
    const double fz = lab_curve(tristimulus[2] * (1.0 / kWhiteZ));
    return {static_cast<float>(116.0 * fy - 16.0), static_cast<float>(500.0 * (fx - fy)),
            static_cast<float>(200.0 * (fy - fz))};
}

float reference_difference(const Lab& reference, const Lab& distorted) {
    const float lightness_step = distorted.lightness - reference.lightness;
    const float mean_lightness = (reference.lightness + distorted.lightness) / 2.0f;

    const float chroma1 = chroma_of(reference.a, reference.b), chroma2 = chroma_of(distorted.a, distorted.b);
    const double seventh = std::pow(static_cast<double>((chroma1 + chroma2) / 2.0f), 7.0);
    const double stretch = 1.0 - root(seventh / (seventh + kChromaKnee));
    const auto a1 = static_cast<float>(reference.a + reference.a / 2.0f * stretch);
    const auto a2 = static_cast<float>(distorted.a + distorted.a / 2.0f * stretch);

    const float stretched1 = chroma_of(a1, reference.b), stretched2 = chroma_of(a2, distorted.b);
    const float mean_chroma = (stretched1 + stretched2) / 2.0f;
    const float chroma_step = stretched2 - stretched1;

    const float hue1 = hue_of(reference.b, a1), hue2 = hue_of(distorted.b, a2);
    const float hue_angle = chroma1 == 0.0f || chroma2 == 0.0f ? 0.0f : hue_difference(hue1, hue2);
    const float hue = mean_hue(hue1, hue2);
    const float chroma_product = stretched1 * stretched2;
    const auto hue_step = static_cast<float>(2.0 * root(chroma_product) * std::sin(hue_angle / 2.0));

    const float offset = mean_lightness - 50.0f;
    const double square = static_cast<double>(offset) * offset;
    const auto lightness_scale = static_cast<float>(1.0 + 0.015 * square / root(20.0 + square));
    const auto chroma_scale = static_cast<float>(1.0 + 0.045 * mean_chroma);
    const auto hue_scale = static_cast<float>(1.0 + 0.015 * mean_chroma * hue_weight(hue));
    const float l = lightness_step / (kLightnessWeight * lightness_scale);
    const float c = chroma_step / chroma_scale;
    const float h = hue_step / (kHueWeight * hue_scale);
    const auto squared = [](double value) { return value * value; };
    const double crossed = rotation(mean_chroma, hue) * c * h;
    return static_cast<float>(root(squared(l) + squared(c) + squared(h) + crossed));
}

namespace {

template <class Weighted>
double sum_of(const FrameGeometry& geometry, const HostPair& pair, const Weighted& weighted) {
    return geometry.sample == SampleType::kU8 ? sum_rows<uint8_t>(geometry, pair, weighted)
                                              : sum_rows<uint16_t>(geometry, pair, weighted);
}

} // namespace

double score_cpu(const FrameGeometry& geometry, const HostPair& pair) {
    return sum_of(geometry, pair, [](float difference, int, int) { return difference; });
}

void score_masked_cpu(const FrameGeometry& geometry, const HostPair& pair, std::span<uint64_t> words) {
    const MaskReader mask(pair.mask);
    const double sum = sum_of(geometry, pair, [&](float difference, int x, int y) {
        return mask.at(x, y) * static_cast<double>(difference);
    });
    words[kDifferences] = std::bit_cast<uint64_t>(sum);
    for (int y = 0; y < geometry.height; ++y)
        for (int x = 0; x < geometry.width; ++x) words[kWeights] += mask.at(x, y);
}

} // namespace qc::ciede
