// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a picture looks like from afar, and how far two such looks are apart.
#pragma once

#include <array>
#include <span>

#include "contract/signature.hpp"

namespace qc {

/// Means of luma over the blocks of a grid, without the mean of them all: what changes the brightness of a whole
/// picture (a fade, another range) does not change it much, and what else differs between two encodes of a picture
/// hardly shows.
class Signature {
public:
    Signature() = default;
    /// @param luma means of the blocks, in codes of 8 bits
    explicit Signature(std::span<const float, kSignatureBlocks> luma);

    /// Mean square of the difference, in codes of 8 bits. The other one's contrast is matched first, up to twice or
    /// half of it.
    float distance(const Signature& other) const;
    /// To several at once: each sum has its order, and waits for its own additions alone.
    static constexpr size_t kAtOnce = 4;
    std::array<float, kAtOnce> distances(const std::array<const Signature*, kAtOnce>& others) const;

    /// Of a block, without the mean of all.
    float luma(size_t block) const { return luma_[block]; }
    /// Of all blocks, in codes of 8 bits.
    float mean() const { return mean_; }
    /// Mean square of what blocks differ from that.
    float power() const { return power_; }
    /// -1 to 1; 0 where one of them shows nothing.
    float correlation(const Signature& other) const;

private:
    float gain_of(const Signature& other) const;

    std::array<float, kSignatureBlocks> luma_{};
    float mean_ = 0.0F;
    float power_ = 0.0F;
};

} // namespace qc
