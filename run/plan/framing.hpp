// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where two videos show the same, if they have different black bars.
#pragma once

#include <array>
#include <optional>

#include "run/plan/looks.hpp"

namespace qc::run {

/// What both show, in the lines of each. Where the lengths differ, the one is stretched.
struct Framing {
    std::array<Range, kAxes> reference{}, distorted{};
    bool is_certain = false; ///< otherwise the bars differ, and nothing tells whether something is cut or stretched
    bool is_exact = true;    ///< otherwise they lie an odd number of lines apart, and chroma cannot be cut there

    bool is_scaled() const;
};

/// @param reference, distorted the same pictures of each, in order
/// @return nothing where their bars do not differ, or where it is in doubt that they show the same
std::optional<Framing> framing_of(const Video& reference, const Video& distorted);

} // namespace qc::run
