// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/signature/signature.hpp"

#include <numeric>

namespace qc::signature {
namespace {

template <typename Sample>
void add_sums(const HostPlane& luma, const SignatureGrid& grid, std::span<uint64_t> sums) {
    const auto plane = luma.as<Sample>();
    for (int row = 0; row < kSignatureRows; ++row)
        for (int y = grid.top(row); y < grid.top(row + 1); y += grid.row_step())
            for (int column = 0; column < kSignatureColumns; ++column) {
                const Sample* const samples = plane.row(y);
                sums[static_cast<size_t>(row * kSignatureColumns + column)] +=
                    std::accumulate(samples + grid.left(column), samples + grid.left(column + 1), uint64_t{0});
            }
}

} // namespace

void score_cpu(const HostPair& pair, const FrameGeometry& geometry, std::span<uint64_t, kSignatureWords> sums) {
    const SignatureGrid grid{geometry.width, geometry.height};
    const auto add = [&](const HostPicture& picture, std::span<uint64_t> own) {
        if (geometry.sample == SampleType::kU8)
            add_sums<uint8_t>(picture.plane[0], grid, own);
        else
            add_sums<uint16_t>(picture.plane[0], grid, own);
    };
    add(pair.reference, sums.first(kSignatureBlocks));
    add(pair.distorted, sums.last(kSignatureBlocks));
}

} // namespace qc::signature
