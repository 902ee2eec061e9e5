// SPDX-License-Identifier: BSD-2-Clause-Patent
/// Butteraugli: the distance that the eye sees between two pictures, as a map, its largest value and its norms.
/// docs/reference/metrics/butteraugli.md has the convention for video, the versions and what was measured.
///
/// | property      |                                                                                           |
/// |---------------|-------------------------------------------------------------------------------------------|
/// | reads         | all planes, chroma as stored (sizes rounded up); grey counts as R = G = B                 |
/// | depth, layout | 8 to 16 bits; 4:0:0, 4:2:0, 4:2:2, 4:4:4 and RGB                                          |
/// | smallest size | 8 x 8                                                                                     |
/// | colour        | tags of each input, otherwise the other's, otherwise defaults; options override them      |
/// | accumulators  | 5 doubles: sums of powers of the map and its largest value, see butteraugli_math.hpp      |
/// | with weights  | powers by the weights of their places, in shares of 255; the largest value where a weight |
/// |               | is not 0; a sixth word is the sum of the weights                                          |
/// | exactness     | defined in double precision, as score_cpu() has it; the CPU backend is within 1e-6 of     |
/// |               | that, relative above 1, CUDA in single precision within kBackendBound of the CPU backend. |
/// |               | Both give the same bits on every run                                                      |
/// | scores        | at least 0, which identical pictures get exactly; lower is better; no upper limit         |
#pragma once

#include "contract/metric.hpp"
#include "contract/workspaces.hpp"
#include "metrics/butteraugli/butteraugli_math.hpp"

namespace qc::butteraugli {

/// The relative bound is that of the norms in the metric's specification; the largest value may use three times as much
/// there, but does not.
constexpr BackendBound kBackendBound{.absolute = 1e-4, .relative = 1e-3};

const MetricDescriptor& descriptor();

/// The reference on the CPU: whole pictures, every step by itself. The same bits on every run. Thread-safe.
void score_cpu(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair, std::span<uint64_t> accumulators);

struct RowWorkspace;
using RowWorkspaces = Workspaces<RowWorkspace>;

/// The same row by row, vectorised: what the CPU backend runs. The same bits on every run, whatever the number of
/// threads. Thread-safe.
void score_cpu_rows(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair,
                    std::span<uint64_t> accumulators, RowWorkspaces& workspaces);

/// The map that the readable reference's sums are of, rounded to single precision. Thread-safe.
void draw_cpu(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair, Plane<float> values);

} // namespace qc::butteraugli
