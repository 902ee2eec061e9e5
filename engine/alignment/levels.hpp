// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whether the luma of two videos that show the same is on one scale: where the one has limited range and the other full
// range, its codes lie on a line that nothing else has.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "alignment/signature.hpp"
#include "quality_cuda_run/engine.h"

namespace qc {

/// One rendition's. Sees pairs that are believed to show the same moment.
class Levels {
public:
    /// What the distorted video's luma is of the reference's.
    enum class Relation {
        kSame,
        kLimited, ///< 16 + 219 / 255 of it
        kFull,    ///< 255 / 219 of what it is above 16
    };
    static constexpr size_t kRelations = 3;

    /// Every pair that is to count, in order.
    void add(int64_t frame, const Signature& reference, const Signature& distorted);
    /// Nothing follows: few pairs have to do, if these leave no doubt.
    void finish();

    /// Nothing until it is beyond doubt. Then it stays.
    std::optional<Relation> relation() const { return relation_; }
    /// What is to be told of it; nothing where both are on one scale, or nobody knows.
    std::optional<qc_finding> finding() const;

private:
    /// Pictures in one range of the reference's codes: a curve other than a line shows in some of them.
    struct Bin {
        int64_t blocks = 0;
        double difference = 0.0; ///< sum, from what the relation says
    };
    static constexpr size_t kBins = 8;
    /// Of the pictures that fit a relation.
    struct Tally {
        int64_t pictures = 0, first = 0;
        double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0; ///< sums over blocks
        double square = 0.0;                         ///< of what the relation changes
        std::array<Bin, kBins> bins{};

        double blocks() const { return static_cast<double>(pictures) * kSignatureBlocks; }
        double gain() const;
        double level() const { return (y - gain() * x) / blocks(); }
    };

    void count(Tally& tally, Relation relation, int64_t frame, const Signature& reference, const Signature& distorted);
    bool is_line(const Tally& tally, Relation relation) const;
    void decide(int64_t least);

    std::optional<Relation> relation_;
    int64_t telling_ = 0; ///< pictures that would show it
    std::array<Tally, kRelations> tallies_;
};

} // namespace qc
