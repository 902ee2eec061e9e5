// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/history.hpp"

#include <algorithm>

#include "api/picture.hpp"
#include "cuda/carver.hpp"

namespace qc::cuda {

History::History(const BackendSetup& setup) : setup_(setup) {
    for (int input = 0; input < setup_.inputs(); ++input)
        if (depth_of(input) > 0) add_ring(input, 0);
    for (int plane = 1; plane < 3 && setup_.chroma_history; ++plane) add_ring(0, plane);
    was_present_.resize(sources_.size());
}

/// Describes the ring of one plane of an input; its memory comes later.
void History::add_ring(int input, int plane) {
    const FrameGeometry& geometry = setup_.geometry;
    const qc_format& format = setup_.format_of(input);
    Source source{input, plane};
    if (!setup_.needs_conversion(input)) {
        source.step = static_cast<uint16_t>(plane_source(format, plane).step);
        source.shift = static_cast<uint16_t>(format.shift);
    }
    HistoryRing& ring = rings_.ring[rings_.count++];
    ring.depth = depth_of(input);
    ring.row_bytes =
        static_cast<int32_t>(((geometry.plane_width(plane) - 1) * source.step + 1) * geometry.sample_bytes());
    ring.pitch_bytes = static_cast<uint32_t>(align_up(static_cast<size_t>(ring.row_bytes)));
    ring.height = geometry.plane_height(plane);
    sources_.push_back(source);
}

Status History::allocate(Context& context) {
    Carver carver;
    std::vector<size_t> offsets;
    for (int r = 0; r < rings_.count; ++r)
        for (int k = 0; k < rings_.ring[r].depth; ++k)
            offsets.push_back(carver.take(static_cast<size_t>(rings_.ring[r].pitch_bytes) *
                                          static_cast<size_t>(rings_.ring[r].height)));
    if (offsets.empty()) return {};
    QC_RETURN_IF_ERROR(memory_.allocate(context, carver.used(), "planes of earlier frames"));
    size_t used = 0;
    for (int r = 0; r < rings_.count; ++r)
        for (int k = 0; k < rings_.ring[r].depth; ++k) rings_.ring[r].plane[k] = memory_.as<void>(offsets[used++]);
    return {};
}

/// Precondition: the plane is remembered.
int History::ring_of(int input, int plane) const {
    const auto found = std::find_if(sources_.begin(), sources_.end(), [&](const Source& source) {
        return source.input == input && source.plane == plane;
    });
    return static_cast<int>(found - sources_.begin());
}

/// What a ring remembers of `lag` frames before the one that is number `frame` of its batch.
DevicePlane History::plane(const DevicePlane* kept, int frame, int ring, int lag) const {
    if (!was_present_[static_cast<size_t>(ring)][static_cast<size_t>(lag - 1)]) return DevicePlane{};
    if (frame >= lag) return kept[(frame - lag) * rings_.count + ring];
    const Source& source = sources_[static_cast<size_t>(ring)];
    const HistoryRing& memory = rings_.ring[ring];
    return DevicePlane{memory.plane[lag - frame - 1], memory.pitch_bytes, source.step, source.shift};
}

void History::look_back(const DevicePlane* kept, int frame, DeviceReference* reference) const {
    for (int lag = 1; lag <= setup_.history; ++lag) {
        reference->history[lag - 1] = plane(kept, frame, ring_of(0, 0), lag);
        for (int p = 1; p < 3 && setup_.chroma_history; ++p)
            reference->chroma_history[lag - 1][p - 1] = plane(kept, frame, ring_of(0, p), lag);
    }
}

void History::look_back(const DevicePlane* kept, int frame, int input, DevicePair* pair) const {
    for (int lag = 1; lag <= setup_.distorted_history; ++lag)
        pair->distorted_history[lag - 1] = plane(kept, frame, ring_of(input, 0), lag);
}

void History::remember(std::span<const DevicePicture> inputs, int frame, DevicePlane* kept) {
    DevicePlane* const noted = kept + frame * rings_.count;
    for (size_t ring = 0; ring < sources_.size(); ++ring) {
        const Source& source = sources_[ring];
        noted[ring] = inputs[static_cast<size_t>(source.input)].plane[source.plane];
        auto& present = was_present_[ring];
        std::copy_backward(present.begin(), present.end() - 1, present.end());
        present[0] = noted[ring].data != nullptr;
    }
}

Status History::enqueue(const DevicePlane* kept, int frames, DeviceQueue& queue) const {
    if (rings_.count == 0) return {};
    const Dim3 grid{static_cast<unsigned>(setup_.geometry.height), static_cast<unsigned>(rings_.count)};
    return queue.launch(kernel_, grid, KeepHistory::Arguments{kept, frames, rings_});
}

} // namespace qc::cuda
