// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "alignment/likeness.hpp"

#include <algorithm>
#include <cmath>

#include "alignment/offset_path.hpp"

namespace qc {

namespace {

/// Mean square of what blocks differ from each other, in squared codes of 8 bits: below it there is nothing to see.
constexpr float kLeastTexture = 36.0F;
/// The same of what one picture differs from the mean of all: below it nothing moves.
constexpr float kLeastMovement = 4.0F;
/// Of pictures in a row. Below it there is noise, or a cut at every moment.
constexpr float kSteady = 0.8F;
/// Pairs that an offset has to leave.
constexpr size_t kLeastPairs = 3;

// Correlations of blocks, the mean over pictures.
/// From the first on two videos show the same, and below the second they do not; between the two it is decided by what
/// moves, which is below the third.
constexpr float kAlike = 0.6F, kApart = 0.3F, kMovesApart = 0.4F;
/// What is turned is so much alike when it is turned back, lacks so many times less of being the same, and is less
/// alike by so much before.
constexpr float kTurnedBack = 0.85F, kTurnedRatio = 4.0F, kTurnedGain = 0.15F;

size_t block_of(size_t row, size_t column) {
    return row * kSignatureColumns + column;
}

/// Where a block of the picture that a turn makes comes from.
size_t source_of(qc_turn turn, size_t row, size_t column) {
    constexpr size_t kLast = kSignatureColumns - 1;
    static_assert(kSignatureColumns == kSignatureRows);
    switch (turn) {
    case QC_TURN_MIRROR:
        return block_of(row, kLast - column);
    case QC_TURN_FLIP:
        return block_of(kLast - row, column);
    case QC_TURN_HALF:
        return block_of(kLast - row, kLast - column);
    case QC_TURN_TRANSPOSE:
        return block_of(column, row);
    case QC_TURN_CLOCKWISE:
        return block_of(kLast - column, row);
    case QC_TURN_COUNTERCLOCKWISE:
        return block_of(column, kLast - row);
    case QC_TURN_TRANSVERSE:
        return block_of(kLast - column, kLast - row);
    default:
        return block_of(row, column);
    }
}

float correlation_turned(qc_turn turn, const Signature& reference, const Signature& distorted) {
    const float power = reference.power() * distorted.power();
    if (!(power > 0.0F)) return 0.0F;
    float product = 0.0F;
    for (size_t row = 0; row < kSignatureRows; ++row)
        for (size_t column = 0; column < kSignatureColumns; ++column)
            product += reference.luma(block_of(row, column)) * distorted.luma(source_of(turn, row, column));
    return product / (kSignatureBlocks * std::sqrt(power));
}

} // namespace

std::optional<qc_finding> Likeness::add(int64_t frame, const Signature& reference, const Signature& distorted) {
    if (is_decided_) return std::nullopt;
    const bool shows_something = std::min(reference.power(), distorted.power()) >= kLeastTexture;
    if (count_ > 0 && frame != next_) count_ = 0;
    if (count_ == 0 && !shows_something) return std::nullopt;
    if (count_ == 0) first_ = frame;
    reference_[count_] = reference;
    distorted_[count_] = distorted;
    next_ = frame + 1;
    return ++count_ == kFrames ? judge() : std::nullopt;
}

std::optional<qc_finding> Likeness::pause() {
    return is_decided_ || count_ == 0 ? std::nullopt : judge();
}

std::optional<qc_finding> Likeness::judge() {
    float alike = -1.0F;
    const auto longest = static_cast<int>(longest_offset());
    for (int offset = -longest; offset <= longest; ++offset) alike = std::max(alike, likeness_at(offset));
    std::optional<qc_finding> found = turned(likeness_at(0));
    if (!found && alike < kAlike && is_steady(reference_) && is_steady(distorted_) && (alike < kApart || is_apart())) {
        found = qc_finding{};
        found->kind = QC_FINDING_APART;
        found->correlation = alike;
    }
    if (found) found->frame = first_;
    is_decided_ = found || alike >= kAlike;
    count_ = 0;
    return found;
}

/// That which undoes what was done to the distorted video.
std::optional<qc_finding> Likeness::turned(float straight) const {
    std::optional<qc_finding> found;
    float best = kTurnedBack;
    for (int k = QC_TURN_MIRROR; k <= (is_square_ ? QC_TURN_TRANSVERSE : QC_TURN_HALF); ++k) {
        const auto turn = static_cast<qc_turn>(k);
        float sum = 0.0F;
        size_t better = 0;
        for (size_t n = 0; n < count_; ++n) {
            const float own = correlation_turned(turn, reference_[n], distorted_[n]);
            sum += own;
            better += own > reference_[n].correlation(distorted_[n]) ? 1 : 0;
        }
        const float mean = sum / static_cast<float>(count_);
        if (mean < best || mean < straight + kTurnedGain || 1.0F - straight < kTurnedRatio * (1.0F - mean)) continue;
        if (better * 10 < count_ * 9) continue;
        best = mean;
        found = qc_finding{};
        found->kind = QC_FINDING_TURNED;
        found->turn = turn;
        found->correlation = mean;
    }
    return found;
}

size_t Likeness::longest_offset() const {
    return count_ > kLeastPairs ? std::min(count_ - kLeastPairs, static_cast<size_t>(kLargestOffset)) : 0;
}

/// @param offset the distorted video shows what the reference does so many frames before
float Likeness::likeness_at(int offset) const {
    float sum = 0.0F;
    size_t pairs = 0;
    for (size_t n = static_cast<size_t>(std::max(offset, 0)); n < count_ + static_cast<size_t>(std::min(offset, 0));
         ++n, ++pairs)
        sum += distorted_[n].correlation(reference_[n - static_cast<size_t>(offset)]);
    return pairs != 0 ? sum / static_cast<float>(pairs) : -1.0F;
}

/// Two videos may look alike by chance, as the sky is above and the ground below; but not move alike.
bool Likeness::is_apart() const {
    Signatures reference, distorted;
    if (std::min(movement(reference_, reference), movement(distorted_, distorted)) < kLeastMovement) return false;
    float alike = -1.0F;
    const auto longest = static_cast<int>(longest_offset());
    for (int offset = -longest; offset <= longest; ++offset)
        alike = std::max(alike, motion_at(offset, reference, distorted));
    return alike < kMovesApart;
}

float Likeness::motion_at(int offset, const Signatures& reference, const Signatures& distorted) const {
    float product = 0.0F, power = 0.0F, other_power = 0.0F;
    for (size_t n = static_cast<size_t>(std::max(offset, 0)); n < count_ + static_cast<size_t>(std::min(offset, 0));
         ++n) {
        const Signature& own = distorted[n];
        const Signature& other = reference[n - static_cast<size_t>(offset)];
        for (size_t i = 0; i < kSignatureBlocks; ++i) product += own.luma(i) * other.luma(i);
        power += own.power();
        other_power += other.power();
    }
    return product / (kSignatureBlocks * std::sqrt(std::max(power * other_power, 1.0F)));
}

/// What each picture differs by from the mean of all. @return the mean of its power
float Likeness::movement(const Signatures& video, Signatures& moved) const {
    std::array<float, kSignatureBlocks> mean{};
    for (size_t n = 0; n < count_; ++n)
        for (size_t i = 0; i < kSignatureBlocks; ++i) mean[i] += video[n].luma(i) / static_cast<float>(count_);
    float power = 0.0F;
    for (size_t n = 0; n < count_; ++n) {
        std::array<float, kSignatureBlocks> own;
        for (size_t i = 0; i < kSignatureBlocks; ++i) own[i] = video[n].luma(i) - mean[i];
        moved[n] = Signature(own);
        power += moved[n].power() / static_cast<float>(count_);
    }
    return power;
}

bool Likeness::is_steady(const Signatures& video) const {
    float sum = 0.0F, texture = 0.0F;
    for (size_t n = 0; n < count_; ++n) {
        sum += video[n].correlation(video[n > 0 ? n - 1 : n]);
        texture += video[n].power();
    }
    const auto count = static_cast<float>(count_);
    return sum >= kSteady * count && texture >= kLeastTexture * count;
}

} // namespace qc
