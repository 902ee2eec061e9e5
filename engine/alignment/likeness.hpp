// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whether two videos show the same at all, whatever the moment, and whether the one is turned or mirrored.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "alignment/signature.hpp"
#include "quality_cuda_run/engine.h"

namespace qc {

/// One rendition's. Looks at the first pictures in a row that show something in both videos; where these do not tell,
/// at the next ones.
class Likeness {
public:
    /// @param is_square quarter turns keep the size, so that pictures may have them
    explicit Likeness(bool is_square) : is_square_(is_square) {}

    /// @return what is to be told, once
    std::optional<qc_finding> add(int64_t frame, const Signature& reference, const Signature& distorted);
    /// What follows does not follow in time. @return as add()
    std::optional<qc_finding> pause();

private:
    static constexpr size_t kFrames = 48;
    using Signatures = std::array<Signature, kFrames>;

    std::optional<qc_finding> judge();
    std::optional<qc_finding> turned(float straight) const;
    bool is_apart() const;
    float likeness_at(int offset) const;
    float motion_at(int offset, const Signatures& reference, const Signatures& distorted) const;
    bool is_steady(const Signatures& video) const;
    float movement(const Signatures& video, Signatures& moved) const;
    size_t longest_offset() const;

    const bool is_square_;
    bool is_decided_ = false;
    size_t count_ = 0;
    int64_t first_ = 0, next_ = 0; ///< frames: of those that are there, and the one that follows
    Signatures reference_, distorted_;
};

} // namespace qc
