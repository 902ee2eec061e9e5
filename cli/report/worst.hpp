// SPDX-License-Identifier: BSD-2-Clause-Patent
// How each scene of an encode fares by the report's score.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/report.hpp"

namespace qc::cli {

/// Those that have the score, in the order of time.
std::vector<WorstScene> judged_scenes(const Report& report, size_t encode);
/// Of each encode the worst ones, the worst first.
std::vector<WorstScene> worst_scenes(const Report& report);
/// The worst of these; null: there is none.
const WorstScene* worst_of_all(const Report& report);

/// All scenes of all encodes, a row for each.
std::string scenes_as_csv(const Report& report);
std::string scenes_as_json(const Report& report);
/// "00:01:02:03", hours to frames, none of them dropped; empty: the rate is not known.
std::string time_code(int64_t frame, double rate);
/// The log's first and last frame of a scene.
std::pair<int64_t, int64_t> frames_of(const Encode& encode, const Scene& scene);

} // namespace qc::cli
