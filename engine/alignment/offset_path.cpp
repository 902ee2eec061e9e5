// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "alignment/offset_path.hpp"

#include <algorithm>

namespace qc {

int OffsetPath::best() const {
    return static_cast<int>(std::min_element(total_.begin(), total_.end()) - total_.begin());
}

std::optional<int> OffsetPath::add(const OffsetCosts& costs) {
    const int cheapest = best();
    Origins& from = origins_[static_cast<size_t>(frames_ % (kLag + 1))];
    OffsetCosts next;
    for (int k = 0; k < kOffsets; ++k) {
        const auto at = [&](int origin) { return total_[static_cast<size_t>(origin)]; };
        float price = at(k);
        int origin = k;
        const auto consider = [&](int other, float change) {
            if (other < 0 || other >= kOffsets || at(other) + change >= price) return;
            price = at(other) + change;
            origin = other;
        };
        consider(k - 1, kPriceOfStep);
        consider(k + 1, kPriceOfStep);
        consider(cheapest, kPriceOfJump);
        next[static_cast<size_t>(k)] = price + costs[static_cast<size_t>(k)];
        from[static_cast<size_t>(k)] = static_cast<uint8_t>(origin);
    }
    // Only differences count: nothing grows with the length of the video.
    const float least = *std::min_element(next.begin(), next.end());
    for (size_t k = 0; k < kOffsets; ++k) total_[k] = next[k] - least;
    ++frames_;
    if (frames_ <= kLag) return std::nullopt;
    int k = best();
    for (int64_t frame = frames_ - 1; frame >= frames_ - kLag; --frame) k = origins(frame)[static_cast<size_t>(k)];
    return k - kLargestOffset;
}

std::vector<int> OffsetPath::rest() const {
    std::vector<int> offsets(static_cast<size_t>(std::min<int64_t>(frames_, kLag)));
    int k = best();
    for (size_t i = offsets.size(); i > 0; --i) {
        offsets[i - 1] = k - kLargestOffset;
        k = origins(frames_ - 1 - static_cast<int64_t>(offsets.size() - i))[static_cast<size_t>(k)];
    }
    return offsets;
}

} // namespace qc
