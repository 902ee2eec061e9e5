// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/account/verdict.hpp"

#include <cstdio>
#include <iterator>
#include <string>

#include "run/account/names.hpp"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace qc::run {

bool is_complete(qcr_end end, const qcr_counts& counts, int64_t failed, const char* refusal) {
    return (end == QCR_END_OF_STREAM || end == QCR_END_BY_CONSUMER) && qcr_rendition_missing(&counts) == 0 &&
           failed == 0 && *refusal == '\0';
}

} // namespace qc::run

using namespace qc::run;

qcr_end qcr_end_of(int has_failed, int is_interrupted, int is_done, int is_awaited) {
    if (has_failed != 0) return QCR_END_BY_FAILURE;
    if (is_interrupted != 0) return QCR_END_BY_SIGNAL;
    if (is_done != 0) return QCR_END_OF_STREAM;
    return is_awaited != 0 ? QCR_END_TAKEN_DOWN : QCR_END_BY_CONSUMER;
}

const char* qcr_end_name(qcr_end end) {
    // The first one is of a log that is written in mid of the run.
    static constexpr const char* kNames[] = {"stopped early", "end of stream", "stopped early",
                                             "interrupted",   "stopped early", "failure"};
    return kNames[end];
}

void qcr_tell_change(const qcr_names* names, int input, const qcr_shape* from, const qcr_shape* to, double time,
                     char why[QCR_REFUSAL]) {
    why[0] = '\0';
    if_possible([&] {
        std::snprintf(
            why, QCR_REFUSAL,
            "%s changed from %dx%d %s to %dx%d %s at %s s; to score such a stream put -reinit_filter 0 before "
            "the input and scale=%d:%d,format=%s before quality_cuda",
            input_name(*names, input).c_str(), from->width, from->height, from->format, to->width, to->height,
            to->format, number(time, 3).c_str(), from->width, from->height, from->format);
    });
}

void qcr_say_no_further(const char* why, const qcr_sink* sink) {
    if_possible([&] {
        say(*sink, QCR_LEVEL_ERROR, std::string(why) + "; this rendition is scored no further, the others go on");
    });
}

int qcr_refuse_pairs(const qcr_counts* counts, int rendition, double tolerance, char why[QCR_REFUSAL]) {
    if (qcr_pairs_too_few(counts) == 0) return 0;
    why[0] = '\0';
    if_possible([&] {
        const std::string whose = rendition != 0 ? formatted(" of rendition %d", rendition) : "";
        std::snprintf(why, QCR_REFUSAL,
                      "only %lld of %lld frames%s found a partner within max_dt, %s s, while both inputs ran; set "
                      "max_dt, align=start or sync=index to what fits the inputs, or allow_unpaired=1 to accept it",
                      wide(counts->paired), wide(counts->paired + qcr_partnerless(counts)), whose.c_str(),
                      score_text(tolerance).c_str());
    });
    return 1;
}

int qcr_refuse_nothing(const qcr_counts* counts, qcr_end end, const int64_t received[2], char why[QCR_REFUSAL]) {
    const bool ended = end == QCR_END_OF_STREAM;
    if (counts->paired != 0 || !(ended || end == QCR_END_BY_CONSUMER)) return 0;
    if (counts->frames <= counts->disabled && !(ended && counts->frames == 0)) return 0;
    const char* reason = received[0] == 0   ? "the distorted input has no frames"
                         : received[1] == 0 ? "the reference has no frames"
                                            : "the time stamps never overlap; use align=start, setpts=PTS-STARTPTS or "
                                              "sync=index";
    std::snprintf(why, QCR_REFUSAL, "no frame was scored: %s, or allow_unpaired=1 to accept it", reason);
    return 1;
}
