// SPDX-License-Identifier: BSD-2-Clause-Patent
// The bit rate and the key frames of encodes over time, by their packets.
#pragma once

#include <vector>

#include "report/pairs.hpp"
#include "report/report.hpp"

namespace qc::cli {

/// Where the encodes' frames and their files' are known.
void add_packets(const std::vector<PairPlaces>& places, Files* files, std::vector<Encode>* encodes);

} // namespace qc::cli
