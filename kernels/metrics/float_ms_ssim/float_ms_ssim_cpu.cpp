// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <array>
#include <cstring>

#include "contract/helpers.hpp"
#include "device/borders.hpp"
#include "device/cpu_clones.hpp"
#include "families/structural/structural_cpu.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim_math.hpp"

namespace qc::float_ms_ssim {
namespace {

using structural::Image;
using structural::LumaRows;

/// A row with its mirrored ends, even and odd columns apart so that every second window lies side by side.
struct SplitRow {
    int held = -1; ///< row of the image that it is
    std::vector<float> whole, phase[2];

    void hold(const LumaRows& rows, int y) {
        if (held == y) return;
        held = y;
        const int width = rows.width(), windows = halved(width), pairs = windows + kRadius;
        for (auto& samples : phase) samples.resize(static_cast<size_t>(pairs));
        whole.resize(static_cast<size_t>(width));
        float* const row = whole.data();
        rows.read(0, y, width, row);
        const int inner_end = kRadius / 2 + width / 2; // pairs up to it have both samples, from kRadius / 2 on
        for (int i = 0; i < kRadius / 2; ++i) mirror(row, width, i);
        split(row, inner_end);
        for (int i = inner_end; i < pairs; ++i) mirror(row, width, i);
    }

private:
    void split(const float* row, int end) {
        float *even = phase[0].data(), *odd = phase[1].data();
#pragma GCC ivdep
        for (int i = kRadius / 2; i < end; ++i) {
            even[i] = row[2 * i - kRadius];
            odd[i] = row[2 * i - kRadius + 1];
        }
    }
    void mirror(const float* row, int width, int pair) {
        for (int i = 0; i < 2; ++i)
            phase[i][static_cast<size_t>(pair)] =
                row[nearest_inside(mirror_with_edges(2 * pair + i - kRadius, width), width)];
    }
};
static_assert(kRadius % 2 == 0);

/// Where the taps of a row of windows begin to read.
using Taps = std::array<std::array<const float*, kSide>, kSide>;

/// Neighbouring windows.
typedef float Samples __attribute__((vector_size(32)));
typedef double Sums __attribute__((vector_size(64)));
constexpr int kRun = 8;

/// Adds the products of all taps in double precision, kRun windows times kRuns.
template <int kRuns>
QC_INLINE_HELPER void low_pass_windows(const Taps& taps, int x, float* results) {
    Sums sums[kRuns] = {};
    for (int v = 0; v < kSide; ++v) {
        QC_UNROLL for (int u = 0; u < kSide; ++u) {
            QC_UNROLL for (int run = 0; run < kRuns; ++run) {
                Samples samples;
                std::memcpy(&samples, taps[v][u] + x + run * kRun, sizeof samples);
                const Samples products = samples * low_pass_tap(distance(u), distance(v));
                sums[run] = sums[run] + __builtin_convertvector(products, Sums);
            }
        }
    }
    for (int run = 0; run < kRuns; ++run) {
        const Samples rounded = __builtin_convertvector(sums[run], Samples);
        std::memcpy(results + x + run * kRun, &rounded, sizeof rounded);
    }
}

QC_CPU_CLONES void low_pass_row(const Taps& taps, int width, float* results) {
    constexpr int kRuns = 4;
    int x = 0;
    for (; x + kRuns * kRun <= width; x += kRuns * kRun) low_pass_windows<kRuns>(taps, x, results);
    for (; x < width; ++x) {
        double sum = 0.0;
        for (int v = 0; v < kSide; ++v) {
            for (int u = 0; u < kSide; ++u) {
                const float product = taps[v][u][x] * low_pass_tap(distance(u), distance(v));
                sum += static_cast<double>(product);
            }
        }
        results[x] = static_cast<float>(sum);
    }
}

/// The next scale.
Image decimated(const LumaRows& image, Helpers* helpers) {
    constexpr int kSharedRows = 8;
    Image result(halved(image.width()), halved(image.height()));
    share_runs(helpers, result.height, kSharedRows, [&](int begin, int end) {
        std::array<SplitRow, kSide> rows; // row y is rows[y % kSide]
        Taps taps;
        for (int y = begin; y < end; ++y) {
            for (int v = 0; v < kSide; ++v) {
                const int source_y =
                    nearest_inside(mirror_with_edges(2 * y + v - kRadius, image.height()), image.height());
                SplitRow& row = rows[static_cast<size_t>(source_y % kSide)];
                row.hold(image, source_y);
                for (int u = 0; u < kSide; ++u) taps[v][u] = row.phase[u % 2].data() + u / 2;
            }
            low_pass_row(taps, result.width, result.row(y));
        }
    });
    return result;
}

} // namespace

void score_cpu(const FrameGeometry& geometry, const structural::LevelPlan& plan, const HostPair& pair,
               std::span<uint64_t> accumulators) {
    Image images[2]; // from scale 1 on
    LumaRows reference(pair.reference.plane[0], geometry), distorted(pair.distorted.plane[0], geometry);
    for (int scale = 0; scale < kScales; ++scale) {
        if (scale > 0) {
            images[0] = decimated(reference, pair.helpers);
            images[1] = decimated(distorted, pair.helpers);
            reference = LumaRows(images[0]);
            distorted = LumaRows(images[1]);
        }
        structural::add_similarity(reference, distorted, plan.with_luminance(scale), plan.fixed(scale), pair.helpers,
                                   &accumulators[static_cast<size_t>(scale) * plan.words_of_level()], {},
                                   structural::weights_under(pair.mask, plan.mask_shape(scale), geometry));
    }
}

} // namespace qc::float_ms_ssim
