// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI (libvmaf's extractor "cambi"): how much banding, that is false contours in smooth areas, the distorted luma
// shows; the reference is looked at only with full_ref. Exact: equal to libvmaf 3.2.0 in every bit, and the same bits
// on both backends.
//
// | depths        | sizes                                                         | planes | looks at other frames |
// |---------------|---------------------------------------------------------------|--------|-----------------------|
// | 8, 10, 12, 16 | width or height >= 216; the window at most 65 (width + height | luma   | no                    |
// |               | below 6092, or 12185 with cambi_high_res_speedup)             |        |                       |
//
// Where libvmaf 3.2.0 is known to go wrong, this follows the definition: planes narrower than the window (it reads
// beyond them), full_ref with src_width above the picture's width at 10 bits (its rows land in wrong places), a
// visibility threshold that leaves no sample to look at (it crashes; the score is 0) or that no sample reaches (it does
// not return; refused).
#pragma once

#include <span>

#include "contract/metric.hpp"
#include "contract/workspaces.hpp"
#include "metrics/cambi/cambi_settings.hpp"

namespace qc::cambi {

const MetricDescriptor& descriptor();

/// 1 / i as libvmaf's table has it, for i up to kMaxWindow^2; entry 0 is 0.
std::span<const float> reciprocals();

/// CPU reference: the sums of one picture.
/// @param heat_maps of all scales, one after the other; empty if they are not wanted
void score_cpu(const FrameGeometry& geometry, const Settings& settings, const Analysis& analysis, const HostPlane& luma,
               std::span<uint64_t> sums, std::span<uint64_t> heat_maps);

struct RowWorkspace;
using RowWorkspaces = Workspaces<RowWorkspace>;

/// The same, fast: what the CPU backend runs. Thread-safe.
void score_cpu_rows(const FrameGeometry& geometry, const Settings& settings, const Analysis& analysis,
                    const HostPlane& luma, std::span<uint64_t> sums, std::span<uint64_t> heat_maps,
                    RowWorkspaces& workspaces);

/// The map of the distorted picture: for each sample the c-values of all scales there, weighted as the score weights
/// their means. Thread-safe.
void draw_cpu(const FrameGeometry& geometry, const Settings& settings, const HostPlane& luma, Plane<float> values);

} // namespace qc::cambi
