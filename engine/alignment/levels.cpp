// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "alignment/levels.hpp"

#include <algorithm>
#include <cmath>

namespace qc {

namespace {

using Relation = Levels::Relation;

// In codes of 8 bits.
constexpr float kBlack = 16.0F, kScale = 219.0F / 255.0F;
/// A picture says something if its blocks differ by so much, in both videos,
constexpr float kLeastContrast = 12.0F;
/// and the other range would change them by so much. Around code 113 it changes nothing.
constexpr float kLeastChange = 2.0F;
/// Part of that change that a picture may be away from what the relation says,
constexpr float kMostOfChange = 0.35F;
/// and by how much at most.
constexpr float kMostAway = 3.0F;
/// Part of the pictures that have to agree, in tenths.
constexpr int64_t kMostOfTen = 9;
constexpr int64_t kPicturesOfSame = 8, kPicturesOfOther = 20;

// Of all pictures together. A grade may come near in each, but not in all of this.
constexpr double kMostOfGain = 0.03;
constexpr double kMostOfMean = 1.0;
constexpr double kMostOfBin = 1.7;
constexpr int64_t kBlocksOfBin = 24;
constexpr float kBinWidth = 32.0F;

float expected(Relation relation, float reference) {
    switch (relation) {
    case Relation::kLimited:
        return kBlack + kScale * reference;
    case Relation::kFull:
        return (reference - kBlack) / kScale;
    default:
        return reference;
    }
}

double gain_of(Relation relation) {
    return relation == Relation::kLimited ? double{kScale} : relation == Relation::kFull ? 1.0 / double{kScale} : 1.0;
}

float code(const Signature& signature, size_t block) {
    return signature.mean() + signature.luma(block);
}

/// Root mean square of how far the distorted picture is from what the relation says.
float distance_from(Relation relation, const Signature& reference, const Signature& distorted) {
    float sum = 0.0F;
    for (size_t i = 0; i < kSignatureBlocks; ++i) {
        const float away = code(distorted, i) - expected(relation, code(reference, i));
        sum += away * away;
    }
    return std::sqrt(sum / kSignatureBlocks);
}

/// Root mean square of what the relation makes of a picture.
float change_by(Relation relation, const Signature& reference) {
    return distance_from(relation, reference, reference);
}

} // namespace

double Levels::Tally::gain() const {
    return (xy - x * y / blocks()) / (xx - x * x / blocks());
}

void Levels::add(int64_t frame, const Signature& reference, const Signature& distorted) {
    if (relation_) return;
    constexpr float kLeastPower = kLeastContrast * kLeastContrast;
    // What is of limited range has the lower contrast, and shows it in either.
    const float change = std::min(change_by(Relation::kLimited, reference), change_by(Relation::kFull, reference));
    if (std::min(reference.power(), distorted.power()) < kLeastPower || change < kLeastChange) return;
    ++telling_;
    std::array<float, kRelations> away;
    for (size_t k = 0; k < kRelations; ++k) away[k] = distance_from(static_cast<Relation>(k), reference, distorted);
    const auto nearest = static_cast<size_t>(std::min_element(away.begin(), away.end()) - away.begin());
    if (away[nearest] < std::min(kMostOfChange * change, kMostAway))
        count(tallies_[nearest], static_cast<Relation>(nearest), frame, reference, distorted);
    if (tallies_[static_cast<size_t>(Relation::kSame)].pictures >= kPicturesOfSame) decide(kPicturesOfSame);
    if (!relation_) decide(kPicturesOfOther);
}

void Levels::finish() {
    if (!relation_) decide(1);
}

void Levels::count(Tally& tally, Relation relation, int64_t frame, const Signature& reference,
                   const Signature& distorted) {
    if (tally.pictures++ == 0) tally.first = frame;
    for (size_t i = 0; i < kSignatureBlocks; ++i) {
        const float was = code(reference, i), is = code(distorted, i), would_be = expected(relation, was);
        const double x = was, y = is, change = double{would_be} - x;
        tally.x += x;
        tally.y += y;
        tally.xx += x * x;
        tally.xy += x * y;
        tally.square += change * change;
        Bin& bin = tally.bins[std::min(static_cast<size_t>(std::max(was, 0.0F) / kBinWidth), kBins - 1)];
        ++bin.blocks;
        bin.difference += y - double{would_be};
    }
}

/// Whether all pictures together have the relation's line, at its dark and its bright end too.
bool Levels::is_line(const Tally& tally, Relation relation) const {
    const double mean = tally.x / tally.blocks();
    const double at_mean = tally.y / tally.blocks() - double{expected(relation, static_cast<float>(mean))};
    if (std::fabs(tally.gain() - gain_of(relation)) > kMostOfGain || std::fabs(at_mean) > kMostOfMean) return false;
    return std::all_of(tally.bins.begin(), tally.bins.end(), [](const Bin& bin) {
        return bin.blocks < kBlocksOfBin || std::fabs(bin.difference) <= kMostOfBin * static_cast<double>(bin.blocks);
    });
}

void Levels::decide(int64_t least) {
    for (size_t k = 0; k < kRelations; ++k) {
        const Tally& tally = tallies_[k];
        const auto relation = static_cast<Relation>(k);
        if (tally.pictures < least || tally.pictures * 10 < telling_ * kMostOfTen) continue;
        if (relation == Relation::kSame || is_line(tally, relation)) relation_ = relation;
    }
}

std::optional<qc_finding> Levels::finding() const {
    if (!relation_ || *relation_ == Relation::kSame) return std::nullopt;
    const Tally& tally = tallies_[static_cast<size_t>(*relation_)];
    qc_finding found{};
    found.kind = QC_FINDING_RANGE;
    found.frame = tally.first;
    found.is_full = *relation_ == Relation::kFull ? 1 : 0;
    found.gain = tally.gain();
    found.level = tally.level();
    found.error = std::sqrt(tally.square / tally.blocks());
    return found;
}

} // namespace qc
