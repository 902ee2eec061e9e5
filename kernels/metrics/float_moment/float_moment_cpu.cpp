// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/cpu_clones.hpp"
#include "metrics/float_moment/float_moment.hpp"
#include "metrics/float_moment/float_moment_math.hpp"

namespace qc::float_moment {
namespace {

template <bool kFullRange, typename T>
QC_HD void add_samples(const T* samples, int width, Moments* sums) {
    uint64_t first = 0, second = 0;
    for (int x = 0; x < width; ++x) {
        first += samples[x];
        second += rounded_square<kFullRange>(samples[x]);
    }
    sums->first += first;
    sums->second += second;
}

QC_CPU_CLONES void add_row(const uint8_t* samples, int width, Moments* sums) {
    add_samples<false>(samples, width, sums);
}

QC_CPU_CLONES void add_row(const uint16_t* samples, int width, Moments* sums) {
    add_samples<false>(samples, width, sums);
}

QC_CPU_CLONES void add_row_full(const uint16_t* samples, int width, Moments* sums) {
    add_samples<true>(samples, width, sums);
}

template <bool kFullRange, typename T>
void add_weighted_samples(const HostPair& pair, const FrameGeometry& geometry, uint64_t* words) {
    const auto reference = pair.reference.plane[0].as<T>(), distorted = pair.distorted.plane[0].as<T>();
    const auto weights = pair.weights.as<uint8_t>();
    for (int y = 0; y < geometry.height; ++y)
        for (int x = 0; x < geometry.width; ++x)
            add_weighted<kFullRange>(reference.at(x, y), distorted.at(x, y), weights.at(x, y), words);
}

} // namespace

Moments score_cpu(const HostPlane& plane, const FrameGeometry& geometry) {
    Moments sums;
    for (int y = 0; y < geometry.height; ++y) {
        if (geometry.sample == SampleType::kU8) {
            add_row(plane.as<uint8_t>().row(y), geometry.width, &sums);
        } else if (geometry.depth <= 12) {
            add_row(plane.as<uint16_t>().row(y), geometry.width, &sums);
        } else {
            add_row_full(plane.as<uint16_t>().row(y), geometry.width, &sums);
        }
    }
    return sums;
}

void score_weighted_cpu(const HostPair& pair, const FrameGeometry& geometry, std::span<uint64_t> words) {
    if (geometry.sample == SampleType::kU8)
        add_weighted_samples<false, uint8_t>(pair, geometry, words.data());
    else if (geometry.depth <= 12)
        add_weighted_samples<false, uint16_t>(pair, geometry, words.data());
    else
        add_weighted_samples<true, uint16_t>(pair, geometry, words.data());
}

} // namespace qc::float_moment
