// SPDX-License-Identifier: BSD-2-Clause-Patent
// The most likely course of an offset through time, by Viterbi's algorithm: each frame says how ill each offset fits,
// and changes have their price. The course is handed out some frames later, when what follows has settled it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace qc {

constexpr int kLargestOffset = 30;
constexpr int kOffsets = 2 * kLargestOffset + 1;

/// How ill each offset fits one frame, from 0 on; index 0 is offset -kLargestOffset.
using OffsetCosts = std::array<float, kOffsets>;

constexpr int index_of(int offset) {
    return offset + kLargestOffset;
}

class OffsetPath {
public:
    /// Frames until one is settled.
    static constexpr int kLag = 40;

    /// @param expected offset at the beginning, unless the frames say otherwise
    explicit OffsetPath(int expected) {
        total_.fill(kPriceOfStart);
        total_[static_cast<size_t>(index_of(expected))] = 0.0F;
    }

    /// The next frame. @return the offset of the frame kLag before, if there is one
    std::optional<int> add(const OffsetCosts& costs);

    /// Offsets of the frames that add() has not handed out, the oldest first.
    std::vector<int> rest() const;

private:
    // In units of the costs, of which a frame that says clearly what it fits gives several.
    static constexpr float kPriceOfStart = 12.0F; ///< not to begin at 0
    static constexpr float kPriceOfStep = 6.0F;   ///< a frame more or less
    static constexpr float kPriceOfJump = 14.0F;

    using Origins = std::array<uint8_t, kOffsets>; ///< index of the frame before's offset

    int best() const;
    const Origins& origins(int64_t frame) const { return origins_[static_cast<size_t>(frame % (kLag + 1))]; }

    int64_t frames_ = 0;
    OffsetCosts total_; ///< of the cheapest course that ends in each offset
    std::array<Origins, kLag + 1> origins_;
};

} // namespace qc
