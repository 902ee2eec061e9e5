// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/pairs/delay.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

#include "run/pairs/pairing.hpp"

namespace qc::run {

namespace {

/// Fewer timestamps show no grid.
constexpr size_t kFewest = 3;

/// A frame may be shorter than the delay of sound. MP3 has the longest that is usual, 1105 samples at 44.1 kHz.
constexpr double kLongestOfSound = 1105 / 44100.0;

/// Timestamps are rounded: so much of a tick is the mean of some of them off, at most.
constexpr double kMeanRounding = 0.75;

double tick_of(const qcr_clock& clock) {
    return clock.num / static_cast<double>(clock.den);
}

bool are_in_order(std::span<const int64_t> stamps) {
    return std::ranges::find(stamps, QCR_NO_PTS) == stamps.end() &&
           std::ranges::adjacent_find(stamps, std::greater_equal<>()) == stamps.end();
}

/// Of the frames of an input, in seconds.
double mean_distance(std::span<const int64_t> stamps, const qcr_clock& clock) {
    return static_cast<double>(stamps.back() - stamps.front()) * tick_of(clock) /
           static_cast<double>(stamps.size() - 1);
}

/// So far apart that the nearest frame is the wrong one, or may be, and not further than what is mended.
bool is_delay(double apart, double frame, double slack) {
    return std::fabs(apart) > frame / 2 - slack && std::fabs(apart) < std::max(frame, kLongestOfSound) + slack;
}

} // namespace

bool may_be_delayed(std::span<const int64_t> main, const qcr_clock& main_clock, int64_t other,
                    const qcr_clock& other_clock) {
    if (main.size() < kFewest || other == QCR_NO_PTS || !are_in_order(main)) return false;
    return is_delay(distance(main_clock, main.front(), other_clock, other), mean_distance(main, main_clock),
                    tick_of(main_clock) + tick_of(other_clock));
}

double delay_of(std::span<const int64_t> main, const qcr_clock& main_clock, std::span<const int64_t> other,
                const qcr_clock& other_clock) {
    const size_t count = std::min(main.size(), other.size());
    main = main.first(count);
    other = other.first(count);
    if (count < kFewest || !are_in_order(main) || !are_in_order(other)) return 0;
    const double slack = tick_of(main_clock) + tick_of(other_clock);
    const double first = distance(main_clock, main.front(), other_clock, other.front());
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
        const double apart = distance(main_clock, main[i], other_clock, other[i]);
        if (std::fabs(apart - first) > slack) return 0; // they don't keep step
        sum += apart;
    }
    const double delay = sum / static_cast<double>(count), frame = mean_distance(main, main_clock);
    const double off_grid = std::fabs(delay - std::round(delay / frame) * frame);
    const double tick = std::max(tick_of(main_clock), tick_of(other_clock));
    return is_delay(delay, frame, slack) && off_grid > kMeanRounding * tick ? delay : 0;
}

bool is_ambiguous_delay(double apart, double frame, double rounding) {
    constexpr double kUsual[] = {1024 / 48000.0, 1024 / 44100.0, 1152 / 48000.0, kLongestOfSound};
    constexpr double kCoarsest = 1e-3; // a coarser clock has frames for ticks, and tells nothing
    const auto is_near = [&](double length) {
        return std::fabs(std::fabs(apart) - length) <= std::min(rounding, kCoarsest);
    };
    return is_near(frame) && std::ranges::any_of(kUsual, is_near);
}

} // namespace qc::run
