// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer VIF on the CPU: the readable reference. For each of four scales:
//
//     local moments     means, mean squares and mean product under a Gaussian window
//     statistic         how much of the reference's information each pixel of the distorted picture carries
//     decimation        both pictures low-passed with the next scale's window, every second sample kept
//
// Whole pictures of 64-bit integers, every filter pass by itself: vif_cpu_rows.cpp does the same row by row.
#include <vector>

#include "device/image.hpp"
#include "device/weights.hpp"
#include "metrics/vif/vif.hpp"

namespace qc::vif {
namespace {

/// Samples of a picture, or what a filter left of them.
using Image = device::Image<uint64_t>;

template <typename T>
Image read(const Plane<const T>& plane) {
    Image image(plane.width, plane.height);
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) image.at(x, y) = plane.row(y)[x];
    return image;
}

// ---- filters --------------------------------------------------------------------------------------------------------

/// The window of a scale; its weights add up to 65536.
std::vector<uint64_t> window_of(int scale) {
    std::vector<uint64_t> weights;
    for (int k = 0; k <= 2 * (8 >> scale); ++k)
        weights.push_back(scale == 0 ? tap<0>(k) : scale == 1 ? tap<1>(k) : scale == 2 ? tap<2>(k) : tap<3>(k));
    return weights;
}

uint64_t rounded(uint64_t value, int shift) {
    return shift > 0 ? (value + (uint64_t{1} << (shift - 1))) >> shift : value;
}

/// Weighted sums down the columns, rounded by `shift` bits.
Image filtered_down(const Image& in, const std::vector<uint64_t>& window, int shift) {
    const int taps = static_cast<int>(window.size());
    Image out(in.width, in.height);
    for (int y = 0; y < in.height; ++y)
        for (int x = 0; x < in.width; ++x) {
            uint64_t sum = 0;
            for (int k = 0; k < taps; ++k) sum += window[k] * in.at(x, reflect(y + k - taps / 2, in.height));
            out.at(x, y) = rounded(sum, shift);
        }
    return out;
}

/// Weighted sums along the rows, rounded by `shift` bits.
Image filtered_along(const Image& in, const std::vector<uint64_t>& window, int shift) {
    const int taps = static_cast<int>(window.size());
    Image out(in.width, in.height);
    for (int y = 0; y < in.height; ++y)
        for (int x = 0; x < in.width; ++x) {
            uint64_t sum = 0;
            for (int k = 0; k < taps; ++k) sum += window[k] * in.at(reflect(x + k - taps / 2, in.width), y);
            out.at(x, y) = rounded(sum, shift);
        }
    return out;
}

Image product(const Image& a, const Image& b) {
    Image out(a.width, a.height);
    for (size_t i = 0; i < a.samples.size(); ++i) out.samples[i] = a.samples[i] * b.samples[i];
    return out;
}

/// The picture at the next scale, whose window low-passes it. Odd last rows and columns are dropped.
Image decimated(const Image& in, int scale, int depth) {
    const auto window = window_of(scale + 1);
    const Image smooth = filtered_along(filtered_down(in, window, vertical_shifts(scale, depth).mean), window, 16);
    Image out(in.width / 2, in.height / 2);
    for (int y = 0; y < out.height; ++y)
        for (int x = 0; x < out.width; ++x) out.at(x, y) = smooth.at(2 * x, 2 * y);
    return out;
}

// ---- statistic ------------------------------------------------------------------------------------------------------

/// log2 of the upper 16 bits of x, in 1/2048. x >= 2^17.
int64_t logarithm(int64_t x) {
    int bits = 17;
    while (x >> bits != 0) ++bits;
    return log_table_entry(static_cast<uint32_t>(x >> (bits - 16))) + int64_t{2048} * (bits - 16);
}

/// Adds one pixel. Variances and covariance in 16.16; those of both pictures may be below zero, by their rounding.
void add_pixel(int64_t sigma_1_sq, int64_t sigma_2_sq, int64_t sigma_12, double gain_limit, uint64_t* words) {
    if (sigma_2_sq < 0) sigma_2_sq = 0;
    if (sigma_1_sq < kNoiseVariance) {
        words[kFlatVariance] += static_cast<uint64_t>(sigma_2_sq);
        words[kFlatCount] += 1;
        return;
    }
    words[kDenominatorLog] += static_cast<uint64_t>(logarithm(kNoiseVariance + sigma_1_sq) - logarithm(kNoiseVariance));
    if (sigma_12 <= 0 || sigma_2_sq <= 0) return;
    const auto covariance = static_cast<double>(sigma_12), variance = static_cast<double>(sigma_1_sq);
    double gain = covariance / (variance + kEpsilon);
    // What the gain does not explain; the limit comes after.
    auto sigma_v_sq = static_cast<int64_t>(static_cast<double>(sigma_2_sq) - gain * covariance);
    if (sigma_v_sq < 0) sigma_v_sq = 0;
    if (gain > gain_limit) gain = gain_limit;
    const auto signal = static_cast<int64_t>((gain * gain) * variance);
    const int64_t noise = sigma_v_sq + kNoiseVariance;
    words[kNumeratorLog] += static_cast<uint64_t>(logarithm(signal + noise) - logarithm(noise));
}

/// Calls use(x, y, sigma_1_sq, sigma_2_sq, sigma_12) for every pixel of a scale.
template <typename Use>
void for_each_pixel(const Image& reference, const Image& distorted, int scale, int depth, const Use& use) {
    const auto window = window_of(scale);
    const VerticalShifts shifts = vertical_shifts(scale, depth);
    const auto mean = [&](const Image& a) { return filtered_along(filtered_down(a, window, shifts.mean), window, 0); };
    const auto mean_product = [&](const Image& a, const Image& b) {
        return filtered_along(filtered_down(product(a, b), window, shifts.product), window, 16);
    };
    const Image mean_1 = mean(reference), mean_2 = mean(distorted);
    const Image square_1 = mean_product(reference, reference), square_2 = mean_product(distorted, distorted);
    const Image product_12 = mean_product(reference, distorted);
    const auto centred = [](uint64_t moment, uint64_t a, uint64_t b) {
        return static_cast<int64_t>(moment) - static_cast<int64_t>(rounded(a * b, 32));
    };
    for (int y = 0; y < reference.height; ++y)
        for (int x = 0; x < reference.width; ++x) {
            const uint64_t m1 = mean_1.at(x, y), m2 = mean_2.at(x, y);
            use(x, y, centred(square_1.at(x, y), m1, m1), centred(square_2.at(x, y), m2, m2),
                centred(product_12.at(x, y), m1, m2));
        }
}

void score_scale(const Image& reference, const Image& distorted, int scale, int depth, double gain_limit,
                 uint64_t* words) {
    for_each_pixel(reference, distorted, scale, depth,
                   [&](int, int, int64_t sigma_1_sq, int64_t sigma_2_sq, int64_t sigma_12) {
                       add_pixel(sigma_1_sq, sigma_2_sq, sigma_12, gain_limit, words);
                   });
}

void score_scale(const Image& reference, const Image& distorted, int scale, int depth, double gain_limit,
                 const WeightReader& sample_weights, uint64_t* words) {
    const int width = reference.width, height = reference.height;
    const MapShape shape = weight_shape(width, height, scale);
    for_each_pixel(reference, distorted, scale, depth,
                   [&](int x, int y, int64_t sigma_1_sq, int64_t sigma_2_sq, int64_t sigma_12) {
                       uint64_t pixel[kWordsPerScale] = {};
                       add_pixel(sigma_1_sq, sigma_2_sq, sigma_12, gain_limit, pixel);
                       const uint64_t weight = sample_weights.over(shape, x, y, width << scale, height << scale);
                       for (int i = 0; i < kWordsPerScale; ++i) words[i] += weight * pixel[i];
                   });
}

Image luma(const HostPicture& picture, const FrameGeometry& geometry) {
    const HostPlane& plane = picture.plane[0];
    return geometry.sample == SampleType::kU8 ? read(plane.as<uint8_t>()) : read(plane.as<uint16_t>());
}

} // namespace

void draw_cpu(const FrameGeometry& geometry, const Parameters& parameters, const HostPair& pair, Plane<float> values) {
    Image reference = luma(pair.reference, geometry), distorted = luma(pair.distorted, geometry);
    const int scale = parameters.skip_scale_0 ? 1 : 0;
    if (scale == 1) {
        reference = decimated(reference, 0, geometry.depth);
        distorted = decimated(distorted, 0, geometry.depth);
    }
    for_each_pixel(reference, distorted, scale, geometry.depth,
                   [&](int x, int y, int64_t sigma_1_sq, int64_t sigma_2_sq, int64_t sigma_12) {
                       uint64_t words[kWordsPerScale] = {};
                       add_pixel(sigma_1_sq, sigma_2_sq, sigma_12, parameters.gain_limit, words);
                       values.at(x, y) = words[kFlatCount] != 0
                                             ? lost_flat_bits(static_cast<uint32_t>(words[kFlatVariance]))
                                             : lost_bits(static_cast<int>(words[kDenominatorLog]),
                                                         static_cast<int>(words[kNumeratorLog]));
                   });
}

namespace {

/// @param score takes the pictures of a scale, the scale and its words
template <class Score>
void score_scales(const FrameGeometry& geometry, const Parameters& parameters, const HostPair& pair,
                  std::span<uint64_t> accumulators, const Score& score) {
    Image reference = luma(pair.reference, geometry), distorted = luma(pair.distorted, geometry);
    for (int scale = 0; scale < kScales; ++scale) {
        if (!(scale == 0 && parameters.skip_scale_0))
            score(reference, distorted, scale, accumulators.data() + scale * kWordsPerScale);
        if (scale + 1 == kScales) break;
        reference = decimated(reference, scale, geometry.depth);
        distorted = decimated(distorted, scale, geometry.depth);
    }
}

} // namespace

void score_cpu(const FrameGeometry& geometry, const Parameters& parameters, const HostPair& pair,
               std::span<uint64_t> accumulators) {
    score_scales(geometry, parameters, pair, accumulators,
                 [&](const Image& reference, const Image& distorted, int scale, uint64_t* words) {
                     score_scale(reference, distorted, scale, geometry.depth, parameters.gain_limit, words);
                 });
}

void score_weighted_cpu(const FrameGeometry& geometry, const Parameters& parameters, const HostPair& pair,
                        std::span<uint64_t> accumulators) {
    const WeightReader sample_weights(pair.weights);
    score_scales(geometry, parameters, pair, accumulators,
                 [&](const Image& reference, const Image& distorted, int scale, uint64_t* words) {
                     score_scale(reference, distorted, scale, geometry.depth, parameters.gain_limit, sample_weights,
                                 words);
                 });
}

} // namespace qc::vif
