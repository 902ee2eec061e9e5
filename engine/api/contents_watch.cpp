// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/contents_watch.hpp"

#include "contract/signature.hpp"

namespace qc {

void ContentsWatch::add(const FrameResult& result, const AccumulatorLayout& layout) {
    for (size_t r = 0; r < watches_.size(); ++r) {
        if (!result.present[r]) continue;
        const std::span<const uint64_t> words{&result.accumulators[layout.offset(instance_, static_cast<int>(r))],
                                              kSignatureWords};
        const Signature reference = signature_of(words.first(kSignatureBlocks));
        const Signature distorted = signature_of(words.last(kSignatureBlocks));
        watches_[r].add(result.index, reference, distorted);
        starts_[r].add(result.index, reference, distorted);
        ranges_[r].add(result.index, reference, distorted, starts_[r]);
    }
}

Signature ContentsWatch::signature_of(std::span<const uint64_t> sums) const {
    const SignatureGrid grid{geometry_.width, geometry_.height};
    const double code = 1 << (geometry_.depth - 8);
    std::array<float, kSignatureBlocks> means{};
    for (int row = 0; row < kSignatureRows; ++row)
        for (int column = 0; column < kSignatureColumns; ++column) {
            const auto block = static_cast<size_t>(row * kSignatureColumns + column);
            const double samples = static_cast<double>(grid.samples(column, row));
            means[block] = static_cast<float>(static_cast<double>(sums[block]) / (samples * code));
        }
    return Signature(means);
}

void ContentsWatch::pause() {
    for (AlignmentWatch& watch : watches_) watch.pause();
    finish_starts();
}

void ContentsWatch::finish() {
    for (AlignmentWatch& watch : watches_) watch.finish();
    finish_starts();
}

void ContentsWatch::finish_starts() {
    for (size_t r = 0; r < starts_.size(); ++r) {
        starts_[r].finish();
        ranges_[r].finish(starts_[r]);
    }
}

} // namespace qc
