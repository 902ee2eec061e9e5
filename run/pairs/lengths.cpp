// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/pairs/lengths.hpp"

#include <algorithm>
#include <cmath>

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

/// As -r takes it: those of NTSC are fractions.
std::string rate_text(double rate) {
    const double whole = std::round(rate), times = std::round(rate * 1001 / 1000);
    constexpr double kNear = 2e-4;
    if (std::fabs(rate - whole) < kNear * rate) return brief_number(whole);
    if (std::fabs(rate - times * 1000 / 1001) < kNear * rate) return brief_number(times * 1000) + "/1001";
    return number(rate, 3);
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

std::string lengths_sentence(const Input& distorted, const Input& other) {
    const double frame = frame_of(distorted), of_other = frame_of(other);
    const auto count = static_cast<double>(distorted.frames());
    return formatted(
        "%s and %s have %lld frames each, but last %s s (%s frames/s) and %s s (%s frames/s): one of them has "
        "the wrong frame rate, and frames are compared that do not belong together; give both the same rate "
        "(-r %s before the -i of %s), or pair by number (sync=index)",
        distorted.name.c_str(), other.name.c_str(), wide(distorted.frames()), number(frame * count, 3).c_str(),
        rate_text(1 / frame).c_str(), number(of_other * count, 3).c_str(), rate_text(1 / of_other).c_str(),
        rate_text(1 / of_other).c_str(), distorted.name.c_str());
}

} // namespace qc::run
