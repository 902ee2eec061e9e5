// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which range the two videos have beside each other, told from their first pictures alone.
#pragma once

#include <cstdint>
#include <optional>

#include "alignment/levels.hpp"
#include "alignment/start_offset.hpp"

namespace qc {

/// One rendition's.
class StartRange {
public:
    /// @param start has seen the pair too
    void add(int64_t frame, const Signature& reference, const Signature& distorted, const StartOffset& start);
    /// Nothing follows that follows in time.
    void finish(const StartOffset& start);

    bool is_decided() const { return is_decided_; }
    /// @return what is beyond doubt
    std::optional<Levels::Relation> relation() const { return levels_.relation(); }

private:
    bool is_decided_ = false;
    int64_t first_ = -1; ///< number of the first frame
    Levels levels_;
};

} // namespace qc
