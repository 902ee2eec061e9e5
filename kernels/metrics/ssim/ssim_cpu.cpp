// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <array>

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

template <typename T>
uint64_t sum_picture(Plane<const T> a, Plane<const T> b, uint32_t peak, const structural::FixedPoint& fixed) {
    const int width = a.width, height = a.height;
    std::array<RowSums, kTaps> rows; // row y is rows[y % kTaps]
    for (RowSums& row : rows) row.resize(static_cast<size_t>(width));
    const auto take_row = [&](int y) { sum_row(a.row(y), b.row(y), width, &rows[static_cast<size_t>(y % kTaps)]); };
    for (int y = 0; y < kRadius && y < height; ++y) take_row(y);
    uint64_t total = 0;
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
            total += fixed_term(weighted_index(sums, weight, peak), fixed);
        }
    }
    return total;
}

} // namespace

void score_cpu(const FrameGeometry& geometry, const structural::FixedPoint& fixed, const HostPair& pair,
               std::span<uint64_t> accumulators) {
    const HostPlane &a = pair.reference.plane[0], &b = pair.distorted.plane[0];
    const uint32_t peak = (1u << geometry.depth) - 1;
    accumulators[0] = geometry.sample == SampleType::kU8 ? sum_picture(a.as<uint8_t>(), b.as<uint8_t>(), peak, fixed)
                                                         : sum_picture(a.as<uint16_t>(), b.as<uint16_t>(), peak, fixed);
}

} // namespace qc::ssim
