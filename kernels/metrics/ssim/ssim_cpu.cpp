// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <array>

#include "device/weights.hpp"
#include "metrics/ssim/ssim.hpp"
#include "metrics/ssim/ssim_math.hpp"

namespace qc::ssim {
namespace {

/// Sums along a row, by quantity, at every position.
using RowSums = std::vector<std::array<uint64_t, kQuantities>>;

template <typename T>
void sum_row(const T* a, const T* b, int width, RowSums* sums) {
    for (int x = 0; x < width; ++x) {
        auto& at = (*sums)[static_cast<size_t>(x)];
        at = {};
        for (int k = 0; k < kTaps; ++k) {
            const int u = x + k - kRadius;
            if (u >= 0 && u < width) add_samples<uint64_t>(tap(k), a[u], b[u], at.data());
        }
    }
}

/// Calls add(term, weight, x, y) for each position.
template <typename T, typename Add>
void for_each_position(Plane<const T> a, Plane<const T> b, uint32_t peak, const structural::FixedPoint& fixed,
                       const Add& add) {
    const int width = a.width, height = a.height;
    std::array<RowSums, kTaps> rows; // row y is rows[y % kTaps]
    for (RowSums& row : rows) row.resize(static_cast<size_t>(width));
    const auto take_row = [&](int y) { sum_row(a.row(y), b.row(y), width, &rows[static_cast<size_t>(y % kTaps)]); };
    for (int y = 0; y < kRadius && y < height; ++y) take_row(y);
    for (int y = 0; y < height; ++y) {
        if (y + kRadius < height) take_row(y + kRadius);
        for (int x = 0; x < width; ++x) {
            uint64_t sums[kQuantities] = {};
            for (int k = 0; k < kTaps; ++k) {
                const int v = y + k - kRadius;
                if (v < 0 || v >= height) continue;
                const auto& row_sums = rows[static_cast<size_t>(v % kTaps)][static_cast<size_t>(x)];
                for (int q = 0; q < kQuantities; ++q) sums[q] += tap(k) * row_sums[static_cast<size_t>(q)];
            }
            const uint32_t weight = weight_at(x, width) * weight_at(y, height);
            add(fixed_term(weighted_index(sums, weight, peak), fixed), weight, x, y);
        }
    }
}

template <typename T>
void sum_picture(const HostPair& pair, uint32_t peak, const structural::FixedPoint& fixed,
                 std::span<uint64_t> accumulators) {
    const Plane<const T> a = pair.reference.plane[0].as<T>(), b = pair.distorted.plane[0].as<T>();
    if (pair.weights.data == nullptr) {
        uint64_t total = 0;
        for_each_position(a, b, peak, fixed, [&](uint64_t term, uint32_t, int, int) { total += term; });
        accumulators[kIndices] = total;
        return;
    }
    const WeightReader sample_weights(pair.weights);
    uint64_t total = 0, weights = 0;
    for_each_position(a, b, peak, fixed, [&](uint64_t term, uint32_t weight, int x, int y) {
        total += term * sample_weights.at(x, y);
        weights += uint64_t{weight} * sample_weights.at(x, y);
    });
    accumulators[kIndices] = total;
    accumulators[kWeights] = weights;
}

} // namespace

void score_cpu(const FrameGeometry& geometry, const structural::FixedPoint& fixed, const HostPair& pair,
               std::span<uint64_t> accumulators) {
    const uint32_t peak = (1u << geometry.depth) - 1;
    if (geometry.sample == SampleType::kU8)
        sum_picture<uint8_t>(pair, peak, fixed, accumulators);
    else
        sum_picture<uint16_t>(pair, peak, fixed, accumulators);
}

} // namespace qc::ssim
