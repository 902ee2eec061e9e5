// SPDX-License-Identifier: BSD-2-Clause-Patent
// The constant offset that a video begins with, told from its first pictures alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "alignment/levels.hpp"
#include "alignment/offset_path.hpp"
#include "alignment/signature.hpp"

namespace qc {

/// One rendition's. Whoever moves a video by an offset has no second try, so this one knows nothing but what is beyond
/// doubt: most first pictures that say anything fit the offset, none of these fits another one clearly better, and all
/// of them together speak against each other one. What repeats itself, stands,
/// or begins with another rate or with missing frames fits none so.
class StartOffset {
public:
    /// Frames that are looked at. Of the largest offset there are still 18 whose partner is among them.
    static constexpr int64_t kFrames = 48;

    void add(int64_t frame, const Signature& reference, const Signature& distorted);
    /// Nothing follows that follows in time.
    void finish();

    /// Nothing will change any more. That there is no offset is known as soon as it is certain, for then nothing is
    /// moved; any other one waits for all frames: of a loop, more offsets fit than its beginning shows.
    bool is_decided() const { return is_decided_; }
    /// @return what was told beyond doubt; nothing where nothing was
    std::optional<int> offset() const { return offset_; }
    /// Where it is told: the pairs that show the same moment.
    void show(Levels& levels) const;

private:
    /// An offset next to the range must not be taken for the last one within.
    static constexpr int kGuard = 2;
    static constexpr int kWidest = kLargestOffset + kGuard;
    static constexpr int kCandidates = 2 * kWidest + 1;
    using Distances = std::array<float, kCandidates>;

    struct Frame {
        bool is_there = false;
        bool is_still = false;
        Signature reference, distorted;
    };

    static size_t at(int offset) { return static_cast<size_t>(offset + kWidest); }
    float usual_distance(int offset) const;
    bool fits(int offset) const;
    bool fits_no_other(int offset) const;
    bool is_certain(int offset) const { return fits(offset) && fits_no_other(offset); }
    void decide(std::optional<int> offset);

    bool is_decided_ = false;
    std::optional<int> offset_;
    int64_t first_ = -1; ///< number of the first frame
    int64_t frames_ = 0; ///< since then, missing ones among them
    std::array<Frame, kFrames> frame_;
    /// Of each distorted picture from the reference's by offset; below 0: there is no such picture.
    std::array<Distances, kFrames> distances_;
};

} // namespace qc
