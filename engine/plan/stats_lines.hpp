// SPDX-License-Identifier: BSD-2-Clause-Patent
// The scores that lines in the style of another tool are made of (report/stats_line.hpp writes them). What is named
// here are that tool's scores by the names that they have with us; a build without the metric has no such lines.
#pragma once

#include <span>
#include <string_view>

#include "quality_cuda.h"

namespace qc {

struct StatsLineSpec {
    qc_stats_format format;
    std::string_view name;                     ///< of the format, for messages
    std::string_view metric;                   ///< that has the scores
    std::string_view needed_option;            ///< has to be on for the scores to be written; empty: none
    std::string_view spoiling_option;          ///< makes another quantity of the scores; empty: none
    std::span<const std::string_view> outputs; ///< per plane, as models call them; the first has to be there
};

/// @return null for QC_STATS_FORMAT_NONE
const StatsLineSpec* find_stats_line(qc_stats_format format);

} // namespace qc
