// SPDX-License-Identifier: BSD-2-Clause-Patent
// Logs: what stands before the frames is told here, all else by the engine.
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "run/account/alignment.hpp"
#include "run/account/conditions.hpp"
#include "run/account/doubts.hpp"
#include "run/account/verdict.hpp"
#include "run/origin/origin.hpp"
#include "run/report/report.hpp"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace qc::run {

namespace {

const char* truth(bool value) {
    return value ? "true" : "false";
}

/// Keys and values that a log begins with. The order is a part of its format.
struct Head {
    std::vector<std::string> keys, values;

    void add(const char* key, std::string value) {
        keys.emplace_back(key);
        values.push_back(std::move(value));
    }
};

/// Where the scores come from. Logs of libvmaf's stand-in have what they always had.
std::vector<std::pair<const char*, std::string>> origin_members(const qcr_report& report) {
    if (report.is_alias != 0 || report.session == nullptr) return {};
    std::vector<std::pair<const char*, std::string>> members = {
        {"provenance", report.origin != nullptr ? report.origin : origin_json(report.session)}};
    if (std::string models = model_checksums_json(report.session); !models.empty())
        members.emplace_back("model_checksums", std::move(models));
    return members;
}

Head head_of(const qcr_report& report, qc_log_format format, int rendition) {
    const qcr_report_input &own = input_of(report, rendition), &reference = report.input[QCR_REFERENCE];
    const qcr_counts& counts = report.counts[rendition];
    Head head;
    // XML would give objects an element of their own, and those who read libvmaf's count its elements.
    if (report.is_alias == 0 || format != QC_LOG_FORMAT_XML) {
        if (format == QC_LOG_FORMAT_JSON && report.watches_contents != 0)
            head.add("alignment", alignment_json(*report.alignment, report.alignment_rules, report.session, rendition));
        head.add("pairing", pairing_json(report, rendition));
        head.add("distorted_stream", stream_json(own.colour, counts.own));
        head.add("reference_stream", stream_json(reference.colour, counts.reference));
    }
    if (format == QC_LOG_FORMAT_JSON) head.add("warnings", warnings_json(report.doubts, warnings_of_counts(report)));
    head.add("end", json_string(qcr_end_name(report.end)));
    head.add("reason", reason_json(report, rendition));
    head.add("engine", json_string(report.engine));
    head.add("distorted_format", json_string(own.format));
    head.add("reference_format", json_string(reference.format));
    head.add("corrupt_frame_numbers",
             corrupt_json(report.conditions, rendition, report.n_subsample, report.counts[0].paired));
    for (auto& [key, value] : origin_members(report)) head.add(key, std::move(value));
    if (rendition == 0 && report.renditions > 1) head.add("renditions", renditions_json(report));
    return head;
}

qc_status write_log(const qcr_report& report, const qcr_files& files, int rendition, bool complete) {
    const Head head = head_of(report, files.log_format, rendition);
    std::vector<qc_log_extra> extra;
    for (size_t i = 0; i < head.keys.size(); ++i) extra.push_back({head.keys[i].c_str(), head.values[i].c_str()});
    return qc_session_write_log(report.session, rendition, files.log[rendition], files.log_format, complete,
                                extra.data(), static_cast<int>(extra.size()));
}

} // namespace

std::string pairing_json(const qcr_report& report, int rendition) {
    const qcr_counts &counts = report.counts[rendition], &first = report.counts[0];
    const char* reference_ended = report.end == QCR_END_OF_STREAM ? truth(report.reference_ended != 0) : "null";
    std::string text = formatted(
        "{\"frames\": %lld, \"paired\": %lld, \"scored\": %lld, \"unscored\": %lld, \"before_reference\": %lld, "
        "\"after_reference\": %lld, \"gaps\": %lld, \"disabled\": %lld, \"untimed\": %lld, \"reference_repeated\": "
        "%lld, \"reference_unused\": %lld, \"reference_ended\": %s",
        wide(counts.frames), wide(counts.paired), wide(report.scored[rendition]),
        wide(qcr_unscored(&counts) + report.failed[rendition]), wide(counts.before), wide(counts.after),
        wide(counts.gaps), wide(counts.disabled), wide(counts.untimed), wide(first.repeated), wide(first.unused),
        reference_ended);
    if (report.is_realtime != 0) text += formatted(", \"realtime_passed\": %lld", wide(counts.passed));
    if (report.may_give_up != 0) text += formatted(", \"failed\": %lld", wide(report.failed[rendition]));
    if (rendition != 0)
        text += formatted(", \"rendition_late\": %lld, \"rendition_gaps\": %lld, \"rendition_ended\": %lld, "
                          "\"rendition_repeated\": %lld, \"rendition_unused\": %lld",
                          wide(counts.late), wide(counts.holes), wide(counts.ended), wide(counts.repeated),
                          wide(counts.unused));
    const qcr_report_input& other = report.input[1 + rendition]; // of the first one the reference: the time is main's
    if (other.delay != 0) text += ", \"start_correction\": " + json_number(other.delay);
    if (other.has_other_length != 0) text += ", \"other_length\": true";
    return text + ", \"max_abs_dt\": " + json_number(counts.max_abs_dt) +
           ", \"mean_dt\": " + json_number(qcr_mean_dt(&counts)) +
           ", \"frame_rate\": " + json_number(report.alignment_rules.frame_rate) +
           ", \"max_dt\": " + json_number(report.max_dt) + "}";
}

std::string reason_json(const qcr_report& report, int rendition) {
    const qcr_counts& counts = report.counts[rendition];
    const char* refusal = input_of(report, rendition).refusal;
    const int64_t missing = qcr_rendition_missing(&counts);
    if (report.end == QCR_END_BY_FAILURE) return json_string(report.reason);
    if (report.end == QCR_END_BY_SIGNAL) return json_string(std::string("the program got ") + report.signal);
    if (report.end == QCR_END_TAKEN_DOWN) return json_string(kTakenDown);
    if (report.end == QCR_END_NONE) return json_string("the run goes on");
    if (report.failed[rendition] != 0)
        return json_string(formatted("frames under way when the GPU failed:%lld (%s)", wide(report.failed[rendition]),
                                     report.gpu_failure));
    if (*refusal != '\0') return json_string(refusal);
    if (missing != 0)
        return json_string(
            formatted("the rendition lacks %lld of %lld frames", wide(missing), wide(missing + counts.paired)));
    return "null";
}

} // namespace qc::run

using namespace qc::run;

int qcr_is_complete(const qcr_report* report, int rendition) {
    return is_complete(report->end, report->counts[rendition], report->failed[rendition],
                       input_of(*report, rendition).refusal);
}

qc_status qcr_write_logs(const qcr_report* report, qcr_files* files, int is_over, const qcr_sink* sink) {
    qc_status first = QC_OK;
    // Each failure may leave the scores in a file of another name: once is enough before the end.
    if (files->log_failed != 0 && is_over == 0) return QC_ERROR_IO;
    if (is_over != 0 && report->session != nullptr) if_possible([&] { doubt_zeros(*report, *sink); });
    for (int k = 0; report->session != nullptr && k < report->renditions && files->log[k] != nullptr; ++k) {
        qc_status written = QC_OK;
        const qc_status told =
            guarded([&] { written = write_log(*report, *files, k, is_over != 0 && qcr_is_complete(report, k) != 0); });
        const qc_status status = told != QC_OK ? told : written;
        if_possible([&] {
            const std::string path = files->log[k];
            if (status == QC_OK) return say(*sink, QCR_LEVEL_VERBOSE, "log written to " + path);
            say(*sink, QCR_LEVEL_ERROR,
                "log " + path +
                    " could not be written: " + (told != QC_OK ? "out of memory" : qc_session_error(report->session)));
        });
        if (status == QC_OK) continue;
        files->log_failed = 1;
        if (first == QC_OK && report->is_alias == 0) first = status; // libvmaf's filter does not look
    }
    return first;
}

char* qcr_end_members(const qcr_report* report) {
    char* text = nullptr;
    if_possible([&] {
        bool complete = true;
        for (int k = 0; k < report->renditions; ++k) complete = complete && qcr_is_complete(report, k) != 0;
        std::string members = std::string("\"end\": \"") + qcr_end_name(report->end) +
                              "\", \"complete\": " + truth(complete) + ", \"reason\": " + reason_json(*report, 0) +
                              ", \"warnings\": " + warnings_json(report->doubts, warnings_of_counts(*report));
        for (const auto& [key, value] : origin_members(*report)) members += ", " + json_string(key) + ": " + value;
        if (report->renditions > 1) members += ", \"renditions\": " + renditions_json(*report);
        text = strdup(members.c_str());
    });
    return text;
}

void qcr_free_text(char* text) {
    std::free(text);
}
