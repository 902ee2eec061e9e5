// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the parts of a report share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "quality_cuda_run/engine.h"
#include "quality_cuda_run/report.h"

namespace qc::run {

// ---- scores

/// "vmaf", "1.vmaf"; empty for a feature that there is not.
std::string score_name(const qc_session* session, int rendition, int feature);

std::optional<double> pooled(qc_session* session, int rendition, int feature, qc_pool pool);

/// Scores of a rendition.
int feature_count(const qcr_report& report);

/// Whether a score was asked for, and is shown to everybody.
bool is_asked_for(const qcr_report& report, int feature);

/// Warns of a model's score that is 0, where nothing was found that explains it.
void doubt_zeros(const qcr_report& report, const qcr_sink& sink);

/// What the summary of a run that is over will warn of: it is said when the log is written, and stands in it all the
/// same.
std::vector<std::string> warnings_of_counts(const qcr_report& report);

// ---- renditions

const qcr_report_input& input_of(const qcr_report& report, int rendition);
const char* role_of(const qcr_report& report, int rendition);

/// Frames that the reference has and the rendition has not; of the distorted input those behind its end, as far as they
/// were read.
int64_t lacking(const qcr_report& report, int rendition);

/// An array with an object for each rendition: what it is, how it ended, its pooled scores, if there are any.
std::string renditions_json(const qcr_report& report);

/// The same as a table of messages, where there are several; after a failure without the scores.
void say_ladder(const qcr_report& report, const qcr_sink& sink);

// ---- the head of a log

/// What became of the frames.
std::string pairing_json(const qcr_report& report, int rendition);

/// Why a log is not complete, or null.
std::string reason_json(const qcr_report& report, int rendition);

} // namespace qc::run
