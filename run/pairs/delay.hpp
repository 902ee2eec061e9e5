// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whether two inputs keep step but begin apart, told from the timestamps of their first frames alone.
//
// A container that has to make room for the delay of its sound moves its video by that: Matroska's begins 21 ms late
// beside AAC at 48 kHz. Both videos have the same grid of times then, but not the same times, and the nearest frame may
// be the wrong one. A first frame that is missing looks otherwise: the grids coincide, and nothing is moved.
#pragma once

#include <cstdint>
#include <span>

#include "quality_cuda_run/pairs.h"

namespace qc::run {

/// Whether one input may begin late by less than a frame, by what is known: first timestamps of `main`, the first one
/// of `other`. Only then are more of the other's worth waiting for.
bool may_be_delayed(std::span<const int64_t> main, const qcr_clock& main_clock, int64_t other,
                    const qcr_clock& other_clock);

/// Seconds by which `other` has to count later, so that its grid meets that of `main`; 0: nothing is to be moved. That
/// takes three timestamps of each at least.
double delay_of(std::span<const int64_t> main, const qcr_clock& main_clock, std::span<const int64_t> other,
                const qcr_clock& other_clock);

/// Whether a delay may be a frame that is missing, for the one is as long as the other: sound's delays that are usual.
/// @param apart seconds between the first frames @param frame, rounding seconds, of a frame and of timestamps
bool is_ambiguous_delay(double apart, double frame, double rounding);

} // namespace qc::run
