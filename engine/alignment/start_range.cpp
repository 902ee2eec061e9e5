// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "alignment/start_range.hpp"

namespace qc {

void StartRange::add(int64_t frame, const Signature& reference, const Signature& distorted, const StartOffset& start) {
    if (is_decided_) return;
    if (first_ < 0) first_ = frame;
    if (frame - first_ >= StartOffset::kFrames) return finish(start);
    levels_.add(frame, reference, distorted);
    if (levels_.relation() || frame - first_ == StartOffset::kFrames - 1) finish(start);
}

/// Pictures that do not show the same moment say little of it, so those that do are looked at where they are known.
void StartRange::finish(const StartOffset& start) {
    if (is_decided_) return;
    is_decided_ = true;
    if (!levels_.relation() && start.offset().value_or(0) != 0) {
        levels_ = Levels();
        start.show(levels_);
    }
    levels_.finish();
}

} // namespace qc
