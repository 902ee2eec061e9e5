// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "alignment/segment_search.hpp"

#include <algorithm>
#include <limits>

#include "alignment/evidence.hpp"
#include "alignment/offset_path.hpp"

namespace qc {

namespace {

/// Mean square of what blocks differ from each other: a sample begins with a picture that shows something.
constexpr float kLeastTexture = 36.0F;
/// A shorter sample shows nothing for sure.
constexpr size_t kFewestFrames = 16;
/// So much of what a picture shows may differ at the place where it is shown again.
constexpr float kMostOfTexture = 0.1F;

} // namespace

void Sought::begin_anew() {
    count_ = 0;
    places_ = {};
}

void Sought::add(int64_t number, const Signature& own) {
    if (is_closed_) return;
    if (count_ > 0 && number != next_) pause();
    if (count_ == kFrames) begin_anew();
    if (is_closed_ || (count_ == 0 && own.power() < kLeastTexture)) return;
    if (count_ == 0) first_ = number;
    sample_[count_] = own;
    moved_[count_] = count_ > 0 ? own.distance(sample_[count_ - 1]) : 0.0F;
    next_ = number + 1;
    if (++count_ == kFrames && moves()) close();
}

void Sought::pause() {
    if (!is_closed_ && count_ >= kFewestFrames && moves()) close();
    if (!is_closed_) begin_anew();
}

/// Whether it has enough pictures that say something of their moment.
bool Sought::moves() const {
    const auto telling = std::count_if(moved_.begin() + 1, moved_.begin() + static_cast<std::ptrdiff_t>(count_),
                                       [](float moved) { return moved >= kClearMotion; });
    return telling >= kTellingFrames;
}

void Sought::close() {
    if (is_closed_ || count_ < kFewestFrames || !moves()) return;
    is_closed_ = true;
    for (const Place& place : places_)
        if (place.first >= 0 && place.seen == count_) weigh(place);
}

void Sought::look_at(int64_t number, const Signature& other) {
    places_[static_cast<size_t>(number % static_cast<int64_t>(kFrames))] = {number, 0, {}};
    for (size_t k = 0; k < count_; k += Signature::kAtOnce) {
        std::array<const Signature*, Signature::kAtOnce> some;
        for (size_t i = 0; i < some.size(); ++i) some[i] = &sample_[std::min(k + i, count_ - 1)];
        const auto distances = other.distances(some);
        for (size_t i = 0; i < some.size() && k + i < count_; ++i) {
            const int64_t first = number - static_cast<int64_t>(k + i);
            if (first < first_) return;
            Place& place = places_[static_cast<size_t>(first % static_cast<int64_t>(kFrames))];
            if (place.first != first || place.seen != k + i) continue; // a picture lacks
            place.distances[place.seen++] = distances[i];
            if (is_closed_ && place.seen == count_) weigh(place);
        }
    }
}

/// How much speaks for the second place, and against the first.
float Sought::against(const Place& other, const Place& own) const {
    float sum = 0.0F;
    for (size_t k = 0; k < count_; ++k)
        if (tells(k)) sum += evidence(other.distances[k], own.distances[k]);
    return sum;
}

void Sought::weigh(const Place& place) {
    for (size_t k = 0; k < count_; ++k) sum_[k] += double{place.distances[k]};
    if (place.first == first_) own_ = place;
    if (weighed_++ == 0) {
        best_ = place;
        best_against_ = std::numeric_limits<float>::max();
        return;
    }
    const float evidence = against(place, best_);
    if (evidence < 0.0F) best_ = place;
    // Of a better one, what was best before is the next best.
    best_against_ = evidence < 0.0F ? -evidence : std::min(best_against_, evidence);
}

/// Whether the best place shows the sample's pictures, each of them.
bool Sought::fits() const {
    Fit fit;
    int telling = 0;
    for (size_t k = 0; k < count_; ++k) {
        if (!tells(k)) continue;
        const float own = best_.distances[k], mean = static_cast<float>(sum_[k] / static_cast<double>(weighed_));
        ++fit.moving;
        fit.fitting += own < std::min(kMostOfMean * mean, kMostOfTexture * sample_[k].power()) ? 1 : 0;
        telling += is_telling(mean, own) ? 1 : 0;
    }
    return telling >= kTellingFrames && fit.is_good();
}

std::optional<int64_t> Sought::distance() const {
    if (!is_closed_ || weighed_ == 0 || own_.first < 0 || best_.first - first_ <= kLargestOffset) return std::nullopt;
    const bool is_certain = best_against_ >= kAgainstOthers && against(own_, best_) >= kAgainstFormer && fits();
    return is_certain ? std::optional(best_.first - first_) : std::nullopt;
}

// ---- both ways ------------------------------------------------------------------------------------------------------

void SegmentSearch::add(int64_t number, const Signature& reference, const Signature& distorted) {
    if (is_over_) return;
    in_reference_.add(number, distorted);
    in_distorted_.add(number, reference);
    look_at(Video::kReference, number, reference);
    look_at(Video::kDistorted, number, distorted);
}

void SegmentSearch::pause() {
    in_reference_.pause();
    in_distorted_.pause();
}

void SegmentSearch::finish() {
    in_reference_.close();
    in_distorted_.close();
}

void SegmentSearch::look_at(Video video, int64_t number, const Signature& picture) {
    if (!is_over_) sought_in(video).look_at(number, picture);
}

/// What shows the other one's pictures later is behind.
std::optional<int64_t> SegmentSearch::offset() const {
    const auto later = in_reference_.distance(), earlier = in_distorted_.distance();
    if (is_over_ || later.has_value() == earlier.has_value()) return std::nullopt;
    return later ? -*later : *earlier;
}

} // namespace qc
