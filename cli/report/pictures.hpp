// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures of scenes, which ffmpeg takes from the videos.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace qc::cli {

/// Takes pictures of the worst scenes. @return why there are none of some encodes, or empty
std::string take_pictures(const Tools& tools, const std::vector<Encode>& encodes, std::vector<WorstScene>* scenes);

} // namespace qc::cli
