// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "alignment/start_offset.hpp"

#include <algorithm>

#include "alignment/evidence.hpp"

namespace qc {

namespace {

/// Of an offset that few frames have a picture for, each of these has to say so much against it.
constexpr float kClearEvidence = kMostEvidence / 2;

/// Of those that there are.
float least_distance(std::span<const float> distances) {
    float least = -1.0F;
    for (const float distance : distances)
        if (distance >= 0.0F && (least < 0.0F || distance < least)) least = distance;
    return least;
}

} // namespace

void StartOffset::add(int64_t frame, const Signature& reference, const Signature& distorted) {
    if (is_decided_) return;
    if (first_ < 0) first_ = frame;
    const int64_t n = frame - first_;
    if (n >= kFrames) return finish();
    for (; frames_ <= n; ++frames_) distances_[static_cast<size_t>(frames_)].fill(-1.0F);
    Frame& latest = frame_[static_cast<size_t>(n)];
    latest = {true, false, reference, distorted};
    if (n > 0 && frame_[static_cast<size_t>(n - 1)].is_there)
        latest.is_still = distorted.distance(frame_[static_cast<size_t>(n - 1)].distorted) < kStill;
    for (int64_t other = std::max<int64_t>(n - kWidest, 0); other <= n; ++other) {
        const Frame& earlier = frame_[static_cast<size_t>(other)];
        if (!earlier.is_there) continue;
        const auto offset = static_cast<int>(n - other);
        distances_[static_cast<size_t>(n)][at(offset)] = distorted.distance(earlier.reference);
        distances_[static_cast<size_t>(other)][at(-offset)] = earlier.distorted.distance(reference);
    }
    if (is_certain(0)) return decide(0);
    if (n == kFrames - 1) finish();
}

void StartOffset::finish() {
    if (is_decided_) return;
    std::optional<int> found;
    int certain = 0;
    for (int offset = -kLargestOffset; offset <= kLargestOffset; ++offset) {
        if (!is_certain(offset)) continue;
        found = offset;
        ++certain;
    }
    decide(certain == 1 ? found : std::nullopt);
}

void StartOffset::show(Levels& levels) const {
    for (int64_t n = 0; offset_ && n < frames_; ++n) {
        const int64_t other = n - *offset_;
        if (other < 0 || other >= frames_) continue;
        const Frame& own = frame_[static_cast<size_t>(n)];
        const Frame& reference = frame_[static_cast<size_t>(other)];
        if (own.is_there && reference.is_there) levels.add(first_ + n, reference.reference, own.distorted);
    }
}

void StartOffset::decide(std::optional<int> offset) {
    is_decided_ = true;
    offset_ = offset;
}

/// Whether the pictures look the same with this offset, and clearly other ones than with none.
bool StartOffset::fits(int offset) const {
    Fit fit;
    int telling = 0;
    float against_none = 0.0F;
    for (size_t n = 0; n < static_cast<size_t>(frames_); ++n) {
        const Distances& distances = distances_[n];
        const float own = distances[at(offset)], none = distances[at(0)];
        if (own < 0.0F || frame_[n].is_still) continue;
        const float mean = mean_distance(distances);
        ++fit.moving;
        fit.fitting += own < kMostOfMean * mean && !is_telling(own, least_distance(distances)) ? 1 : 0;
        telling += is_telling(offset == 0 ? mean : none, own) ? 1 : 0;
        against_none += evidence(none, own);
    }
    return telling >= kTellingFrames && fit.is_good() && (offset == 0 || against_none >= kAgainstFormer);
}

/// The median of those that there are, 0 without any.
float StartOffset::usual_distance(int offset) const {
    std::array<float, kFrames> own{};
    size_t count = 0;
    for (size_t n = 0; n < static_cast<size_t>(frames_); ++n)
        if (const float distance = distances_[n][at(offset)]; distance >= 0.0F && !frame_[n].is_still)
            own[count++] = distance;
    const auto middle = own.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::nth_element(own.begin(), middle, own.begin() + static_cast<std::ptrdiff_t>(count));
    return *middle;
}

/// Where a frame's picture of this offset is not among those that were seen, what is usual stands for it: so that the
/// opposite offset, which has no frame in common with a large one, is looked at too.
bool StartOffset::fits_no_other(int offset) const {
    const float usual = usual_distance(offset);
    Distances against{};
    std::array<int, kCandidates> seen{};
    for (size_t n = 0; n < static_cast<size_t>(frames_); ++n) {
        if (frame_[n].is_still) continue;
        const Distances& distances = distances_[n];
        const float own = distances[at(offset)] < 0.0F ? usual : distances[at(offset)];
        for (size_t k = 0; k < kCandidates; ++k) {
            if (distances[k] < 0.0F) continue;
            against[k] += evidence(distances[k], own);
            ++seen[k];
        }
    }
    for (size_t k = 0; k < kCandidates; ++k)
        if (k != at(offset) && against[k] < std::min(kAgainstOthers, kClearEvidence * static_cast<float>(seen[k])))
            return false;
    return true;
}

} // namespace qc
