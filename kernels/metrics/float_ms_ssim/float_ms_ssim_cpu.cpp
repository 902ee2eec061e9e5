// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <array>

#include "device/borders.hpp"
#include "device/cpu_clones.hpp"
#include "families/structural/structural_cpu.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim_math.hpp"

namespace qc::float_ms_ssim {
namespace {

using structural::Image;
using structural::kSumWords;

/// A row with its mirrored ends, even and odd columns apart so that every second window lies side by side.
struct SplitRow {
    std::vector<float> phase[2];

    void assign(const float* row, int width) {
        const int windows = halved(width);
        for (auto& samples : phase) samples.resize(static_cast<size_t>(windows) + kRadius);
        for (int i = 0; i < 2 * (windows + kRadius); ++i) {
            phase[i % 2][static_cast<size_t>(i / 2)] =
                row[nearest_inside(mirror_with_edges(i - kRadius, width), width)];
        }
    }
};

/// Where the taps of a row of windows begin to read.
using Taps = std::array<std::array<const float*, kSide>, kSide>;

QC_CPU_CLONES void low_pass_row(const Taps& taps, int width, float* results) {
    const Taps from = taps; // lets the compiler know that writing results does not move them
    for (int x = 0; x < width; ++x) {
        double sum = 0.0;
        for (int v = 0; v < kSide; ++v) {
            QC_UNROLL for (int u = 0; u < kSide; ++u) {
                const float product = from[v][u][x] * low_pass_tap(distance(u), distance(v));
                sum += static_cast<double>(product);
            }
        }
        results[x] = static_cast<float>(sum);
    }
}

/// The next scale.
Image decimated(const Image& image) {
    Image result(halved(image.width), halved(image.height));
    std::array<SplitRow, kSide> rows;
    Taps taps;
    for (int y = 0; y < result.height; ++y) {
        for (int v = 0; v < kSide; ++v) {
            rows[v].assign(image.row(mirror_with_edges(2 * y + v - kRadius, image.height)), image.width);
            for (int u = 0; u < kSide; ++u) taps[v][u] = rows[v].phase[u % 2].data() + u / 2;
        }
        low_pass_row(taps, result.width, result.row(y));
    }
    return result;
}

} // namespace

void score_cpu(const FrameGeometry& geometry, bool with_luminance, const HostPair& pair,
               std::span<uint64_t> accumulators) {
    Image reference = structural::image_of(pair.reference.plane[0], geometry);
    Image distorted = structural::image_of(pair.distorted.plane[0], geometry);
    for (int scale = 0; scale < kScales; ++scale) {
        if (scale > 0) {
            reference = decimated(reference);
            distorted = decimated(distorted);
        }
        const int64_t positions =
            static_cast<int64_t>(reference.width - structural::kMargin) * (reference.height - structural::kMargin);
        structural::add_similarity(reference, distorted, with_luminance || scale == kScales - 1,
                                   structural::FixedPoint::for_sum_of(positions), &accumulators[scale * kSumWords]);
    }
}

} // namespace qc::float_ms_ssim
