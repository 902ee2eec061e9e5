// SPDX-License-Identifier: BSD-2-Clause-Patent
// What --start, --duration and --frames leave of a title: of each input the same time, by its own stamps.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ffmpeg/title.hpp"

namespace qc::cli {

namespace {

double seconds_of(const Clock& clock, int64_t ticks) {
    return static_cast<double>(ticks) * static_cast<double>(clock.num) / static_cast<double>(clock.den);
}

int64_t ticks_from(const Clock& clock, double seconds) {
    return static_cast<int64_t>(std::ceil(seconds * static_cast<double>(clock.den) / static_cast<double>(clock.num)));
}

/// Of the first distorted video; 0 where nothing tells.
double frame_length(const Input& main) {
    if (main.pts.size() > 1)
        return seconds_of(main.clock, main.pts.back() - main.pts.front()) / static_cast<double>(main.pts.size() - 1);
    return main.frame_rate > 0 ? 1 / main.frame_rate : 0;
}

/// Seconds on the first distorted video's clock. What is nearer than half a frame belongs to it: stamps are rounded.
struct Limits {
    double start = -1, end = -1; ///< below 0: none
    int64_t end_frame = 0;       ///< counted from the first one on; 0: none
};

Limits limits_of(const Wish& wish, const Input& main, double frame) {
    Limits limits;
    if (wish.start > 0) limits.start = wish.start - frame / 2;
    if (wish.duration > 0) limits.end = wish.start + wish.duration - frame / 2;
    if (wish.frames <= 0) return limits;
    if (!main.pts.empty()) {
        const auto first = std::lower_bound(main.pts.begin(), main.pts.end(),
                                            limits.start > 0 ? ticks_from(main.clock, limits.start) : main.pts.front());
        if (main.pts.end() - first <= wish.frames) return limits;
        const double end = seconds_of(main.clock, first[wish.frames]) - frame / 2;
        limits.end = limits.end < 0 ? end : std::min(limits.end, end);
    } else if (frame > 0) {
        const double end = wish.start + (static_cast<double>(wish.frames) - 0.5) * frame;
        limits.end = limits.end < 0 ? end : std::min(limits.end, end);
    } else {
        limits.end_frame = wish.frames;
    }
    return limits;
}

/// By how much an input's clock is moved: videos that begin less than a frame apart begin together.
double shift_of(const Input& main, const Input& input, double frame) {
    if (main.pts.empty() || input.pts.empty()) return 0;
    const double shift = seconds_of(input.clock, input.pts.front()) - seconds_of(main.clock, main.pts.front());
    return std::fabs(shift) < frame ? shift : 0;
}

std::string text_of(double seconds) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.6f", seconds);
    return text;
}

/// One key frame more than is needed: what a decoder shows from the first one on may not be whole yet.
double seek_before(const Input& input, int64_t start) {
    auto key = std::upper_bound(input.key_frames.begin(), input.key_frames.end(), start,
                                [](int64_t pts, const KeyFrame& each) { return pts < each.pts; });
    for (int back = 0; back < 2; ++back)
        if (key == input.key_frames.begin() || --key == input.key_frames.begin()) return -1;
    return key->seek_time > 0 ? key->seek_time : -1;
}

Window window_by_stamps(const Limits& limits, double shift, Input* input) {
    Window window;
    std::vector<int64_t>& pts = input->pts;
    if (limits.end >= 0) {
        const int64_t end = ticks_from(input->clock, limits.end + shift);
        window.end = "end_pts=" + std::to_string(end);
        pts.erase(std::lower_bound(pts.begin(), pts.end(), end), pts.end());
    }
    if (limits.start >= 0) {
        const int64_t start = ticks_from(input->clock, limits.start + shift);
        window.start = "start_pts=" + std::to_string(start);
        window.seek = seek_before(*input, start);
        pts.erase(pts.begin(), std::lower_bound(pts.begin(), pts.end(), start));
    }
    return window;
}

Window window_by_time(const Limits& limits) {
    Window window;
    if (limits.start >= 0) window.start = "start=" + text_of(limits.start);
    if (limits.end >= 0)
        window.end = "end=" + text_of(limits.end);
    else if (limits.end_frame > 0)
        window.end = "end_frame=" + std::to_string(limits.end_frame);
    return window;
}

} // namespace

void cut(std::vector<Input>* inputs, Title* title) {
    title->windows.assign(inputs->size(), {});
    if (!title->wish.is_cut()) return;
    const Input& main = inputs->front();
    const double frame = frame_length(main);
    const Limits limits = limits_of(title->wish, main, frame);
    std::vector<double> shifts;
    for (const Input& each : *inputs) shifts.push_back(shift_of(main, each, frame));
    for (size_t i = 0; i < inputs->size(); ++i) {
        Input& input = (*inputs)[i];
        title->windows[i] = input.pts.empty() ? window_by_time(limits) : window_by_stamps(limits, shifts[i], &input);
    }
}

} // namespace qc::cli
