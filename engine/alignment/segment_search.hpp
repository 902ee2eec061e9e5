// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whether the one video is a part of the other: some of its pictures are looked for among all of the other's, however
// far away.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "alignment/signature.hpp"

namespace qc {

/// A sample of one video, looked for in the other one from its own moment on.
class Sought {
public:
    /// The next picture of the video that the sample is of. @param number of its pair
    void add(int64_t number, const Signature& own);
    /// The next picture of the other one. @param number of the pair that it is in, or would be in; rising
    void look_at(int64_t number, const Signature& other);
    /// The next pictures do not follow those before.
    void pause();
    /// The sample has all the pictures that it will have.
    void close();

    /// Whether there is something to look for.
    bool is_ready() const { return is_closed_; }
    /// Pairs from the sample's place to the only one where the other video shows it, beyond doubt; nothing where that
    /// is within the range of the watch, or not known.
    std::optional<int64_t> distance() const;

private:
    static constexpr size_t kFrames = 48;
    using Distances = std::array<float, kFrames>;

    /// A place where the other video may show the sample.
    struct Place {
        int64_t first = -1; ///< number of the sample's first picture there
        size_t seen = 0;    ///< pictures
        Distances distances{};
    };

    void begin_anew();
    bool moves() const;
    bool tells(size_t k) const { return k == 0 || moved_[k] >= kTells; }
    float against(const Place& other, const Place& own) const;
    void weigh(const Place& place);
    bool fits() const;

    static constexpr float kTells = 0.01F; ///< a picture that moved by less says nothing of its moment

    size_t count_ = 0;
    int64_t first_ = 0, next_ = 0;
    bool is_closed_ = false;
    std::array<Signature, kFrames> sample_;
    Distances moved_{};                 ///< of each picture from the one before
    std::array<Place, kFrames> places_; ///< that are not seen to their end
    Place best_, own_;                  ///< own: the sample's own place
    float best_against_ = 0.0F;         ///< evidence of the best place against the next best one
    int64_t weighed_ = 0;               ///< places
    std::array<double, kFrames> sum_{}; ///< of their distances
};

/// One rendition's.
class SegmentSearch {
public:
    enum class Video { kReference, kDistorted };

    /// Pairs, in order.
    void add(int64_t number, const Signature& reference, const Signature& distorted);
    /// What follows does not follow in time.
    void pause();
    /// The pictures of pairs fit: nothing is looked for any more.
    void stop() { is_over_ = true; }
    /// No pair follows.
    void finish();

    /// Whether pictures without a pair, which follow in this video, may tell something.
    bool seeks_in(Video video) const { return !is_over_ && sought_in(video).is_ready(); }
    void look_at(Video video, int64_t number, const Signature& picture);

    /// As a finding has it, if it is known beyond doubt.
    std::optional<int64_t> offset() const;

private:
    Sought& sought_in(Video video) { return video == Video::kReference ? in_reference_ : in_distorted_; }
    const Sought& sought_in(Video video) const { return video == Video::kReference ? in_reference_ : in_distorted_; }

    bool is_over_ = false;
    Sought in_reference_, in_distorted_; ///< samples of the other one
};

} // namespace qc
