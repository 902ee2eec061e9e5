// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures of scenes, which ffmpeg takes from the videos.
#pragma once

#include <string>
#include <vector>

#include "report/pairs.hpp"
#include "report/report.hpp"

namespace qc::cli {

/// Takes pictures of the worst scenes, side by side, or has them from a former report.
/// @param places of each encode  @return why there are none of some encodes, or empty
std::string take_pictures(const Tools& tools, const std::vector<Encode>& encodes, const std::vector<PairPlaces>& places,
                          Files* files, std::vector<WorstScene>* scenes, bool is_quiet);

} // namespace qc::cli
