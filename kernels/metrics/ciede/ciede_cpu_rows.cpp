// SPDX-License-Identifier: BSD-2-Clause-Patent
// Colour differences of a row, a block of pixels at a time: every step is a loop over the block, which the compiler
// vectorises. Bits are the reference's. What it rounds to floats is found here to more than 41 bits, and rounds alike
// unless it lies that close to halfway between two floats; such a pixel, one in some thousands, is given to the
// reference.
//
// One function needs another way: powf(chroma, 7) of the C library is up to 0.64 of a last place off, so that what is
// closer than 0.3 to halfway may round either way. It matters only where the last term of the difference does, in the
// blue, and there the end of the formula is computed again with the C library's value.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "contract/helpers.hpp"
#include "device/weights.hpp"
#include "metrics/ciede/ciede.hpp"
#include "metrics/ciede/ciede_row_math.hpp"

namespace qc::ciede {
namespace {

using namespace rows;

template <typename T>
struct alignas(64) PerPixel {
    T of[kRowBlock];
};

// ---- from codes to Lab ----------------------------------------------------------------------------------------------

struct Labs {
    PerPixel<float> lightness, a, b, chroma;
};

struct LabSteps {
    PerPixel<double> channels[3]; ///< red, green and blue
    PerPixel<double> stimuli[3];  ///< X, Y and Z
    PerPixel<float> inverses[3];  ///< of roots of these
    PerPixel<double> powers[3];
    PerPixel<float> curves[3]; ///< the lightness function
};

// Loops are short: what a processor looks ahead at holds several rounds of them then, which do not wait for each other.
// Those of the three channels come before what uses their results, for the same reason.

template <class Cpu>
QC_INLINE_HELPER void find_powers(LabSteps* __restrict steps) {
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < kRowBlock; ++i)
            steps->inverses[k].of[i] = inverse_fifth_root<Cpu>(steps->channels[k].of[i]);
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < kRowBlock; ++i)
            steps->powers[k].of[i] = power_of_twelve_fifths<Cpu>(steps->channels[k].of[i], steps->inverses[k].of[i]);
}

/// Light jumps at the threshold, by 3e-4 of itself. No code comes to lie there: channels times 219 * 224 * 100000 *
/// 2^(depth - 8) are integers, and the threshold is some seventeenth beside the next one, as a channel 2^-45 or more.
/// @param power nonsense for what is dark
template <class Cpu>
QC_INLINE_HELPER double light_of(double channel, double power) {
    constexpr double kThreshold = (10.0 / 255.0 + 0.055) / 1.055;
    const double dark = product_sum<Cpu>(channel, 1.055 / 12.92, -0.055 / 12.92);
    return channel > kThreshold ? power : dark;
}

template <class Cpu>
QC_INLINE_HELPER void find_roots(LabSteps* __restrict steps) {
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < kRowBlock; ++i) steps->inverses[k].of[i] = inverse_cube_root<Cpu>(steps->stimuli[k].of[i]);
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < kRowBlock; ++i)
            steps->powers[k].of[i] = cube_root<Cpu>(steps->stimuli[k].of[i], steps->inverses[k].of[i]);
}

/// Doubts values that are small because others cancelled: no colour that a display shows.
/// @param root nonsense for what is dark
template <class Cpu>
QC_INLINE_HELPER float lab_curve(double t, double root, int64_t* doubts) {
    constexpr auto kSmallest = std::bit_cast<int64_t>(0x1p-6);
    const double line = product_sum<Cpu>(t, kCurveSlope / 116.0, 16.0 / 116.0);
    const double value = t > kCurveThreshold ? root : line;
    *doubts |= doubt(value) | (std::bit_cast<int64_t>(std::abs(value)) - kSmallest);
    return static_cast<float>(value);
}

/// X, Y or Z relative to white.
template <class Cpu>
QC_INLINE_HELPER double stimulus_of(const double (&row)[3], double white, double red, double green, double blue) {
    return product_sum<Cpu>(blue, row[2] / white, product_sum<Cpu>(green, row[1] / white, red * (row[0] / white)));
}

/// Of floats, whose squares are exact in double precision: one rounding or two are the same.
template <class Cpu>
QC_INLINE_HELPER float chroma_of(double a, double b) {
    return static_cast<float>(std::sqrt(product_sum<Cpu>(a, a, b * b)));
}

template <class Cpu>
QC_INLINE_HELPER void labs_of_on(const CodeRows& codes, const CodeScale& scale, LabSteps* __restrict steps,
                                 Labs* __restrict labs, PerPixel<int64_t>* __restrict doubts) {
    for (int i = 0; i < kRowBlock; ++i) {
        const double y = codes.plane[0][i], u = codes.plane[1][i], v = codes.plane[2][i];
        const double red = product_sum<Cpu>(v, scale.red_v, scale.red);
        const double green = product_sum<Cpu>(u, scale.green_u, product_sum<Cpu>(v, scale.green_v, scale.green));
        const double blue = product_sum<Cpu>(u, scale.blue_u, scale.blue);
        steps->channels[0].of[i] = product_sum<Cpu>(y, scale.luma, red);
        steps->channels[1].of[i] = product_sum<Cpu>(y, scale.luma, green);
        steps->channels[2].of[i] = product_sum<Cpu>(y, scale.luma, blue);
    }
    find_powers<Cpu>(steps);
    for (int i = 0; i < kRowBlock; ++i) {
        double light[3];
        for (int k = 0; k < 3; ++k) light[k] = light_of<Cpu>(steps->channels[k].of[i], steps->powers[k].of[i]);
        steps->stimuli[0].of[i] = stimulus_of<Cpu>(kTristimulus[0], kWhiteX, light[0], light[1], light[2]);
        steps->stimuli[1].of[i] = stimulus_of<Cpu>(kTristimulus[1], 1.0, light[0], light[1], light[2]);
        steps->stimuli[2].of[i] = stimulus_of<Cpu>(kTristimulus[2], kWhiteZ, light[0], light[1], light[2]);
    }
    find_roots<Cpu>(steps);
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < kRowBlock; ++i)
            steps->curves[k].of[i] = lab_curve<Cpu>(steps->stimuli[k].of[i], steps->powers[k].of[i], &doubts->of[i]);
    for (int i = 0; i < kRowBlock; ++i) {
        const double fx = steps->curves[0].of[i], fy = steps->curves[1].of[i], fz = steps->curves[2].of[i];
        labs->lightness.of[i] = static_cast<float>(product_sum<Cpu>(116.0, fy, -16.0)); // exact product
        labs->a.of[i] = static_cast<float>(500.0 * (fx - fy));
        labs->b.of[i] = static_cast<float>(200.0 * (fy - fz));
    }
    for (int i = 0; i < kRowBlock; ++i) labs->chroma.of[i] = chroma_of<Cpu>(labs->a.of[i], labs->b.of[i]);
}
QC_CPU_VERSIONS(labs_of,
                (const CodeRows& codes, const CodeScale& scale, LabSteps* __restrict steps, Labs* __restrict labs,
                 PerPixel<int64_t>* __restrict doubts),
                (codes, scale, steps, labs, doubts))

// ---- the difference -------------------------------------------------------------------------------------------------

struct DifferenceSteps {
    PerPixel<float> a[2], chroma[2], hue[2]; ///< of both pictures; a and chroma stretched
    PerPixel<float> mean_chroma, mean_hue, hue_step;
    PerPixel<float> lightness_term, chroma_term, hue_term; ///< l, c and h
    PerPixel<float> rotation_angle;                        ///< in radians
    PerPixel<double> stretch, tangent, angle, weight, seventh, rotation, difference;
    PerPixel<float> error;                  ///< relative, of the difference for another float of the seventh power
    PerPixel<int64_t> doubts, power_doubts; ///< negative where there is one
};

template <class Cpu>
QC_INLINE_HELPER void stretch(const Labs* labs, DifferenceSteps* __restrict steps) {
    for (int i = 0; i < kRowBlock; ++i) {
        const double seventh = seventh_power((labs[0].chroma.of[i] + labs[1].chroma.of[i]) / 2.0f);
        steps->stretch.of[i] = 1.0 - std::sqrt(seventh / (seventh + kChromaKnee));
    }
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < kRowBlock; ++i) {
            const float a = labs[k].a.of[i];
            const double stretched = product_sum<Cpu, double>(a / 2.0f, steps->stretch.of[i], a);
            steps->doubts.of[i] |= doubt(stretched);
            steps->a[k].of[i] = static_cast<float>(stretched);
        }
}

template <class Cpu>
QC_INLINE_HELPER void find_hues(const Labs* labs, DifferenceSteps* __restrict steps) {
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < kRowBlock; ++i) steps->tangent.of[i] = octant_tangent(labs[k].b.of[i], steps->a[k].of[i]);
        for (int i = 0; i < kRowBlock; ++i) {
            const double a = steps->a[k].of[i], b = labs[k].b.of[i];
            steps->angle.of[i] = angle_of<Cpu>(b, a, steps->tangent.of[i]);
            steps->chroma[k].of[i] = chroma_of<Cpu>(a, b);
        }
        for (int i = 0; i < kRowBlock; ++i) {
            const double angle = steps->angle.of[i], low = rounded(angle), high = low + kTurn;
            steps->doubts.of[i] |= doubt(angle);
            steps->hue[k].of[i] = static_cast<float>(low < 0.0 ? high : low);
        }
    }
}

template <class Cpu>
QC_INLINE_HELPER void find_hue_steps(const Labs* labs, DifferenceSteps* __restrict steps) {
    for (int i = 0; i < kRowBlock; ++i) {
        const float hue1 = steps->hue[0].of[i], hue2 = steps->hue[1].of[i];
        const float lesser_chroma = std::min(labs[0].chroma.of[i], labs[1].chroma.of[i]);
        const double way = hue2 - hue1, sum = hue1 + hue2;
        const bool across_zero = std::abs(way) > kPi;
        const double other_way = rounded(way + (way <= 0.0 ? kTurn : -kTurn));
        const double shorter_way = across_zero ? other_way : way;
        steps->angle.of[i] = lesser_chroma > 0.0f ? shorter_way : 0.0;
        steps->mean_hue.of[i] = static_cast<float>((sum + (across_zero ? kTurn : 0.0)) / 2.0);
    }
    for (int i = 0; i < kRowBlock; ++i) {
        const float chroma1 = steps->chroma[0].of[i], chroma2 = steps->chroma[1].of[i];
        const double step =
            2.0 * std::sqrt(static_cast<double>(chroma1 * chroma2)) * sine<Cpu>(steps->angle.of[i] / 2.0);
        steps->doubts.of[i] |= doubt(step);
        steps->hue_step.of[i] = static_cast<float>(step);
        steps->mean_chroma.of[i] = (chroma1 + chroma2) / 2.0f;
    }
}

template <class Cpu>
QC_INLINE_HELPER void find_terms(const Labs* labs, DifferenceSteps* __restrict steps) {
    for (int i = 0; i < kRowBlock; ++i) {
        const float lightness1 = labs[0].lightness.of[i], lightness2 = labs[1].lightness.of[i];
        const double offset = (lightness1 + lightness2) / 2.0f - 50.0f, square = offset * offset;
        const auto scale = static_cast<float>(1.0 + 0.015 * square / std::sqrt(20.0 + square));
        steps->lightness_term.of[i] = (lightness2 - lightness1) / (kLightnessWeight * scale);
        steps->weight.of[i] = hue_weight<Cpu>(steps->mean_hue.of[i]);
    }
    for (int i = 0; i < kRowBlock; ++i) {
        const double weight = steps->weight.of[i], mean_chroma = steps->mean_chroma.of[i];
        steps->doubts.of[i] |= doubt(weight);
        const auto chroma_scale = static_cast<float>(1.0 + 0.045 * mean_chroma);
        const auto hue_scale = static_cast<float>(1.0 + 0.015 * mean_chroma * rounded(weight));
        steps->chroma_term.of[i] = (steps->chroma[1].of[i] - steps->chroma[0].of[i]) / chroma_scale;
        steps->hue_term.of[i] = steps->hue_step.of[i] / (kHueWeight * hue_scale);
    }
}

/// R_T c h
QC_INLINE_HELPER float crossed_term(float c, float h, double rotation) {
    return static_cast<float>(rotation) * c * h;
}

/// l^2 + c^2 + h^2 + R_T c h
template <class Cpu>
QC_INLINE_HELPER double square_of_difference(double l, double c, double h, float crossed) { // whose squares are exact
    return product_sum<Cpu>(h, h, product_sum<Cpu>(c, c, l * l)) + crossed;
}

/// -2 sqrt(share) sin(angle), of an angle in radians
template <class Cpu>
QC_INLINE_HELPER double rotation_of(float seventh, double angle) {
    const float share = seventh / (seventh + static_cast<float>(kChromaKnee));
    return -2.0 * std::sqrt(static_cast<double>(share)) * sine<Cpu>(angle);
}

template <class Cpu>
QC_INLINE_HELPER void find_rotations(DifferenceSteps* __restrict steps) {
    for (int i = 0; i < kRowBlock; ++i) {
        const double degrees = rounded(steps->mean_hue.of[i] * (180.0 / kPi));
        const auto distance = static_cast<float>((degrees - 275.0) * (1.0 / 25.0));
        // Beyond 64 the rotation is below 2^-80, too small to change a bit of what it is added to.
        steps->angle.of[i] = 60.0 * decay<Cpu>(std::min(distance * distance, 64.0f));
        steps->seventh.of[i] = seventh_power(steps->mean_chroma.of[i]);
    }
    for (int i = 0; i < kRowBlock; ++i) {
        const double angle = steps->angle.of[i];
        steps->doubts.of[i] |= doubt(angle);
        steps->rotation_angle.of[i] = static_cast<float>(rounded(angle) * (kPi / 180.0));
    }
    for (int i = 0; i < kRowBlock; ++i)
        steps->rotation.of[i] = rotation_of<Cpu>(static_cast<float>(steps->seventh.of[i]), steps->rotation_angle.of[i]);
}

template <class Cpu>
QC_INLINE_HELPER void combine(DifferenceSteps* __restrict steps, float* __restrict to) {
    constexpr double kPowerReach = 0.3; // of a float's last place
    constexpr auto kPowerUnits = static_cast<int64_t>(kPowerReach * 0x1p29);
    // Relative, of R_T c h for another float of the power: seven roundings, and those of what is made of it here.
    constexpr float kCrossedError = 0x1p-20f;
    for (int i = 0; i < kRowBlock; ++i) {
        const float l = steps->lightness_term.of[i], c = steps->chroma_term.of[i], h = steps->hue_term.of[i];
        const float crossed = crossed_term(c, h, steps->rotation.of[i]);
        const double square = square_of_difference<Cpu>(l, c, h, crossed);
        steps->error.of[i] = 0.5f * kCrossedError * std::abs(crossed) / (static_cast<float>(square) + 1e-37f);
        steps->difference.of[i] = std::sqrt(square);
    }
    for (int i = 0; i < kRowBlock; ++i) {
        const double difference = steps->difference.of[i], error = steps->error.of[i];
        const auto low = static_cast<float>(product_sum<Cpu>(difference, -error, difference));
        const auto high = static_cast<float>(product_sum<Cpu>(difference, error, difference));
        const int64_t either = low != high ? -1 : 0;
        steps->doubts.of[i] |= doubt(steps->rotation.of[i]);
        steps->power_doubts.of[i] = either & doubt(steps->seventh.of[i], kPowerUnits);
        to[i] = static_cast<float>(difference);
    }
}

template <class Cpu>
QC_INLINE_HELPER void differences_of_on(const Labs* labs, DifferenceSteps* __restrict steps, float* to) {
    stretch<Cpu>(labs, steps);
    find_hues<Cpu>(labs, steps);
    find_hue_steps<Cpu>(labs, steps);
    find_terms<Cpu>(labs, steps);
    find_rotations<Cpu>(steps);
    combine<Cpu>(steps, to);
}
QC_CPU_VERSIONS(differences_of, (const Labs* labs, DifferenceSteps* __restrict steps, float* to), (labs, steps, to))

/// The end of the formula with the C library's power.
float finish_again(int i, DifferenceSteps* steps) {
    const float seventh = std::pow(steps->mean_chroma.of[i], 7.0f);
    const double rotation = rotation_of<device::AnyCpu>(seventh, steps->rotation_angle.of[i]);
    steps->doubts.of[i] |= doubt(rotation);
    const float c = steps->chroma_term.of[i], h = steps->hue_term.of[i];
    return static_cast<float>(std::sqrt(
        square_of_difference<device::AnyCpu>(steps->lightness_term.of[i], c, h, crossed_term(c, h, rotation))));
}

bool same_codes(const CodeRows& a, const CodeRows& b) {
    for (int p = 0; p < 3; ++p)
        if (std::memcmp(a.plane[p], b.plane[p], kRowBlock * sizeof(uint16_t)) != 0) return false;
    return true;
}

Lab lab_of(const CodeRows& codes, int i, int depth) {
    return reference_lab({codes.plane[0][i], codes.plane[1][i], codes.plane[2][i]}, depth);
}

QC_CPU_CLONES int64_t any_of(const int64_t* flags) {
    int64_t all = 0;
    for (int i = 0; i < kRowBlock; ++i) all |= flags[i];
    return all;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

QC_CPU_CLONES void widen_row(const uint8_t* __restrict from, int width, uint16_t* __restrict to) {
    for (int x = 0; x < width; ++x) to[x] = from[x];
}

void widen_row(const uint16_t* from, int width, uint16_t* to) {
    std::copy_n(from, width, to);
}

/// For two pixels each.
QC_CPU_CLONES void repeat_row(const uint8_t* __restrict from, int count, uint16_t* __restrict to) {
    for (int x = 0; x < count; ++x) to[2 * x] = to[2 * x + 1] = from[x];
}

QC_CPU_CLONES void repeat_row(const uint16_t* __restrict from, int count, uint16_t* __restrict to) {
    for (int x = 0; x < count; ++x) to[2 * x] = to[2 * x + 1] = from[x];
}

/// The rows of a picture, one after another, as codes of its pixels.
template <typename T>
class CodeReader {
public:
    CodeReader(const FrameGeometry& geometry, const HostPicture& picture)
        : width_(geometry.width), grid_(make_chroma_grid(geometry)) {
        for (int p = 0; p < 3; ++p) planes_[p] = picture.plane[p].template as<T>();
        const int blocks = (width_ + kRowBlock - 1) / kRowBlock;
        const auto grey = static_cast<uint16_t>(1 << (geometry.depth - 1)); // of pixels that fill the last block
        for (std::vector<uint16_t>& codes : codes_) codes.resize(static_cast<size_t>(blocks) * kRowBlock, grey);
    }

    CodeRows row(int y) {
        widen_row(planes_[0].row(y), width_, codes_[0].data());
        if (const int chroma_y = grid_.row(y); chroma_y != chroma_y_) {
            for (int p = 1; p < 3; ++p) read_chroma(planes_[p].row(chroma_y), codes_[p].data());
            chroma_y_ = chroma_y;
        }
        return {{codes_[0].data(), codes_[1].data(), codes_[2].data()}};
    }

private:
    void read_chroma(const T* samples, uint16_t* codes) const {
        if (grid_.shift_x == 0) return widen_row(samples, width_, codes);
        repeat_row(samples, grid_.width, codes);
        if (2 * grid_.width < width_) codes[width_ - 1] = samples[grid_.width - 1];
    }

    int width_;
    ChromaGrid grid_;
    Plane<const T> planes_[3];
    std::vector<uint16_t> codes_[3];
    int chroma_y_ = -1;
};

// ---- pictures -------------------------------------------------------------------------------------------------------

constexpr int kSharedRows = 16; ///< of a thread, at least

/// A function of its own, for the sum to stay in a register.
QC_CPU_CLONES double add_row(double sum, const float* differences, int width) {
    for (int x = 0; x < width; ++x) sum += differences[x];
    return sum;
}

/// In raster order. Idle threads compute differences, but don't add them.
/// @param add_row_to returns a sum with the differences of row y
template <typename T, class AddRow>
double sum_rows(const FrameGeometry& geometry, const HostPair& pair, const AddRow& add_row_to) {
    const int blocks = (geometry.width + kRowBlock - 1) / kRowBlock;
    const auto stride = static_cast<size_t>(blocks) * kRowBlock;
    // As many rows at a time as every thread has some of, for a while.
    const int threads = pair.helpers != nullptr ? pair.helpers->threads() : 1;
    const int rows = std::min(geometry.height, 2 * kSharedRows * threads);
    std::vector<float> strip(stride * static_cast<size_t>(rows));
    double sum = 0.0;
    for (int y = 0; y < geometry.height; y += rows) {
        const int count = std::min(rows, geometry.height - y);
        share_runs(pair.helpers, count, kSharedRows, [&](int begin, int end) {
            CodeReader<T> reference(geometry, pair.reference), distorted(geometry, pair.distorted);
            for (int i = begin; i < end; ++i)
                difference_row(reference.row(y + i), distorted.row(y + i), blocks, geometry.depth,
                               strip.data() + static_cast<size_t>(i) * stride);
        });
        for (int i = 0; i < count; ++i) sum = add_row_to(sum, strip.data() + static_cast<size_t>(i) * stride, y + i);
    }
    return sum;
}

template <class AddRow>
double sum_of(const FrameGeometry& geometry, const HostPair& pair, const AddRow& add_row_to) {
    return geometry.sample == SampleType::kU8 ? sum_rows<uint8_t>(geometry, pair, add_row_to)
                                              : sum_rows<uint16_t>(geometry, pair, add_row_to);
}

} // namespace

int difference_row(const CodeRows& reference, const CodeRows& distorted, int blocks, int depth, float* differences) {
    const CodeScale scale = scale_of(depth);
    LabSteps lab_steps;
    Labs labs[2];
    DifferenceSteps steps;
    int asked = 0;
    for (int block = 0; block < blocks; ++block) {
        const int x = block * kRowBlock;
        float* const to = differences + x;
        const CodeRows codes[2] = {{{reference.plane[0] + x, reference.plane[1] + x, reference.plane[2] + x}},
                                   {{distorted.plane[0] + x, distorted.plane[1] + x, distorted.plane[2] + x}}};
        if (same_codes(codes[0], codes[1])) {
            std::fill_n(to, kRowBlock, 0.0f); // of equal samples it is exactly 0
            continue;
        }
        steps.doubts = {};
        for (int k = 0; k < 2; ++k) labs_of(codes[k], scale, &lab_steps, &labs[k], &steps.doubts);
        differences_of(labs, &steps, to);
        if (any_of(steps.power_doubts.of) < 0)
            for (int i = 0; i < kRowBlock; ++i)
                if (steps.power_doubts.of[i] < 0) to[i] = finish_again(i, &steps);
        if (any_of(steps.doubts.of) < 0)
            for (int i = 0; i < kRowBlock; ++i)
                if (steps.doubts.of[i] < 0) {
                    to[i] = reference_difference(lab_of(codes[0], i, depth), lab_of(codes[1], i, depth));
                    ++asked;
                }
    }
    return asked;
}

double score_cpu_rows(const FrameGeometry& geometry, const HostPair& pair) {
    return sum_of(geometry, pair,
                  [&](double sum, const float* differences, int) { return add_row(sum, differences, geometry.width); });
}

void score_weighted_cpu(const FrameGeometry& geometry, const HostPair& pair, std::span<uint64_t> words) {
    const WeightReader weights(pair.weights);
    const double sum = sum_of(geometry, pair, [&](double so_far, const float* differences, int y) {
        for (int x = 0; x < geometry.width; ++x) so_far += weights.at(x, y) * static_cast<double>(differences[x]);
        return so_far;
    });
    words[kDifferences] = std::bit_cast<uint64_t>(sum);
    for (int y = 0; y < geometry.height; ++y)
        for (int x = 0; x < geometry.width; ++x) words[kWeights] += weights.at(x, y);
}

} // namespace qc::ciede
