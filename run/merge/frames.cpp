// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/merge/frames.hpp"

namespace qc::run {

Frames::Frames(const Records& records) {
    inputs_.reserve(records.inputs);
    for (size_t i = 0; i < records.inputs; ++i) inputs_.push_back({.reader = FrameReader(records, i)});
}

qcr_recorded_frame* Frames::keep(const qcr_recorded_frame& frame) {
    if (spare_.empty()) return &all_.emplace_back(frame);
    qcr_recorded_frame* const place = spare_.back();
    spare_.pop_back();
    *place = frame;
    return place;
}

const qcr_recorded_frame* Frames::peek(size_t input, size_t others) {
    Input& in = inputs_[input];
    while (in.waiting.size() <= others && !in.has_ended) {
        const Arrival arrival = in.reader.next();
        in.has_ended = arrival.is_end;
        if (!arrival.is_end) in.waiting.push_back(keep(arrival.frame));
    }
    return others < in.waiting.size() ? in.waiting[others] : nullptr;
}

qcr_recorded_frame* Frames::take(size_t input) {
    Input& in = inputs_[input];
    qcr_recorded_frame* const frame = in.waiting.front();
    in.waiting.pop_front();
    if (frame->packet_bytes <= 0) in.packet_bytes = -1;
    if (in.packet_bytes >= 0) in.packet_bytes += frame->packet_bytes;
    return frame;
}

} // namespace qc::run
