// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <vector>

#include "device/borders.hpp"
#include "device/mask.hpp"
#include "families/structural/structural_cpu.hpp"
#include "metrics/float_ssim/float_ssim.hpp"

namespace qc::float_ssim {
namespace {

using structural::Image;
using structural::LumaRows;

/// Precondition: there is something to decimate. Means lie side by side, so that each row is read once, but for the
/// borders' mirrors.
Image decimated(const LumaRows& luma, const Decimation& to) {
    Image result(to.width, to.height), rows(luma.width(), to.factor); // row y in place y % factor
    std::vector<int> held(static_cast<size_t>(to.factor), -1);
    for (int y = 0; y < to.height; ++y) {
        const int top = y * to.factor - to.factor / 2;
        for (int v = top; v < top + to.factor; ++v) {
            const int row = mirror_with_edges(v, luma.height()), place = row % to.factor;
            if (held[static_cast<size_t>(place)] == row) continue;
            luma.read(0, row, luma.width(), rows.row(place));
            held[static_cast<size_t>(place)] = row;
        }
        for (int x = 0; x < to.width; ++x) {
            result.row(y)[x] = mean_around(x, y, to.factor, luma.width(), luma.height(),
                                           [&](int u, int v) { return rows.row(v % to.factor)[u]; });
        }
    }
    return result;
}

} // namespace

void score_cpu(const FrameGeometry& geometry, const Decimation& decimation, const HostPair& pair,
               std::span<uint64_t> accumulators, const Plane<float>& map, std::span<const uint32_t> weights) {
    const LumaRows reference(pair.reference.plane[0], geometry), distorted(pair.distorted.plane[0], geometry);
    const bool whole = decimation.factor == 1;
    const Image small[2] = {whole ? Image() : decimated(reference, decimation),
                            whole ? Image() : decimated(distorted, decimation)};
    const int64_t positions =
        static_cast<int64_t>(decimation.width - structural::kMargin) * (decimation.height - structural::kMargin);
    const int64_t most_weight = weights.empty() ? 1 : int64_t{kFullWeight} * decimation.factor * decimation.factor;
    structural::add_similarity(whole ? reference : LumaRows(small[0]), whole ? distorted : LumaRows(small[1]), true,
                               structural::FixedPoint::for_sum_of(positions * most_weight), pair.helpers,
                               accumulators.data(), map, weights);
}

} // namespace qc::float_ssim
