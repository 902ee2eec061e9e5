// SPDX-License-Identifier: BSD-2-Clause-Patent
/// ColorVideoVDP 0.5.6: how visible the difference of two videos is on a display, in colour and time (Mantiuk et al.,
/// "ColorVideoVDP: A visual difference predictor for image, video and display distortions", SIGGRAPH 2024,
/// doi 10.1145/3658144).
///
/// | property      |                                                                                                |
/// |---------------|------------------------------------------------------------------------------------------------|
/// | reads         | all planes of both inputs, of this pair and of those before it: an eighth of a second          |
/// |               | (rounded up) twice over; limited range whatever the tags, chroma between its samples           |
/// | depth, layout | 8 to 16 bits, any layout; RGB as it is                                                         |
/// | smallest size | 2 x 2                                                                                          |
/// | accumulators  | per channel and band the sum of P(D, 2), a double; with padding=symmetric in as many slots as  |
/// |               | frames may wait for the end of the clip (cvvdp_temporal.hpp)                                   |
/// | with weights  | P(D, 2) by the weight of its place, and the sums of the weights of each band; replicate only   |
/// | determinism   | fixed order of sums: the same bits on every run, batch size and slot count                     |
/// | backends      | the CPU within 1e-6 JOD of the reference, which is double precision; CUDA within kBackendBound |
/// |               | of the CPU                                                                                     |
/// | in time       | a clip begins with its first frame again and again, or mirrored                                |
/// | stream score  | cvvdp: the clip's JOD, made of the frames' values; a clip of one frame is an image             |
#pragma once

#include "contract/metric.hpp"

namespace qc::cvvdp {

const MetricDescriptor& descriptor();

/// Of frames' values (0 at 10 JOD, 29 at 9, 162 at 5). A JOD falls by at most 0.052 for a value of 1, at 5 JOD by
/// 0.029, so that this is less than 1e-4 JOD whatever the value. Single precision throughout is up to 5e-6 JOD off.
constexpr BackendBound kBackendBound{.absolute = 1e-3, .relative = 5e-6};

} // namespace qc::cvvdp
