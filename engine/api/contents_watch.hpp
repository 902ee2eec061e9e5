// SPDX-License-Identifier: BSD-2-Clause-Patent
// A session's watch of the contents: from the accumulators of the metric `signature` to what each rendition's watch
// (engine/alignment) wants to see.
#pragma once

#include <vector>

#include "alignment/segment_search.hpp"
#include "alignment/start_offset.hpp"
#include "alignment/start_range.hpp"
#include "alignment/watch.hpp"
#include "api/backend.hpp"

namespace qc {

class ContentsWatch {
public:
    /// @param instance of the metric `signature` in the plan
    ContentsWatch(const FrameGeometry& geometry, int renditions, size_t instance)
        : geometry_(geometry), instance_(instance),
          watches_(static_cast<size_t>(renditions), AlignmentWatch(geometry.width == geometry.height)),
          starts_(static_cast<size_t>(renditions)), ranges_(static_cast<size_t>(renditions)),
          searches_(static_cast<size_t>(renditions)) {}

    void add(const FrameResult& result, const AccumulatorLayout& layout);
    void pause();
    void finish();

    /// Whether pictures that follow the last pair are looked at. @param rendition below 0: those of the reference
    bool seeks_in(int rendition) const;
    /// @param other has seen the picture last, as its reference
    void look_further(int rendition, int64_t number, const ContentsWatch& other);
    /// Nothing follows.
    void end_search();

    const AlignmentWatch& of(int rendition) const { return watches_[static_cast<size_t>(rendition)]; }
    const StartOffset& start_of(int rendition) const { return starts_[static_cast<size_t>(rendition)]; }
    const StartRange& range_of(int rendition) const { return ranges_[static_cast<size_t>(rendition)]; }

private:
    Signature signature_of(std::span<const uint64_t> sums) const;
    void finish_starts();
    void stop_if_fits(size_t rendition);

    const FrameGeometry geometry_;
    const size_t instance_;
    std::vector<AlignmentWatch> watches_;
    std::vector<StartOffset> starts_;
    std::vector<StartRange> ranges_;
    std::vector<SegmentSearch> searches_;
    Signature latest_; ///< of the reference
};

} // namespace qc
