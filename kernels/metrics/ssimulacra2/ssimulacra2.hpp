// SPDX-License-Identifier: BSD-2-Clause-Patent
/// SSIMULACRA 2.1: structural error and edges added or lost, in XYB at up to six scales.
/// docs/reference/metrics/ssimulacra2.md has the convention for video, the presets and what was measured.
///
/// | property      |                                                                                           |
/// |---------------|-------------------------------------------------------------------------------------------|
/// | reads         | all planes, chroma as stored (sizes rounded up); grey counts as R = G = B                 |
/// | depth, layout | 8 to 16 bits; 4:0:0, 4:2:0, 4:2:2, 4:4:4 and RGB                                          |
/// | smallest size | 8 x 8                                                                                     |
/// | colour        | tags of each input, otherwise the other's, otherwise defaults; options override them      |
/// | accumulators  | 108 doubles: sums of the fields and of their fourth powers, see ssimulacra2_math.hpp      |
/// | exactness     | the CPU computes in double precision and is the definition; CUDA in single precision      |
/// |               | within kBackendBound. Both give the same bits on every run                                |
/// | with weights  | a term counts by its place's weight (ssimulacra2_level_weights.hpp); six sums of weights follow |
/// | scores        | at most 100, which identical pictures get exactly; no lower limit                         |
#pragma once

#include "contract/metric.hpp"
#include "contract/workspaces.hpp"
#include "metrics/ssimulacra2/ssimulacra2_math.hpp"

namespace qc::ssimulacra2 {

constexpr BackendBound kBackendBound{.absolute = 2e-3, .relative = 1e-5};

const MetricDescriptor& descriptor();

/// The readable reference on the CPU: whole pictures, as published. Writes the accumulators of a pair that the plan
/// needs. Thread-safe.
void score_cpu(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair, std::span<uint64_t> accumulators);

/// The map that is drawn: for each sample of the picture the fields of all levels and channels there, weighted. Single
/// precision of what is computed in double. Thread-safe.
void draw_cpu(const FrameGeometry& geometry, const Plan& plan, const FieldWeights& weights, const HostPair& pair,
              Plane<float> values);

struct RowWorkspace;
using RowWorkspaces = Workspaces<RowWorkspace>;

/// The same row by row, vectorised: what the CPU backend runs. The same bits on every run. Thread-safe.
void score_cpu_rows(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair,
                    std::span<uint64_t> accumulators, RowWorkspaces& workspaces);

} // namespace qc::ssimulacra2
