// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reports of a run, in libvmaf's layouts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quality_cuda.h"
#include "score_table.hpp"

namespace qc {

/// What a reader of a metric's scores has to know.
struct MetricConventions {
    std::string_view metric;
    std::vector<Convention> list;
};

/// What a log says beside the scores.
struct LogHead {
    std::string_view version;            ///< of this library
    double fps = 0.0;                    ///< pairs per second of wall time; not finite: null
    bool complete = true;                ///< false: the run ended early
    std::span<const qc_log_extra> extra; ///< further keys with raw JSON values
    std::span<const MetricConventions> conventions{};
};

/// A score as libvmaf prints it: six decimals; sixteen where the fraction would vanish; null where it is not finite.
std::string json_score(double score);

/// Text in double quotes, escaped for JSON.
std::string json_string(std::string_view text);

/// libvmaf's JSON with "complete", "models" (name, source and range of the scores), "conventions" and `extra` in its
/// head and p1, p5, p10, p50 and stddev behind the pooled values. Written to a temporary name beside path and renamed,
/// so that path never holds half a log.
/// @return QC_ERROR_IO naming the path and the reason; QC_ERROR_INVALID for an extra value that is no JSON
Status write_json_log(const ScoreTable& table, const ScorePlan& plan, const std::string& path, const LogHead& head);

} // namespace qc
