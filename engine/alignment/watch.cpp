// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "alignment/watch.hpp"

#include <algorithm>
#include <cmath>

namespace qc {

namespace {

/// So many pairs in a row may lack, and the next one still follows.
constexpr int64_t kLongestGap = 8;

/// What one frame can say at most: a cut must not decide alone.
constexpr float kMostCost = 4.0F;

/// A rate that is wrong shows by then.
constexpr int64_t kApartFrames = 240;

/// A repeat is a picture that moved by less than the first, a mean square in squared codes of 8 bits, and by less than
/// the second, a part of what the reference did, while that moved by more than kClearMotion.
constexpr float kMostOfRepeat = 0.5F, kRepeatRatio = 0.04F;

OffsetCosts costs_of(const OffsetDistances& distances, int expected) {
    float least = distances[static_cast<size_t>(index_of(expected))];
    for (const float distance : distances)
        if (distance >= 0.0F && (least < 0.0F || distance < least)) least = distance;
    const auto cost_of = [&](float distance) {
        const float ratio = (distance + kSameSignature) / (least + kSameSignature);
        return std::clamp(std::log(ratio / kClearRatio), 0.0F, kMostCost);
    };
    const float at_expected = distances[static_cast<size_t>(index_of(expected))];
    // Where there is no picture to compare with, there is no reason to prefer that offset.
    const float of_nothing = at_expected >= 0.0F ? cost_of(at_expected) : kMostCost;
    OffsetCosts costs;
    for (size_t k = 0; k < kOffsets; ++k) costs[k] = distances[k] < 0.0F ? of_nothing : cost_of(distances[k]);
    return costs;
}

} // namespace

void AlignmentWatch::add(int64_t frame, const Signature& reference, const Signature& distorted) {
    if (next_ > first_ && frame > pair(next_ - 1).frame + 1 + kLongestGap) pause();
    Pair& latest = pairs_[static_cast<size_t>(next_ % kHistory)];
    latest = {frame, reference, distorted};
    if (next_ > first_) {
        latest.reference_moved = reference.distance(pair(next_ - 1).reference);
        latest.distorted_moved = distorted.distance(pair(next_ - 1).distorted);
    }
    ++next_;
    ++frames_;
    tell(likeness_.add(frame, reference, distorted));
    if (apart_ && frame >= apart_->frame + kApartFrames) tell_apart();
    if (next_ - kLargestOffset > judged_) judge(judged_);
}

void AlignmentWatch::pause() {
    end_stretch();
    tell(likeness_.pause());
    course_.pause();
}

void AlignmentWatch::finish() {
    end_stretch();
    tell(likeness_.pause());
    levels_.finish();
    tell_levels();
    course_.finish();
    tell_apart();
}

void AlignmentWatch::tell(const std::optional<qc_finding>& finding) {
    if (finding && finding->kind == QC_FINDING_APART)
        apart_ = finding;
    else if (finding)
        course_.report(*finding);
}

/// Unless it was found meanwhile why.
void AlignmentWatch::tell_apart() {
    if (apart_ && course_.findings().empty()) course_.report(*apart_);
    apart_.reset();
}

void AlignmentWatch::report_segment(int64_t offset) {
    const auto explains = [](const qc_finding& finding) {
        return finding.kind == QC_FINDING_OFFSET || finding.kind == QC_FINDING_STEP || finding.kind == QC_FINDING_RATE;
    };
    if (std::any_of(findings().begin(), findings().end(), explains)) return;
    qc_finding found{};
    found.kind = QC_FINDING_SEGMENT;
    found.offset = static_cast<int>(offset);
    course_.report(found);
}

void AlignmentWatch::tell_levels() {
    if (!has_told_levels_ && levels_.relation()) {
        has_told_levels_ = true;
        tell(levels_.finding());
    }
}

void AlignmentWatch::end_stretch() {
    while (judged_ < next_) judge(judged_);
    for (const int offset : path_.rest()) settle(settled_, offset);
    first_ = next_;
    path_ = OffsetPath(course_.offset());
}

/// Compares a distorted picture with all reference pictures that it may show.
void AlignmentWatch::judge(int64_t number) {
    const Pair& judged = pair(number);
    OffsetDistances& distances = distances_[static_cast<size_t>(number % kHistory)];
    distances.fill(-1.0F);
    const int64_t first = std::max(first_, number - kLargestOffset), end = std::min(next_, number + kLargestOffset + 1);
    for (int64_t other = first; other < end; other += static_cast<int64_t>(Signature::kAtOnce)) {
        std::array<const Signature*, Signature::kAtOnce> references;
        for (size_t k = 0; k < references.size(); ++k)
            references[k] = &pair(std::min(other + static_cast<int64_t>(k), end - 1)).reference;
        const auto found = judged.distorted.distances(references);
        for (size_t k = 0; k < found.size() && other + static_cast<int64_t>(k) < end; ++k)
            distances[static_cast<size_t>(index_of(static_cast<int>(number - other - static_cast<int64_t>(k))))] =
                found[k];
    }
    ++judged_;
    const auto settled = path_.add(is_still(number) ? OffsetCosts{} : costs_of(distances, course_.offset()));
    if (settled) settle(settled_, *settled);
}

void AlignmentWatch::settle(int64_t number, int offset) {
    const Pair& settled = pair(number);
    const int64_t other = number - offset;
    SettledFrame frame;
    frame.frame = settled.frame;
    frame.offset = offset;
    frame.distances = &distances_[static_cast<size_t>(number % kHistory)];
    frame.is_still = is_still(number);
    if (number > first_ && other > first_ && other < next_) {
        const float moved = settled.distorted_moved, reference_moved = pair(other).reference_moved;
        frame.goes_on_repeating =
            reference_moved > kClearMotion && moved < kMostOfRepeat && moved < kRepeatRatio * reference_moved;
        const float now = settled.distorted.distance(pair(other).reference);
        const float before = settled.distorted.distance(pair(other - 1).reference);
        frame.is_repeat =
            frame.goes_on_repeating && before * kClearRatio < now && before * kClearRatio < reference_moved;
    }
    if (other >= first_ && other < next_) {
        levels_.add(settled.frame, pair(other).reference, settled.distorted);
        tell_levels();
    }
    ++settled_;
    course_.add(frame);
}

bool AlignmentWatch::is_still(int64_t number) const {
    return number > first_ && pair(number).distorted_moved < kStill;
}

} // namespace qc
