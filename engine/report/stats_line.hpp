// SPDX-License-Identifier: BSD-2-Clause-Patent
// Lines of a frame's scores as other tools write them, so that what reads theirs reads ours.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plan/score_plan.hpp"
#include "quality_cuda.h"

namespace qc {

/// Parses "psnr" or "ssim" exactly.
std::optional<qc_stats_format> parse_stats_format(std::string_view text);

/// One line for the first rendition's scores, in the style of plan.stats.format, without its end. Empty if a score that
/// it needs is not present.
///
/// PSNR: the mean of the planes' errors, weighted by their samples, gives psnr_avg; identical pictures are "inf".
/// Values come from the errors, not from the scores psnr_*, which libvmaf caps. SSIM: luma alone, so "All" repeats it.
std::string stats_line(const ScorePlan& plan, const FrameGeometry& geometry, int64_t frame,
                       std::span<const double> values, std::span<const unsigned char> present);

} // namespace qc
