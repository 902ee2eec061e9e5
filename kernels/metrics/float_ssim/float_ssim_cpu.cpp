// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/mask.hpp"
#include "families/structural/structural_cpu.hpp"
#include "metrics/float_ssim/float_ssim.hpp"

namespace qc::float_ssim {
namespace {

using structural::Image;

Image decimated(const Image& image, const Decimation& to) {
    if (to.factor == 1) return image;
    Image result(to.width, to.height);
    for (int y = 0; y < to.height; ++y) {
        for (int x = 0; x < to.width; ++x) {
            result.row(y)[x] =
                mean_around(x, y, to.factor, image.width, image.height, [&](int u, int v) { return image.row(v)[u]; });
        }
    }
    return result;
}

} // namespace

void score_cpu(const FrameGeometry& geometry, const Decimation& decimation, const HostPair& pair,
               std::span<uint64_t> accumulators, const Plane<float>& map, std::span<const uint32_t> weights) {
    const Image reference = decimated(structural::image_of(pair.reference.plane[0], geometry), decimation);
    const Image distorted = decimated(structural::image_of(pair.distorted.plane[0], geometry), decimation);
    const int64_t positions =
        static_cast<int64_t>(decimation.width - structural::kMargin) * (decimation.height - structural::kMargin);
    const int64_t most_weight = weights.empty() ? 1 : int64_t{kFullWeight} * decimation.factor * decimation.factor;
    structural::add_similarity(structural::LumaRows(reference), structural::LumaRows(distorted), true,
                               structural::FixedPoint::for_sum_of(positions * most_weight), pair.helpers,
                               accumulators.data(), map, weights);
}

} // namespace qc::float_ssim
