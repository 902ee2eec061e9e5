// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the CPU backend runs: the reference's steps in single precision, row by row. A row of filtered channels makes,
// with its neighbours, rows of the next level, contrasts and maskers, and is forgotten: what a level keeps fits into a
// core's caches. Threads share a level by runs of rows. Only levels behind the first one are held whole.
#pragma once

#include <span>

#include "contract/workspaces.hpp"
#include "metrics/cvvdp/cvvdp_cpu_light.hpp"

namespace qc::cvvdp {

struct RowsWorkspace;
struct RunWorkspace;

/// Samples of a picture from which on errors of single samples average out: then rows are as near to the reference as
/// 1e-6 JOD. Below, the reference itself takes no time.
constexpr int kSmallestForRows = 128 * 128;

/// Fills the sums of pairs. The same bits on every run, whatever the number of threads. Thread-safe.
class CpuRows {
public:
    CpuRows(const FrameGeometry& geometry, const Settings& settings);
    ~CpuRows();

    /// As CpuReference::score().
    void score(const HostPair& pair, HostPast past, std::span<uint64_t> sums) const;

private:
    void score_target(const Frames& frames, const Target& target, Helpers* helpers, std::span<double> sums) const;

    const FrameGeometry geometry_;
    const Plan plan_;
    const LightCurve curve_;
    const FilteredRows rows_[2];
    const TemporalPlan time_;
    const bool fixed_border_;
    mutable Workspaces<RowsWorkspace> workspaces_;
    mutable Workspaces<RunWorkspace> run_workspaces_;
};

} // namespace qc::cvvdp
