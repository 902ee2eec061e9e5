// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <vector>

#include "contract/helpers.hpp"
#include "device/borders.hpp"
#include "device/cpu_clones.hpp"
#include "device/weights.hpp"
#include "families/structural/structural_cpu.hpp"
#include "metrics/float_ssim/float_ssim.hpp"

namespace qc::float_ssim {
namespace {

using structural::Image;
using structural::LumaRows;

QC_CPU_CLONES void add_row(const float* samples, float weight, int width, double* __restrict sums) {
    for (int x = 0; x < width; ++x) {
        const float product = samples[x] * weight;
        sums[x] += static_cast<double>(product);
    }
}

/// As mean_around() of each, whose sums are exact: columns are added up first, whole rows at a time. Precondition:
/// there is something to decimate.
Image decimated(const LumaRows& luma, const Decimation& to, Helpers* helpers) {
    constexpr int kSharedRows = 8;
    const int width = luma.width(), factor = to.factor;
    Image result(to.width, to.height);
    share_runs(helpers, to.height, kSharedRows, [&](int begin, int end) {
        std::vector<float> samples(static_cast<size_t>(width));
        std::vector<double> columns(static_cast<size_t>(width));
        for (int y = begin; y < end; ++y) {
            std::fill(columns.begin(), columns.end(), 0.0);
            const int top = y * factor - factor / 2;
            for (int v = top; v < top + factor; ++v) {
                luma.read(0, mirror_with_edges(v, luma.height()), width, samples.data());
                add_row(samples.data(), weight_of(factor), width, columns.data());
            }
            for (int x = 0; x < to.width; ++x) {
                const int left = x * factor - factor / 2;
                const bool inside = left >= 0 && left + factor <= width;
                double sum = 0.0;
                for (int u = left; u < left + factor; ++u)
                    sum += columns[static_cast<size_t>(inside ? u : mirror_with_edges(u, width))];
                result.row(y)[x] = static_cast<float>(sum);
            }
        }
    });
    return result;
}

} // namespace

void score_cpu(const FrameGeometry& geometry, const Decimation& decimation, const HostPair& pair,
               std::span<uint64_t> accumulators, const Plane<float>& map, std::span<const uint32_t> weights) {
    const LumaRows reference(pair.reference.plane[0], geometry), distorted(pair.distorted.plane[0], geometry);
    const bool whole = decimation.factor == 1;
    const Image small[2] = {whole ? Image() : decimated(reference, decimation, pair.helpers),
                            whole ? Image() : decimated(distorted, decimation, pair.helpers)};
    const int64_t positions =
        static_cast<int64_t>(decimation.width - structural::kMargin) * (decimation.height - structural::kMargin);
    const int64_t most_weight = weights.empty() ? 1 : int64_t{kFullWeight} * decimation.factor * decimation.factor;
    structural::add_similarity(whole ? reference : LumaRows(small[0]), whole ? distorted : LumaRows(small[1]), true,
                               structural::FixedPoint::for_sum_of(positions * most_weight), pair.helpers,
                               accumulators.data(), map, weights);
}

} // namespace qc::float_ssim
