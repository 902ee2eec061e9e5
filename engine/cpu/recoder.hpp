// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures whose samples stand for something else than what is scored, on the CPU: their rows, and which of them make
// which (ingest/recode_rows.hpp does the arithmetic).
#pragma once

#include <array>

#include "contract/helpers.hpp"
#include "cpu/unpack.hpp"
#include "ingest/recoding.hpp"

namespace qc::cpu {

/// The components of a source as they lie in memory.
struct SourcePlanes {
    std::array<ComponentRows, 3> component{}; ///< those that the recoding reads
    std::array<PlaneExtent, 3> extent{};      ///< once samples are repeated
};

/// Writes the planes of the target that the recoding makes, all their rows.
/// @param helpers null: by the caller alone
void recode_planes(const SourcePlanes& source, const Recoding& recoding, Helpers* helpers,
                   const std::array<Plane<uint8_t>, 3>& target);
void recode_planes(const SourcePlanes& source, const Recoding& recoding, Helpers* helpers,
                   const std::array<Plane<uint16_t>, 3>& target);

} // namespace qc::cpu
