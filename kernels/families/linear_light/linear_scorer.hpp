// SPDX-License-Identifier: BSD-2-Clause-Patent
// What descriptors and scorers of metrics that compare pairs in linear light have in common.
#pragma once

#include "contract/metric.hpp"
#include "contract/settings.hpp"

namespace qc::linear_light {

/// A descriptor of such a metric from what is its own: all planes count, in the colours that tags say, RGB and weights
/// too.
constexpr MetricDescriptor in_linear_light(MetricDescriptor own) {
    own.needs_chroma = own.uses_colour = own.accepts_rgb = own.accepts_weights = true;
    return own;
}

/// A scorer whose settings make a plan, which is followed row by row on the CPU and by a launcher on the GPU. In the
/// namespace of the metric's types stand settle() (contract/settings.hpp), make_plan() and score_cpu_rows().
template <class Settings, class Plan, class Workspaces, class Launcher>
class PlannedScorer : public Scorer {
public:
    PlannedScorer(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), settings_(settled<Settings>(geometry, options)), plan_(make_plan(geometry, settings_)),
          launcher_(plan_, geometry.sample, geometry.has_weights) {}

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const final {
        score_cpu_rows(geometry_, plan_, pair, accumulators, workspaces_);
    }

    size_t scratch_bytes(int count) const final { return launcher_.scratch_bytes(count); }
    Status prepare(DeviceProgram& program) override { return launcher_.prepare(program); }
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const final { return launcher_.enqueue(batch, queue); }

protected:
    const FrameGeometry geometry_;
    const Settings settings_;
    const Plan plan_;
    mutable Workspaces workspaces_;
    Launcher launcher_;
};

} // namespace qc::linear_light
