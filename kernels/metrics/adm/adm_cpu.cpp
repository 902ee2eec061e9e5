// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM on the CPU: the readable reference. For each of four levels:
//
//     transform          the a band and three detail bands of both pictures
//     decouple           each distorted coefficient into what is left of the reference's, and what was added
//     measure            what of one part exceeds the threshold that the other part, its masker, makes around it
//     measure_reference  the reference's own energy
//
// Whole bands of 64-bit integers, the definition word by word: adm_cpu_rows.cpp does the same row by row.
#include <cmath>
#include <vector>

#include "device/image.hpp"
#include "families/detail_loss/detail_loss_weights.hpp"
#include "metrics/adm/adm_cpu.hpp"
#include "metrics/adm/adm_definition.hpp"

namespace qc::adm {
namespace {

using definition::rounded;

/// A picture or band.
using Image = device::Image<int64_t>;

using DetailBands = std::vector<Image>; ///< kBands

DetailBands detail_bands(int width, int height) {
    return DetailBands(kBands, Image(width, height));
}

template <typename T>
Image read(const Plane<const T>& plane) {
    Image image(plane.width, plane.height);
    for (int y = 0; y < plane.height; y++) {
        for (int x = 0; x < plane.width; x++) image.at(x, y) = plane.row(y)[x];
    }
    return image;
}

// ---- wavelet --------------------------------------------------------------------------------------------------------

constexpr int64_t kLowTaps[4] = {15826, 27411, 7345, -4240}, kHighTaps[4] = {-4240, -7345, 27411, -15826};

struct Bands {
    Image a;
    DetailBands detail;
};

/// One level of the transform. Level 0 takes samples of `depth` bits, and mid-grey off.
Bands transform(const Image& in, int level, int depth) {
    constexpr int kAlongShift[4] = {16, 15, 16, 15};
    const int down_shift = level == 0 ? depth : level == 1 ? 0 : 16;
    const int width = (in.width + 1) / 2, height = (in.height + 1) / 2;
    Bands out{Image(width, height), detail_bands(width, height)};
    std::vector<int64_t> low(in.width), high(in.width);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < in.width; x++) {
            int64_t l = 0, h = 0;
            for (int k = 0; k < 4; k++) {
                const int64_t v = in.at(x, mirror_with_last_edge_inside(2 * y - 1 + k, in.height));
                l += kLowTaps[k] * v;
                h += kHighTaps[k] * v;
            }
            if (level == 0) l -= int64_t{46342} << (depth - 1); // the sum of the taps
            low[x] = rounded(l, down_shift);
            high[x] = rounded(h, down_shift);
        }
        for (int x = 0; x < width; x++) {
            int64_t a = 0, h = 0, v = 0, d = 0;
            for (int k = 0; k < 4; k++) {
                const int i = mirror_with_last_edge_inside(2 * x - 1 + k, in.width);
                a += kLowTaps[k] * low[i];
                v += kHighTaps[k] * low[i];
                h += kLowTaps[k] * high[i];
                d += kHighTaps[k] * high[i];
            }
            out.a.at(x, y) = rounded(a, kAlongShift[level]);
            out.detail[kBandH].at(x, y) = rounded(h, kAlongShift[level]);
            out.detail[kBandV].at(x, y) = rounded(v, kAlongShift[level]);
            out.detail[kBandD].at(x, y) = rounded(d, kAlongShift[level]);
        }
    }
    return out;
}

// ---- decoupling -----------------------------------------------------------------------------------------------------

struct Parts {
    DetailBands restored, additive;
};

/// Whether the orientation (h, v) of both pictures differs by less than a degree.
bool same_angle(const DetailBands& o, const DetailBands& t, int x, int y) {
    const int64_t oh = o[kBandH].at(x, y), ov = o[kBandV].at(x, y);
    const int64_t th = t[kBandH].at(x, y), tv = t[kBandV].at(x, y);
    const double dot = static_cast<float>(oh * th + ov * tv), reference_norm = static_cast<float>(oh * oh + ov * ov),
                 distorted_norm = static_cast<float>(th * th + tv * tv);
    constexpr double kCosSquaredOneDegree = 0.99969542026519775;
    return dot >= 0 && dot * dot >= kCosSquaredOneDegree * reference_norm * distorted_norm;
}

Parts decouple(const DetailBands& reference, const DetailBands& distorted, double gain_limit, int level) {
    const int width = reference[0].width, height = reference[0].height;
    Parts parts{detail_bands(width, height), detail_bands(width, height)};
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const bool enhanced = same_angle(reference, distorted, x, y);
            for (int band = 0; band < kBands; band++) {
                const int64_t t = distorted[band].at(x, y);
                const int64_t restored =
                    definition::restored_part(reference[band].at(x, y), t, enhanced, gain_limit, level > 0);
                parts.restored[band].at(x, y) = restored;
                parts.additive[band].at(x, y) = t - restored;
            }
        }
    }
    return parts;
}

// ---- masking, energies ----------------------------------------------------------------------------------------------

/// What all coefficients of the masker at one place add to thresholds. The sums wrap.
Image sum_of_terms(const LevelPlan& plan, int level, const DetailBands& masker, int32_t definition::Terms::*term) {
    Image sums(plan.width, plan.height);
    for (int y = 0; y < plan.height; y++) {
        for (int x = 0; x < plan.width; x++) {
            uint32_t sum = 0;
            for (int band = 0; band < kBands; band++) {
                const auto terms = definition::masker_terms(plan.factor[band], masker[band].at(x, y), level, band);
                sum += static_cast<uint32_t>(terms.*term);
            }
            sums.at(x, y) = sum;
        }
    }
    return sums;
}

int32_t threshold_at(const Image& neighbour, const Image& centre, int x, int y) {
    auto threshold = static_cast<uint32_t>(centre.at(x, y));
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0) continue;
            threshold += static_cast<uint32_t>(neighbour.at(mirror_with_last_edge_inside(x + dx, neighbour.width),
                                                            mirror_with_last_edge_inside(y + dy, neighbour.height)));
        }
    }
    return static_cast<int32_t>(threshold);
}

/// A level's weights, and that of a coefficient that counts whole. Null: there are none, and each counts once.
struct Weights {
    const device::Image<Weight>* band = nullptr;
    int64_t whole = 1;
};

/// Adds the rows of a scored region, each of which is rounded when it is complete.
/// @param energies may be negative, or wrap, where contrast sensitivities overflow
template <typename Sum>
uint64_t sum_rows(const LevelPlan& plan, const device::Image<Sum>& energies, int row_shift, const Weights& weights) {
    uint64_t total = 0;
    for (int y = plan.top; y < plan.bottom; y++) {
        if (weights.band == nullptr) {
            uint64_t row = 0;
            for (int x = plan.left; x < plan.right; x++) row += static_cast<uint64_t>(energies.at(x, y));
            total += static_cast<uint64_t>(rounded(static_cast<Sum>(row), row_shift));
            continue;
        }
        __int128 row = 0;
        for (int x = plan.left; x < plan.right; x++)
            row += static_cast<__int128>(energies.at(x, y)) * weights.band->at(x, y);
        const __int128 unit = static_cast<__int128>(weights.whole) << row_shift;
        row += unit / 2;
        total += static_cast<uint64_t>(row / unit - (row % unit < 0 ? 1 : 0));
    }
    return total;
}

/// Adds the energies of the scored region to the words of the three bands.
void measure(const LevelPlan& plan, int level, const DetailBands& measured, const DetailBands& masker,
             const Weights& weights, uint64_t* words) {
    const Image neighbour = sum_of_terms(plan, level, masker, &definition::Terms::neighbour);
    const Image centre = sum_of_terms(plan, level, masker, &definition::Terms::centre);
    const double log_width = std::log2(static_cast<double>(plan.width));
    const int row_shift = static_cast<int>(std::ceil(std::log2(static_cast<double>(plan.height))));
    for (int band = 0; band < kBands; band++) {
        const double bits = level > 0 ? log_width : log_width - (band == kBandD ? 3 : 4);
        Image energies(plan.width, plan.height);
        for (int y = plan.top; y < plan.bottom; y++)
            for (int x = plan.left; x < plan.right; x++)
                energies.at(x, y) = definition::energy(plan.factor[band], measured[band].at(x, y),
                                                       threshold_at(neighbour, centre, x, y), level, band,
                                                       static_cast<int>(std::ceil(bits)));
        words[band] += sum_rows(plan, energies, row_shift, weights);
    }
}

/// The same for the reference's cubes.
void measure_reference(const LevelPlan& plan, int level, const DetailBands& reference, const Weights& weights,
                       uint64_t* words) {
    const double columns = plan.right - plan.left, rows = plan.bottom - plan.top;
    const int row_shift = level == 0 ? std::max(0, static_cast<int>(std::ceil(std::log2(columns * rows) - 20)))
                                     : static_cast<int>(std::ceil(std::log2(rows)));
    const int shift = static_cast<int>(std::ceil(std::log2(columns)));
    const int square_shift = level == 2 ? 30 : 31;
    for (int band = 0; band < kBands; band++) {
        device::Image<uint64_t> energies(plan.width, plan.height);
        for (int y = plan.top; y < plan.bottom; y++)
            for (int x = plan.left; x < plan.right; x++) {
                const auto size = static_cast<uint64_t>(std::abs(reference[band].at(x, y)));
                const uint64_t square = (size * size + (uint64_t{1} << square_shift)) >> square_shift;
                energies.at(x, y) = level == 0 ? size * size * size : rounded(square * size, shift);
            }
        words[band] += sum_rows(plan, energies, row_shift, weights);
    }
}

/// All bands of a place. Exponents: numerator() in adm.cpp has them.
float lost_at(const LevelPlan& plan, int level, const DetailBands& reference, const DetailBands& restored,
              int32_t threshold, int x, int y) {
    float lost = 0.0f;
    for (int band = 0; band < kBands; band++) {
        const int exponent = level > 0 ? 25 : band == kBandD ? 29 : 27;
        const uint32_t factor = plan.factor[band];
        const int64_t whole = definition::weighted_size(factor, reference[band].at(x, y), level);
        const uint32_t left = definition::weighted_size(factor, restored[band].at(x, y), level);
        const int64_t missing = whole - definition::excess_of(left, threshold, level, band);
        lost += std::ldexp(static_cast<float>(missing), -exponent);
    }
    return lost;
}

void draw_images(const Plan& plan, Image reference, Image distorted, const Plane<float>& values) {
    const int level = map_level(plan);
    for (int above = 0; above < level; above++) {
        reference = transform(reference, above, plan.depth).a;
        distorted = transform(distorted, above, plan.depth).a;
    }
    const Bands o = transform(reference, level, plan.depth), t = transform(distorted, level, plan.depth);
    const LevelPlan& region = plan.level[level];
    const Parts parts = decouple(o.detail, t.detail, plan.gain.limit, level);
    const Image neighbour = sum_of_terms(region, level, parts.additive, &definition::Terms::neighbour);
    const Image centre = sum_of_terms(region, level, parts.additive, &definition::Terms::centre);
    for (int y = 0; y < region.height; y++)
        for (int x = 0; x < region.width; x++) {
            const bool scored = x >= region.left && x < region.right && y >= region.top && y < region.bottom;
            values.at(x, y) =
                !scored ? 0.0f
                        : lost_at(region, level, o.detail, parts.restored, threshold_at(neighbour, centre, x, y), x, y);
        }
}

/// @param band_weights of the levels; empty: there are none
void score_images(const Plan& plan, Image reference, Image distorted, const BandWeights& band_weights,
                  uint64_t* accumulators) {
    for (int level = 0; level < kLevels; level++) {
        const Bands o = transform(reference, level, plan.depth), t = transform(distorted, level, plan.depth);
        reference = o.a;
        distorted = t.a;
        const LevelPlan& region = plan.level[level];
        if (!is_scored(region)) continue;
        const Parts parts = decouple(o.detail, t.detail, plan.gain.limit, level);
        uint64_t* const words = accumulators + level * kWordsPerLevel;
        Weights weights;
        if (plan.has_weights) weights = {&band_weights[static_cast<size_t>(level)], full_weight(level)};
        measure(region, level, parts.restored, parts.additive, weights, words + kDetail * kBands);
        measure_reference(region, level, o.detail, weights, words + kReference * kBands);
        if (plan.impairment)
            measure(region, level, parts.additive, parts.restored, weights, words + kImpairment * kBands);
    }
}

} // namespace

void score_cpu(const Plan& plan, SampleType sample, const HostPair& pair, std::span<uint64_t> accumulators) {
    const HostPlane &reference = pair.reference.plane[0], &distorted = pair.distorted.plane[0];
    const BandWeights band_weights = plan.has_weights ? weigh_bands(pair.weights, plan) : BandWeights();
    if (plan.has_weights) sum_weights(band_weights, plan, accumulators.data());
    if (sample == SampleType::kU8)
        score_images(plan, read(reference.as<uint8_t>()), read(distorted.as<uint8_t>()), band_weights,
                     accumulators.data());
    else
        score_images(plan, read(reference.as<uint16_t>()), read(distorted.as<uint16_t>()), band_weights,
                     accumulators.data());
}

void draw_cpu(const Plan& plan, SampleType sample, const HostPair& pair, const Plane<float>& values) {
    const HostPlane &reference = pair.reference.plane[0], &distorted = pair.distorted.plane[0];
    if (sample == SampleType::kU8)
        draw_images(plan, read(reference.as<uint8_t>()), read(distorted.as<uint8_t>()), values);
    else
        draw_images(plan, read(reference.as<uint16_t>()), read(distorted.as<uint16_t>()), values);
}

} // namespace qc::adm
