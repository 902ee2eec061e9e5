// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "alignment/course.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace qc {

namespace {

constexpr int64_t kHeldFrames = 110; ///< a change is held so long, for it may be the first of many
constexpr int kFramesOfRate = 15;    ///< then three times the rate has left the range
constexpr size_t kTurnsOfDrift = 4;
constexpr int64_t kFewRepeats = 3; ///< of a video that has some, its end is nothing particular

size_t at(int offset) {
    return static_cast<size_t>(index_of(offset));
}

} // namespace

// ---- rates ----------------------------------------------------------------------------------------------------------

double StartRates::add(const SettledFrame& frame, int expected) {
    const int64_t n = frames_++;
    const float distance = (*frame.distances)[at(expected)];
    if (n == 0 || n > 2 * kLargestOffset || frame.is_still || distance < 0.0F) return 0.0;
    weigh(*frame.distances, distance);
    const auto weaker = [](const Tally& a, const Tally& b) { return a.evidence < b.evidence; };
    const auto best = std::max_element(tallies_.begin(), tallies_.end(), weaker);
    return is_clear(*best) ? kRates[static_cast<size_t>(best - tallies_.begin())] : 0.0;
}

void StartRates::weigh(const OffsetDistances& distances, float expected) {
    float least = expected;
    for (size_t k = 0; k < kOffsets; ++k) {
        if (distances[k] < 0.0F) continue;
        least = std::min(least, distances[k]);
        constant_[k] += evidence(expected, distances[k]);
    }
    const int64_t n = frames_ - 1;
    for (size_t i = 0; i < kRates.size(); ++i) {
        const double shown = static_cast<double>(n) * kRates[i];
        float own = -1.0F;
        for (const double whole : {std::floor(shown), std::ceil(shown)}) {
            const auto offset = static_cast<int>(n - static_cast<int64_t>(whole));
            if (std::abs(offset) > kLargestOffset) continue;
            const float distance = distances[at(offset)];
            if (distance >= 0.0F && (own < 0.0F || distance < own)) own = distance;
        }
        if (own < 0.0F) continue;
        Tally& tally = tallies_[i];
        tally.evidence += evidence(expected, own);
        tally.telling += is_telling(expected, own) ? 1 : 0;
        tally.fitting += evidence(own, least) <= kTelling ? 1 : 0;
        ++tally.moving;
    }
}

bool StartRates::is_clear(const Tally& tally) const {
    if (tally.moving < kFramesOfRate || tally.evidence < kAgainstFormer) return false;
    if (tally.fitting * 10 < tally.moving * 9 || tally.telling * 5 < tally.moving * 4) return false;
    const float constant = *std::max_element(constant_.begin(), constant_.end());
    return tally.evidence > constant + kAgainstOthers;
}

/// Whether the last turns all go one way, at distances that are much alike.
void OffsetCourse::look_for_rate(int64_t frame) {
    if (turns_.size() < kTurnsOfDrift) return;
    const int whole = turns_.back().offset - turns_.front().offset;
    int64_t shortest = INT64_MAX, longest = 0;
    for (size_t i = 1; i < turns_.size(); ++i) {
        const int step = turns_[i].offset - turns_[i - 1].offset;
        if (step * whole <= 0) return;
        const int64_t length = (turns_[i].frame - turns_[i - 1].frame) / std::abs(step);
        shortest = std::min(shortest, length);
        longest = std::max(longest, length);
    }
    if (longest > 3 * (shortest + 1)) return;
    const Fit& before = turns_.front().fit;
    if (!Fit{fit_.moving - before.moving, fit_.fitting - before.fitting}.is_good()) return;
    report_rate(turns_.front().frame,
                1.0 - static_cast<double>(whole) / static_cast<double>(frame - turns_.front().frame));
}

void OffsetCourse::report_rate(int64_t frame, double rate) {
    qc_finding finding{};
    finding.kind = QC_FINDING_RATE;
    finding.frame = held_.empty() ? frame : std::min(frame, held_.front().frame);
    finding.offset = leg_.offset;
    finding.rate = rate;
    report(finding);
    held_.clear();
    drifts_ = true;
}

// ---- findings ------------------------------------------------------------------------------------------------------

void OffsetCourse::report(const qc_finding& finding) {
    if (findings_.size() < kMostFindings) findings_.push_back(finding);
}

// ---- offsets --------------------------------------------------------------------------------------------------------

void OffsetCourse::add(const SettledFrame& frame) {
    if (first_frame_ < 0) first_frame_ = frame.frame;
    if (!is_in_leg_ || frame.offset != leg_.offset) begin_leg(frame);
    weigh(frame);
    if (!leg_.is_certain && is_certain()) believe_leg();
    if (is_at_start_ && !drifts_)
        if (const double rate = start_rates_.add(frame, 0); rate > 0.0) report_rate(first_frame_, rate);
    release_held(frame.frame);
    count_repeat(frame);
}

void OffsetCourse::begin_leg(const SettledFrame& frame) {
    if (is_in_leg_) {
        for (size_t k = 0; k < kOffsets; ++k) for_expected_[k] += leg_.against_expected[k];
        turns_.push_back({frame.frame, frame.offset, fit_});
        if (turns_.size() > kTurnsOfDrift + 1) turns_.pop_front();
    }
    is_in_leg_ = true;
    leg_ = {};
    leg_.first = frame.frame;
    leg_.offset = frame.offset;
    if (!drifts_) look_for_rate(frame.frame);
}

void OffsetCourse::weigh(const SettledFrame& frame) {
    if (frame.is_still) return;
    const OffsetDistances& distances = *frame.distances;
    const float own = distances[at(leg_.offset)];
    if (own < 0.0F) return;
    const float expected = distances[at(offset_)] < 0.0F ? own : distances[at(offset_)];
    if (is_telling(expected, own)) ++leg_.telling;
    const bool fits = own < kMostOfMean * mean_distance(distances);
    for (Fit* fit : {&fit_, &leg_.fit}) {
        ++fit->moving;
        fit->fitting += fits ? 1 : 0;
    }
    for (size_t k = 0; k < kOffsets; ++k) {
        // Where there is no picture to compare with, that offset fits no better than the expected one.
        const float other = distances[k] < 0.0F ? expected : distances[k];
        leg_.against[k] += evidence(other, own);
        leg_.against_expected[k] += evidence(other, expected);
    }
}

bool OffsetCourse::is_certain() const {
    if (leg_.offset == offset_) return true;
    if (leg_.telling < kTellingFrames || !leg_.fit.is_good() || leg_.against[at(offset_)] < kAgainstFormer)
        return false;
    for (int k = -kLargestOffset; k <= kLargestOffset; ++k)
        if (k != leg_.offset && leg_.against[at(k)] < kAgainstOthers) return false;
    return true;
}

void OffsetCourse::believe_leg() {
    leg_.is_certain = true;
    if (leg_.offset == offset_) return;
    qc_finding finding{};
    finding.kind = QC_FINDING_STEP;
    finding.frame = leg_.first;
    finding.offset = leg_.offset;
    finding.former_offset = offset_;
    if (!has_moved_ && is_at_start_ && for_expected_[at(leg_.offset)] < kAgainstOthers) {
        // Nothing before spoke for another offset: it began so.
        finding.kind = QC_FINDING_OFFSET;
        finding.frame = first_frame_;
    }
    if (!drifts_) held_.push_back(finding);
    offset_ = leg_.offset;
    has_moved_ = true;
    for_expected_ = {};
    leg_.against_expected = {};
}

void OffsetCourse::release_held(int64_t frame) {
    while (!held_.empty() && frame - kHeldFrames >= held_.front().frame) {
        report(held_.front());
        held_.pop_front();
    }
}

// ---- repeats --------------------------------------------------------------------------------------------------------

void OffsetCourse::count_repeat(const SettledFrame& frame) {
    if (frame.is_repeat || (repeats_ > 0 && frame.goes_on_repeating)) {
        if (repeats_ == 0) first_repeat_ = frame.frame;
        ++repeats_;
    } else if (!frame.is_still) {
        report_repeats();
    }
}

void OffsetCourse::report_repeats() {
    if (repeats_ > 0 && !drifts_) { // of another rate they are a part
        qc_finding* found = known_repeats();
        if (found == nullptr) {
            qc_finding finding{};
            finding.kind = QC_FINDING_REPEATS;
            finding.frame = first_repeat_;
            found = &held_.emplace_back(finding);
        }
        found->count += repeats_;
    }
    repeats_ = 0;
}

qc_finding* OffsetCourse::known_repeats() {
    for (qc_finding& finding : findings_)
        if (finding.kind == QC_FINDING_REPEATS) return &finding;
    for (qc_finding& finding : held_)
        if (finding.kind == QC_FINDING_REPEATS) return &finding;
    return nullptr;
}

// ---- ends -----------------------------------------------------------------------------------------------------------

void OffsetCourse::pause() {
    report_repeats();
    release_held(INT64_MAX);
    turns_.clear();
    is_in_leg_ = is_at_start_ = false;
    for_expected_ = {};
}

void OffsetCourse::finish() {
    const bool repeats_anyway = known_repeats() != nullptr && repeats_ < kFewRepeats;
    if (repeats_ > 0 && !drifts_ && !repeats_anyway) {
        qc_finding finding{};
        finding.kind = QC_FINDING_FROZEN_END;
        finding.frame = first_repeat_;
        finding.count = repeats_;
        held_.push_back(finding);
        repeats_ = 0;
    }
    pause();
}

} // namespace qc
