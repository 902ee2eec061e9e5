// SPDX-License-Identifier: BSD-2-Clause-Patent
// What reports tell of conditions.
#pragma once

#include <cstdint>
#include <string>

#include "quality_cuda_run/conditions.h"

namespace qc::run {

/// An object that tells what an input is and what was met in it.
std::string stream_json(const qc_colour& colour, const qcr_side& side);

/// An array of the numbers of a rendition's scored pairs with a damaged frame on either side.
/// @param paired pairs that count
std::string corrupt_json(const qcr_conditions* conditions, int rendition, int n_subsample, int64_t paired);

/// At the end: what was met, if there was anything. @param counts of each rendition
void say_conditions(const qcr_names& names, const qcr_counts* counts, bool is_quiet, const qcr_sink& sink);

} // namespace qc::run
