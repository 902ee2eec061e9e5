// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/contents_watch.hpp"

#include <algorithm>

#include "contract/signature.hpp"

namespace qc {

void ContentsWatch::add(const FrameResult& result, const AccumulatorLayout& layout) {
    for (size_t r = 0; r < watches_.size(); ++r) {
        if (!result.present[r]) continue;
        const std::span<const uint64_t> words{&result.accumulators[layout.offset(instance_, static_cast<int>(r))],
                                              kSignatureWords};
        const Signature reference = signature_of(words.first(kSignatureBlocks));
        const Signature distorted = signature_of(words.last(kSignatureBlocks));
        latest_ = reference;
        watches_[r].add(result.index, reference, distorted);
        starts_[r].add(result.index, reference, distorted);
        ranges_[r].add(result.index, reference, distorted, starts_[r]);
        stop_if_fits(r);
        searches_[r].add(result.index, reference, distorted);
    }
}

/// Where the pictures fit, nothing is looked for elsewhere.
void ContentsWatch::stop_if_fits(size_t rendition) {
    if (starts_[rendition].offset() || watches_[rendition].fits()) searches_[rendition].stop();
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
    for (SegmentSearch& search : searches_) search.pause();
    finish_starts();
}

void ContentsWatch::finish() {
    for (AlignmentWatch& watch : watches_) watch.finish();
    finish_starts();
    for (size_t r = 0; r < searches_.size(); ++r) {
        searches_[r].finish();
        stop_if_fits(r);
    }
}

bool ContentsWatch::seeks_in(int rendition) const {
    if (rendition >= 0) return searches_[static_cast<size_t>(rendition)].seeks_in(SegmentSearch::Video::kDistorted);
    return std::any_of(searches_.begin(), searches_.end(),
                       [](const SegmentSearch& search) { return search.seeks_in(SegmentSearch::Video::kReference); });
}

void ContentsWatch::look_further(int rendition, int64_t number, const ContentsWatch& other) {
    using Video = SegmentSearch::Video;
    if (rendition >= 0)
        return searches_[static_cast<size_t>(rendition)].look_at(Video::kDistorted, number, other.latest_);
    for (SegmentSearch& search : searches_) search.look_at(Video::kReference, number, other.latest_);
}

void ContentsWatch::end_search() {
    for (size_t r = 0; r < searches_.size(); ++r) {
        if (const auto offset = searches_[r].offset()) watches_[r].report_segment(*offset);
        searches_[r].stop();
    }
}

void ContentsWatch::finish_starts() {
    for (size_t r = 0; r < starts_.size(); ++r) {
        starts_[r].finish();
        ranges_[r].finish(starts_[r]);
    }
}

} // namespace qc
