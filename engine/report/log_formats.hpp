// SPDX-License-Identifier: BSD-2-Clause-Patent
// One writer per layout, and what they share. log_writer.hpp chooses among them.
#pragma once

#include <string>
#include <string_view>

#include "files/output_file.hpp"
#include "quality_cuda.h"
#include "report/log_writer.hpp"

namespace qc {

/// The libvmaf whose layouts, names and scores these are: programs that read its logs ask them for its version.
inline constexpr std::string_view kLayoutVersion = "3.2.0";

/// Pooled values of a log, in this order: libvmaf's four, then ours.
inline constexpr qc_pool kLoggedPools[] = {QC_POOL_MIN, QC_POOL_MAX, QC_POOL_MEAN, QC_POOL_HARMONIC_MEAN, QC_POOL_P1,
                                           QC_POOL_P5,  QC_POOL_P10, QC_POOL_P50,  QC_POOL_STDDEV};

/// `%.*f` of the C locale, "inf", "-inf" and "nan" included; what is no number has no sign.
std::string fixed_text(double value, int decimals);

/// A score as libvmaf prints it: six decimals; sixteen where the fraction would vanish; "inf", "-inf", "nan".
std::string score_text(double score);

/// The same; "null" where it is not finite.
std::string json_score(double score);

/// Text in double quotes, escaped for JSON; bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

/// @return QC_ERROR_INVALID for a value that is no JSON
Status check_extra(std::span<const qc_log_extra> extra);

/// libvmaf's JSON with "complete", "models" (name, source and range of the scores), "conventions" and `extra` in its
/// head and p1, p5, p10, p50 and stddev behind the pooled values.
/// @return QC_ERROR_INVALID for an extra value that is no JSON
Status write_json_log(const ScoreTable& table, const ScorePlan& plan, const LogHead& head, OutputFile* file);

/// libvmaf's XML, with complete="..." beside the speed and the further pooled values as attributes. Of `extra`, plain
/// values become attributes there too, and objects of plain values elements of their own; null and lists are left out.
/// What may not stand in an attribute's name (the + of a model's name) is written as _.
/// @return QC_ERROR_INVALID for an extra value that is no JSON
Status write_xml_log(const ScoreTable& table, const ScorePlan& plan, const LogHead& head, OutputFile* file);

/// libvmaf's CSV: a column per score and a comma behind the last one.
Status write_csv_log(const ScoreTable& table, const ScorePlan& plan, OutputFile* file);

/// libvmaf's MicroDVD subtitles: each frame's scores, shown while it is.
Status write_sub_log(const ScoreTable& table, const ScorePlan& plan, OutputFile* file);

} // namespace qc
