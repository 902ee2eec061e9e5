// SPDX-License-Identifier: BSD-2-Clause-Patent
// Seconds of the videos around the worst frames, which a browser can play.
#pragma once

#include <string>
#include <vector>

#include "report/pairs.hpp"
#include "report/report.hpp"

namespace qc::cli {

/// Cuts those of the scenes in full size, which have a picture, side by side. Where they are linked, they are written
/// into a folder beside the page.
/// @return why some have none, or empty. @throws Failure if a file cannot be written
std::string take_clips(const Tools& tools, const ReportOptions& options, const std::vector<Encode>& encodes,
                       const std::vector<PairPlaces>& places, Files* files, std::vector<WorstScene>* scenes);

} // namespace qc::cli
