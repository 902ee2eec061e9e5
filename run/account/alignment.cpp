// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/account/alignment.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "quality_cuda_run/conditions.h"
#include "run/account/names.hpp"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace qc::run {

namespace {

constexpr int kTimeDecimals = 3, kRateDecimals = 4;

/// Time of a pair's distorted frame, NaN if it is too long ago.
double time_of(const qcr_alignment& alignment, int64_t row) {
    if (row == 0 && alignment.noted != 0) return alignment.first_time;
    if (row < alignment.noted && row >= alignment.noted - QCR_NOTED_TIMES) return alignment.time[row % QCR_NOTED_TIMES];
    return std::numeric_limits<double>::quiet_NaN();
}

// ---- pieces of sentences

/// A finding of a rendition, and what its sentence depends on.
struct Case {
    const qcr_alignment_rules& rules;
    int rendition;
    const qc_finding& finding;
    double time;

    bool is_ladder() const { return rules.renditions > 1; }
    int own_input() const { return qcr_input_of(rendition); }
    std::string own_name() const { return input_in_text(*rules.names, own_input()); }
};

const char* plural(int64_t count) {
    return count == 1 ? "" : "s";
}

/// "the distorted video", or the rendition of a ladder.
std::string subject(int rendition) {
    return rendition != 0 ? formatted("rendition %d", rendition) : "the distorted video";
}

/// "4.000 s (frame 100)"
std::string place(const Case& of) {
    const std::string frame = formatted("frame %lld", wide(of.finding.frame));
    return std::isnan(of.time) ? frame : number(of.time, kTimeDecimals) + " s (" + frame + ")";
}

const char* behind_or_ahead(int offset) {
    return offset > 0 ? "behind" : "ahead of";
}

/// The input that is moved: the distorted video's time is the output's, so the reference is, unless it is the others'
/// too.
int moved_input(const qcr_alignment_rules& rules, int rendition) {
    return rules.renditions > 1 ? qcr_input_of(rendition) : QCR_REFERENCE;
}

/// The filter that corrects an offset, and its place.
std::string shift(const Case& of) {
    const int offset = of.finding.offset;
    const int trimmed = offset < 0 ? QCR_REFERENCE : of.own_input();
    const int frames = of.is_ladder() ? -offset : offset;
    const std::string moved = input_in_text(*of.rules.names, moved_input(of.rules, of.rendition));
    if (of.rules.by_index != 0)
        return formatted("trim=start_frame=%d before ", std::abs(offset)) + input_in_text(*of.rules.names, trimmed);
    if (!(of.rules.frame_rate > 0)) return "setpts before " + moved;
    return std::string("setpts=PTS") + (frames > 0 ? "+" : "-") + score_text(std::abs(frames) / of.rules.frame_rate) +
           "/TB before " + moved;
}

/// A ratio of frame rates that are in use, where the measured one is near; otherwise that one.
double usual_rate(double measured) {
    constexpr double kRates[] = {24, 25, 30, 50, 60}, kNear = 0.004;
    double nearest = measured, distance = kNear * measured;
    for (const double above : kRates) {
        for (const double below : kRates) {
            const double rate = above / below;
            if (rate == 1 || std::fabs(rate - measured) >= distance) continue;
            nearest = rate;
            distance = std::fabs(rate - measured);
        }
    }
    return nearest;
}

// ---- sentences

std::string offset_sentence(const Case& of) {
    const int offset = of.finding.offset;
    return subject(of.rendition) +
           formatted(" is %d frame%s %s the reference from its start on: each frame is compared with another one; if "
                     "that is not meant, put ",
                     std::abs(offset), plural(std::abs(offset)), behind_or_ahead(offset)) +
           shift(of) + (of.rules.is_auto != 0 ? "" : ", or use align=auto");
}

/// Cuts off what the longer video shows before: it begins with the other one then. Of a ladder, one rendition is moved.
std::string cut(const Case& of, double seconds) {
    if (of.is_ladder() || !(seconds > 0)) return shift(of);
    const std::string start = score_text(seconds);
    return "trim=start=" + start + ",setpts=PTS-" + start + "/TB before " +
           input_in_text(*of.rules.names, of.finding.offset < 0 ? QCR_REFERENCE : of.own_input());
}

std::string segment_sentence(const Case& of) {
    const int offset = of.finding.offset;
    const double seconds =
        of.rules.by_index != 0 || !(of.rules.frame_rate > 0) ? 0 : std::abs(offset) / of.rules.frame_rate;
    const std::string where = formatted("from frame %d", std::abs(offset)) +
                              (seconds > 0 ? " (" + number(seconds, kTimeDecimals) + " s)" : "");
    return (offset < 0 ? subject(of.rendition) + " shows what the reference does " + where + " on"
                       : "the reference shows what " + subject(of.rendition) + " does " + where + " on") +
           ", so each frame is compared with another one: put " + cut(of, seconds);
}

std::string step_sentence(const Case& of) {
    const int offset = of.finding.offset, more = offset - of.finding.former_offset;
    std::string text =
        "from " + place(of) + " on " + subject(of.rendition) +
        formatted(" has %d frame%s too %s, and is %d %s the reference; make it without dropping or repeating frames "
                  "(-fps_mode passthrough)",
                  std::abs(more), plural(std::abs(more)), more > 0 ? "many" : "few", std::abs(offset),
                  offset == 0 ? "apart from" : behind_or_ahead(offset));
    if (offset == 0 || std::isnan(of.time) || of.rules.by_index != 0) return text;
    return text + ", or compare that part on its own: trim=start=" + score_text(of.time) + " before " + of.own_name() +
           ", and " + shift(of);
}

std::string rate_sentence(const Case& of) {
    const std::string text = subject(of.rendition) + " runs at another rate than the reference: from " + place(of) +
                             " on one of its frames takes " + number(of.finding.rate, kRateDecimals) +
                             " of the reference's; give both inputs the rate of their pictures (-r or -framerate "
                             "before -i)";
    if (of.rules.by_index != 0) return text + " and pair by time (sync=nearest)";
    return text + ", or put setpts=PTS" + (of.is_ladder() ? "*" : "/") + score_text(usual_rate(of.finding.rate)) +
           " before " + input_in_text(*of.rules.names, moved_input(of.rules, of.rendition));
}

std::string repeats_sentence(const Case& of) {
    return subject(of.rendition) + " repeats pictures while the reference moves, first at " + place(of) +
           ": such frames are scored as they are; make it without repeating frames (-fps_mode passthrough), or put "
           "mpdecimate before " +
           of.own_name() + ", which takes most of them out";
}

std::string frozen_end_sentence(const Case& of) {
    std::string text =
        subject(of.rendition) +
        formatted(" ends with %lld repeated picture%s, from ", wide(of.finding.count), plural(of.finding.count)) +
        place(of) + " on, while the reference moves: these frames are scored as they are";
    if (std::isnan(of.time)) return text;
    return text + "; put trim=end=" + score_text(of.time) + " before " + of.own_name() + " to leave them out";
}

constexpr double kWhite = 255.0; ///< of 8 bits

/// Where tags had the range converted and the pictures contradict it, the tags are wrong.
std::string range_remedy(const Case& of) {
    if (qcr_converts_range(of.rules.conditions, of.rendition) != 0)
        return "its tags were believed, and seem to be wrong: range=ignore leaves the samples as they are";
    return std::string("put ") +
           (of.finding.is_full != 0 ? "scale=in_range=full:out_range=limited"
                                    : "scale=in_range=limited:out_range=full") +
           " before " + of.own_name();
}

std::string range_sentence(const Case& of) {
    const qc_finding& range = of.finding;
    const bool is_full = range.is_full != 0;
    return subject(of.rendition) +
           (is_full ? " has full range and the reference limited" : " has limited range and the reference full") +
           " range, by what the pictures show: its luma is " + number(range.level, 1) + " + " + number(range.gain, 3) +
           " times the reference's, an error of " + number(range.error, 1) +
           " codes in 255, by which alone PSNR cannot pass " + number(20.0 * std::log10(kWhite / range.error), 1) +
           " dB; " + range_remedy(of);
}

std::string apart_sentence(const Case& of) {
    return subject(of.rendition) + " and the reference show nothing in common from " + place(of) +
           " on, with any offset of up to 30 frames (correlation " + number(of.finding.correlation, 2) +
           "): the scores compare different pictures; check what the inputs are and where they begin, and name their "
           "streams: [0:v:0][1:v:0]quality_cuda takes the first file's for the distorted video, the second's for the "
           "reference";
}

std::string turned_sentence(const Case& of) {
    static constexpr struct {
        const char *what, *remedy;
    } kTurns[] = {{"turned", "rotate"},
                  {"mirrored, left for right", "hflip"},
                  {"upside down, above for below", "vflip"},
                  {"turned by 180 degrees", "hflip,vflip"},
                  {"turned by 90 degrees and mirrored", "transpose=0"},
                  {"turned by 90 degrees counterclockwise", "transpose=1"},
                  {"turned by 90 degrees clockwise", "transpose=2"},
                  {"turned by 90 degrees and mirrored", "transpose=3"}};
    const auto& turn = kTurns[of.finding.turn > 0 && of.finding.turn < std::ssize(kTurns) ? of.finding.turn : 0];
    return subject(of.rendition) + " shows the reference's pictures " + turn.what + ", from " + place(of) +
           " on; put " + turn.remedy + " before " + of.own_name();
}

/// What a line begins with.
const char* topic(const qc_finding& finding) {
    if (finding.kind == QC_FINDING_RANGE) return "range: ";
    return finding.kind == QC_FINDING_APART || finding.kind == QC_FINDING_TURNED ? "contents: " : "alignment: ";
}

/// Where bars differ, pictures look apart that are not.
bool is_explained(const qcr_alignment_rules& rules, int rendition, const qc_finding& finding) {
    return finding.kind == QC_FINDING_APART && qcr_bars_differ(rules.bars, qcr_input_of(rendition)) != 0;
}

/// It is not known yet.
bool may_be_explained(const qcr_alignment_rules& rules, const qc_finding& finding) {
    return finding.kind == QC_FINDING_APART && qcr_bars_are_open(rules.bars) != 0;
}

/// What tells of frames that do not count is no finding: a consumer that had enough did not get them.
bool counts(const qc_finding& finding, int64_t rows_left, bool is_ended) {
    return finding.frame < rows_left && (finding.kind != QC_FINDING_FROZEN_END || is_ended);
}

// ---- beginnings

/// What is moved, which is as shift() has it.
std::string correction(const qcr_alignment_rules& rules, int rendition, const qcr_start& start) {
    const bool is_later = (rules.renditions == 1) == (start.offset > 0);
    if (rules.by_index != 0)
        return formatted("its frame %d meets the reference's frame %d", std::max(start.offset, 0),
                         std::max(-start.offset, 0));
    return input_in_text(*rules.names, moved_input(rules, rendition)) + " counts as " +
           score_text(std::fabs(start.seconds)) + " s " + (is_later ? "later" : "earlier");
}

std::string start_sentence(const qcr_alignment_rules& rules, int rendition, const qcr_start& start) {
    const std::string who = subject(rendition);
    if (start.is_told == 0)
        return who + formatted(": its first %d pairs do not tell beyond doubt which offset it has from the reference, "
                               "nothing is moved",
                               rules.start_pairs);
    if (start.offset == 0) return who + " begins with the reference, nothing is moved";
    return who + formatted(" is %d frame%s ", std::abs(start.offset), plural(std::abs(start.offset))) +
           (std::isnan(start.seconds) ? "" : "(" + score_text(std::fabs(start.seconds)) + " s) ") +
           behind_or_ahead(start.offset) + " the reference from its start on: " + correction(rules, rendition, start);
}

// ---- log

/// What turns the pictures back.
const char* turn_name(qc_turn turn) {
    static constexpr const char* kNames[] = {"none",      "mirror",           "flip",      "half", "transpose",
                                             "clockwise", "counterclockwise", "transverse"};
    return kNames[turn > 0 && turn < std::ssize(kNames) ? turn : 0];
}

std::string finding_json(const qc_finding& finding, double time) {
    static constexpr const char* kKinds[] = {"",           "offset", "step",  "rate",   "repeats",
                                             "frozen_end", "range",  "apart", "turned", "segment"};
    const size_t kind = finding.kind > 0 && static_cast<size_t>(finding.kind) < std::size(kKinds) ? finding.kind : 0;
    std::string text = formatted("{\"kind\": \"%s\", \"frame\": %lld, \"time\": ", kKinds[kind], wide(finding.frame)) +
                       json_number(time);
    if (kind == QC_FINDING_OFFSET || kind == QC_FINDING_STEP || kind == QC_FINDING_SEGMENT)
        text += formatted(", \"offset\": %d", finding.offset);
    if (kind == QC_FINDING_STEP) text += formatted(", \"former_offset\": %d", finding.former_offset);
    if (kind == QC_FINDING_RATE) text += ", \"rate\": " + json_number(finding.rate);
    if (kind == QC_FINDING_REPEATS || kind == QC_FINDING_FROZEN_END)
        text += formatted(", \"count\": %lld", wide(finding.count));
    if (kind == QC_FINDING_RANGE)
        text += std::string(finding.is_full != 0 ? ", \"distorted\": \"pc\", \"reference\": \"tv\""
                                                 : ", \"distorted\": \"tv\", \"reference\": \"pc\"") +
                ", \"gain\": " + json_number(finding.gain) + ", \"level\": " + json_number(finding.level) +
                ", \"error\": " + json_number(finding.error);
    if (kind == QC_FINDING_TURNED) text += formatted(", \"turn\": \"%s\"", turn_name(finding.turn));
    if (kind == QC_FINDING_APART || kind == QC_FINDING_TURNED)
        text += ", \"correlation\": " + json_number(finding.correlation);
    return text + "}";
}

std::string ranges_json(const qcr_start& start) {
    static constexpr const char* kRanges[] = {"same", "limited", "full"};
    return formatted("\"ranges\": \"%s\", ", kRanges[start.ranges]);
}

std::string start_json(const qcr_start& start, int pairs) {
    return formatted("\"auto\": {\"pairs\": %d, \"offset\": ", pairs) +
           (start.is_told != 0 ? std::to_string(start.offset) : "null") +
           ", \"seconds\": " + json_number(start.seconds) + "}, ";
}

} // namespace

std::string finding_sentence(const qcr_alignment_rules& rules, int rendition, const qc_finding& finding, double time) {
    const Case of{rules, rendition, finding, time};
    switch (static_cast<int>(finding.kind)) {
    case QC_FINDING_OFFSET:
        return offset_sentence(of);
    case QC_FINDING_STEP:
        return step_sentence(of);
    case QC_FINDING_SEGMENT:
        return segment_sentence(of);
    case QC_FINDING_RATE:
        return rate_sentence(of);
    case QC_FINDING_REPEATS:
        return repeats_sentence(of);
    case QC_FINDING_FROZEN_END:
        return frozen_end_sentence(of);
    case QC_FINDING_RANGE:
        return range_sentence(of);
    case QC_FINDING_APART:
        return apart_sentence(of);
    case QC_FINDING_TURNED:
        return turned_sentence(of);
    default:
        return "";
    }
}

std::string alignment_json(const qcr_alignment& alignment, const qcr_alignment_rules& rules, const qc_session* session,
                           int rendition) {
    std::string text = "{";
    if (rules.is_auto != 0) text += start_json(alignment.start[rendition], rules.start_pairs);
    if (alignment.start[rendition].is_range_told != 0) text += ranges_json(alignment.start[rendition]);
    text += formatted("\"watched\": %lld, \"findings\": [", wide(qc_session_watched_frames(session, rendition)));
    qc_finding finding;
    const char* comma = "";
    for (int i = 0; i < alignment.said[rendition] && qc_session_finding(session, rendition, i, &finding) == QC_OK;
         ++i) {
        if (is_explained(rules, rendition, finding)) continue;
        text += comma + finding_json(finding, alignment.said_time[rendition][i]);
        comma = ", ";
    }
    return text + "]}";
}

} // namespace qc::run

// ---- C interface

using namespace qc::run;

void qcr_note_pair(qcr_alignment* alignment, int64_t row, double time) {
    if (row == 0) alignment->first_time = time;
    alignment->time[row % QCR_NOTED_TIMES] = time;
    alignment->noted = row + 1;
}

void qcr_say_start(const qcr_alignment* alignment, const qcr_alignment_rules* rules, int rendition,
                   const qcr_sink* sink) {
    if_possible([&] {
        say(*sink, QCR_LEVEL_INFO, "align=auto: " + start_sentence(*rules, rendition, alignment->start[rendition]));
    });
}

void qcr_say_findings(qcr_alignment* alignment, const qcr_alignment_rules* rules, const qc_session* session,
                      int64_t rows_left, int is_ended, const qcr_sink* sink) {
    qc_finding finding;
    qcr_bars_say(rules->bars, rules->names, rules->scales, rules->is_over, sink);
    for (int k = 0; session != nullptr && k < rules->renditions; ++k) {
        int* said = &alignment->said[k];
        while (*said < QCR_MOST_FINDINGS && qc_session_finding(session, k, *said, &finding) == QC_OK &&
               counts(finding, rows_left, is_ended != 0) && !may_be_explained(*rules, finding)) {
            const double time = time_of(*alignment, finding.frame);
            if_possible([&] {
                const std::string text = finding_sentence(*rules, k, finding, time);
                if (!text.empty() && !is_explained(*rules, k, finding))
                    say(*sink, QCR_LEVEL_WARNING, topic(finding) + text);
            });
            alignment->said_time[k][(*said)++] = time;
        }
    }
}
