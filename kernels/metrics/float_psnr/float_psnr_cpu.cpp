// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/cpu_clones.hpp"
#include "families/sse/squared_error.hpp"
#include "families/sse/sse.hpp"
#include "families/sse/sse_weighted.hpp"
#include "metrics/float_psnr/float_psnr.hpp"
#include "metrics/float_psnr/float_psnr_math.hpp"

namespace qc::float_psnr {
namespace {

QC_CPU_CLONES uint64_t sum_rounded_row(const uint16_t* reference, const uint16_t* distorted, int width) {
    uint64_t sum = 0;
    for (int x = 0; x < width; ++x) sum += sse::rounded_squared_error(reference[x], distorted[x]);
    return sum;
}

} // namespace

uint64_t score_cpu(const HostPair& pair, const FrameGeometry& geometry) {
    const HostPlane &reference = pair.reference.plane[0], &distorted = pair.distorted.plane[0];
    if (squares_are_exact(geometry.depth))
        return sse::sum_of_squared_errors(reference, distorted, geometry.width, geometry.height, geometry.sample);
    const auto a = reference.as<uint16_t>(), b = distorted.as<uint16_t>();
    uint64_t sum = 0;
    for (int y = 0; y < geometry.height; ++y) sum += sum_rounded_row(a.row(y), b.row(y), geometry.width);
    return sum;
}

void score_weighted_cpu(const HostPair& pair, const FrameGeometry& geometry, std::span<uint64_t> words) {
    const auto add = squares_are_exact(geometry.depth) ? sse::add_weighted_errors<sse::Square::kExact>
                                                       : sse::add_weighted_errors<sse::Square::kRounded>;
    add(pair.reference.plane[0], pair.distorted.plane[0], pair.weights, sse::weighted_plane(geometry, 0),
        geometry.sample, words.data());
}

} // namespace qc::float_psnr
