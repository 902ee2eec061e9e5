// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/pairs/lengths.hpp"

#include <algorithm>
#include <cmath>

#include "run/pairs/delay.hpp"
#include "run/text/text.hpp"

namespace qc::run {

namespace {

/// Fewer may be as many by chance.
constexpr int64_t kFewestFrames = 10;

/// Rates that differ by less come to the same count within what is read anyway.
constexpr double kSameRate = 0.005;

double tick_of(const Input& in) {
    return in.track.clock.num / static_cast<double>(in.track.clock.den);
}

/// From the first frame to the last, as far as the input was read.
double span_of(const Input& in) {
    return in.seconds(in.last_pts) - in.seconds(in.first_pts);
}

bool is_timed(const Input& in) {
    return in.first_pts != QCR_NO_PTS && in.last_pts != QCR_NO_PTS && in.jumps == 0 && span_of(in) > 0;
}

/// Seconds of a frame; the input is timed and has two at least.
double frame_of(const Input& in) {
    return span_of(in) / static_cast<double>(in.frames() - 1);
}

/// Numerator and denominator, 1 where there is none: rates of NTSC are fractions.
struct Rate {
    double frames, of_seconds;
};

Rate rate_of(double measured) {
    const double whole = std::round(measured), times = std::round(measured * 1001 / 1000);
    constexpr double kNear = 2e-4;
    if (std::fabs(measured - whole) < kNear * measured) return {whole, 1};
    if (std::fabs(measured - times * 1000 / 1001) < kNear * measured) return {times * 1000, 1001};
    return {measured, 1};
}

std::string rate_text(double measured) {
    const Rate rate = rate_of(measured);
    return brief_number(rate.frames) + (rate.of_seconds > 1 ? "/" + brief_number(rate.of_seconds) : "");
}

/// The filters that give an input a rate. Its own clock may be too coarse for that: -r makes it one of whole frames.
std::string filter_of(double measured) {
    const Rate rate = rate_of(measured);
    return "settb=1/120000,setpts=N" + (rate.of_seconds > 1 ? "*" + brief_number(rate.of_seconds) : "") + "/" +
           brief_number(rate.frames) + "/TB";
}

} // namespace

int64_t frames_to_compare(const Input& distorted, const Input& other) {
    if (distorted.received < kFewestFrames || other.received < 2 || !is_timed(distorted) || !is_timed(other)) return 0;
    if (std::fabs(frame_of(other) / frame_of(distorted) - 1) < kSameRate) return 0;
    return distorted.received - other.received + 1;
}

bool have_other_lengths(const Input& distorted, const Input& other) {
    if (!distorted.track.ended || !other.track.ended || distorted.frames() != other.frames()) return false;
    if (distorted.frames() < kFewestFrames || !is_timed(distorted) || !is_timed(other)) return false;
    const double shorter = std::min(frame_of(distorted), frame_of(other));
    return std::fabs(span_of(distorted) - span_of(other)) >
           std::max(shorter / 2, 2 * std::max(tick_of(distorted), tick_of(other)));
}

std::string lengths_sentence(const Input& distorted, const Input& other, int index) {
    const double frame = frame_of(distorted), of_other = frame_of(other);
    const auto count = static_cast<double>(distorted.frames());
    // The reference's rate is believed, and of further renditions the first one's.
    const bool is_reference = index == 1;
    return formatted(
        "%s and %s have %lld frames each, but last %s s (%s frames/s) and %s s (%s frames/s): one of them has "
        "the wrong frame rate, and frames are compared that do not belong together; put %s before input %d "
        "(%s), or use sync=index",
        distorted.name.c_str(), other.name.c_str(), wide(distorted.frames()), number(frame * count, 3).c_str(),
        rate_text(1 / frame).c_str(), number(of_other * count, 3).c_str(), rate_text(1 / of_other).c_str(),
        filter_of(1 / (is_reference ? of_other : frame)).c_str(), is_reference ? 0 : index,
        (is_reference ? distorted : other).name.c_str());
}

bool begins_a_frame_apart(const Input& distorted, const Input& other) {
    if (!distorted.track.ended || !other.track.ended || distorted.frames() != other.frames() || other.delay != 0)
        return false;
    if (distorted.frames() < kFewestFrames || !is_timed(distorted) || !is_timed(other)) return false;
    if (std::fabs(frame_of(other) / frame_of(distorted) - 1) >= kSameRate) return false;
    return is_ambiguous_delay(other.seconds(other.first_pts) - distorted.seconds(distorted.first_pts),
                              frame_of(distorted), std::max(tick_of(distorted), tick_of(other)));
}

std::string apart_sentence(const Input& distorted, const Input& other, int index) {
    const double apart = distorted.seconds(distorted.first_pts) - other.seconds(other.first_pts);
    return formatted(
        "main begins %s s %s than input %d (%s), a frame, and both have %lld frames: that is the delay of a "
        "container that has sound, most likely, and each frame is compared with its neighbour; use "
        "align=start",
        number(std::fabs(apart), 6).c_str(), apart > 0 ? "later" : "earlier", index, other.name.c_str(),
        wide(distorted.frames()));
}

int64_t number_behind(const qcr_decision& last, const Input& in, int index, double rate, int64_t pts) {
    constexpr double kOffGrid = 0.3; ///< of a frame; further away lies one that would be in no pair
    if (last.kind != QCR_PAIR || last.input[index].pts == QCR_NO_PTS || pts == QCR_NO_PTS || in.jumps != 0) return -1;
    const double frames = (in.seconds(pts) - in.seconds(last.input[index].pts)) * rate, whole = std::round(frames);
    return whole < 1 || std::fabs(frames - whole) > kOffGrid ? -1 : last.row + static_cast<int64_t>(whole);
}

} // namespace qc::run
