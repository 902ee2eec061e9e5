// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reports of a run, in libvmaf's layouts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quality_cuda.h"
#include "scores/score_table.hpp"

namespace qc {

/// What a reader of a metric's scores has to know, or of all: of scaled pictures.
struct MetricConventions {
    std::string_view metric; ///< or "scaling"
    std::vector<Convention> list;
};

/// What an input's samples stand for; what is not known is empty.
struct LoggedCoding {
    std::string format, range, matrix;
    int depth = 8;
};

/// What became of the pictures of an input before they were scored.
struct LoggedConversion {
    std::string_view input;   ///< "reference" or "distorted"
    std::string_view metrics; ///< that see it so: "luma and chroma" or "rgb"
    LoggedCoding from, to;
};

/// What a log says beside the scores.
struct LogHead {
    std::string_view version;              ///< of this library
    double fps = 0.0;                      ///< pairs per second of wall time; not finite: null
    bool complete = true;                  ///< false: the run ended early
    int width = 0, height = 0;             ///< of the pictures
    std::span<const qc_log_extra> extra{}; ///< further keys with raw JSON values
    std::span<const MetricConventions> conventions{};
    std::span<const LoggedConversion> conversions{};
};

/// Parses "json", "xml", "csv" or "sub" exactly.
std::optional<qc_log_format> parse_log_format(std::string_view text);

/// Writes a report as write_file() does (output_file.hpp).
/// @return what that says; what the layout's writer says (log_formats.hpp)
Status write_log(qc_log_format log_format, const ScoreTable& table, const ScorePlan& plan, const std::string& path,
                 const LogHead& head);

} // namespace qc
