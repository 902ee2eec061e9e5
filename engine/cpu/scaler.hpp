// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scales a plane of a picture in host memory, on its way into the session.
#pragma once

#include "api/scaling.hpp"
#include "contract/types.hpp"

namespace qc::cpu {

/// Samples of one plane, wherever they lie: 8- or 16-bit containers, every `step`-th of them.
struct SampleRows {
    const char* data = nullptr;
    ptrdiff_t pitch_bytes = 0;
    int step = 1, columns = 0;
    int container_bits = 8;
};

/// @param target as large as the tables say
void scale_plane(const SampleRows& source, const InputScaling::PlaneTables& tables, const ScaleMath& math,
                 const Plane<uint8_t>& target);
void scale_plane(const SampleRows& source, const InputScaling::PlaneTables& tables, const ScaleMath& math,
                 const Plane<uint16_t>& target);

} // namespace qc::cpu
