// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/sse/sse.hpp"
#include "families/sse/sse_weighted.hpp"
#include "metrics/psnr/psnr.hpp"

namespace qc::psnr {

void score_cpu(const HostPair& pair, const FrameGeometry& geometry, std::span<uint64_t> sums) {
    for (size_t i = 0; i < sums.size(); ++i) {
        const int plane = static_cast<int>(i);
        sums[i] =
            sse::sum_of_squared_errors(pair.reference.plane[plane], pair.distorted.plane[plane],
                                       geometry.plane_width(plane), geometry.plane_height(plane), geometry.sample);
    }
}

void score_weighted_cpu(const HostPair& pair, const FrameGeometry& geometry, int planes, std::span<uint64_t> words) {
    for (int p = 0; p < planes; ++p)
        sse::add_weighted_errors<sse::Square::kExact>(pair.reference.plane[p], pair.distorted.plane[p], pair.weights,
                                                      sse::weighted_plane(geometry, p), geometry.sample,
                                                      words.data() + p * sse::kWeightedWords);
}

} // namespace qc::psnr
